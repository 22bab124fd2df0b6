import stringWidth from 'fast-string-width';
import {wrapAnsi} from 'fast-wrap-ansi';
import {near, suggestNames} from '../../text/suggest.js';
import {createError} from '../../errors/index.js';
import {describeAge} from '../../text/age.js';
import type {Output} from './output.js';
import {longestWrapped, wrapSentence} from './terminal.js';

export interface Column<Row> {
  /** Its name in `--columns` and `--json`. In capitals, its heading. */
  readonly name: string;
  readonly value: (row: Row) => string | number | undefined;
  /** Whether it is only shown with `--columns`. @default false */
  readonly extra?: boolean | undefined;
  /** Whether its values are times in ISO 8601, which a terminal shows as ages. @default false */
  readonly time?: boolean | undefined;
  /** Whether it is wrapped on a narrow terminal. @default false */
  readonly flexible?: boolean | undefined;
}

/** The columns that `--columns` names, in that order; without it, those that are not extra. */
export function chooseColumns<Row>(columns: readonly Column<Row>[], names?: string): readonly Column<Row>[] {
  if (names === undefined) return columns.filter(({extra}) => extra !== true);
  return names.split(',').map((text) => {
    const name = text.trim().toLowerCase();
    const column = columns.find((candidate) => candidate.name.toLowerCase() === name);
    if (column) return column;
    const known = columns.map((candidate) => candidate.name);
    const suggestions = [
      ...suggestNames(near(text.trim(), known)),
      `Pass --columns with a comma-separated list of: ${known.join(', ')}.`,
    ];
    throw createError('ERR_USAGE', `Unknown column: ${text.trim()}`, {suggestions});
  });
}

interface Cells extends Pick<Column<unknown>, 'flexible'> {
  readonly heading: string;
  readonly texts: readonly string[];
  width: number;
}

const gap = '  ';
const empty = '-';
const flexibleWidth = 20;

type Printer = Pick<Output, 'width' | 'clean'> & {result(line: string): void};

/**
 * Prints a table, with a dash for cells without a value. On a narrow terminal, flexible columns shrink, or each row is
 * a list of its values. Cells are cleaned before they are wrapped, or half a secret could remain.
 */
export function printTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[], output: Printer): void {
  const all = columns.map((column) => cellsOf(column, rows, output));
  const fitting = shrink(all, output.width);
  const lines =
    fitting === undefined
      ? rows.flatMap((_, row) => listLines(row, all, output.width))
      : [-1, ...rows.keys()].flatMap((row) => rowLines(row, fitting));
  for (const line of lines) output.result(line);
}

export interface ShownList {
  /** The value of `--columns`. */
  readonly names: string | undefined;
  /** Lines that say where the list comes from. */
  readonly place: readonly string[];
}

export interface ListOptions extends ShownList {
  /** What to say if the list is empty. */
  readonly nothing: string;
}

export function printList<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  {names, nothing, place}: ListOptions,
  output: Printer & Pick<Output, 'info'>,
): void {
  const chosen = chooseColumns(columns, names);
  if (rows.length > 0) printTable(rows, chosen, output);
  else for (const line of [nothing, ...place.map((text) => `  ${text}`)]) output.info(line);
}

function cellsOf<Row>({name, value, time, flexible}: Column<Row>, rows: readonly Row[], output: Printer): Cells {
  const heading = name.replaceAll(/[A-Z]/g, ' $&').toUpperCase();
  const texts = rows.map((row) => {
    const text = String(value(row) ?? '');
    const shown = time && text !== '' && Number.isFinite(output.width) ? describeAge(text) : text;
    const line = output.clean(shown).replaceAll(/\s+/g, ' ').trim() || empty;
    return line.length > longestWrapped ? `${line.slice(0, longestWrapped)}…` : line;
  });
  // Not Math.max(...): there may be more rows than a call can have arguments.
  const width = texts.reduce((most, text) => Math.max(most, stringWidth(text)), heading.length);
  return {heading, texts, flexible, width};
}

/** Shrinks flexible columns, widest first, until the table fits; undefined if that does not suffice. */
function shrink(columns: readonly Cells[], width: number): readonly Cells[] | undefined {
  const shrunk = columns.map((column) => ({...column}));
  const total = columns.reduce((sum, column) => sum + column.width, gap.length * (columns.length - 1));
  for (let excess = total - width; excess > 0; excess -= 1) {
    const shrinkable = shrunk.filter((column) => column.flexible && column.width > flexibleWidth);
    const [widest] = shrinkable.sort((a, b) => b.width - a.width);
    if (widest === undefined) return undefined;
    widest.width -= 1;
  }
  return shrunk;
}

/** The lines of a row, or of the heading for -1: one, or as many as a wrapped cell needs. */
function rowLines(row: number, columns: readonly Cells[]): readonly string[] {
  const cells = columns.map(({heading, texts, width}) => {
    const text = texts[row] ?? heading;
    return stringWidth(text) <= width ? [text] : wrapAnsi(text, width, {hard: true}).split('\n');
  });
  const height = Math.max(...cells.map((lines) => lines.length));
  return Array.from({length: height}, (_, line) => {
    const texts = columns.map(({width}, index) => {
      const text = cells[index]?.[line] ?? '';
      return text + ' '.repeat(Math.max(0, width - stringWidth(text)));
    });
    return texts.join(gap).trimEnd();
  });
}

/** A row as its first value, with its other values below. */
function listLines(row: number, [first, ...others]: readonly Cells[], width: number): readonly string[] {
  const filled = others.filter(({texts}) => texts[row] !== empty);
  const lines = filled.map(({heading, texts}) => `${gap}${heading.toLowerCase()}: ${texts[row]}`);
  return [first?.texts[row] ?? '', ...lines].flatMap((line) => wrapSentence(line, width, gap + gap));
}
