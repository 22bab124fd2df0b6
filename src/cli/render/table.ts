import stringWidth from 'string-width';
import {createError, nearest} from '../../errors/index.js';
import type {Output} from '../output/output.js';
import {sanitize} from '../output/sanitize.js';

/** How lines are shown: what is in a cell is cleaned before it is cut, or half a secret would be left. */
type Display = Pick<Output, 'width' | 'clean'>;

const unlimited: Display = {width: Number.POSITIVE_INFINITY, clean: sanitize};

/** A column of a table of things. */
export interface Column<Row> {
  /** Names it in `--columns`; in capitals it is the heading. */
  readonly name: string;
  /** The value of a row; nothing when the row has none. */
  readonly value: (row: Row) => string | number | undefined;
  /** Shown only when `--columns` asks for it. @default false */
  readonly extra?: boolean | undefined;
}

/**
 * The columns that `--columns` names, in its order; without it those that are not extra.
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

/** Lines of a table of things: the names of the columns, then a row for each. A cell without a value is a dash. */
export function renderTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  display?: Display,
): readonly string[] {
  const cells = rows.map((row) => columns.map(({value}) => String(value(row) ?? '') || '-'));
  return tableLines(
    columns.map(({name}) => name.toUpperCase()),
    cells,
    display,
  );
}

/**
 * Lines of a table: a row of headings, then the rows, their cells aligned to the left and two spaces apart. A cell is
 * one line of plain text, whatever it is made of.
 * @param display `width`: longest line, in columns of a terminal; longer ones are cut. @default no limit
 */
export function tableLines(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  display = unlimited,
): readonly string[] {
  const lines = [headings, ...rows].map((row) => row.map((cell) => display.clean(cell).replaceAll(/\s+/g, ' ').trim()));
  // Not Math.max(...): there may be more rows than a call takes arguments.
  const widths = headings.map((_, column) =>
    lines.reduce((widest, line) => Math.max(widest, stringWidth(line[column] ?? '')), 0),
  );
  return lines.map((line) => {
    const padded = line.map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - stringWidth(cell)));
    return cut(padded.join('  ').trimEnd(), display.width);
  });
}

function cut(line: string, width: number): string {
  if (stringWidth(line) <= width) return line;
  let kept = '';
  let left = Math.max(1, width - 3);
  // Between what people see as characters: letters with their accents, emoji with their parts.
  for (const {segment} of new Intl.Segmenter(undefined, {granularity: 'grapheme'}).segment(line)) {
    left -= stringWidth(segment);
    if (left < 0) break;
    kept += segment;
  }
  return `${kept}...`;
}
