import os from 'node:os';
import type {Measurement} from './measure.js';
import {reference, type StartUp} from './start-up.js';

/** One line of the report: what was done to which tree, and what it is compared with. */
export interface Row {
  readonly tree: string;
  readonly what: string;
  readonly measured: Measurement;
  readonly baseline: string;
  readonly compared: Measurement;
}

function cells({tree, what, measured, baseline, compared}: Row): readonly string[] {
  return [
    tree,
    what,
    `${measured.seconds.toFixed(2)} s`,
    `${Math.round(measured.peakMiB)} MiB`,
    // A bar would end the cell.
    `\`${baseline.replaceAll('|', '\\|')}\``,
    `${compared.seconds.toFixed(2)} s`,
    `${(measured.seconds / compared.seconds).toFixed(2)}×`,
  ];
}

/** The pushes and builds as a Markdown table. */
export function table(rows: readonly Row[]): string {
  return markdown(['tree', 'what', 'time', 'peak memory', 'compared with', 'its time', 'ratio'], rows.map(cells));
}

/** The times of start-up as a Markdown table, with their ratios to the reference. */
export function startUpTable(startUps: readonly StartUp[]): string {
  const compared = startUps.find(({what}) => what === reference)?.milliseconds ?? NaN;
  const lines = startUps.map(({what, milliseconds}) => [
    what,
    `${Math.round(milliseconds)} ms`,
    `${(milliseconds / compared).toFixed(2)}×`,
  ]);
  return markdown(['what', 'time', 'ratio'], lines);
}

/** A Markdown table, its columns padded as prettier pads them. */
function markdown(head: readonly string[], body: readonly (readonly string[])[]): string {
  const lines = [head, ...body];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const rule = widths.map((width) => '-'.repeat(width));
  return [head, rule, ...body]
    .map((line) => `| ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`)
    .join('\n');
}

/** The page for the reference: the tables with the machine, the date and how to get it. */
export function page(rows: readonly Row[], runs: number, startUps: readonly StartUp[], startUpRuns: number): string {
  const [cpu] = os.cpus();
  const memory = `${Math.round(os.totalmem() / 2 ** 30)} GiB`;
  const machine = `${os.cpus().length} × ${cpu?.model.trim() ?? 'unknown CPU'}, ${memory}, Node ${process.version}, ${os.platform()}`;
  return `# Benchmarks

Written by \`npm run bench -- --write\` on ${new Date().toISOString().slice(0, 10)}: ${machine}. Times are medians of ${runs} runs of
whole processes, peaks the highest. Each push goes over loopback to a local runtime in another process. Half of every tree
compresses well, half does not at all. Ratios are to the command beside them in the same run: they carry over to other
machines, the seconds do not.

${table(rows)}

## Start-up

From the start of the process to its end, in medians of ${startUpRuns} runs of each in turns. Ratios are to ${reference}: a
command line with one command, a manifest and no plugins (\`bench/oclif-hello\`).

${startUpTable(startUps)}
`;
}
