import {execFile} from 'node:child_process';
import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {promisify} from 'node:util';
import {median} from './measure.js';

/** How long one command takes from its start to its end: a median, in milliseconds. */
export interface StartUp {
  readonly what: string;
  readonly milliseconds: number;
}

/** What everything is compared with: a bare command line on oclif, with a manifest. */
export const reference = 'a bare oclif hello';

/** Runs each command `runs` times, one after the other in turns: what else the machine does meets them all alike. */
export async function measureStartUp(binary: string, runs: number): Promise<readonly StartUp[]> {
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
      ['`mycli bundle:push --dry-run`, one file', binary, ...push],
    ];
    const times = commands.map((): number[] => []);
    for (let run = 0; run < runs; run++) {
      for (const [index, [, ...argv]] of commands.entries()) {
        const started = performance.now();
        await promisify(execFile)(process.execPath, argv, {cwd: folder, env});
        times[index]?.push(performance.now() - started);
      }
    }
    return commands.map(([what], index) => ({what, milliseconds: median(times[index] ?? [])}));
  } finally {
    await rm(folder, {recursive: true, force: true});
  }
}
