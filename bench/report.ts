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
}

/** Ends the name of what is measured in a pseudo-terminal. */
export const atTerminal = ' at a terminal';

/** The most that is drawn at a terminal, in kB per 30 s. */
const mostDrawn = 60;

/** Any push at any size stays below. */
const mostPeakMiB = 170;
const mostBytesPerFile = 400;

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

function targetCell(median: number | undefined, most: number | undefined): string {
  return most === undefined ? '' : `${times(most)}${isMet(median, most) ? '' : ' **missed**'}`;
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
    ['tree', 'time', 'CPU', 'peak', 'its time', 'its CPU', 'its peak', 'rounds', ratio, 'spread', 'target'],
    rows.map((row) => [
      ...[row.tree, ...figures(row.measured), ...figures(row.compared), String(row.rounds)],
      ...spreadCells(ratioIn(row)),
      targetCell(ratioIn(row)?.median, row.target),
    ]),
  );
}

/** What is missed, and what the tables do not show. */
function notes(results: readonly TreeResult[]): string {
  const rows = results.flatMap((result) => result.rows);
  return [targetNote(rows), peakNote(rows), memoryNote(results), drawnNote(rows), sizeNote(results)]
    .filter((note) => note !== undefined)
    .map((note) => `- ${note}\n`)
    .join('');
}

function targetNote(rows: readonly Row[]): string | undefined {
  const aimed = rows.flatMap((row) =>
    row.target === undefined ? [] : [{row, most: row.target, median: ratioIn(row)?.median}],
  );
  if (aimed.length === 0) return undefined;
  const missed = aimed.filter(({median, most}) => !isMet(median, most));
  if (missed.length === 0) return `Targets: all ${aimed.length} are met.`;
  const list = missed.map(({row, median, most}) => {
    const ratio = median === undefined ? 'fails' : times(median);
    return `${row.what} of ${row.tree} (${ratio}, at most ${times(most)})`;
  });
  return `Targets: **${missed.length} of ${aimed.length} are missed**: ${list.join('; ')}.`;
}

function peakNote(rows: readonly Row[]): string | undefined {
  const [highest] = rows
    .flatMap(({what, tree, measured}) => (measured ? [{what, tree, peak: measured.peakMiB}] : []))
    .sort((a, b) => b.peak - a.peak);
  if (!highest) return undefined;
  const {what, tree, peak} = highest;
  const mark = peak < mostPeakMiB ? '' : ', **missed**';
  return `Highest peak: ${Math.round(peak)} MiB, ${what} of ${tree} (target: below ${mostPeakMiB} MiB${mark}).`;
}

function drawnNote(rows: readonly Row[]): string | undefined {
  const drawn = rows.flatMap(({what, measured}) =>
    what.endsWith(atTerminal) && measured ? [(measured.printedBytes / measured.seconds) * 0.03] : [],
  );
  if (drawn.length === 0) return undefined;
  const most = Math.max(...drawn);
  const mark = most <= mostDrawn ? '' : ', **missed**';
  return `At a terminal, at most ${Math.round(most)} kB are drawn in 30 s (target: at most ${mostDrawn} kB${mark}).`;
}

function memoryNote(results: readonly TreeResult[]): string | undefined {
  const byFiles = results
    .filter(({tree}) => tree.bytes === tree.files * smallFileBytes)
    .map(({tree, rows}) => ({files: tree.files, peak: rows.find(({what}) => what === 'Push v1')?.measured?.peakMiB}))
    .sort((a, b) => a.files - b.files);
  const [few, many] = [byFiles.at(0), byFiles.at(-1)];
  if (few?.peak === undefined || many?.peak === undefined || many.files === few.files) return undefined;
  const bytes = Math.round(((many.peak - few.peak) * 2 ** 20) / (many.files - few.files));
  const mark = bytes <= mostBytesPerFile ? '' : ', **missed**';
  return (
    `Memory grows only with the number of files: the peak of a v1 push by ${bytes} bytes per file from ` +
    `${few.files.toLocaleString('en')} files to ${many.files.toLocaleString('en')} ` +
    `(target: at most ${mostBytesPerFile}${mark}).`
  );
}

function sizeNote(results: readonly TreeResult[]): string | undefined {
  const shares = results.flatMap(({archiveRatio}) => (archiveRatio === undefined ? [] : [archiveRatio * 100]));
  if (shares.length === 0) return undefined;
  const [least, most] = [Math.min(...shares), Math.max(...shares)].map((share) => share.toFixed(1));
  return `The v2 archives are ${least} to ${most} % the size of those of \`gzip -6\`.`;
}

/** The start-up times, with their ratios to the reference. */
export function startUpSection(startUps: readonly StartUp[], rounds: number): Section {
  const lines = startUps.map(({what, milliseconds, ratio, target}) => [
    ...[what, `${Math.round(milliseconds)} ms`, ...spreadCells(ratio)],
    targetCell(ratio.median, target),
  ]);
  return section(
    titles.startUp,
    `${rounds} rounds, each command from the start of its process to its end, or to the first line that it prints (target: 300 ms). Ratios are relative to
${reference} (to its line, for a first line), a command line with one command, a manifest and no plugins (\`bench/oclif-hello\`). On Node.js 22 and newer, \`mycli\` finds its compiled code in
the user's cache folder, except on the first run.

${markdown(['what', 'time', 'ratio', 'spread', 'target'], lines)}`,
  );
}

/** Builds and pushes of trees that are written for it. */
export function treesSection(results: readonly TreeResult[], uploads: readonly Row[]): Section {
  return section(
    titles.trees,
    `${treesText(results)}

${tables([...results.flatMap(({rows}) => rows), ...uploads])}`,
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
  );
}

function treesText(results: readonly TreeResult[]): string {
  return `${compositionTable(results)}\n\n${notes(results)}`.trimEnd();
}

function section(title: string, text: string): Section {
  const [cpu] = os.cpus();
  const memory = `${Math.round(os.totalmem() / 2 ** 30)} GiB`;
  const machine = `${os.cpus().length} × ${cpu?.model.trim() ?? 'unknown CPU'}, ${memory}`;
  const command = ['npm run bench --', ...process.argv.slice(2)].join(' ');
  const measured = `Measured on ${new Date().toISOString().slice(0, 10)} by \`${command}\`:
${machine}, Node ${process.version}, ${os.platform()}.`;
  return {title, text: `${measured}\n\n${text}`};
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

How long \`mycli\` takes, and how much memory, compared with \`tar\`, \`gzip\` and a client that others push with. Commands run in rounds,
each a process of its own, and the baseline right after what is compared with it.

- **Times** and **CPU** are medians; CPU is that of all processes of a command. **Peaks** are the maximum memory of its
  largest process.
- **Ratios** are medians over the rounds of our time to that of the baseline, with the least and the most as their
  **spread**. They carry over to other machines; seconds do not. What is short runs in more rounds; with two, the median
  is their mean.
- **Targets** are the most that a ratio may be. One above it is marked as missed.
- **Text** is the share of bytes in files without a NUL, **compressed already** that in files which zlib makes less than 5 %
  smaller: media, fonts, archives.
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
