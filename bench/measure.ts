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
  /** What it printed on stdout. At a terminal, that is all that is drawn. */
  readonly printedBytes: number;
}

/** A command to measure. */
export interface Command {
  readonly argv: readonly [string, ...string[]];
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** @default the working directory */
  readonly cwd?: string | undefined;
}

/** Two commands, measured. A command that failed has no measurement. */
export interface Comparison {
  readonly measured: Measurement | undefined;
  readonly compared: Measurement | undefined;
  readonly rounds: number;
  /** How the two relate, round by round. Missing if one of them failed. */
  readonly ratios?: {readonly time: Spread; readonly cpu: Spread} | undefined;
}

/** What the commands took, by their names, round by round. Commands that failed are missing. */
export type Rounds = ReadonlyMap<string, readonly Measurement[]>;

/** How often commands are measured. */
export interface HowOften {
  /** Two will do if they take three times as long as `seconds`. */
  readonly leastRounds: number;
  /** More rounds follow, up to `mostRounds`, until they have taken this long together. */
  readonly seconds: number;
}

/** More rounds than this hardly change a median. */
const mostRounds = 9;

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
 * Runs commands in rounds, each in processes of its own: what else the machine does meets those of a round alike. A
 * command that fails is not run again.
 * @param scratch A folder for notes.
 */
export async function measureRounds(
  commands: ReadonlyMap<string, Command>,
  {leastRounds, seconds}: HowOften,
  scratch: string,
): Promise<Rounds> {
  const rounds = new Map([...commands.keys()].map((name): [string, Measurement[]] => [name, []]));
  const started = performance.now();
  const isEnough = (round: number) => {
    const taken = (performance.now() - started) / 1000;
    if (round < leastRounds) return round >= 2 && taken > 3 * seconds;
    return round >= mostRounds || taken > seconds;
  };
  for (let round = 0; !isEnough(round); round++) {
    for (const [name, measurements] of rounds) {
      const command = commands.get(name);
      const measurement = command && (await measureOnce(command, scratch));
      if (measurement) measurements.push(measurement);
      else rounds.delete(name);
    }
  }
  return rounds;
}

/** Compares two commands that were measured in the same rounds. */
export function compare(rounds: Rounds, what: string, baseline: string): Comparison {
  const [ours, theirs] = [rounds.get(what), rounds.get(baseline)];
  const counted = Math.max(ours?.length ?? 0, theirs?.length ?? 0);
  const comparison = {measured: ours && summarize(ours), compared: theirs && summarize(theirs), rounds: counted};
  if (!ours || !theirs) return comparison;
  const spread = (of: 'seconds' | 'cpuSeconds') =>
    spreadOf(ours.map((measurement, round) => measurement[of] / (theirs[round]?.[of] ?? NaN)));
  return {...comparison, ratios: {time: spread('seconds'), cpu: spread('cpuSeconds')}};
}

/** The median of some values, with the least and the most. */
export function spreadOf(values: readonly number[]): Spread {
  return {median: median(values), least: Math.min(...values), most: Math.max(...values)};
}

async function measureOnce({argv, env, cwd}: Command, scratch: string): Promise<Measurement | undefined> {
  const output = path.join(scratch, 'time');
  // GNU time cuts what elapsed to hundredths of a second, which are too coarse for `tar`; starting it takes about 2 ms.
  const started = performance.now();
  let seconds: number;
  let printedBytes: number;
  try {
    const {stdout} = await promisify(execFile)(gnuTime, ['-f', '%U %S %M', '-o', output, ...argv], {
      env: {...process.env, ...env},
      cwd,
      maxBuffer: 64 * 1024 * 1024,
    });
    seconds = (performance.now() - started) / 1000;
    printedBytes = Buffer.byteLength(stdout);
  } catch (error) {
    console.error(`${argv.join(' ')} failed: ${String(error).slice(0, 500)}`);
    return undefined;
  }
  const figures = (await readFile(output, 'utf8')).trim().split(' ').map(Number);
  const [user = NaN, system = NaN, kibibytes = NaN] = figures;
  return {seconds, cpuSeconds: user + system, peakMiB: kibibytes / 1024, printedBytes};
}

function summarize(results: readonly Measurement[]): Measurement {
  return {
    seconds: median(results.map(({seconds}) => seconds)),
    cpuSeconds: median(results.map(({cpuSeconds}) => cpuSeconds)),
    peakMiB: Math.max(...results.map(({peakMiB}) => peakMiB)),
    printedBytes: Math.max(...results.map((result) => result.printedBytes)),
  };
}

/** The one in the middle, or between the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const [below = NaN, above = NaN] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[Math.floor(sorted.length / 2)]];
  return (below + above) / 2;
}
