// npm run bench -- [--real] [--write] [--only start-up|trees|real ...] [--sizes 20,200,1000]
//   [--files 1000,10000,30000,100000] [--runs 3] [--seconds 10] [--start-up-runs 20]
// Everything is measured in rounds: --runs of them, more while they take less than --seconds together, and only two if
// these take very long.
// --write updates the sections of docs/reference/benchmarks.md that were measured, and leaves the others alone.
import {mkdtemp, readFile, rm, stat, writeFile} from 'node:fs/promises';
import {loadavg, tmpdir} from 'node:os';
import path from 'node:path';
import {parseArgs} from 'node:util';
import {compare, measureRounds, requireGnuTime, type Command, type HowOften} from './measure.js';
import {installPwaKitDev, pushWithPwaKitDev, pwaKitDev} from './pwa-kit-dev.js';
import {makeRealTrees} from './real-trees.js';
import {
  atTerminal,
  realSection,
  startUpSection,
  treesSection,
  updatePage,
  type Row,
  type Section,
  type TreeResult,
} from './report.js';
import {startSink} from './sink.js';
import {measureStartUp} from './start-up.js';
import {compositionOf, smallFileBytes, writeNoise, writeTree, type Tree} from './trees.js';

const root = path.resolve(import.meta.dirname, '..');
const binary = path.join(root, 'bin/run.js');
const MB = 1_000_000;
const unchanged = 'Unchanged push v2';
const piped = 'tar | base64 | curl';
const floor = 'archiver, base64 and node:http';
const intoFile = 'the same into a file';

const {values} = parseArgs({
  options: {
    only: {type: 'string', multiple: true},
    sizes: {type: 'string', default: '20,200,1000'},
    files: {type: 'string', default: '1000,10000,30000,100000'},
    runs: {type: 'string', default: '3'},
    seconds: {type: 'string', default: '10'},
    'start-up-runs': {type: 'string', default: '20'},
    write: {type: 'boolean', default: false},
    real: {type: 'boolean', default: false},
  },
});
const howOften: HowOften = {leastRounds: Number(values.runs), seconds: Number(values.seconds)};

/** What is measured, and written into a section of its own. */
const parts = {'start-up': measureStartUps, trees: measureTrees, real: measureRealTrees};
type Part = keyof typeof parts;

/** Less than 200 MB in files of 20 kB, 200 MB in files of 40 kB, more in few and in more files; and files of 4 kB. */
const trees: readonly Tree[] = [
  ...numbers(values.sizes).flatMap((size) =>
    size > 200 ? [sized(size, 0.2), sized(size, 2)] : [sized(size, size < 200 ? 50 : 25)],
  ),
  // What people complain about: mostly text, and mostly media.
  ...numbers(values.sizes).flatMap((size) =>
    size === 200 ? [mixed('text-heavy', 0.9), mixed('media-heavy', 0.1)] : [],
  ),
  ...numbers(values.files).map((files) => {
    const name = `${files.toLocaleString('en')} files of 4 kB`;
    return {name, bytes: files * smallFileBytes, files, pushesOnly: files > 10_000};
  }),
];

function sized(size: number, filesPerMB: number): Tree {
  const files = Math.max(1, Math.round(size * filesPerMB));
  const name = `${sizeName(size)}, ${files.toLocaleString('en')} files`;
  return {name, bytes: size * MB, files, pushesOnly: size > 200};
}

