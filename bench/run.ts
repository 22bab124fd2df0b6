// npm run bench -- [--sizes 20,200,1000] [--files 30000] [--runs 3] [--start-up-runs 40] [--write]
import {mkdtemp, mkdir, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {parseArgs} from 'node:util';
import {startLocalRuntimeProcess} from './local-runtime.js';
import {measure, requireGnuTime, type Command} from './measure.js';
import {page, startUpTable, table, type Row} from './report.js';
import {measureStartUp} from './start-up.js';
import {writeTree, type Tree} from './trees.js';

const root = path.resolve(import.meta.dirname, '..');
const binary = path.join(root, 'bin/run.js');
const MB = 1_000_000;

const {values} = parseArgs({
  options: {
    sizes: {type: 'string', default: '20,200,1000'},
    files: {type: 'string', default: '30000'},
    runs: {type: 'string', default: '3'},
    'start-up-runs': {type: 'string', default: '40'},
    write: {type: 'boolean', default: false},
  },
});
const runs = Number(values.runs);
const startUpRuns = Number(values['start-up-runs']);
const smallFiles = Number(values.files);

/** Sizes up to 200 MB in files of 40 kB, larger ones in files of 5 MB, and a tree of many files of 4 kB. */
const trees: readonly Tree[] = [
  ...values.sizes
    .split(',')
    .filter((size) => size !== '')
    .map((size) => {
      const bytes = Number(size) * MB;
      const files = Math.max(1, Math.round(bytes / (bytes > 200 * MB ? 5 * MB : 40_000)));
      const total = bytes < 1000 * MB ? `${bytes / MB} MB` : `${bytes / MB / 1000} GB`;
      return {name: `${total}, ${files.toLocaleString('en')} files`, bytes, files};
    }),
  ...(smallFiles > 0
    ? [{name: `${smallFiles.toLocaleString('en')} files of 4 kB`, bytes: smallFiles * 4000, files: smallFiles}]
    : []),
];

function tarThrough(filter: string, folder: string): Command {
  return {argv: ['sh', '-c', `tar -cf - -C "$1" . | ${filter} >/dev/null`, 'sh', folder]};
}

async function measurePushes(tree: Tree, build: string, scratch: string): Promise<readonly Row[]> {
  const data = path.join(scratch, 'data');
  const runtime = await startLocalRuntimeProcess(binary, data);
  try {
    const push = (...flags: readonly string[]): Command => ({
      argv: [process.execPath, binary, 'bundle:push', '-C', scratch, '-p', 'bench', '-b', build, ...flags],
      env: {
        MYCLI_RUNTIME_ORIGIN: runtime.origin,
        MYCLI_API_KEY: runtime.apiKey,
        MYCLI_RUNTIME_BACKEND: 'legacy',
        XDG_DATA_HOME: scratch,
        CI: '1',
      },
    });
    const row = async (what: string, command: Command, filter: string): Promise<Row> => ({
      tree: tree.name,
      what,
      measured: await measure(command, runs, scratch),
      baseline: `tar | ${filter}`,
      compared: await measure(tarThrough(filter, build), runs, scratch),
    });
    return [await row('push v1', push(), 'base64'), await row('push v2', push('--v2'), 'gzip -6')];
  } finally {
    await runtime.stop();
    await rm(data, {recursive: true, force: true});
  }
}

async function measurePack(tree: Tree, build: string, scratch: string): Promise<Row> {
  const output = path.join(scratch, 'bundle.tar');
  const pack = ['bundle:build', '--format', 'v1', '-p', 'bench', '-C', scratch, '-b', build, '-o', output];
  const usual = path.join(root, 'bench/archiver-directory.js');
  return {
    tree: tree.name,
    what: 'bundle:build v1',
    measured: await measure({argv: [process.execPath, binary, ...pack], env: {CI: '1'}}, runs, scratch),
    baseline: "archiver's directory()",
    compared: await measure({argv: [process.execPath, usual, build, path.join(scratch, 'usual.tar')]}, runs, scratch),
  };
}

await requireGnuTime();
console.error('start-up ...');
const startUps = await measureStartUp(binary, startUpRuns);
console.log(`${startUpTable(startUps)}\n`);
const rows: Row[] = [];
for (const tree of trees) {
  const scratch = await mkdtemp(path.join(tmpdir(), 'mycli-bench-'));
  try {
    console.error(`${tree.name} ...`);
    const build = path.join(scratch, 'build');
    await writeTree(build, tree);
    rows.push(...(await measurePushes(tree, build, scratch)));
    if (tree.files === smallFiles) rows.push(await measurePack(tree, build, scratch));
  } finally {
    await rm(scratch, {recursive: true, force: true});
  }
}
console.log(table(rows));

if (values.write) {
  const reference = path.join(root, 'docs/reference');
  await mkdir(reference, {recursive: true});
  await writeFile(path.join(reference, 'benchmarks.md'), page(rows, runs, startUps, startUpRuns));
}
