import {execFile} from 'node:child_process';
import {access, readFile} from 'node:fs/promises';
import path from 'node:path';
import {promisify} from 'node:util';

const gnuTime = '/usr/bin/time';

/** What a command took: the median time and the highest peak of its runs. */
export interface Measurement {
  readonly seconds: number;
  /** Peak resident memory of the largest process, MiB. */
  readonly peakMiB: number;
}

/** A command to measure. */
export interface Command {
  readonly argv: readonly [string, ...string[]];
  readonly env?: NodeJS.ProcessEnv | undefined;
}

/** Fails with how to get it when GNU time is missing. */
export async function requireGnuTime(): Promise<void> {
  await access(gnuTime).catch(() => {
    throw new Error(`${gnuTime} is missing: apt-get install time`);
  });
}

async function measureOnce({argv, env}: Command, scratch: string): Promise<Measurement> {
  const output = path.join(scratch, 'time');
  await promisify(execFile)(gnuTime, ['-f', '%e %M', '-o', output, ...argv], {
    env: {...process.env, ...env},
    maxBuffer: 64 * 1024 * 1024,
  });
  const [seconds = NaN, kibibytes = NaN] = (await readFile(output, 'utf8')).trim().split(' ').map(Number);
  return {seconds, peakMiB: kibibytes / 1024};
}

/** Runs `command` `runs` times, in processes of its own. `scratch` is a folder for notes. */
export async function measure(command: Command, runs: number, scratch: string): Promise<Measurement> {
  const results: Measurement[] = [];
  for (let run = 0; run < runs; run++) results.push(await measureOnce(command, scratch));
  const times = results.map(({seconds}) => seconds).sort((a, b) => a - b);
  return {
    seconds: times[Math.floor(times.length / 2)] ?? NaN,
    peakMiB: Math.max(...results.map(({peakMiB}) => peakMiB)),
  };
}
