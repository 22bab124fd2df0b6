import process from 'node:process';
import {PassThrough, type Readable} from 'node:stream';
import {once} from 'node:events';
import {text} from 'node:stream/consumers';
import {setImmediate, setTimeout} from 'node:timers/promises';
import type * as Prompts from '@inquirer/prompts';
import {isCI} from 'ci-info';
import {createError, isRuntimeCliError, type Suggestion} from '../../errors/index.js';
import {looksSecret} from '../../http/redact.js';
import {onWindows, type Environment} from '../../text/platform.js';
import type {Output} from '../output/output.js';
import {terminalWidth, unbroken, wrapSentence} from '../output/terminal.js';

export interface QuestionContext {
  readonly output: Pick<Output, 'interactive' | 'unicode' | 'stream' | 'clean' | 'info'>;
  readonly stdin: Readable & {readonly isTTY?: boolean | undefined; setRawMode?(isRaw: boolean): void};
  readonly signal: AbortSignal;
}

export function canAsk({output, stdin}: Pick<QuestionContext, 'output' | 'stdin'>): boolean {
  return output.interactive && stdin.isTTY === true;
}

/** Whether somebody is there to answer. Where they could not see the question, asking it is an error. */
export function isAttended({stdin}: Pick<QuestionContext, 'stdin'>): boolean {
  return stdin.isTTY === true && !isCI;
}

/** What asks before a change, unless the user has confirmed it. Refuses if there is no terminal to ask in. */
export function consent(
  yes: boolean,
  doing: string,
  refusal: string,
  context: QuestionContext,
): (question: string) => Promise<void> {
  if (yes) return () => Promise.resolve();
  return async (question) => {
    if (canAsk(context)) return confirm(question, `Cancelled. ${refusal}`, context);
    throw createError('ERR_USAGE', `${doing} requires confirmation, but there is no terminal to ask in.`, {
      suggestions: ['Pass --yes to skip the prompt.'],
    });
  };
}

export function deletionConsent(yes: boolean, what: string, context: QuestionContext) {
  return consent(yes, `Deleting ${what}`, 'Nothing was deleted.', context);
}

export async function confirm(question: string, refusal: string, context: QuestionContext): Promise<void> {
  if (!(await askYesNo(question, false, context))) throw createError('ERR_USAGE', refusal);
}

export function askYesNo(question: string, fallback: boolean, context: QuestionContext): Promise<boolean> {
  const hint = fallback ? '(Y/n)' : '(y/N)';
  return ask(question, hint, context, ({confirm}, shown, terminal) => confirm({...shown, default: fallback}, terminal));
}

export interface TerminalQuestion {
  readonly text: string;
  /** The meaning of an empty line. @default none: a value is required */
  readonly fallback?: string | undefined;
  /** Throws when the answer is invalid: the message is shown, and the question repeated. */
  readonly check?: ((answer: string) => void | Promise<void>) | undefined;
}

export async function askText(
  {text: question, fallback, check}: TerminalQuestion,
  context: QuestionContext,
): Promise<string> {
  const validate = async (given: string) => {
    const answer = given.trim();
    if (answer === '' && fallback === undefined) return 'This cannot be empty.';
    try {
      await check?.(answer);
      return true;
    } catch (error) {
      if (!isRuntimeCliError(error)) throw error;
      // After `> `.
      return wrapped(context.output.clean(error.message), '> ', context);
    }
  };
  const config = {validate, ...(fallback === undefined ? {} : {default: fallback})};
  const hint = fallback ? `(${fallback})` : '';
  const answer = await ask(`${question}:`, hint, context, ({input}, shown, at) => input({...shown, ...config}, at));
  return answer.trim();
}

export function askChoice(
  message: string,
  choices: readonly {readonly name: string; readonly value: string}[],
  context: QuestionContext,
): Promise<string> {
  const style = {keysHelpTip: () => 'Arrow keys to move, Enter to select'};
  return ask(message, '', context, ({select}, {theme, ...shown}, terminal) =>
    select({...shown, theme: {...theme, style}, choices}, terminal),
  );
}

