import childProcess from 'node:child_process';
import fs, {readFileSync} from 'node:fs';
import {syncBuiltinESMExports} from 'node:module';
import {dirname, join} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {inspect} from 'node:util';
import {isRecord} from '../../errors/json.js';
import {asSentence} from '../../errors/sentence.js';

/** The path or URL in a line of a stack, with or without a function name before it. */
const frame = /(?:\(|at (?:async )?)((?:file:\/\/|\/|[A-Za-z]:\\).+?):\d+(?::\d+)?\)?$/;

/**
 * The innermost plugin on a stack: a package with an oclif configuration. Undefined if all code is ours, the user's or
 * unknown.
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

/** The plugin whose code is running, or called what is running. */
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
    // A plugin's own node_modules belong to the plugin. We are at the end of every stack.
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

/** The line that begins the report of a syntax error. */
const placeLine = /^(?<file>file:\/\/\S+|(?:\/|[A-Za-z]:\\).*):(?<line>\d+)$/m;

/**
 * Adds the place of a syntax error to its message: `Unexpected token ';' (/path/hook.js:2)`. Other errors stay as they
 * are.
 * @param root folder of the plugin
 * @param modules its modules that may contain the error, or import one that does
 */
export async function withPlace<Thrown>(
  error: Thrown,
  root: string,
  modules: readonly string[],
): Promise<Thrown | SyntaxError> {
  if (!(error instanceof Error) || error.name !== 'SyntaxError') return error;
  const {message, stack = ''} = error;
  // The plugin's own code was running, so it was parsed: it parses something itself.
  if (stack.split('\n').some((line) => pathOf(line)?.startsWith(root))) return error;
  const {file, line} = (placeLine.exec(stack) ?? placeLine.exec(await reportOfImporting(modules)))?.groups ?? {};
  if (file === undefined || line === undefined) return error;
  const place = `${file.startsWith('file:') ? fileURLToPath(file) : file}:${line}`;
  return Object.assign(new SyntaxError(`${message} (${place})`), {stack: `${stack}\n    in ${place}`});
}

/**
 * What Node prints about importing `modules`, without running them. The error of a dynamic import has no place, unlike
 * that of a static one.
 */
async function reportOfImporting(modules: readonly string[]): Promise<string> {
  // All modules are parsed before the first one runs.
  const sources = ['data:text/javascript,process.exit()', ...modules.map((file) => pathToFileURL(file).href)];
  const code = sources.map((source) => `import ${JSON.stringify(source)};`).join('\n');
  const options = {timeout: 5000, windowsHide: true};
  return new Promise((resolve) => {
    childProcess.execFile(process.execPath, ['--input-type=module', '--eval', code], options, (_, __, report) => {
      resolve(report);
    });
  });
}

/** Where to print warnings. */
interface WarningOutput {
  warn(message: string): void;
  debug(line: string): void;
}

/**
 * Prints warnings of Node, oclif and plugins' packages like our own, in the document too. `--no-warnings` still
 * suppresses them.
 */
export function adoptWarnings(host: NodeJS.Process, output: WarningOutput): void {
  if (host.listenerCount('warning') === 0) return;
  host.removeAllListeners('warning');
  host.on('warning', (warning: unknown) => {
    const message = shown(warning instanceof Error ? warning.message : warning);
    // oclif adds advice on separate lines, but DEBUG has no such effect here.
    const lines = message.split('\n').filter((line) => !line.includes('DEBUG=*'));
    output.warn(asSentence(lines.join(', ')));
    output.debug(warning instanceof Error ? String(warning.stack) : message);
  });
}

/** Anything as text. Plugins emit warnings that are no errors, too. */
function shown(value: unknown): string {
  return typeof value === 'string' ? value : inspect(value, {customInspect: false, breakLength: Infinity});
}

const stdout = 1;
const stderr = 2;

const {writeSync} = fs;

/** Writes to a descriptor, even to one that is guarded. @throws Error of the system. */
export function writeUnguarded(descriptor: number, bytes: Uint8Array): number {
  return writeSync(descriptor, bytes);
}
const stdoutPaths: ReadonlySet<unknown> = new Set(['/dev/stdout', '/dev/fd/1', '/proc/self/fd/1']);

/** Whether stdout is reserved for a command's data, and what to call when something else is written to it. */
interface StdoutClaim {
  readonly stdoutClaimed: boolean;
  /** Called when something is redirected from stdout to stderr. */
  stray(): void;
}

/**
 * While stdout is reserved for data, redirects to stderr what code writes to descriptor 1 or lets child processes write
 * there. The output itself handles `process.stdout`. This protects from accidents, not from malicious code.
 */
export function guardDescriptor(claim: StdoutClaim): void {
  const redirecting = (instead: unknown) => (args: readonly unknown[]) =>
    args[0] === stdout || stdoutPaths.has(args[0]) ? [instead, ...args.slice(1)] : args;
  const writers = ['write', 'writeSync', 'writev', 'writevSync'];
  for (const name of [...writers, 'writeFile', 'writeFileSync', 'appendFile', 'appendFileSync']) {
    replaceArguments(fs, name, claim, redirecting(stderr));
  }
  for (const name of ['open', 'openSync']) replaceArguments(fs, name, claim, redirecting('/dev/stderr'));
  // `spawn` and everything built on it; the synchronous ones use internals that we cannot reach.
  replaceArguments(childProcess.ChildProcess.prototype, 'spawn', claim, redirectStdio);
  for (const name of ['spawnSync', 'execSync', 'execFileSync'] as const) {
    replaceArguments(childProcess, name, claim, redirectStdio);
  }
  syncBuiltinESMExports();
}

function redirectStdio(args: readonly unknown[]): readonly unknown[] {
  const redirected = args.map((arg) => {
    if (typeof arg !== 'object' || arg === null || Array.isArray(arg) || !('stdio' in arg)) return arg;
    const stdio = redirectedStdio(arg.stdio);
    return stdio === arg.stdio ? arg : {...arg, stdio};
  });
  return redirected.every((arg, index) => arg === args[index]) ? args : redirected;
}

function redirectedStdio(stdio: unknown): unknown {
  if (stdio === 'inherit') return ['inherit', stderr, 'inherit'];
  if (!Array.isArray(stdio)) return stdio;
  const [input, output, ...rest] = stdio as readonly unknown[];
  return output === 'inherit' || output === stdout || output === process.stdout ? [input, stderr, ...rest] : stdio;
}

/**
 * Replaces the arguments of a function while stdout is claimed.
 * @param replace Returns the same array if there is nothing to redirect.
 */
function replaceArguments(
  target: object,
  name: string,
  claim: StdoutClaim,
  replace: (args: readonly unknown[]) => readonly unknown[],
): void {
  const original: unknown = Reflect.get(target, name);
  if (typeof original !== 'function') return;
  const replacement = function (this: unknown, ...args: readonly unknown[]): unknown {
    // Each file of a build is opened with one of these functions.
    if (!claim.stdoutClaimed) return Reflect.apply(original, this, args);
    const replaced = replace(args);
    if (replaced !== args) claim.stray();
    return Reflect.apply(original, this, replaced);
  };
  // `util.promisify` uses a property of the function.
  Reflect.set(target, name, Object.defineProperties(replacement, Object.getOwnPropertyDescriptors(original)));
}
