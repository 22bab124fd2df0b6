import os from 'node:os';
import type {Comparison, Measurement, Spread} from './measure.js';
import {reference, type StartUp} from './start-up.js';
import {smallFileBytes, type Composition, type Tree} from './trees.js';

/** A line of the report: what was measured with which tree, and the baseline. */
export interface Row extends Comparison {
  readonly tree: string;
  readonly what: string;
  readonly baseline: string;
  /** What the ratio is of. */
  readonly ratioOf: 'time' | 'cpu';
  /** The most that the ratio may be. */
  readonly target?: number | undefined;
}

/** The results for one tree. */
export interface TreeResult {
  readonly tree: Tree;
  readonly composition: Composition;
  readonly rows: readonly Row[];
  /** Size of the v2 archive relative to `gzip -6`, if it was built. */
  readonly archiveRatio?: number | undefined;
}

/** A section of the page. */
export interface Section {
  readonly title: string;
  readonly text: string;
  /** The goals that were missed, a sentence each. They are for us, not for the page. */
  readonly missed: readonly string[];
}

/** Ends the name of what is measured in a pseudo-terminal. */
export const atTerminal = ' at a terminal';

/** Any push at any size stays below. `drawnKB`: at a terminal, in 30 s. */
const goals = {peakMiB: 170, bytesPerFile: 400, drawnKB: 60} as const;

/** The order of the sections on the page. Those that others have written by hand follow. */
const titles = {startUp: 'Start-up', trees: 'Generated trees', real: 'Builds of frameworks'} as const;

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

function times(ratio: number): string {
  return `${ratio.toFixed(2)}×`;
}

function spreadCells(ratio: Spread | undefined): readonly string[] {
  return ratio ? [times(ratio.median), `${ratio.least.toFixed(2)} to ${times(ratio.most)}`] : ['', ''];
}

/** As it is shown: a ratio is not missed by digits that nobody sees. */
function isMet(median: number | undefined, most: number): boolean {
  return median !== undefined && Number(median.toFixed(2)) <= most;
}

function ratioIn({ratios, ratioOf}: Row): Spread | undefined {
  return ratios?.[ratioOf];
}

function figures(measurement: Measurement | undefined): readonly string[] {
  if (!measurement) return ['fails', '', ''];
  const {seconds, cpuSeconds, peakMiB} = measurement;
  return [`${seconds.toFixed(2)} s`, `${cpuSeconds.toFixed(2)} s`, `${Math.round(peakMiB)} MiB`];
}

/** What the trees are made of. */
function compositionTable(results: readonly TreeResult[]): string {
  return markdown(
    ['tree', 'files', 'size', 'text', 'compressed already'],
    results.map(({tree, composition: {files, bytes, text, compressed}}) => [
      ...[tree.name, files.toLocaleString('en'), `${(bytes / 1e6).toFixed(1)} MB`],
      ...[percent(text), percent(compressed)],
    ]),
  );
}

/** A table for each thing that was measured, with a line for each tree. */
function tables(rows: readonly Row[]): string {
  const kinds = new Map<string, Row[]>();
  for (const row of rows) {
    const kind = `### ${row.what}, compared with \`${row.baseline}\``;
    kinds.set(kind, [...(kinds.get(kind) ?? []), row]);
  }
  return [...kinds].map(([kind, ofKind]) => `${kind}\n\n${table(ofKind)}`).join('\n\n');
}

function table(rows: readonly Row[]): string {
  const ratio = rows.every(({ratioOf}) => ratioOf === 'cpu') ? 'CPU ratio' : 'ratio';
  return markdown(
    ['tree', 'time', 'CPU', 'peak', 'its time', 'its CPU', 'its peak', 'rounds', ratio, 'spread'],
    rows.map((row) => [
      ...[row.tree, ...figures(row.measured), ...figures(row.compared), String(row.rounds)],
      ...spreadCells(ratioIn(row)),
    ]),
  );
}