function mixed(name: string, text: number): Tree {
  return {name: `200 MB, ${name}`, bytes: 200 * MB, files: 5000, text, pushesOnly: true};
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

/** Where pushes go, and where the client that ours is compared with is installed. */
interface Places {
  readonly origin: string;
  readonly client: string;
}

/** A command line, its name, and the names of those that it is compared with. */
interface Measured {
  readonly name: string;
  readonly command: Command;
  readonly baselines?: readonly string[];
}

/** Everything that is done to one tree. What is compared is in one group, whose commands run in turns. */
async function groupsOf(
  build: string,
  scratch: string,
  {origin, client}: Places,
  {bytes, files, pushesOnly}: Tree,
): Promise<readonly (readonly Measured[])[]> {
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
  const builds: readonly (readonly Measured[])[] = [
    [
      {
        name: 'Build v1',
        command: mycli('bundle:build', '--format', 'v1', '-o', file('bundle.tar')),
        baselines: ['tar', "archiver's directory()"],
      },
      {name: 'tar', command: shell('tar -cf "$2" -C "$1" .', build, file('gnu.tar'))},
      {name: "archiver's directory()", command: script('archiver-directory.js', build, file('usual.tar'))},
    ],
    [
      {
        name: 'Build v2',
        command: mycli('bundle:build', '-o', file('bundle.tar.gz')),
        baselines: ['tar | gzip -6'],
      },
      {name: 'tar | gzip -6', command: shell(`${tar} | gzip -6 > "$2"`, build, file('gnu.tar.gz'))},
    ],
  ];
  // They keep everything in memory, one in a text, which must not be longer than V8 allows.
  const isForClient = build === file('build') && bytes <= 200 * MB && files <= 10_000;
  const inMemory: readonly Measured[] = isForClient
    ? [
        {name: pwaKitDev, command: await pushWithPwaKitDev(client, scratch, origin)},
        {name: floor, command: script('push-floor.js', build, origin)},
      ]
    : [];
  const pushes: readonly (readonly Measured[])[] = [
    [
      {
        name: 'Push v1',
        command: mycli('bundle:push'),
        baselines: [piped, ...inMemory.map(({name}) => name)],
      },
      {name: piped, command: shell(`${tar} | base64 -w 0 | curl -sSf -X POST -T - "$2"`, build, origin)},
      ...inMemory,
    ],
    [
      {name: 'Push v2', command: mycli('bundle:push', '--v2'), baselines: ['tar | gzip -6 | wc -c']},
      {name: 'tar | gzip -6 | wc -c', command: shell(`${tar} | gzip -6 | wc -c`, build)},
      // Not before a push of the same build.
      {name: unchanged, command: mycli('bundle:push', '--v2', '--if-changed'), baselines: ['Push v2']},
    ],
  ];
  const isForTerminal = !pushesOnly && bytes >= 100 * MB;
  const drawn = isForTerminal ? [...builds, ...pushes].map(([first]) => first && twice(first, scratch)) : [];
  return [...(pushesOnly ? [] : builds), ...pushes, ...drawn.filter((group) => group !== undefined)];
}

/** A command in a pseudo-terminal of 100 columns, and with its output in a file. */
function twice({name, command: {argv, env}}: Measured, scratch: string): readonly Measured[] {
  const line = argv.map((word) => `'${word}'`).join(' ');
  const terminal = ['script', '-qefc', `stty cols 100 rows 40; exec ${line}`, '/dev/null'] as const;
  const file = ['sh', '-c', `exec ${line} > '${path.join(scratch, 'output')}' 2>&1`] as const;
  return [
    {
      name: `${name}${atTerminal}`,
      command: {argv: terminal, env: {...env, CI: '', TERM: 'xterm-256color', LANG: 'C.UTF-8'}},
      baselines: [intoFile],
    },
    {name: intoFile, command: {argv: file, env}},
  ];
}

/** The targets, which hold for trees of some size and shape. */
function targetOf(what: string, baseline: string, {bytes, files, text}: Tree): number | undefined {
  if (baseline === intoFile) return 1.15;
  const isOf4kB = bytes === files * smallFileBytes;
  if (what === unchanged) return bytes >= 100 * MB ? 0.3 : isOf4kB && files === 10_000 ? 0.6 : undefined;
  if (what === 'Push v1' && baseline === piped && bytes >= 1000 * MB) return 1.5;
  if (baseline === pwaKitDev && bytes === 20 * MB && files === 1000) return 0.33;
  if (baseline === pwaKitDev && bytes === 200 * MB && files === 5000 && text === undefined) return 0.24;
  if (what === 'Build v1' && baseline.startsWith('archiver')) return 0.4;
  if (what !== 'Push v2') return undefined;
  if (isOf4kB) return files === 1000 ? 3 : undefined;
  if (bytes >= 1000 * MB) return 0.45;
  return bytes >= 100 * MB ? 0.65 : undefined;
}

/** Measures a tree that is there already, or is written for it. */
async function measureTree(tree: Tree, places: Places, made?: string): Promise<TreeResult> {
  console.error(`${tree.name} ...`);
  const scratch = await mkdtemp(path.join(tmpdir(), 'mycli-bench-'));
  try {
    const build = made ?? path.join(scratch, 'build');
    if (made === undefined) await writeTree(build, tree);
    const composition = await compositionOf(build);
    const rows: Row[] = [];
    for (const group of await groupsOf(build, scratch, places, tree)) {
      const commands = new Map(group.map(({name, command}) => [name, command]));
      const rounds = await measureRounds(commands, howOften, scratch);
      for (const {name: what, baselines = []} of group) {
        for (const baseline of baselines) {
          const target = targetOf(what, baseline, tree);
          const ratioOf = what === unchanged || [pwaKitDev, floor].includes(baseline) ? 'cpu' : 'time';
          rows.push({tree: tree.name, what, baseline, ratioOf, target, ...compare(rounds, what, baseline)});
        }
      }
    }
    const archiveRatio = tree.pushesOnly ? undefined : await sizeRatio(scratch, 'bundle.tar.gz', 'gnu.tar.gz');
    return {tree, composition, rows, archiveRatio};
  } finally {
    await rm(scratch, {recursive: true, force: true});
  }
}

async function sizeRatio(folder: string, ...names: readonly [string, string]): Promise<number> {
  const [one, other] = await Promise.all(names.map((name) => stat(path.join(folder, name))));
  return (one?.size ?? NaN) / (other?.size ?? NaN);
}

/** A file that is there already, through our client and through node's own. */
async function measureUpload(megabytes: number, {origin}: Places): Promise<Row> {
  const scratch = await mkdtemp(path.join(tmpdir(), 'mycli-bench-'));
  try {
    const file = path.join(scratch, 'ready');
    await writeNoise(file, megabytes * MB);
    const [what, baseline] = ['Upload', 'node:http'];
    const commands = new Map([
      [what, script('upload-client.js', file, origin)],
      [baseline, script('upload-node-http.js', file, origin)],
    ]);
    const rounds = await measureRounds(commands, howOften, scratch);
    const tree = `a file of ${sizeName(megabytes)}`;
    return {tree, what, baseline, ratioOf: 'time', ...compare(rounds, what, baseline)};
  } finally {
    await rm(scratch, {recursive: true, force: true});
  }
}

async function measureStartUps(): Promise<Section> {
  console.error('start-up ...');
  const rounds = Number(values['start-up-runs']);
  return startUpSection(await measureStartUp(binary, rounds), rounds);
}

async function measureTrees(places: Places): Promise<Section> {
  const results: TreeResult[] = [];
  for (const tree of trees) results.push(await measureTree(tree, places));
  const uploads: Row[] = [];
  for (const size of numbers(values.sizes).slice(-1)) uploads.push(await measureUpload(size, places));
  return treesSection(results, uploads);
}

async function measureRealTrees(places: Places): Promise<Section> {
  const results: TreeResult[] = [];
  for (const {name, folder} of await makeRealTrees(process.env)) {
    const {files, bytes} = await compositionOf(folder);
    results.push(await measureTree({name, files, bytes}, places, folder));
  }
  return realSection(results);
}

function partsToMeasure(): readonly Part[] {
  const all = Object.keys(parts).filter((name): name is Part => name in parts);
  const {only, real} = values;
  if (only === undefined) return all.filter((part) => part !== 'real' || real);
  const unknown = only.filter((name) => !(name in parts));
  if (unknown.length > 0) throw new Error(`Unknown part: ${unknown.join(', ')}. Parts: ${all.join(', ')}`);
  return all.filter((part) => only.includes(part));
}

const started = performance.now();
await requireGnuTime();
const [load = 0] = loadavg();
if (load > 0.5) console.error(`The load of this machine is ${load.toFixed(1)}. Figures to publish need a quiet one.`);
const toMeasure = partsToMeasure();
const client = await installPwaKitDev(process.env);
const sink = await startSink();
const sections: Section[] = [];
try {
  for (const part of toMeasure) sections.push(await parts[part]({origin: sink.origin, client}));
} finally {
  await sink.stop();
}
for (const {title, text} of sections) console.log(`## ${title}\n\n${text}\n`);
for (const line of sections.flatMap(({missed}) => missed)) console.error(`Goal missed: ${line}`);
if (values.write) {
  const page = path.join(root, 'docs/reference/benchmarks.md');
  await writeFile(page, updatePage(await readFile(page, 'utf8'), sections));
}
console.error(`That took ${((performance.now() - started) / 60_000).toFixed(1)} minutes.`);
