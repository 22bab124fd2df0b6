import childProcess from 'node:child_process';
import fs from 'node:fs';
import {syncBuiltinESMExports} from 'node:module';

const stdout = 1;
const stderr = 2;
const stdoutPaths: ReadonlySet<unknown> = new Set(['/dev/stdout', '/dev/fd/1', '/proc/self/fd/1']);

/** Whether a command's own data is what stdout carries, and who is to be told that something else was meant for it. */
export interface StdoutClaim {
  readonly stdoutClaimed: boolean;
  /** Called for what would have been written to stdout and goes to stderr. */
  stray(): void;
}

/**
 * Sends what code writes to descriptor 1, or lets a child process write there, to stderr while stdout carries data. Writing
 * to `process.stdout` is the output's own matter. Code that means to get past it can: this is for the careless.
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
