import {createInterface} from 'node:readline';
import {Writable} from 'node:stream';
import {text} from 'node:stream/consumers';
import {createError} from '../../errors/index.js';

/** Where a secret is asked for. */
export interface SecretInput {
  readonly stdin: NodeJS.ReadableStream & {readonly isTTY?: boolean | undefined};
  /** The terminal that the prompt is shown on. */
  readonly stream: Writable;
  /** What is asked for, such as `API key for https://runtime.example`. */
  readonly prompt: string;
  readonly signal: AbortSignal;
}

/**
 * Reads a secret: typed at a terminal without being shown, or else all of stdin.
 * @throws RuntimeCliError `ERR_INTERRUPTED` for Ctrl-C, `ERR_USAGE` when the input ends; `signal.reason` when aborted.
 */
export function readSecretInput(input: SecretInput): Promise<string> {
  return input.stdin.isTTY === true ? typed(input) : text(input.stdin);
}

function typed({stdin, stream, prompt, signal}: SecretInput): Promise<string> {
  stream.write(`${prompt}: `);
  // In raw mode nothing is echoed by the terminal, and what the line editor would show goes nowhere.
  const nowhere = new Writable({write: (_chunk, _encoding, done) => done()});
  const editor = createInterface({input: stdin, output: nowhere, terminal: true, historySize: 0});
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
      reject(createError('ERR_USAGE', 'The input ended before anything was typed.'));
    });
    if (signal.aborted) onAbort();
  }).finally(() => {
    editor.close();
    stream.write('\n');
  });
}
