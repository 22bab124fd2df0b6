import stringWidth from 'fast-string-width';
import {createError, nearest} from '../../errors/index.js';
import type {Output} from './output.js';
import {sanitize} from './sanitize.js';
import {wrapWords} from './wrap.js';
import {describeAge} from './age.js';

/** Where to show a table. Cells are cleaned before they are cut, or half a secret could remain. */
interface Display extends Pick<Output, 'width' | 'clean'> {
  /** The current time, to show times as ages. @default times are shown unchanged */
  readonly now?: Date | undefined;
}

const unlimited: Display = {width: Number.POSITIVE_INFINITY, clean: sanitize};

/** A column of a table. */
export interface Column<Row> {
  /** Its name for `--columns`; in capitals, its heading. */
  readonly name: string;
  /** The value of a row; undefined if there is none. */
  readonly value: (row: Row) => string | number | undefined;
  /** Whether it is only shown with `--columns`. @default false */
  readonly extra?: boolean | undefined;
  /** Whether its values are times in ISO 8601. @default false */
  readonly time?: boolean | undefined;
  /**
   * On a narrow terminal, it takes the remaining width and is cut or wrapped, or each value moves to a line below its
   * row.
   */
  readonly flexible?: 'cut' | 'wrap' | 'below' | undefined;
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

/** A column and the text of its cells, one line each. */
interface Cells {
  readonly name: string;
  readonly flexible: Column<unknown>['flexible'];
  readonly texts: readonly string[];
  readonly width: number;
}

const gap = '  ';
const empty = '-';
/** The minimum width of a flexible column. */
const flexibleWidth = 20;

/**
 * The lines of a table: a heading and the rows, aligned to the left, with a dash for cells without a value. If a
 * terminal is too narrow, columns without any value are left out, then flexible ones shrink or move below their row.
 * If that does not suffice, each row is shown as a list of its values.
 */
export function renderTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  display = unlimited,
): readonly string[] {
  const all = columns.map((column) => cellsOf(column, rows, display));
  if (totalWidth(all) <= display.width) return tableLines(all);
  const filled = all.filter(({texts}, index) => index === 0 || texts.some((text) => text !== empty));
  if (totalWidth(filled) <= display.width) return tableLines(filled);
  const below = filled.filter(({flexible}) => flexible === 'below');
  const fitting = shrink(
    filled.filter((column) => !below.includes(column)),
    display.width,
  );
  if (fitting === undefined) return listLines(filled, display.width);
  return tableLines(fitting, (row) => valueLines(below, row, display.width));
}

/** Shrinks flexible columns, widest first, until the table fits; undefined if that does not suffice. */
function shrink(columns: readonly Cells[], width: number): readonly Cells[] | undefined {
  const widths = new Map(columns.map((column) => [column, column.width]));
  const flexible = columns.filter((column) => column.flexible !== undefined);
  for (let excess = totalWidth(columns) - width; excess > 0; excess -= 1) {
    const [widest] = flexible.toSorted((a, b) => (widths.get(b) ?? 0) - (widths.get(a) ?? 0));
    const now = widest && widths.get(widest);
    if (widest === undefined || now === undefined || now <= flexibleWidth) return undefined;
    widths.set(widest, now - 1);
  }
  return columns.map((column) => ({...column, width: widths.get(column) ?? column.width}));
}

function cellsOf<Row>({name, value, time, flexible}: Column<Row>, rows: readonly Row[], display: Display): Cells {
  const {now, width} = display;
  const texts = rows.map((row) => {
    const text = String(value(row) ?? '');
    const shown = time && now && text !== '' && Number.isFinite(width) ? describeAge(text, now) : text;
    return display.clean(shown).replaceAll(/\s+/g, ' ').trim() || empty;
  });
  // Not Math.max(...): there may be more rows than a call can have arguments.
  const widest = texts.reduce((most, text) => Math.max(most, stringWidth(text)), stringWidth(name));
  return {name: name.toUpperCase(), flexible, texts, width: widest};
}

function totalWidth(columns: readonly Cells[]): number {
  return columns.reduce((sum, {width}) => sum + width, gap.length * (columns.length - 1));
}

function tableLines(
  columns: readonly Cells[],
  linesBelow: (row: number) => readonly string[] = () => [],
): readonly string[] {
  const heading = columns.map(({name}) => name);
  const rows = columns[0]?.texts.map((_, row) => columns.map(({texts}) => texts[row] ?? empty)) ?? [];
  return [
    ...rowLines(heading, columns),
    ...rows.flatMap((cells, row) => [...rowLines(cells, columns), ...linesBelow(row)]),
  ];
}

/** The lines of a row: one, or as many as a wrapped cell needs. */
function rowLines(cells: readonly string[], columns: readonly Cells[]): readonly string[] {
  const wrapped = cells.map((cell, index) => {
    const {width = 0, flexible} = columns[index] ?? {};
    return flexible === 'wrap' ? wrapCell(cell, width) : [cut(cell, width)];
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
function listLines(columns: readonly Cells[], width: number): readonly string[] {
  const [first, ...others] = columns;
  return (first?.texts ?? []).flatMap((text, row) => [...wrapCell(text, width), ...valueLines(others, row, width)]);
}

/** The values of a row in these columns, one below the other with their names. */
function valueLines(columns: readonly Cells[], row: number, width: number): readonly string[] {
  const names = columns.reduce((most, {name}) => Math.max(most, name.length), 0);
  return columns.flatMap(({name, texts}) => {
    const value = texts[row] ?? empty;
    if (value === empty) return [];
    const label = pad(name.toLowerCase(), names);
    const lines = wrapCell(value, width - names - 2 * gap.length);
    return lines.map((line, index) => gap + (index === 0 ? label : ' '.repeat(names)) + gap + line);
  });
}

/** Wraps a cell between words. A long path, list or address is broken after its separators. */
function wrapCell(text: string, width: number): readonly string[] {
  return wrapWords(text, width, stringWidth).flatMap((line) => {
    const lines: string[] = [];
    for (const part of line.split(/(?<=[/,=_:;&])/)) {
      const last = lines.at(-1);
      if (last === undefined || stringWidth(last + part) > width) lines.push(part);
      else lines[lines.length - 1] = last + part;
    }
    return lines;
  });
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - stringWidth(text)));
}

function cut(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let kept = '';
  let left = Math.max(1, width - 3);
  // Between graphemes: letters with their accents, emoji with their parts.
  for (const {segment} of new Intl.Segmenter(undefined, {granularity: 'grapheme'}).segment(text)) {
    left -= stringWidth(segment);
    if (left < 0) break;
    kept += segment;
  }
  return `${kept}...`;
}
