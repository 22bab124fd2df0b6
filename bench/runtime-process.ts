import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {readFile} from 'node:fs/promises';
import path from 'node:path';
import {createInterface} from 'node:readline';
import type {LocalRuntime} from '../src/testing.js';

/** `runtime:start` in a process of its own. */
export interface RuntimeProcess extends Pick<LocalRuntime, 'origin' | 'credentials'> {
  readonly pid: number;
  /** From the start of the process to its first line. */
  readonly readySeconds: number;
  /** Resolves once the process has ended, for whatever reason. */
  readonly ended: Promise<unknown>;
  /** SIGKILL. */
  kill(): void;
  /** SIGTERM, and waits. */
  stop(): Promise<void>;
}

/** Starts the built binary. Undefined if it was killed before it was ready. */
export async function startRuntimeProcess(
  args: readonly string[],
  {nodeOptions = [], env = {}}: {readonly nodeOptions?: readonly string[]; readonly env?: NodeJS.ProcessEnv} = {},
): Promise<RuntimeProcess | undefined> {
  const began = performance.now();
  const binary = path.resolve(import.meta.dirname, '../bin/run.js');
  const child = spawn(process.execPath, [...nodeOptions, binary, 'runtime:start', '--json', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {...process.env, ...env},
  });
  const ended = once(child, 'exit');
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
  const line = await Promise.race([once(createInterface(child.stdout), 'line'), ended.then(() => undefined)]);
  if (line === undefined) {
    if (child.signalCode === 'SIGKILL') return undefined;
    throw new Error(`The runtime did not start: ${JSON.stringify(args)}`);
  }
  const {origin, credentials} = JSON.parse(String(line[0])) as Pick<LocalRuntime, 'origin' | 'credentials'>;
  return {
    origin,
    credentials,
    pid: child.pid ?? 0,
    readySeconds: (performance.now() - began) / 1000,
    ended,
    kill,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** What a process has used so far. */
export interface Usage {
  /** User and system. */
  readonly cpuSeconds: number;
  /** Resident memory now, MiB. */
  readonly residentMiB: number;
  /** The most resident memory so far, MiB. */
  readonly peakMiB: number;
}

/** Reads what a process has used, from `/proc`: Linux only. */
export async function usageOf(pid: number): Promise<Usage> {
  const folder = `/proc/${String(pid)}`;
  const [stat, status] = await Promise.all(['stat', 'status'].map((name) => readFile(`${folder}/${name}`, 'utf8')));
  const fields = (stat ?? '').slice((stat ?? '').lastIndexOf(')') + 2).split(' ');
  const mebibytes = (name: string): number => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status ?? '')?.[1]) / 1024;
  // Ticks are hundredths of a second on every Linux that Node runs on.
  return {
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / 100,
    residentMiB: mebibytes('VmRSS'),
    peakMiB: mebibytes('VmHWM'),
  };
}
