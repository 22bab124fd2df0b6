import os from 'node:os';
import type {Comparison, Measurement} from './measure.js';
import {reference, type StartUp} from './start-up.js';
import {smallFileBytes, type Composition, type Tree} from './trees.js';

/** A line of the report: what was measured with which tree, and the baseline. */
export interface Row extends Comparison {
  readonly tree: string;
  readonly what: string;
  readonly baseline: string;
  readonly target?: Target | undefined;
}

/** The most that a ratio may be. */
export interface Target {
  readonly of: 'time' | 'cpu';
  readonly most: number;
}

/** The results for one tree. */
export interface TreeResult {
  readonly tree: Tree;
  readonly composition: Composition;
  readonly rows: readonly Row[];
  /** Size of the v2 archive relative to `gzip -6`. */
  readonly archiveRatio: number;
}

/** The results of a whole run. */
export interface Results {
  readonly results: readonly TreeResult[];
  readonly uploads: readonly Row[];
  readonly runs: number;
  readonly startUps: readonly StartUp[];
  readonly startUpRuns: number;
}

function cells({tree, what, measured, baseline, compared, ratios, target}: Row): readonly string[] {
  const of = target?.of ?? 'time';
  const ratio = ratios?.[of];
  return [
    tree,
    what,
    ...figures(measured),
    // A vertical bar would end the cell.
    `\`${baseline.replaceAll('|', '\\|')}\``,
    ...figures(compared),
    ratio ? `${times(ratio.median)}${of === 'cpu' ? ' of the CPU' : ''}` : '',
    ratio ? `${ratio.least.toFixed(2)} to ${times(ratio.most)}` : '',
    target ? `${times(target.most)}${ratio && ratio.median <= target.most ? '' : ' **missed**'}` : '',
  ];
}

function times(ratio: number): string {
  return `${ratio.toFixed(2)}×`;
}

/** What the trees are made of as a Markdown table. */
export function compositionTable(results: readonly TreeResult[]): string {
  const percent = (share: number) => `${Math.round(share * 100)} %`;
  return markdown(
    ['tree', 'files', 'size', 'text', 'compressed already'],
    results.map(({tree, composition: {files, bytes, text, compressed}}) => [
      ...[tree.name, files.toLocaleString('en'), `${(bytes / 1e6).toFixed(1)} MB`],
      ...[percent(text), percent(compressed)],
    ]),
  );
}

function figures(measurement: Measurement | undefined): readonly string[] {
  if (!measurement) return ['fails', '', ''];
  const {seconds, cpuSeconds, peakMiB} = measurement;
  return [`${seconds.toFixed(2)} s`, `${cpuSeconds.toFixed(2)} s`, `${Math.round(peakMiB)} MiB`];
}

/** The builds and pushes as a Markdown table. */
export function table(rows: readonly Row[]): string {
  const [ours, theirs] = [
    ['time', 'CPU', 'peak'],
    ['its time', 'CPU', 'peak'],
  ];
  return markdown(['tree', 'what', ...ours, 'compared with', ...theirs, 'ratio', 'spread', 'target'], rows.map(cells));
}

/** What the table does not show: the sizes of archives, and the memory per file. */
export function notes(results: readonly TreeResult[]): string {
  const percent = results.map(({archiveRatio}) => archiveRatio * 100);
  const sizes = `The v2 archives are ${Math.min(...percent).toFixed(1)} to ${Math.max(...percent).toFixed(1)} % the size of those of \`gzip -6\`.`;
  const byFiles = results
    .filter(({tree}) => tree.bytes === tree.files * smallFileBytes)
    .map(({tree, rows}) => ({files: tree.files, peak: rows.find(({what}) => what === 'push v1')?.measured?.peakMiB}))
    .sort((a, b) => a.files - b.files);
  const [few, many] = [byFiles.at(0), byFiles.at(-1)];
  if (few?.peak === undefined || many?.peak === undefined || many.files === few.files) return sizes;
  const bytes = Math.round(((many.peak - few.peak) * 2 ** 20) / (many.files - few.files));
  return `${sizes} Memory only grows with the number of files: by ${bytes} bytes per file from the smallest tree to the largest.`;
}

/** The start-up times as a Markdown table, with their ratios to the reference. */
export function startUpTable(startUps: readonly StartUp[]): string {
  const compared = startUps.find(({what}) => what === reference)?.milliseconds ?? NaN;
  const lines = startUps.map(({what, milliseconds}) => [
    what,
    `${Math.round(milliseconds)} ms`,
    `${(milliseconds / compared).toFixed(2)}×`,
  ]);
  return markdown(['what', 'time', 'ratio'], lines);
}

/** A Markdown table, padded like prettier's. */
function markdown(head: readonly string[], body: readonly (readonly string[])[]): string {
  const lines = [head, ...body];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const rule = widths.map((width) => '-'.repeat(width));
  return [head, rule, ...body]
    .map((line) => `| ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`)
    .join('\n');
}

/** The page for the reference: the tables, the machine, the date and the command that wrote it. */
export function page({results, uploads, runs, startUps, startUpRuns}: Results): string {
  const [cpu] = os.cpus();
  const memory = `${Math.round(os.totalmem() / 2 ** 30)} GiB`;
  const machine = `${os.cpus().length} × ${cpu?.model.trim() ?? 'unknown CPU'}, ${memory}, Node ${process.version}, ${os.platform()}`;
  return `# Benchmarks

Written by \`npm run bench -- --write\` on ${new Date().toISOString().slice(0, 10)}: ${machine}. Times are medians of
${runs} runs of whole processes, alternating with the baseline. Peaks are the maximum memory of the largest process. Pushes
go over loopback to a separate server process that stores nothing (\`bench/sink-server.js\`). Each ratio is the median over
the pairs of runs, with the least and the most as its spread; one above its target is marked as missed. Ratios carry over to
other machines; seconds do not. \`tar-fs, readFile, base64, fetch\` is how such tools usually push (\`bench/usual-push.js\`).

## Trees

Generated trees, and builds of frameworks, which have a version in their name (\`bench/real-trees.ts\`).

${compositionTable(results)}

## Building and pushing

${table([...results.flatMap(({rows}) => rows), ...uploads])}

${notes(results)}

## Start-up

Medians of ${startUpRuns} alternating runs, each from the start of the process to its end. Ratios are relative to ${reference}, a
command line with one command, a manifest and no plugins (\`bench/oclif-hello\`).

${startUpTable(startUps)}
`;
}