/** What the tables do not show. */
function notes(results: readonly TreeResult[]): string {
  const rows = results.flatMap((result) => result.rows);
  const [peak, perFile, drawn] = [highestPeak(rows), bytesPerFile(results), mostDrawn(rows)];
  return [
    peak && `Highest peak: ${Math.round(peak.measured.peakMiB)} MiB, ${peak.what} of ${peak.tree}.`,
    perFile && `Memory grows only with the number of files: the peak of a v1 push grows by ${perFile} bytes per file.`,
    drawn && `At a terminal, at most ${drawn} kB are drawn in 30 s.`,
    sizeNote(results),
  ]
    .filter((note) => note !== undefined)
    .map((note) => `- ${note}\n`)
    .join('');
}

function missedIn(results: readonly TreeResult[]): readonly string[] {
  const rows = results.flatMap((result) => result.rows);
  const [peak, perFile, drawn] = [highestPeak(rows)?.measured.peakMiB ?? 0, bytesPerFile(results), mostDrawn(rows)];
  return [
    ...rows.flatMap((row) => missedRatio(`${row.what} of ${row.tree}`, ratioIn(row)?.median, row.target)),
    ...(peak < goals.peakMiB ? [] : [`The highest peak is ${Math.round(peak)} MiB (at most ${goals.peakMiB}).`]),
    ...((perFile ?? 0) <= goals.bytesPerFile ? [] : [`A file takes ${perFile} bytes (at most ${goals.bytesPerFile}).`]),
    ...((drawn ?? 0) <= goals.drawnKB ? [] : [`${drawn} kB are drawn in 30 s (at most ${goals.drawnKB}).`]),
  ];
}

function missedRatio(what: string, median: number | undefined, most: number | undefined): readonly string[] {
  if (most === undefined || isMet(median, most)) return [];
  return [`${what}: ${median === undefined ? 'fails' : times(median)} (at most ${times(most)}).`];
}

function highestPeak(rows: readonly Row[]) {
  return rows
    .flatMap(({what, tree, measured}) => (measured ? [{what, tree, measured}] : []))
    .sort((a, b) => b.measured.peakMiB - a.measured.peakMiB)
    .at(0);
}

/** In kB per 30 s. */
function mostDrawn(rows: readonly Row[]): number | undefined {
  const drawn = rows.flatMap(({what, measured}) =>
    what.endsWith(atTerminal) && measured ? [(measured.printedBytes / measured.seconds) * 0.03] : [],
  );
  return drawn.length === 0 ? undefined : Math.round(Math.max(...drawn));
}

function bytesPerFile(results: readonly TreeResult[]): number | undefined {
  const byFiles = results
    .filter(({tree}) => tree.bytes === tree.files * smallFileBytes)
    .map(({tree, rows}) => ({files: tree.files, peak: rows.find(({what}) => what === 'Push v1')?.measured?.peakMiB}))
    .sort((a, b) => a.files - b.files);
  const [few, many] = [byFiles.at(0), byFiles.at(-1)];
  if (few?.peak === undefined || many?.peak === undefined || many.files === few.files) return undefined;
  return Math.round(((many.peak - few.peak) * 2 ** 20) / (many.files - few.files));
}

function sizeNote(results: readonly TreeResult[]): string | undefined {
  const shares = results.flatMap(({archiveRatio}) => (archiveRatio === undefined ? [] : [archiveRatio * 100]));
  if (shares.length === 0) return undefined;
  const [least, most] = [Math.min(...shares), Math.max(...shares)].map((share) => share.toFixed(1));
  return `The v2 archives are ${least} to ${most} % the size of those of \`gzip -6\`.`;
}

/** The start-up times, with their ratios to the reference. */
export function startUpSection(startUps: readonly StartUp[], rounds: number): Section {
  const lines = startUps.map(({what, milliseconds, ratio}) => [
    ...[what, `${Math.round(milliseconds)} ms`, ...spreadCells(ratio)],
  ]);
  return section(
    titles.startUp,
    `${rounds} rounds, each command from the start of its process to its end, or to the first line that it prints. The baseline is
${reference}: a command line with one command, a manifest and no plugins (\`bench/oclif-hello\`). A first line is compared with
the line that it prints. On Node.js 22 and newer, \`mycli\` finds its compiled code in
the user's cache folder, except on the first run.

${markdown(['what', 'time', 'ratio', 'spread'], lines)}`,
    startUps.flatMap(({what, ratio, target}) => missedRatio(what, ratio.median, target)),
  );
}

