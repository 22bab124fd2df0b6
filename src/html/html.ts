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
  return typeof value === 'object' ? value.map(markupOf).join('') : escaped(String(value));
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Characters that nobody sees, or that make text look different from what it says. */
const invisible = /(?![\t\n])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Text for elements and quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
}

function escaped(text: string): string {
  return escapeHtml(visible(text));
}

/** Names the characters of a text that nobody would see. */
export function visible(text: string): string {
  return text.replaceAll(
    invisible,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()}}`,
  );
}

/** A text of at most `longest` characters: a longer one loses its middle. */
export function shortened(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const half = Math.floor((longest - 1) / 2);
  return `${text.slice(0, half)}…${text.slice(-half)}`;
}
