import {execFile} from 'node:child_process';
import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {promisify} from 'node:util';
import {median, spreadOf, type Spread} from './measure.js';

/** How long one command takes from its start to its end. */
export interface StartUp {
  readonly what: string;
  /** A median. */
  readonly milliseconds: number;
  /** To the reference, round by round. */
  readonly ratio: Spread;
  /** The most that the ratio may be. */
  readonly target?: number | undefined;
}

/** What everything is compared with: a bare command line on oclif, with a manifest. */
export const reference = 'a bare oclif hello';

const dryRun = '`mycli bundle:push --dry-run`, one file';
/** As on a fresh CI machine: nothing is in the user's cache folder. */
const firstRun = 'the same, first run on a machine';

/**
 * Runs the commands in rounds: what else the machine does meets those of a round alike. A round before them, which does
 * not count, fills the user's cache folder.
 */
export async function measureStartUp(binary: string, rounds: number): Promise<readonly StartUp[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'mycli-bench-'));
  try {
    await mkdir(path.join(folder, 'build'));
    await writeFile(path.join(folder, 'build/ssr.js'), '');
    // No plugins, settings or credentials of whoever runs this.
    const env = {
      PATH: process.env.PATH,
      HOME: folder,
      MYCLI_API_KEY: 'none',
      MYCLI_RUNTIME_ORIGIN: 'http://127.0.0.1:9',
    };
    const push = ['bundle:push', '--dry-run', '-p', 'bench', '--runtime-backend', 'legacy'];
    const commands: readonly (readonly [what: string, ...argv: string[]])[] = [
      ['`node -e 0`', '-e', '0'],
      [reference, path.join(import.meta.dirname, 'oclif-hello/run.js'), 'hello'],
      ['`mycli --version`', binary, '--version'],
      ['`mycli --help`', binary, '--help'],
      ['`mycli bundle:push --help`', binary, 'bundle:push', '--help'],
      [dryRun, binary, ...push],
      [firstRun, binary, ...push],
    ];
    const times = new Map(commands.map(([what]): [string, number[]] => [what, []]));
    for (let round = 0; round <= rounds; round++) {
      for (const [what, ...argv] of commands) {
        const cache = what === firstRun ? {XDG_CACHE_HOME: path.join(folder, `cache-${String(round)}`)} : {};
        const started = performance.now();
        await promisify(execFile)(process.execPath, argv, {cwd: folder, env: {...env, ...cache}});
        if (round > 0) times.get(what)?.push(performance.now() - started);
      }
    }
    const referenceTimes = times.get(reference) ?? [];
    return [...times].map(([what, taken]) => ({
      what,
      milliseconds: median(taken),
      ratio: spreadOf(taken.map((time, round) => time / (referenceTimes[round] ?? NaN))),
      target: what === dryRun ? (process.version.startsWith('v20.') ? 1.6 : 1.2) : undefined,
    }));
  } finally {
    await rm(folder, {recursive: true, force: true});
  }
}
