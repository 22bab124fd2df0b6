import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdtemp, rm} from 'node:fs/promises';
import {text} from 'node:stream/consumers';
import {join, resolve} from 'node:path';
import {build} from 'rolldown';
import {plants, type Plant} from './plants.js';

const root = resolve(import.meta.dirname, '../..');

/** How the processes of a sweep ended. */
export interface Sweep {
  readonly runs: number;
  readonly failed: boolean;
  readonly output: string;
}

/**
 * Compiles the model with the library, with a planted bug if one is given, and runs it in a process for each core:
 * a loader of TypeScript, or of coverage, takes more time than the runs.
 */
export async function sweep(args: readonly string[], plant?: Plant): Promise<Sweep> {
  const folder = await mkdtemp(join(root, 'coverage', 'model-'));
  try {
    const file = join(folder, 'main.mjs');
    await compile(file, plant);
    const [mode = '', ...rest] = args;
    const parts = mode === 'replay' ? 1 : 2;
    const ended = await Promise.all(
      Array.from({length: parts}, async (_, index) => {
        const child = spawn(process.execPath, ['--max-semi-space-size=64', file, mode, `${index}/${parts}`, ...rest], {
          stdio: ['ignore', 'pipe', 'inherit'],
          env: {...process.env, TMPDIR: folder},
        });
        const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close') as Promise<[number]>]);
        const lines = output.trimEnd().split('\n');
        const {runs} = JSON.parse(lines.pop() ?? '{}') as {readonly runs: number};
        return {runs, failed: code !== 0, output: lines.join('\n')};
      }),
    );
    return {
      runs: ended.reduce((sum, {runs}) => sum + runs, 0),
      failed: ended.some(({failed}) => failed),
      output: ended
        .map(({output}) => output)
        .filter((output) => output !== '')
        .join('\n'),
    };
  } finally {
    await rm(folder, {recursive: true});
  }
}

async function compile(file: string, plant: Plant | undefined): Promise<void> {
  let planted = 0;
  await build({
    input: join(import.meta.dirname, 'main.ts'),
    platform: 'node',
    external: /^[^./]/,
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

/** `npm run test:model -- [--pairs | --planted | --replay OPERATION INDEX:FAULT...]` */
async function main([mode = '', ...rest]: readonly string[]): Promise<void> {
  if (mode === '--planted') {
    for (const plant of plants) {
      const {failed, output} = await sweep(['first'], plant);
      console.log(
        `${failed ? 'found' : 'NOT FOUND'}: ${plant.name}${failed ? `\n  ${output.split('\n').slice(0, 2).join('\n  ')}` : ''}`,
      );
      if (!failed) process.exitCode = 1;
    }
    return;
  }
  const {runs, failed, output} = await sweep([mode === '' ? 'singles' : mode.slice(2), ...rest]);
  if (output !== '') console.log(output);
  console.log(`${runs} runs`);
  if (failed) process.exitCode = 1;
}

if (process.env['VITEST'] === undefined) await main(process.argv.slice(2));
