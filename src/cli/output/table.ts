import stringWidth from 'fast-string-width';
import {wrapAnsi} from 'fast-wrap-ansi';
import {createError, nearest} from '../../errors/index.js';
import type {Output} from './output.js';

export interface Column<Row> {
  /** Its name for `--columns`; in capitals, its heading. */
  readonly name: string;
  readonly value: (row: Row) => string | number | undefined;
  /** Whether it is only shown with `--columns`. @default false */
  readonly extra?: boolean | undefined;
  /** Whether its values are times in ISO 8601, which a terminal shows as ages. @default false */
  readonly time?: boolean | undefined;
  /** On a narrow terminal, it takes the remaining width and is cut or wrapped. */
  readonly flexible?: 'cut' | 'wrap' | undefined;
}

/**
 * The columns in `--columns`, in that order; without it, those that are not extra.
 * @throws RuntimeCliError `ERR_USAGE` for an unknown column.
 */
export function chooseColumns<Row>(columns: readonly Column<Row>[], names?: string): readonly Column<Row>[] {
  if (names === undefined) return columns.filter(({extra}) => extra !== true);
  return names.split(',').map((text) => {
    const name = text.trim().toLowerCase();
    const known = columns.map((column) => column.name);
    const column = columns.find((candidate) => candidate.name === name);
    if (column) return column;
    const meant = nearest(name, known);
    throw createError('ERR_USAGE', `Unknown column: ${text.trim()}`, {
      suggestions: [
        ...(meant === undefined ? [] : [`Did you mean ${meant}?`]),
        `Pass --columns a comma-separated list of: ${known.join(', ')}.`,
      ],
    });
  });
}

interface Cells {
  readonly name: string;
  readonly flexible: Column<unknown>['flexible'];
  readonly texts: readonly string[];
  width: number;
}

const gap = '  ';
const empty = '-';
const flexibleWidth = 20;

type Printer = Pick<Output, 'width' | 'clean' | 'result'>;

/**
 * Prints a table: a heading and the rows, aligned to the left, with a dash for cells without a value. On a terminal
 * that is too narrow, columns without any value are left out, then flexible ones shrink. If that does not suffice, each
 * row is shown as a list of its values. Cells are cleaned before they are cut, or half a secret could remain.
 */
export function printTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[], output: Printer): void {
  const {width} = output;
  const all = columns.map((column) => cellsOf(column, rows, output));
  const filled = all.filter(({texts}, index) => index === 0 || texts.some((text) => text !== empty));
  const fitting = totalWidth(all) <= width ? all : shrink(filled, width);
  for (const line of fitting === undefined ? listLines(filled, width) : tableLines(fitting)) output.result(line);
}

function cellsOf<Row>({name, value, time, flexible}: Column<Row>, rows: readonly Row[], output: Printer): Cells {
  const texts = rows.map((row) => {
    const text = String(value(row) ?? '');
    const shown = time && text !== '' && Number.isFinite(output.width) ? describeAge(text) : text;
    return output.clean(shown).replaceAll(/\s+/g, ' ').trim() || empty;
  });
  // Not Math.max(...): there may be more rows than a call can have arguments.
  const widest = texts.reduce((most, text) => Math.max(most, stringWidth(text)), stringWidth(name));
  return {name: name.toUpperCase(), flexible, texts, width: widest};
}

function totalWidth(columns: readonly Cells[]): number {
  return columns.reduce((sum, column) => sum + column.width, gap.length * (columns.length - 1));
}

/** Shrinks flexible columns, widest first, until the table fits; undefined if that does not suffice. */
function shrink(columns: readonly Cells[], width: number): readonly Cells[] | undefined {
  const shrunk = columns.map((column) => ({...column}));
  for (let excess = totalWidth(columns) - width; excess > 0; excess -= 1) {
    const shrinkable = shrunk.filter((column) => column.flexible !== undefined && column.width > flexibleWidth);
    const [widest] = shrinkable.sort((a, b) => b.width - a.width);
    if (widest === undefined) return undefined;
    widest.width -= 1;
  }
  return shrunk;
}

function tableLines(columns: readonly Cells[]): readonly string[] {
  const heading = columns.map(({name}) => name);
  const rows = columns[0]?.texts.map((_, row) => columns.map(({texts}) => texts[row] ?? empty)) ?? [];
  return [heading, ...rows].flatMap((cells) => rowLines(cells, columns));
}

/** The lines of a row: one, or as many as a wrapped cell needs. */
function rowLines(cells: readonly string[], columns: readonly Cells[]): readonly string[] {
  const wrapped = cells.map((cell, index) => {
    const {width = 0, flexible} = columns[index] ?? {};
    const lines = wrapCell(cell, width);
    return flexible === 'cut' && lines.length > 1 ? [`${cut(cell, width - 3)}...`] : lines;
  });
  const height = Math.max(...wrapped.map((lines) => lines.length));
  return Array.from({length: height}, (_, line) =>
    wrapped
      .map((lines, index) => pad(lines[line] ?? '', columns[index]?.width ?? 0))
      .join(gap)
      .trimEnd(),
  );
}

/** Lists each row by its first value, with its other values below. */
function listLines([first, ...others]: readonly Cells[], width: number): readonly string[] {
  const names = Math.max(...others.map(({name}) => name.length));
  const valueLines = ({name, texts}: Cells, row: number) => {
    const value = texts[row] ?? empty;
    if (value === empty) return [];
    const lines = wrapCell(value, Math.max(1, width - names - 2 * gap.length));
    return lines.map((line, index) => gap + pad(index === 0 ? name.toLowerCase() : '', names) + gap + line);
  };
  return (first?.texts ?? []).flatMap((text, row) => [
    ...wrapCell(text, width),
    ...others.flatMap((column) => valueLines(column, row)),
  ]);
}

function wrapCell(text: string, width: number): readonly string[] {
  return stringWidth(text) <= width ? [text] : wrapAnsi(text, width, {hard: true}).split('\n');
}

function cut(text: string, width: number): string {
  return wrapAnsi(text, width, {hard: true, wordWrap: false, trim: false}).split('\n')[0] ?? '';
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - stringWidth(text)));
}

const units = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['min', 60],
  ['s', 1],
] as const;

/** How long ago something was: `3 min ago`. The future, since clocks differ, is `now`. */
export function describeAge(time: string, now = Date.now()): string {
  const seconds = Math.floor((now - Date.parse(time)) / 1000);
  if (Number.isNaN(seconds)) return time;
  const unit = units.find(([, length]) => seconds >= length);
  if (unit === undefined) return 'now';
  const [name, length] = unit;
  const number = Math.floor(seconds / length);
  const plural = number === 1 || length <= 60 ? '' : 's';
  return `${String(number)} ${name}${plural} ago`;
}
