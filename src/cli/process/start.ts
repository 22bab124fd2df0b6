import {existsSync, readFileSync, statSync, writeSync} from 'node:fs';
import nodeModule from 'node:module';
import {homedir} from 'node:os';
import {dirname, isAbsolute, join} from 'node:path';
import {packageVersion} from '../../version.js';
import {keepCode, privateFolder} from './code-cache.js';

/** This file is dist/cli/process/start.cjs, which bin/run.js requires. */
const distFolder = dirname(dirname(import.meta.dirname));

/** Runs the command given by the arguments of `host`. `--version` and `-v` load none of that. */
export async function start(host: NodeJS.Process): Promise<void> {
  const first = host.argv[2];
  if ((first === '--version' || first === '-v') && printVersion(host)) return;
  keepCompiledCode(host);
  const {run} = await import('./run.js');
  await run(host, dirname(distFolder));
}

/** `node:module` since Node 22. */
type NewerModule = typeof nodeModule & {enableCompileCache?: (folder: string) => unknown};

/**
 * Keeps the compiled code of everything loaded from here on, so the next command starts in two thirds of the time. Node
 * does that itself since 22; `NODE_COMPILE_CACHE` and `NODE_DISABLE_COMPILE_CACHE` take precedence. Code is only kept
 * where no other user can plant theirs.
 */
function keepCompiledCode({argv, env, platform, arch, getuid, version}: NodeJS.Process): void {
  if (env['NODE_COMPILE_CACHE'] !== undefined || env['NODE_DISABLE_COMPILE_CACHE'] !== undefined) return;
  try {
    const home = homedir();
    const uid = getuid?.();
    if (uid !== undefined && statSync(home).uid !== uid) return;
    const local = platform === 'win32' ? env['LOCALAPPDATA'] : undefined;
    const caches = platform === 'darwin' ? join(home, 'Library', 'Caches') : join(home, '.cache');
    // A relative one would lead into the project, whose authors must not decide what runs here.
    const given = [env['XDG_CACHE_HOME'], local, caches].find((path) => path !== undefined && isAbsolute(path));
    if (given === undefined) return;
    const {enableCompileCache}: NewerModule = nodeModule;
    // `enableCompileCache` adds a folder for each version of Node by itself.
    const names = ['mycli', 'compiled', ...(enableCompileCache ? [] : [`${version}-${arch}`])];
    const folder = privateFolder(join(given, ...names), uid);
    if (folder === undefined) return;
    if (enableCompileCache) enableCompileCache(folder);
    else keepCode(distFolder, folder, argv.slice(2));
  } catch {
    // Without a folder to keep it in, code is compiled as always.
  }
}

/** Prints what oclif prints for `--version`. Returns false in unusual environments, which run.ts handles. */
function printVersion({platform, arch, version}: NodeJS.Process): boolean {
  try {
    if (platform === 'linux' && mayBeWsl()) return false;
    const name = arch === 'ia32' ? 'x86' : arch;
    writeSync(1, `mycli/${packageVersion()} ${platform}-${name} node-${version}\n`);
    return true;
  } catch {
    return false;
  }
}

/** Whether oclif must check: it calls the Windows Subsystem for Linux `wsl`, but containers on it `linux`. */
function mayBeWsl(): boolean {
  if (/microsoft/i.test(readFileSync('/proc/version', 'utf8'))) return true;
  return ['/proc/sys/fs/binfmt_misc/WSLInterop', '/run/WSL'].some((path) => existsSync(path));
}
