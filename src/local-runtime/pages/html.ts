/** Markup that is complete and safe to insert. Only `markup` makes it. */
export class Html {
  readonly text: string;

  /** @param text complete, with everything foreign escaped. */
  constructor(text: string) {
    this.text = text;
  }
}

/** What a template takes: markup as it is, text to escape, and lists of both. */
export type HtmlValue = Html | string | number | undefined | readonly HtmlValue[];

/** A template whose values are escaped, in elements and in quoted attributes alike. */
export function markup(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  const [first = '', ...rest] = parts;
  return new Html(rest.reduce((text, part, at) => text + markupOf(values[at]) + part, first));
}

function markupOf(value: HtmlValue): string {
  if (value === undefined) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(markupOf).join('');
  return visible(String(value)).replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Names the characters of a text that nobody would see, or that make it look different from what it says. */
function visible(text: string): string {
  return text.replaceAll(
    /(?![\t\n])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()}}`,
  );
}

/** A text of at most `longest` characters: a longer one loses its middle. */
export function shortened(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const half = Math.floor((longest - 1) / 2);
  return `${text.slice(0, half)}…${text.slice(-half)}`;
}

/** Text from outside, in whatever direction it is written. */
export function foreign(text: string, longest = 300): Html {
  return markup`<bdi class="message">${shortened(text, longest)}</bdi>`;
}

/** A column of a table. */
export interface Column<Row> {
  readonly title: string;
  readonly isNumber?: boolean;
  cell(row: Row): HtmlValue;
}

/** A table. The first column heads each row. */
export function table<Row>(caption: string, columns: readonly Column<Row>[], rows: readonly Row[]): Html {
  const align = ({isNumber = false}: Column<Row>) => (isNumber ? markup` class="number"` : undefined);
  const [head, ...others] = columns;
  return markup`<div class="scroll" role="region" aria-label="${caption}" tabindex="0"><table>
<caption>${caption}</caption>
<thead><tr>${columns.map((column) => markup`<th scope="col"${align(column)}>${column.title}</th>`)}</tr></thead>
<tbody>
${rows.map(
  (row) => markup`<tr><th scope="row">${head?.cell(row)}</th>
${others.map((column) => markup`<td${align(column)}>${column.cell(row)}</td>`)}</tr>
`,
)}</tbody></table></div>`;
}
