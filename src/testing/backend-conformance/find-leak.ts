import {isRuntimeCliError} from '../../errors/index.js';

/** The first of `secrets` that `text` shows: as it is, escaped for JSON or a URL, or inside anything in base64. */
export function findLeak(text: string, secrets: readonly string[]): string | undefined {
  const decoded = (text.match(/[\w+/-]{8,}/g) ?? []).map((word) => Buffer.from(word, 'base64').toString());
  const texts = [text, ...decoded];
  return secrets.find((secret) => {
    const forms = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)];
    return texts.some((one) => forms.some((form) => one.includes(form)));
  });
}

/** Everything of an error that may be printed: its message, stack, suggestions and details, and those of its causes. */
export function printableOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const facts = isRuntimeCliError(error) ? JSON.stringify([error.suggestions, error.details]) : '';
  const own = [error.message, error.stack, facts].join('\n');
  return error.cause === undefined ? own : `${own}\n${printableOf(error.cause)}`;
}
