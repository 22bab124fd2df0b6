import {execFile} from 'node:child_process';
import {access, readFile} from 'node:fs/promises';
import path from 'node:path';
import {promisify} from 'node:util';

const gnuTime = '/usr/bin/time';

/** What a command took: median times, and the highest peak of its runs. */
export interface Measurement {
  /** From start to end. */
  readonly seconds: number;
  /** Of all its processes together. */
  readonly cpuSeconds: number;
  /** Peak resident memory of the largest process, MiB. */
  readonly peakMiB: number;
}

/** A command to measure. */
export interface Command {
  readonly argv: readonly [string, ...string[]];
  readonly env?: NodeJS.ProcessEnv | undefined;
}

/** Two commands, measured. A command that failed has no measurement. */
export interface Comparison {
  readonly measured: Measurement | undefined;
  readonly compared: Measurement | undefined;
  /** How the runs of each pair relate. Missing if one of them always failed. */
  readonly ratios?: {readonly time: Spread; readonly cpu: Spread} | undefined;
}

/** A median, with the least and the most. */
export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

/** Fails with how to get it when GNU time is missing. */
export async function requireGnuTime(): Promise<void> {
  await access(gnuTime).catch(() => {
    throw new Error(`${gnuTime} is missing: apt-get install time`);
  });
}

/**
 * Runs two commands `runs` times in turns, in processes of their own: what else the machine does meets both alike.
 * @param scratch A folder for notes.
 */
export async function compare(
  command: Command,
  baseline: Command,
  {runs, scratch}: {readonly runs: number; readonly scratch: string},
): Promise<Comparison> {
  const [results, others]: [Measurement[], Measurement[]] = [[], []];
  const pairs: (readonly [Measurement, Measurement])[] = [];
  for (let run = 0; run < runs; run++) {
    const [one] = await measureOnce(command, scratch);
    const [other] = await measureOnce(baseline, scratch);
    if (one) results.push(one);
    if (other) others.push(other);
    if (one && other) pairs.push([one, other]);
  }
  const ratios = pairs.length > 0 && {
    time: spreadOf(pairs.map(([one, other]) => one.seconds / other.seconds)),
    cpu: spreadOf(pairs.map(([one, other]) => one.cpuSeconds / other.cpuSeconds)),
  };
  return {measured: summarize(results), compared: summarize(others), ...(ratios && {ratios})};
}

function spreadOf(values: readonly number[]): Spread {
  return {median: median(values), least: Math.min(...values), most: Math.max(...values)};
}

async function measureOnce({argv, env}: Command, scratch: string): Promise<readonly Measurement[]> {
  const output = path.join(scratch, 'time');
  try {
    await promisify(execFile)(gnuTime, ['-f', '%e %U %S %M', '-o', output, ...argv], {
      env: {...process.env, ...env},
      maxBuffer: 64 * 1024 * 1024,
    });
  } catch (error) {
    console.error(`${argv.join(' ')} failed: ${String(error).slice(0, 500)}`);
    return [];
  }
  const figures = (await readFile(output, 'utf8')).trim().split(' ').map(Number);
  const [seconds = NaN, user = NaN, system = NaN, kibibytes = NaN] = figures;
  return [{seconds, cpuSeconds: user + system, peakMiB: kibibytes / 1024}];
}

function summarize(results: readonly Measurement[]): Measurement | undefined {
  if (results.length === 0) return undefined;
  return {
    seconds: median(results.map(({seconds}) => seconds)),
    cpuSeconds: median(results.map(({cpuSeconds}) => cpuSeconds)),
    peakMiB: Math.max(...results.map(({peakMiB}) => peakMiB)),
  };
}

/** The one in the middle. */
export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}
