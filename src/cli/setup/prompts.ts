import {once} from 'node:events';
import {createInterface, type Interface} from 'node:readline';
import {Writable, type Readable} from 'node:stream';
import {text} from 'node:stream/consumers';
import {createError, isRuntimeCliError} from '../../errors/index.js';
import type {Output} from '../output/output.js';
import {terminalWidth} from '../output/terminal.js';
import {wrapSentence} from '../output/wrap.js';

/** Where to ask a question. */
interface QuestionContext {
  readonly output: Pick<Output, 'terminal' | 'stream' | 'clean'>;
  readonly stdin: Readable & {readonly isTTY?: boolean | undefined};
  readonly signal: AbortSignal;
}

/**
 * Refuses if there is no terminal to ask in and the user has not confirmed already.
 * @param what the action: `Deleting bundles`
 * @throws RuntimeCliError `ERR_USAGE`.
 */
export function requireConsent(
  what: string,
  yes: boolean,
  {output, stdin}: Pick<QuestionContext, 'output' | 'stdin'>,
): void {
  if (yes || canAsk({output, stdin})) return;
  throw createError('ERR_USAGE', `${what} requires confirmation, but there is no terminal to ask in.`, {
    suggestions: ['Pass --yes to skip the prompt.'],
  });
}

/**
 * Asks a question in the terminal. Anything but yes means no.
 * @param refusal the message of the error if the answer is no
 * @throws RuntimeCliError `ERR_USAGE` when the answer is no; `signal.reason` when aborted.
 */
export async function confirm(
  question: string,
  refusal: string,
  {output, stdin, signal}: QuestionContext,
): Promise<void> {
  const answer = await askLine(`${question} [y/N]`, {output, stdin, signal});
  if (!/^y(?:es)?$/i.test(answer.trim())) throw createError('ERR_USAGE', refusal);
}

/**
 * Asks for a line in the terminal. Resolves to an empty one if the input ends.
 * @throws `signal.reason` when aborted.
 */
export async function askLine(question: string, {output, stdin, signal}: QuestionContext): Promise<string> {
  // The terminal edits the line, and Ctrl-C remains a signal.
  const lines = createInterface({input: stdin, terminal: false, signal});
  try {
    writePrompt(output.stream, output.clean(question));
    const given: readonly unknown[] = await Promise.race([once(lines, 'line'), once(lines, 'close')]);
    const answer = given[0];
    endIfAborted(output.stream, signal);
    return typeof answer === 'string' ? answer : '';
  } finally {
    lines.close();
  }
}

/** Writes a prompt, wrapped between words, with the cursor after it. */
function writePrompt(stream: Writable, prompt: string): void {
  stream.write(`${wrapSentence(prompt, terminalWidth(stream)).join('\n')} `);
}

/** Ends the line of the prompt, where the terminal has echoed ^C, before what is printed next. */
function endIfAborted(stream: Writable, signal: AbortSignal): void {
  if (signal.aborted) stream.write('\n');
  signal.throwIfAborted();
}

/** Whether there is a terminal to ask in. */
export function canAsk({output, stdin}: Pick<QuestionContext, 'output' | 'stdin'>): boolean {
  return output.terminal && stdin.isTTY === true;
}

/** A question that is answered with a line. */
interface Question {
  /** What to ask for: `Project slug`. */
  readonly text: string;
  /** The meaning of an empty line. @default none: the question is repeated */
  readonly fallback?: string | undefined;
  /**
   * @throws RuntimeCliError when the answer is invalid. Its message is shown and the question repeated. @default
   * accepts any text
   */
  readonly check?: ((answer: string) => void | Promise<void>) | undefined;
}

/** Asks several questions in the terminal. Lines typed ahead answer the next ones. */
export class Interview {
  readonly #context: QuestionContext;
  readonly #lines: Interface;
  readonly #answers: AsyncIterator<string>;

  constructor(context: QuestionContext) {
    this.#context = context;
    this.#lines = createInterface({input: context.stdin, terminal: false, signal: context.signal});
    this.#answers = this.#lines[Symbol.asyncIterator]();
  }

  /** @throws RuntimeCliError `ERR_USAGE` when the input ends; `signal.reason` when aborted. */
  async ask({text: question, fallback, check}: Question): Promise<string> {
    const {output, signal} = this.#context;
    const hint = fallback === undefined || fallback === '' ? '' : ` (${fallback})`;
    for (;;) {
      writePrompt(output.stream, output.clean(`${question}${hint}:`));
      const next = await this.#answers.next();
      endIfAborted(output.stream, signal);
      if (next.done === true) throw createError('ERR_USAGE', 'The input ended before a value was entered.');
      const answer = next.value.trim() === '' ? fallback : next.value.trim();
      try {
        if (answer === undefined) throw createError('ERR_OPTION_INVALID', 'This cannot be empty.');
        await check?.(answer);
        return answer;
      } catch (error) {
        if (!isRuntimeCliError(error)) throw error;
        this.tell(error.message);
      }
    }
  }

  /** @param fallback the meaning of an empty line */
  async confirm(question: string, fallback: boolean): Promise<boolean> {
    const check = (answer: string) => {
      if (!/^(?:y(?:es)?|no?|)$/i.test(answer)) throw createError('ERR_OPTION_INVALID', 'Answer y or n.');
    };
    const answer = await this.ask({text: `${question} ${fallback ? '[Y/n]' : '[y/N]'}`, fallback: '', check});
    return answer === '' ? fallback : /^y/i.test(answer);
  }

  /** Explains an answer or a question in an indented sentence. */
  tell(sentence: string): void {
    const {output} = this.#context;
    const lines = wrapSentence(`  ${output.clean(sentence)}`, terminalWidth(output.stream), '  ');
    output.stream.write(`${lines.join('\n')}\n`);
  }

  close(): void {
    this.#lines.close();
  }
}

/** Where to ask for a secret. */
interface SecretInput {
  readonly stdin: NodeJS.ReadableStream & {readonly isTTY?: boolean | undefined};
  /** The terminal to show the prompt on. */
  readonly stream: Writable;
  /** What to ask for: `API key for https://runtime.example`. */
  readonly prompt: string;
  readonly signal: AbortSignal;
}

/**
 * Reads a secret: typed in a terminal without echo, or all of stdin.
 * @throws RuntimeCliError `ERR_INTERRUPTED` for Ctrl-C, `ERR_USAGE` when the input ends; `signal.reason` when aborted.
 */
export function readSecretInput(input: SecretInput): Promise<string> {
  return input.stdin.isTTY === true ? typed(input) : text(input.stdin);
}

function typed({stdin, stream, prompt, signal}: SecretInput): Promise<string> {
  // In raw mode the terminal echoes nothing, and the line editor's output is discarded.
  const nowhere = new Writable({write: (_chunk, _encoding, done) => done()});
  const editor = createInterface({input: stdin, output: nowhere, terminal: true, historySize: 0});
  // Only prompt now, so that an immediate answer is not echoed.
  writePrompt(stream, `${prompt}:`);
  return new Promise<string>((resolve, reject) => {
    const onAbort = () => {
      reject(signal.reason);
    };
    signal.addEventListener('abort', onAbort, {once: true});
    editor.once('line', resolve);
    editor.once('SIGINT', () => {
      reject(createError('ERR_INTERRUPTED', 'Interrupted.'));
    });
    editor.once('close', () => {
      reject(createError('ERR_USAGE', 'The input ended before a value was entered.'));
    });
    if (signal.aborted) onAbort();
  }).finally(() => {
    editor.close();
    stream.write('\n');
  });
}
