/** A line of a dotenv file that is neither empty nor a comment. */
export interface DotenvLine {
  readonly line: number;
  /** Empty if it is no assignment. */
  readonly name: string;
  readonly value: string;
  /** Why other parsers may read another value. Without a full stop. */
  readonly problem?: string | undefined;
}

/**
 * Reads a dotenv file as Node and the package dotenv do. Parsers disagree about quotes, escapes and `#`, so each line
 * says why others may read another value. A value in quotes may have several lines.
 */
export function parseDotenv(text: string): readonly DotenvLine[] {
  const lines = text.replaceAll(/\r\n?/g, '\n').split('\n');
  const found: DotenvLine[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    if (/^\s*(?:#.*)?$/.test(line)) continue;
    const [, name = '', raw = ''] = /^\s*(?:export\s+)?([\w.-]+)\s*=(.*)$/.exec(line) ?? [];
    const start = at;
    const [quote] = /^["'`]/.exec(raw.trimStart()) ?? [];
    if (quote === undefined) {
      found.push({line: start + 1, name, ...plainValue(raw)});
      continue;
    }
    const opened = raw.trimStart().slice(1);
    const body = [opened];
    while (body.at(-1)?.includes(quote) === false && at < lines.length - 1) {
      at += 1;
      body.push(lines[at] ?? '');
    }
    found.push({line: start + 1, name, ...quotedValue(body.join('\n'), quote)});
  }
  return found;
}

/** Whether a text has only variables and comments. */
export function isDotenv(text: string): boolean {
  return parseDotenv(text).every(({name}) => name !== '');
}

/** What begins with a `#` after a space is a comment. */
function plainValue(raw: string): Pick<DotenvLine, 'value' | 'problem'> {
  const hash = raw.indexOf('#');
  const isComment = hash > 0 && /\s/.test(raw.charAt(hash - 1));
  return {
    value: (isComment ? raw.slice(0, hash) : raw).trim(),
    problem: hash === -1 || isComment ? undefined : 'it has a # without a space before it',
  };
}

function quotedValue(body: string, quote: string): Pick<DotenvLine, 'value' | 'problem'> {
  const end = body.indexOf(quote);
  const value = body.slice(0, end === -1 ? undefined : end);
  if (quote !== '"') return {value, problem: afterQuote(body, end)};
  const isEscaped = /\\(?!n)/.test(value);
  return {
    value: value.replaceAll(String.raw`\n`, '\n'),
    problem: isEscaped ? String.raw`it has an escape other than \n in double quotes` : afterQuote(body, end),
  };
}

function afterQuote(body: string, end: number): string | undefined {
  if (end === -1) return 'its quotation mark is not closed';
  return /^\s*(?:\s#.*)?$/.test(body.slice(end + 1)) ? undefined : 'something follows its closing quotation mark';
}
