import {spawnSync, type ChildProcess} from 'node:child_process';
import {accessSync, constants, readFileSync, statSync} from 'node:fs';
import {basename, delimiter, dirname, extname, isAbsolute, join, resolve} from 'node:path';
import {onWindows, type Environment} from '../text/platform.js';

/** The value of a variable of the system, whose names are in any case on Windows. */
function systemVariable(env: Environment, name: string): string | undefined {
  const found = onWindows ? Object.keys(env).find((key) => key.toUpperCase() === name) : name;
  return env[found ?? name];
}

/**
 * The file of a program, by `PATH` alone: Windows itself would look in the working directory first, which may be
 * anybody's checkout.
 * @param cwd Where a path, and a relative folder in `PATH`, begin. Without it, only absolute folders count.
 */
export function findProgram(name: string, env: Environment, cwd?: string): string | undefined {
  const isPath = basename(name) !== name;
  const inPath = (systemVariable(env, 'PATH') ?? '/usr/bin:/bin').split(delimiter);
  const named = onWindows ? inPath.map((folder) => folder.replace(/^"(.*)"$/, '$1')).filter(Boolean) : inPath;
  const folders = isPath ? [''] : named;
  const files = folders
    .filter((folder) => cwd !== undefined || isAbsolute(folder))
    .flatMap((folder) => endingsOf(name, env).map((ending) => resolve(cwd ?? '', folder, name + ending)));
  // Of a file that may not be run, the system says so.
  return files.find((file) => isFile(file, constants.X_OK)) ?? files.find((file) => isFile(file, constants.F_OK));
}

/** npm or yarn, on Windows their script: oclif starts no batch file whose path has a blank. */
export function findPackageManager(name: string, env: Environment): string | undefined {
  const found = findProgram(name, env);
  const script = join(dirname(found ?? ''), `node_modules/${name}/bin/${name}-cli.js`);
  return onWindows && isFile(script, constants.F_OK) ? script : found;
}

function endingsOf(name: string, env: Environment): readonly string[] {
  if (!onWindows) return [''];
  const endings = (systemVariable(env, 'PATHEXT') ?? '.COM;.EXE;.BAT;.CMD').toLowerCase().split(';');
  return endings.includes(extname(name).toLowerCase()) ? ['', ...endings] : endings;
}

function isFile(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return statSync(path).isFile();
  } catch {
    // Neither is what is in a folder that one may not enter.
    return false;
  }
}

/** How a program is started by `spawn` or `execFile`, without anything in its arguments being interpreted. */
export interface ProgramStart {
  readonly file: string;
  readonly args: readonly string[];
  readonly windowsVerbatimArguments: boolean;
}

/** How to start a program. Arguments of Windows' batch files, such as `npm.cmd`, are quoted as cross-spawn does. */
export function startOf(file: string, args: readonly string[], env: Environment): ProgramStart {
  if (!onWindows || /\.(?:com|exe)$/i.test(file)) return {file, args, windowsVerbatimArguments: false};
  // With these, a batch file hands on what it was given, and it is interpreted once more.
  const times = readFileSync(file, 'utf8').includes('%*') ? 2 : 1;
  const line = [`"${file}"`, ...args.map((arg) => batchArgument(arg, times))].join(' ');
  const interpreter = join(systemFolder(env), 'cmd.exe');
  return {file: interpreter, args: ['/d', '/s', '/c', `"${line}"`], windowsVerbatimArguments: true};
}

function batchArgument(arg: string, times: number): string {
  if (/^[\w.:/\\+-]+$/.test(arg)) return arg;
  // Backslashes count before a quotation mark only.
  return escaped(`"${arg.replace(/(\\*)"/g, String.raw`$1$1\"`).replace(/\\+$/, '$&$&')}"`, times);
}

function escaped(text: string, times: number): string {
  const once = text.replace(/[()\][%!^"`<>&|;, *?]/g, '^$&');
  return times === 1 ? once : escaped(once, times - 1);
}

function systemFolder(env: Environment): string {
  return join(systemVariable(env, 'SYSTEMROOT') ?? String.raw`C:\Windows`, 'System32');
}

/** Ends a process at once, on Windows with all that it has started, which nothing else would end. */
export function endAtOnce(child: ChildProcess, env: Environment): void {
  if (onWindows && child.pid !== undefined && child.exitCode === null)
    spawnSync(join(systemFolder(env), 'taskkill.exe'), ['/pid', String(child.pid), '/t', '/f'], {stdio: 'ignore'});
  child.kill('SIGKILL');
}
