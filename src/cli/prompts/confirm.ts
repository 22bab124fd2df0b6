import {once} from 'node:events';
import type {Readable} from 'node:stream';
import {createError} from '../../errors/index.js';
import type {Output} from '../output/output.js';

/** Where a question is asked. */
export interface QuestionContext {
  readonly output: Pick<Output, 'interactive' | 'stream' | 'clean'>;
  readonly stdin: Readable & {readonly isTTY?: boolean | undefined};
  readonly signal: AbortSignal;
}

/**
 * Refuses when nobody can be asked and nobody has said yes already.
 * @param what what would be done: `Deleting bundles`
 * @throws RuntimeCliError `ERR_USAGE`.
 */
export function requireConsent(
  what: string,
  yes: boolean,
  {output, stdin}: Pick<QuestionContext, 'output' | 'stdin'>,
): void {
  if (yes || (output.interactive && stdin.isTTY === true)) return;
  throw createError('ERR_USAGE', `${what} requires confirmation, and there is no terminal to ask in.`, {
    suggestions: ['Pass --yes to skip the prompt.'],
  });
}

/**
 * Asks a question in the terminal; anything but yes is no.
 * @throws RuntimeCliError `ERR_USAGE` when the answer is no; `signal.reason` when aborted.
 */
export async function confirm(question: string, {output, stdin, signal}: QuestionContext): Promise<void> {
  const {createInterface} = await import('node:readline');
  // The terminal edits the line, and Ctrl-C stays a signal.
  const lines = createInterface({input: stdin, terminal: false, signal});
  try {
    output.stream.write(`${output.clean(question)} [y/N] `);
    const given: readonly unknown[] = await Promise.race([once(lines, 'line'), once(lines, 'close')]);
    const answer = given[0];
    signal.throwIfAborted();
    if (typeof answer === 'string' && /^y(?:es)?$/i.test(answer.trim())) return;
  } finally {
    lines.close();
  }
  throw createError('ERR_USAGE', 'Cancelled. Nothing was deleted.');
}
