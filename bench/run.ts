// npm run bench -- [--real] [--sizes 20,200,1000] [--files 1000,10000,30000,100000] [--runs 3] [--start-up-runs 40]
//   [--write]
import {mkdtemp, mkdir, readFile, rm, stat, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {parseArgs} from 'node:util';
import {compare, requireGnuTime, type Command} from './measure.js';
import {makeRealTrees} from './real-trees.js';
import {compositionTable, notes, page, startUpTable, table, type Row, type Target, type TreeResult} from './report.js';
import {startSink} from './sink.js';
import {measureStartUp} from './start-up.js';
import {compositionOf, smallFileBytes, writeNoise, writeTree, type Tree} from './trees.js';

const root = path.resolve(import.meta.dirname, '..');
const binary = path.join(root, 'bin/run.js');
const MB = 1_000_000;
const usualArchive = "archiver's directory()";

const {values} = parseArgs({
  options: {
    sizes: {type: 'string', default: '20,200,1000'},
    files: {type: 'string', default: '1000,10000,30000,100000'},
    runs: {type: 'string', default: '3'},
    'start-up-runs': {type: 'string', default: '40'},
    write: {type: 'boolean', default: false},
    real: {type: 'boolean', default: false},
  },
});
const runs = Number(values.runs);
const startUpRuns = Number(values['start-up-runs']);

/** Sizes up to 200 MB in files of 40 kB, larger ones in files of 5 MB; and numbers of files of 4 kB. */
const trees: readonly Tree[] = [
  ...numbers(values.sizes).map((size) => {
    const bytes = size * MB;
    const files = Math.max(1, Math.round(bytes / (bytes > 200 * MB ? 5 * MB : 40_000)));
    return {name: `${sizeName(size)}, ${files.toLocaleString('en')} files`, bytes, files};
  }),
  // What people complain about: mostly text, and mostly media.
  ...numbers(values.sizes).flatMap((size) =>
    size === 200 ? [mixed('text-heavy', 0.9), mixed('media-heavy', 0.1)] : [],
  ),
  ...numbers(values.files).map((files) => {
    return {name: `${files.toLocaleString('en')} files of 4 kB`, bytes: files * smallFileBytes, files};
  }),
];

function mixed(name: string, text: number): Tree {
  return {name: `200 MB, ${name}`, bytes: 200 * MB, files: 5000, text};
}

function numbers(list: string): readonly number[] {
  return list
    .split(',')
    .filter((item) => item !== '')
    .map(Number);
}

function sizeName(megabytes: number): string {
  return megabytes < 1000 ? `${megabytes} MB` : `${megabytes / 1000} GB`;
}

function shell(script: string, ...args: readonly string[]): Command {
  return {argv: ['sh', '-c', script, 'sh', ...args]};
}

function script(name: string, ...args: readonly string[]): Command {
  return {argv: [process.execPath, path.join(import.meta.dirname, name), ...args]};
}

/** Everything that is done to one tree, beside what it is compared with. */
function rowsOf(build: string, scratch: string, origin: string): readonly [string, Command, string, Command][] {
  const mycli = (...args: readonly string[]): Command => ({
    argv: [process.execPath, binary, ...args, '-C', scratch, '-p', 'bench', '-b', build],
    env: {
      MYCLI_RUNTIME_ORIGIN: origin,
      MYCLI_API_KEY: 'none',
      MYCLI_RUNTIME_BACKEND: 'legacy',
      XDG_DATA_HOME: scratch,
      CI: '1',
    },
  });
  const file = (name: string) => path.join(scratch, name);
  const tar = 'tar -cf - -C "$1" .';
  return [
    [
      'build v1',
      mycli('bundle:build', '--format', 'v1', '-o', file('bundle.tar')),
      'tar',
      shell('tar -cf "$2" -C "$1" .', build, file('gnu.tar')),
    ],
    [
      'build v1',
      mycli('bundle:build', '--format', 'v1', '-o', file('bundle.tar')),
      usualArchive,
      script('archiver-directory.js', build, file('usual.tar')),
    ],
    [
      'build v2',
      mycli('bundle:build', '-o', file('bundle.tar.gz')),
      'tar | gzip -6',
      shell(`${tar} | gzip -6 > "$2"`, build, file('gnu.tar.gz')),
    ],
    ['push v1', mycli('bundle:push'), 'tar | base64 | wc -c', shell(`${tar} | base64 | wc -c`, build)],
    [
      'push v1',
      mycli('bundle:push'),
      'tar-fs, readFile, base64, fetch',
      script('usual-push.js', build, file('usual.tar'), origin),
    ],
    ['push v2', mycli('bundle:push', '--v2'), 'tar | gzip -6 | wc -c', shell(`${tar} | gzip -6 | wc -c`, build)],
    // After a push of the same build, which is the last row and its baseline.
    [
      'push v2, unchanged',
      mycli('bundle:push', '--v2', '--if-changed'),
      'bundle:push --v2',
      mycli('bundle:push', '--v2'),
    ],
  ];
}

/** The targets, which hold for trees of some size and shape. */
function targetOf(what: string, baseline: string, {bytes, files}: Tree): Target | undefined {
  if (what === 'push v2, unchanged') return bytes >= 100 * MB ? {of: 'cpu', most: 0.3} : undefined;
  if (what === 'push v1' && baseline.startsWith('tar |') && bytes >= 1000 * MB) return {of: 'time', most: 1.5};
  if (what !== 'push v2') return undefined;
  if (bytes >= 100 * MB) return {of: 'time', most: 0.5};
  if (bytes === 20 * MB) return {of: 'time', most: 0.7};
  return files === 1000 && bytes === files * smallFileBytes ? {of: 'time', most: 2} : undefined;
}

/** Measures a tree that is there already, or is written for it. */
async function measureTree(tree: Tree, origin: string, made?: string): Promise<TreeResult> {
  const scratch = await mkdtemp(path.join(tmpdir(), 'mycli-bench-'));
  try {
    const build = made ?? path.join(scratch, 'build');
    if (made === undefined) await writeTree(build, tree);
    const composition = await compositionOf(build);
    const rows: Row[] = [];
    for (const [what, command, baseline, other] of rowsOf(build, scratch, origin)) {
      // Half a minute for each run of 100,000 files.
      if (baseline === usualArchive && tree.files > 30_000) continue;
      console.error(`${tree.name}: ${what}, ${baseline} ...`);
      const target = targetOf(what, baseline, tree);
      rows.push({tree: tree.name, what, baseline, target, ...(await compare(command, other, {runs, scratch}))});
    }
    const [ours, gnu] = await Promise.all(
      ['bundle.tar.gz', 'gnu.tar.gz'].map((name) => stat(path.join(scratch, name))),
    );
    return {tree, composition, rows, archiveRatio: (ours?.size ?? NaN) / (gnu?.size ?? NaN)};
  } finally {
    await rm(scratch, {recursive: true, force: true});
  }
}

/** A file that is there already, through our client and through node's own. */
async function measureUpload(megabytes: number, origin: string): Promise<Row> {
  const scratch = await mkdtemp(path.join(tmpdir(), 'mycli-bench-'));
  try {
    const file = path.join(scratch, 'ready');
    await writeNoise(file, megabytes * MB);
    const comparison = await compare(
      script('upload-client.js', file, origin),
      script('upload-node-http.js', file, origin),
      {
        runs,
        scratch,
      },
    );
    return {tree: `a file of ${sizeName(megabytes)}`, what: 'upload', baseline: 'node:http', ...comparison};
  } finally {
    await rm(scratch, {recursive: true, force: true});
  }
}

await requireGnuTime();
console.error('start-up ...');
const startUps = startUpRuns > 0 ? await measureStartUp(binary, startUpRuns) : [];
console.log(`${startUpTable(startUps)}\n`);
const sink = await startSink();
const results: TreeResult[] = [];
const uploads: Row[] = [];
try {
  for (const tree of trees) results.push(await measureTree(tree, sink.origin));
  for (const {name, folder} of values.real ? await makeRealTrees(process.env) : [])
    results.push(await measureTree({name, ...(await compositionOf(folder)), text: undefined}, sink.origin, folder));
  for (const size of numbers(values.sizes).slice(-1)) uploads.push(await measureUpload(size, sink.origin));
} finally {
  await sink.stop();
}
console.log(
  `${compositionTable(results)}\n\n${table([...results.flatMap(({rows}) => rows), ...uploads])}\n\n${notes(results)}`,
);

if (values.write) {
  const reference = path.join(root, 'docs/reference');
  await mkdir(reference, {recursive: true});
  const file = path.join(reference, 'benchmarks.md');
  // What other scripts have measured is written by hand, at the end.
  const [, byHand] = (await readFile(file, 'utf8')).split('\n## The local runtime\n');
  const written = page({results, uploads, runs, startUps, startUpRuns});
  await writeFile(file, byHand === undefined ? written : `${written}\n## The local runtime\n${byHand}`);
}
