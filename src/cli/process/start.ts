import {existsSync, readFileSync, writeSync} from 'node:fs';
import {dirname} from 'node:path';
import {packageVersion} from '../../version.js';

/** Runs the command given by the arguments of `host`. `--version` and `-v` load none of that. */
export async function start(host: NodeJS.Process): Promise<void> {
  const first = host.argv[2];
  if ((first === '--version' || first === '-v') && printVersion(host)) return;
  const {run} = await import('./run.js');
  // This file is dist/cli/process/start.js, which bin imports.
  await run(host, dirname(dirname(dirname(import.meta.dirname))));
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