/** Builds and pushes of trees that are written for it. */
export function treesSection(results: readonly TreeResult[], uploads: readonly Row[]): Section {
  return section(
    titles.trees,
    `${treesText(results)}

${tables([...results.flatMap(({rows}) => rows), ...uploads])}`,
    missedIn(results),
  );
}

/** Builds and pushes of what frameworks have built. */
export function realSection(results: readonly TreeResult[]): Section {
  return section(
    titles.real,
    `\`bench/real-trees.ts\` builds them from pinned packages: the classic site of \`create-docusaurus\`, one page of \`next\` as
a standalone server with its dependencies, and \`@salesforce/retail-react-app\`, a shop, with \`pwa-kit-dev build\`.

${treesText(results)}

${tables(results.flatMap(({rows}) => rows))}`,
    missedIn(results),
  );
}

function treesText(results: readonly TreeResult[]): string {
  return `${compositionTable(results)}\n\n${notes(results)}`.trimEnd();
}

function section(title: string, text: string, missed: readonly string[]): Section {
  const [cpu] = os.cpus();
  const memory = `${Math.round(os.totalmem() / 2 ** 30)} GiB`;
  const machine = `${os.cpus().length} × ${cpu?.model.trim() ?? 'unknown CPU'}, ${memory}`;
  const command = ['npm run bench --', ...process.argv.slice(2)].join(' ');
  const measured = `Measured on ${new Date().toISOString().slice(0, 10)} by \`${command}\`:
${machine}, Node ${process.version}, ${os.platform()}.`;
  return {title, text: `${measured}\n\n${text}`, missed};
}

/** A Markdown table, padded as formatters do, without the columns that are empty. */
function markdown(allHeads: readonly string[], allBody: readonly (readonly string[])[]): string {
  const filled = allHeads.map((_, column) => allBody.some((line) => line[column] !== ''));
  const [head = [], ...body] = [allHeads, ...allBody].map((line) => line.filter((_, column) => filled[column]));
  const lines = [head, ...body];
  const widths = head.map((_, column) => Math.max(3, ...lines.map((line) => line[column]?.length ?? 0)));
  const rule = widths.map((width) => '-'.repeat(width));
  return [head, rule, ...body]
    .map((line) => `| ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`)
    .join('\n');
}

const introduction = `# Benchmarks

The time and memory that \`mycli\` takes, compared with \`tar\`, \`gzip\` and another client. Each round runs the command in a
process of its own, and then the baseline.

- **Times** and **CPU** are medians; CPU is that of all processes of a command. **Peaks** are the maximum memory of its
  largest process.
- A **ratio** is our time divided by that of the baseline: the median over all rounds, with the lowest and the highest as
  its **spread**. Ratios carry over to other machines; seconds do not. Short commands run in more rounds; with two, the
  median is their mean.
- **Text** is the share of bytes in files without a NUL byte. **Compressed already** is the share in files that zlib makes
  less than 5 % smaller: media, fonts, archives.
- Pushes go over loopback to a server process that stores nothing (\`bench/sink-server.js\`). Unchanged pushes have
  \`--if-changed\`. \`pwa-kit-dev\` is \`@salesforce/pwa-kit-dev\` as published, compared by CPU time (user and system), which a
  busy machine hardly moves (\`bench/pwa-kit-dev.ts\`).
`;

/** The page for the reference with new sections. The others stay as they are in `page`. */
export function updatePage(page: string, sections: readonly Section[]): string {
  const [, ...old] = page.split('\n## ').map((text) => {
    const [title = '', ...lines] = text.split('\n');
    return {title, text: lines.join('\n').trim()};
  });
  const known = Object.values(titles).flatMap(
    (title) => [...sections, ...old].find((one) => one.title === title) ?? [],
  );
  const byHand = old.filter(({title}) => !known.some((one) => one.title === title));
  return [introduction, ...[...known, ...byHand].map(({title, text}) => `## ${title}\n\n${text}\n`)].join('\n');
}
