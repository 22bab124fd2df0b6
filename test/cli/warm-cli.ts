import {fork, type ChildProcess} from 'node:child_process';
import {once} from 'node:events';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import type {Ended, SpawnOptions} from './spawn-cli.js';
import {surroundings} from './surroundings.js';

const script = fileURLToPath(new URL('warm-process.js', import.meta.url));
/** The package of the binary. */
const ownRoot = fileURLToPath(new URL('../..', import.meta.url));
/** What a command leaves behind in its process adds up. */
const commandsPerProcess = 40;

let warm: {readonly child: ChildProcess; left: number} | undefined;
let last: Promise<unknown> = Promise.resolve();

/**
 * Runs a command to its end in a process that has already loaded everything, a tenth of the work of `runCli`. For what
 * a command prints and how it ends; not for signals, terminals, plugins' code and anything else that ends the process.
 * One at a time: a command must not wait for another one.
 * @param root the package whose commands they are
 */
export function runWarm(args: readonly string[], options: SpawnOptions = {}, root = ownRoot): Promise<Ended> {
  const ended = last.then(() => ask(args, options, root));
  last = ended.catch(() => undefined);
  return ended;
}

async function ask(
  args: readonly string[],
  {cwd = surroundings().cwd, env = {}, stdin = ''}: SpawnOptions,
  root: string,
): Promise<Ended> {
  if (warm === undefined || warm.left === 0 || !warm.child.connected) {
    if (warm?.child.connected === true) warm.child.disconnect();
    const child = fork(script, {stdio: ['ignore', 'ignore', 'inherit', 'ipc']});
    warm = {child, left: commandsPerProcess};
  }
  const {child} = warm;
  warm.left -= 1;
  const data = mkdtempSync(join(tmpdir(), 'mycli-data-'));
  const given = {...surroundings().env, XDG_DATA_HOME: data, ...env};
  child.ref();
  const answered = new AbortController();
  const {signal} = answered;
  const answer = Promise.race([
    once(child, 'message', {signal}),
    once(child, 'exit', {signal}).then(() => Promise.reject(new Error(`mycli ${args.join(' ')} ended the process.`))),
  ]);
  child.send({args, root, cwd, env: given, stdin});
  try {
    const [ended] = (await answer) as [Omit<Ended, 'signal'>];
    return {...ended, signal: null};
  } finally {
    answered.abort();
    child.unref();
    child.channel?.unref();
    rmSync(data, {recursive: true, force: true});
  }
}