/** How to log in with a secret of this kind from a file. Without a kind: with that of a plugin's backend. */
export function pipeSecret(kind?: string, lead = 'Pipe it: '): Suggestion {
  const login = {run: ['auth:login', ...(kind === undefined ? [] : ['--kind', kind])]};
  return onWindows ? [`${lead}type FILE | `, login] : [lead, login, ' < FILE'];
}

/** What `pipeSecret` begins with if it could be typed, too. */
export const enterOrPipe = 'Enter it in a terminal, or pipe it: ';

/**
 * Reads a secret: one line, typed in a terminal without echo, or all of stdin.
 * @param isOptional whether an empty line is an answer. Otherwise it is asked for again.
 */
export async function readSecretInput(
  what: string,
  context: QuestionContext,
  suggestion = pipeSecret(),
  isOptional = false,
): Promise<string> {
  if (context.stdin.isTTY !== true) {
    // Whoever forgot to close a pipe would wait without knowing for what.
    context.output.info(`Reading from stdin, until it ends: ${what}.`);
    return text(context.stdin);
  }
  const asking: Prompt<string> = async ({password}, shown, terminal, hasMore) => {
    const secret = await password({...shown, toggleMask: false}, terminal);
    if (!(await hasMore())) return secret;
    const message = `The ${what} has more than one line, which cannot be entered here.`;
    throw createError('ERR_OPTION_INVALID', message, {suggestions: [suggestion]});
  };
  for (;;) {
    const secret = await ask(`${what}:`, '[input is masked]', context, asking, suggestion);
    if (isOptional || secret.trim() !== '') return secret;
    context.output.info('This cannot be empty.');
  }
}

const asciiTheme = {
  prefix: {idle: '?', done: '+'},
  spinner: {interval: 80, frames: ['-', '\\', '|', '/']},
  icon: {cursor: '>'},
};

type Terminal = NonNullable<Parameters<typeof Prompts.input>[1]>;

/** Asks with one of the prompts. `hasMore` tells whether more lines than one were entered at once. */
type Prompt<Answer> = (
  prompts: Pick<typeof Prompts, 'confirm' | 'input' | 'password' | 'select'>,
  shown: {readonly message: string; readonly theme?: typeof asciiTheme},
  terminal: Terminal,
  hasMore: () => Promise<boolean>,
) => Promise<Answer>;

/** Why a question ends that is asked again: the process was stopped, as by Ctrl-Z. */
const stopped = Symbol('stopped');

/** A text that follows `lead`, broken between words: the prompts break within them. */
function wrapped(text: string, lead: string, {output}: Pick<QuestionContext, 'output'>): string {
  return wrapSentence(lead + text, terminalWidth(output.stream))
    .join('\n')
    .slice(lead.length);
}

/**
 * Asks a question, and again when the process goes on after Ctrl-Z. Asking where nobody could see it is an error.
 * @param hint what the prompt shows behind the question
 * @param otherwise what to do without a terminal
 */
async function ask<Answer>(
  question: string,
  hint: string,
  context: QuestionContext,
  prompt: Prompt<Answer>,
  otherwise: Suggestion = 'If the command has --yes, pass it to be asked nothing.',
): Promise<Answer> {
  const {output, signal} = context;
  const cleaned = output.clean(question);
  if (!output.interactive) {
    const reason = output.stream.isTTY === true ? 'TERM is dumb, or CI is set' : 'stderr is not a terminal';
    throw createError('ERR_USAGE', `"${cleaned}" cannot be asked, because ${reason}.`, {
      suggestions: ['Run it in a terminal without redirecting stderr.', otherwise],
    });
  }
  // By name, so that the bundle has no other prompts.
  const {confirm, input, password, select} = await import('@inquirer/prompts');
  // The hint may need a line of its own.
  const whole = wrapped(`${cleaned} ${unbroken(output.clean(hint))}`.trimEnd(), '? ', context);
  const message = whole.slice(0, whole.length - output.clean(hint).length).replace(/ $/, '');
  const shown = {message, ...(output.unicode ? {} : {theme: asciiTheme})};
  for (;;) {
    try {
      const prompts = {confirm, input, password, select};
      return await askOnce(context, (...terminal) => prompt(prompts, shown, ...terminal));
    } catch (error) {
      if (error !== stopped) throw error;
      await once(output.stream, 'continue', {signal});
    }
  }
}

