import {fork} from 'node:child_process';
import {once} from 'node:events';
import {mkdir, mkdtemp, rm} from 'node:fs/promises';
import {availableParallelism, tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {build} from 'rolldown';
import type {Report} from './main.js';
import {plants, type Plant} from './plants.js';

const root = resolve(import.meta.dirname, '../..');

/** What came of a sweep. */
export interface Sweep {
  readonly runs: number;
  readonly failures: readonly string[];
}

/**
 * Compiles the model with the library, with a planted bug if one is given, and runs it in a process for each core:
 * a loader of TypeScript, or of coverage, takes more time than the runs.
 * @param args what main.ts is told
 */
export async function sweep(
  args: readonly string[],
  {plant, onReport}: {readonly plant?: Plant; readonly onReport?: (report: Report) => void} = {},
): Promise<Sweep> {
  const processes = args.includes('--replay') ? 1 : availableParallelism();
  await mkdir(join(root, 'coverage'), {recursive: true});
  // The program stands where it finds its packages, its files where no git work tree has to be read for each run.
  const program = await mkdtemp(join(root, 'coverage', 'model-'));
  const files = await mkdtemp(join(tmpdir(), 'model-'));
  let runs = 0;
  const failures: string[] = [];
  try {
    const main = join(program, 'main.mjs');
    await compile(main, plant);
    const run = async (index: number): Promise<void> => {
      const child = fork(main, [`--worker=${index}/${processes}`, ...args], {
        execArgv: ['--max-semi-space-size=64'],
        env: {...process.env, TMPDIR: files},
      });
      child.on('message', (report: Report) => {
        runs += report.runs;
        failures.push(...report.failures);
        onReport?.(report);
      });
      const [code] = (await once(child, 'close')) as [number | null];
      if (code !== 0) failures.push(`A process ended with ${String(code)}.`);
    };
    await Promise.all(Array.from({length: processes}, (_, index) => run(index)));
    return {runs, failures};
  } finally {
    await Promise.all([program, files].map((folder) => rm(folder, {recursive: true})));
  }
}

async function compile(file: string, plant: Plant | undefined): Promise<void> {
  let planted = 0;
  await build({
    input: join(import.meta.dirname, 'main.ts'),
    platform: 'node',
    // Packages stay outside, but for what the compiler itself adds.
    external: /^[@\w](?!oxc-project)/,
    transform: {target: 'node20.19'},
    output: {file, codeSplitting: false},
    logLevel: 'warn',
    plugins: plant && [
      {
        name: 'plant',
        transform(code, id) {
          if (!id.startsWith(join(root, 'src')) || !code.includes(plant.from)) return undefined;
          planted += 1;
          return code.replace(plant.from, plant.to);
        },
      },
    ],
  });
  if (plant && planted !== 1)
    throw new Error(`"${plant.name}" fits ${planted} places of src: change test/model/plants.ts`);
}

/** Plants one bug after the other. */
async function findPlants(args: readonly string[]): Promise<void> {
  for (const plant of plants) {
    const {failures} = await sweep(['--first', ...args], {plant});
    const [first] = failures;
    console.log(first === undefined ? `NOT FOUND: ${plant.name}` : `found: ${plant.name}\n${first}`);
    if (first === undefined) process.exitCode = 1;
  }
}

/** Tells of each operation when it has been tried: all pairs take hours. */
function show({name, runs, failures}: Report): void {
  console.log([`${new Date().toISOString()} ${name}: ${runs} runs`, ...failures].join('\n'));
}

if (process.env['VITEST'] === undefined) {
  const args = process.argv.slice(2);
  if (args.includes('--planted')) {
    await findPlants(args.filter((arg) => arg !== '--planted'));
  } else {
    const {runs, failures} = await sweep(args, {onReport: show});
    console.log(`${runs} runs, ${failures.length} failures`);
    if (failures.length > 0) process.exitCode = 1;
  }
}
