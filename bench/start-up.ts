import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {median, spreadOf, type Spread} from './measure.js';

/** How long one command takes. */
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
const firstLine = `${dryRun}, to its first line`;
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
    const times = new Map([...commands.map(([what]) => what), firstLine].map((what): [string, number[]] => [what, []]));
    const firstOfReference: number[] = [];
    for (let round = 0; round <= rounds; round++) {
      for (const [what, ...argv] of commands) {
        const cache = what === firstRun ? {XDG_CACHE_HOME: path.join(folder, `cache-${String(round)}`)} : {};
        const {first, end} = await timesOf(argv, folder, {...env, ...cache});
        if (round === 0) continue;
        times.get(what)?.push(end);
        if (what === dryRun) times.get(firstLine)?.push(first);
        if (what === reference) firstOfReference.push(first);
      }
    }
    const referenceTimes = times.get(reference) ?? [];
    const targets = new Map([
      [dryRun, process.version.startsWith('v20.') ? 1.6 : 1.2],
      [firstLine, 1.2],
    ]);
    return [...times].map(([what, taken]) => {
      const base = what === firstLine ? firstOfReference : referenceTimes;
      return {
        what,
        milliseconds: median(taken),
        ratio: spreadOf(taken.map((time, round) => time / (base[round] ?? NaN))),
        target: targets.get(what),
      };
    });
  } finally {
    await rm(folder, {recursive: true, force: true});
  }
}

/** From the start of a process to the first bytes that it prints, and to its end. In milliseconds. */
async function timesOf(
  argv: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<{readonly first: number; readonly end: number}> {
  const started = performance.now();
  const child = spawn(process.execPath, argv, {cwd, env, stdio: ['ignore', 'pipe', 'pipe']});
  let first = NaN;
  for (const output of [child.stdout, child.stderr])
    output.on('data', () => {
      if (Number.isNaN(first)) first = performance.now() - started;
    });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${argv.join(' ')} ended with ${String(code)}`);
  return {first, end: performance.now() - started};
}