const [ctrlC, ctrlD] = ['\u0003', '\u0004'];

/** Milliseconds without a key after which whatever was typed ahead or pasted has come to its end. */
const quietMs = 50;

/**
 * Asks once. The terminal tells where what is pasted begins and ends, and is raw until the last key has come: it shows
 * nothing of what is typed before the question or pasted beyond the answer, which is dropped and reaches no shell.
 */
async function askOnce<Answer>(
  {stdin, output: {stream}, signal: given}: QuestionContext,
  prompt: (terminal: Terminal, hasMore: () => Promise<boolean>) => Promise<Answer>,
): Promise<Answer> {
  const ending = new AbortController();
  const signal = AbortSignal.any([given, ending.signal]);
  const end = () => ending.abort(createError('ERR_USAGE', 'The input ended before a value was entered.'));
  const stop = () => ending.abort(stopped);
  const keys = new PassThrough();
  let lastAt = 0;
  let isAsked = false;
  let isEntered = false;
  let isPasting = false;
  let hasMore = false;
  const onData = (chunk: Buffer) => {
    lastAt = performance.now();
    if (chunk.includes(ctrlC)) ending.abort(createError('ERR_INTERRUPTED', 'Interrupted.'));
    else if (chunk.includes(ctrlD)) end();
    else if (isAsked) keys.write(chunk);
  };
  keys.on('keypress', (typed: string | undefined, {name}: {readonly name?: string}) => {
    if (name === 'paste-start' || name === 'paste-end') isPasting = name === 'paste-start';
    else if (name === 'return' || name === 'enter') isEntered = true;
    else if (isEntered && typed?.trim()) hasMore = true;
  });
  const dropKeys = async () => {
    // A prompt pauses them at its end.
    keys.resume();
    do {
      await setTimeout(quietMs, undefined, {signal});
      // After its timers, Node reads what has come.
      await setImmediate(undefined, {signal});
    } while (isPasting || performance.now() - lastAt < quietMs);
    return hasMore;
  };
  stdin.setRawMode?.(true);
  stdin.on('data', onData).once('end', end).resume();
  stream.once('stop', stop);
  try {
    await dropKeys();
    isAsked = true;
    stream.write('\u001B[?2004h');
    const answer = await prompt({input: keys, output: stream, signal}, dropKeys);
    await dropKeys();
    return answer;
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    if (isAsked) stream.write('\u001B[?2004l');
    stream.off('stop', stop);
    stdin.off('data', onData).off('end', end).pause();
    stdin.setRawMode?.(false);
  }
}

/** Opens an http(s) URL in the user's browser. Resolves to false if there is no display or no browser. */
export async function openBrowser(url: string, env: Environment): Promise<boolean> {
  const hasDisplay = ['darwin', 'win32'].includes(process.platform) || env['DISPLAY'] || env['WAYLAND_DISPLAY'];
  if (!hasDisplay) return false;
  const {default: open} = await import('open');
  // It passes on what this process has.
  const secrets = Object.entries(process.env).filter(looksSecret);
  for (const [name] of secrets) Reflect.deleteProperty(process.env, name);
  try {
    await open(url);
    return true;
  } catch {
    return false;
  } finally {
    Object.assign(process.env, Object.fromEntries(secrets));
  }
}
