import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {closeSync, openSync} from 'node:fs';
import {mkdtemp, readFile, realpath, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {binary} from '../cli/spawn-cli.js';

const wine = '/usr/lib/wine/wine64';
/** The Node of Windows, which `run.sh` fetches. */
export const windowsNode = process.env['WINDOWS_NODE'] ?? '';

/** How a program of Windows has ended. Line breaks are those of Linux. */
export interface EndedOnWindows {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Options {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin?: string;
}

/** A machine with Windows, as far as Wine is one. */
export interface WindowsMachine extends AsyncDisposable {
  /** Runs `node.exe ARGS`. */
  node(args: readonly string[], options: Options): Promise<EndedOnWindows>;
  /** Runs `node.exe run.js ARGS`. */
  mycli(args: readonly string[], options: Options): Promise<EndedOnWindows>;
}

/** A path as programs of Windows see it. */
export function windowsPath(path: string): string {
  return `Z:${path.replaceAll('/', '\\')}`;
}

/** Sets up a machine, which is gone when it is disposed of. */
export async function startWindows(): Promise<WindowsMachine> {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'mycli-windows-')));
  // No variables of the tester.
  const machine = {
    PATH: process.env['PATH'],
    HOME: home,
    // Otherwise Wine reads other bytes into names than ASCII's.
    LC_ALL: 'C.UTF-8',
    WINEPREFIX: join(home, 'wine'),
    WINEARCH: 'win64',
    WINEDEBUG: '-all',
    WINEDLLOVERRIDES: 'mscoree=;mshtml=',
    XDG_CACHE_HOME: windowsPath(join(home, 'cache')),
  };
  let runs = 0;
  const run = async (program: string, args: readonly string[], {cwd, env, stdin = ''}: Options) => {
    runs += 1;
    const fileOf = (stream: string) => join(home, `${String(runs)}.${stream}`);
    const [input, output, errors] = [fileOf('in'), fileOf('out'), fileOf('err')];
    await writeFile(input, stdin);
    // Node reads and writes no pipe under Wine.
    const stdio = [openSync(input, 'r'), openSync(output, 'w'), openSync(errors, 'w')];
    const child = spawn(wine, [program, ...args], {cwd, env: {...machine, ...env}, stdio});
    for (const descriptor of stdio) closeSync(descriptor);
    const [code] = (await once(child, 'exit')) as [number | null];
    const [stdout = '', stderr = ''] = await Promise.all([output, errors].map((file) => readFile(file, 'utf8')));
    return {code, stdout: stdout.replaceAll('\r\n', '\n'), stderr: stderr.replaceAll('\r\n', '\n')};
  };
  // Node does not start on the Windows 7 that Wine is by default.
  await run('reg', ['add', String.raw`HKCU\Software\Wine`, '/v', 'Version', '/d', 'win10', '/f'], {cwd: home, env: {}});
  return {
    node: (args, options) => run(windowsNode, args, options),
    mycli: (args, options) => run(windowsNode, [windowsPath(binary), ...args], options),
    async [Symbol.asyncDispose]() {
      const env = {...process.env, WINEPREFIX: machine.WINEPREFIX};
      await once(spawn('/usr/lib/wine/wineserver64', ['--kill', '--wait'], {env, stdio: 'ignore'}), 'exit');
      await rm(home, {recursive: true, force: true, maxRetries: 10});
    },
  };
}
