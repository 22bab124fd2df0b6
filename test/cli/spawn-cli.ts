import {spawn, type ChildProcess} from 'node:child_process';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {text} from 'node:stream/consumers';
import {fileURLToPath} from 'node:url';
import {surroundings} from './surroundings.js';

/** The built binary. */
export const binary = fileURLToPath(new URL('../../bin/run.js', import.meta.url));
/** A command line made of the built src/cli and small commands: test/fixtures/cli. */
export const fixtureBinary = fileURLToPath(new URL('../fixtures/cli/run.js', import.meta.url));

/** Keeps the compiled code of mycli from one test to the next: commands take half the time. */
const caches = fileURLToPath(new URL('../../coverage/caches', import.meta.url));

/** How a process has ended. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A process that runs. */
export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
}

/** The surroundings of a process. */
export interface SpawnOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Another user, whom only root can start it as. */
  readonly uid?: number;
}

/**
 * Starts a script with an environment of its own: what the tester has set must not reach it, and what it keeps in its
 * data folder must not reach the tester.
 */
export function start(script: string, args: readonly string[], options: SpawnOptions = {}): Running {
  const {cwd = surroundings().cwd, env = {}, stdin = '', uid} = options;
  const data = mkdtempSync(join(tmpdir(), 'mycli-data-'));
  const child = spawn(process.execPath, [script, ...args], {
    cwd,
    uid,
    env: {...surroundings().env, XDG_DATA_HOME: data, XDG_CACHE_HOME: caches, ...env},
  });
  child.stdin.end(stdin);
  const outcome = new Promise<Pick<Ended, 'code' | 'signal'>>((resolve) => {
    child.once('close', (code, signal) => {
      rmSync(data, {recursive: true, force: true});
      resolve({code, signal});
    });
  });
  const texts = Promise.all([text(child.stdout), text(child.stderr)]);
  const ended = Promise.all([outcome, texts]).then(([how, [stdout, stderr]]) => ({...how, stdout, stderr}));
  return {child, ended};
}

/** Runs a script to its end. */
export function runCli(script: string, args: readonly string[], options: SpawnOptions = {}): Promise<Ended> {
  return start(script, args, options).ended;
}
