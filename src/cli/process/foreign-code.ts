import childProcess from 'node:child_process';
import fs, {readFileSync} from 'node:fs';
import {syncBuiltinESMExports} from 'node:module';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {isRecord} from '../../errors/json.js';
import {asSentence} from '../../errors/sentence.js';

/** The path or URL of a line of a stack, with or without the function's name before it. */
const frame = /(?:\(|at (?:async )?)((?:file:\/\/|\/|[A-Za-z]:\\).+?):\d+(?::\d+)?\)?$/;

/**
 * The plugin whose code is on a stack, the innermost: a package that says what it is to oclif. Nothing when all is
 * ours, the user's or unknown.
 * @param stack of an error
 */
export function pluginOnStack(stack: string | undefined): string | undefined {
  const paths = (stack ?? '').split('\n').flatMap((line) => pathOf(line) ?? []);
  for (const directory of new Set(paths.map((path) => dirname(path)))) {
    const plugin = pluginAround(directory);
    if (plugin !== undefined) return plugin;
  }
  return undefined;
}

/** The plugin whose code is running, or has called what is. */
export function runningPlugin(): string | undefined {
  const {stackTraceLimit} = Error;
  Error.stackTraceLimit = 100;
  try {
    return pluginOnStack(new Error('where').stack);
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

function pathOf(line: string): string | undefined {
  const place = frame.exec(line)?.[1];
  if (place === undefined) return undefined;
  try {
    return place.startsWith('file:') ? fileURLToPath(place) : place;
  } catch {
    return undefined;
  }
}

function pluginAround(start: string): string | undefined {
  for (let directory = start; ; directory = dirname(directory)) {
    const {name, oclif} = packageIn(directory);
    // What lies in a plugin's own node_modules is the plugin's; ours is at the end of every stack.
    if (isRecord(oclif) && typeof name === 'string') return name === 'mycli' ? undefined : name;
    if (dirname(directory) === directory) return undefined;
  }
}

function packageIn(directory: string): Readonly<Record<string, unknown>> {
  try {
    const pjson: unknown = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
    return isRecord(pjson) ? pjson : {};
  } catch {
    return {};
  }
}

/** What warnings are told to. */
interface WarningOutput {
  warn(message: string): void;
  debug(line: string): void;
}

/**
 * Tells warnings of Node, of oclif and of what plugins load like our own, in the document too. `--no-warnings` still
 * leaves them out.
 */
export function adoptWarnings(host: NodeJS.Process, output: WarningOutput): void {
  if (host.listenerCount('warning') === 0) return;
  host.removeAllListeners('warning');
  host.on('warning', (warning) => {
    // oclif's advice, in lines of their own: DEBUG has no such effect here.
    const lines = warning.message.split('\n').filter((line) => !line.includes('DEBUG=*'));
    output.warn(asSentence(lines.join(', ')));
    output.debug(warning.stack ?? warning.message);
  });
}

const stdout = 1;
const stderr = 2;
const stdoutPaths: ReadonlySet<unknown> = new Set(['/dev/stdout', '/dev/fd/1', '/proc/self/fd/1']);

/** Whether a command's own data is what stdout carries, and who is to be told that something else was meant for it. */
interface StdoutClaim {
  readonly stdoutClaimed: boolean;
  /** Called for what would have been written to stdout and goes to stderr. */
  stray(): void;
}

/**
 * Sends what code writes to descriptor 1, or lets a child process write there, to stderr while stdout carries data.
 * Writing to `process.stdout` is the output's own matter. Code that means to get past it can: this is for the careless.
 */
export function guardDescriptor(claim: StdoutClaim): void {
  const writers = ['write', 'writeSync', 'writev', 'writevSync'];
  for (const name of [...writers, 'writeFile', 'writeFileSync', 'appendFile', 'appendFileSync']) {
    replaceArguments(fs, name, (args) => redirectTarget(args, stderr, claim));
  }
  for (const name of ['open', 'openSync']) {
    replaceArguments(fs, name, (args) => redirectTarget(args, '/dev/stderr', claim));
  }
  // `spawn` and all that is made of it; the synchronous ones are made of something that is not to be reached.
  replaceArguments(childProcess.ChildProcess.prototype, 'spawn', (args) => redirectStdio(args, claim));
  for (const name of ['spawnSync', 'execSync', 'execFileSync'] as const) {
    replaceArguments(childProcess, name, (args) => redirectStdio(args, claim));
  }
  syncBuiltinESMExports();
}

function redirectTarget(
  [target, ...rest]: readonly unknown[],
  instead: unknown,
  claim: StdoutClaim,
): readonly unknown[] {
  if (!claim.stdoutClaimed || !(target === stdout || stdoutPaths.has(target))) return [target, ...rest];
  claim.stray();
  return [instead, ...rest];
}

function redirectStdio(args: readonly unknown[], claim: StdoutClaim): readonly unknown[] {
  if (!claim.stdoutClaimed) return args;
  return args.map((arg) => {
    if (typeof arg !== 'object' || arg === null || Array.isArray(arg) || !('stdio' in arg)) return arg;
    const stdio = redirectedStdio(arg.stdio);
    if (stdio === arg.stdio) return arg;
    claim.stray();
    return {...arg, stdio};
  });
}

function redirectedStdio(stdio: unknown): unknown {
  if (stdio === 'inherit') return ['inherit', stderr, 'inherit'];
  if (!Array.isArray(stdio)) return stdio;
  const [input, output, ...rest] = stdio as readonly unknown[];
  return output === 'inherit' || output === stdout || output === process.stdout ? [input, stderr, ...rest] : stdio;
}

function replaceArguments(
  target: object,
  name: string,
  replace: (args: readonly unknown[]) => readonly unknown[],
): void {
  const original: unknown = Reflect.get(target, name);
  if (typeof original !== 'function') return;
  const replacement = function (this: unknown, ...args: readonly unknown[]): unknown {
    return Reflect.apply(original, this, replace(args));
  };
  // `util.promisify` looks at what the function says of itself.
  Reflect.set(target, name, Object.defineProperties(replacement, Object.getOwnPropertyDescriptors(original)));
}
