import {parseJson} from '../../errors/json.js';

const longest = 300;

/**
 * What a server says about its refusal, fit for one line: the words of a JSON answer, or a plain text; nothing for a web
 * page.
 * @param redact - Applied before the text is cut, so that no part of a secret is left over.
 */
export function serverMessage(body: string, redact: (text: string) => string): string | undefined {
  const text = fromJson(body) ?? (/^\s*</.test(body) ? '' : body);
  const line = oneLine(redact(text));
  if (line === '') return undefined;
  const characters = Array.from(line);
  return characters.length > longest ? `${characters.slice(0, longest - 1).join('')}…` : line;
}

/** A text of a server in one line that reads as it stands: without control characters and changes of direction. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
}

/** `detail` or `message` of an answer, with the `title` of problem+json; all of it when it has other keys. */
function fromJson(body: string): string | undefined {
  const answer = parse(body);
  if (typeof answer === 'string') return answer;
  if (typeof answer !== 'object' || answer === null) return undefined;
  const fields: Readonly<Record<string, unknown>> = {...answer};
  const [title, detail, message, description, error] = ['title', 'detail', 'message', 'error_description', 'error'].map(
    (key) => asText(fields[key]),
  );
  const main = detail ?? message ?? description ?? error;
  if (main === undefined) return title ?? body;
  return title === undefined || title === main ? main : `${title}: ${main}`;
}

function parse(body: string): unknown {
  try {
    return parseJson(body);
  } catch {
    return undefined;
  }
}

function asText(value: unknown): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
