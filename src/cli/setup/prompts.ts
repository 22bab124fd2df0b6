import process from 'node:process';
import type {Readable} from 'node:stream';
import {text} from 'node:stream/consumers';
import type * as Prompts from '@inquirer/prompts';
import {createError, isRuntimeCliError} from '../../errors/index.js';
import {looksSecret} from '../../http/redact.js';
import type {Environment} from '../../http/types.js';
import type {Output} from '../output/output.js';

export interface QuestionContext {
  readonly output: Pick<Output, 'interactive' | 'stream' | 'clean' | 'info'>;
  readonly stdin: Readable & {readonly isTTY?: boolean | undefined};
  readonly signal: AbortSignal;
}

export function canAsk({output, stdin}: Pick<QuestionContext, 'output' | 'stdin'>): boolean {
  return output.interactive && stdin.isTTY === true;
}

/**
 * What asks before something is deleted, unless the user has confirmed already. Refuses at once if there is no terminal
 * to ask in.
 * @param what what is to be deleted: `bundles`
 */
export function deletionConsent(
  yes: boolean,
  what: string,
  context: QuestionContext,
): (question: string) => Promise<void> {
  if (yes) return () => Promise.resolve();
  if (canAsk(context)) return (question) => confirm(question, 'Cancelled. Nothing was deleted.', context);
  throw createError('ERR_USAGE', `Deleting ${what} requires confirmation, but there is no terminal to ask in.`, {
    suggestions: ['Pass --yes to skip the prompt.'],
  });
}

export async function confirm(question: string, refusal: string, context: QuestionContext): Promise<void> {
  if (!(await askYesNo(question, false, context))) throw createError('ERR_USAGE', refusal);
}

export function askYesNo(question: string, fallback: boolean, context: QuestionContext): Promise<boolean> {
  const message = context.output.clean(question);
  return ask(({confirm}, terminal) => confirm({message, default: fallback}, terminal), context);
}

export interface Question {
  readonly text: string;
  /** The meaning of an empty line. @default none: a value is required */
  readonly fallback?: string | undefined;
  /** Throws when the answer is invalid: the message is shown, and the question repeated. */
  readonly check?: ((answer: string) => void | Promise<void>) | undefined;
}

export async function askText({text: question, fallback, check}: Question, context: QuestionContext): Promise<string> {
  const validate = async (given: string) => {
    const answer = given.trim();
    if (answer === '' && fallback === undefined) return 'This cannot be empty.';
    try {
      await check?.(answer);
      return true;
    } catch (error) {
      if (!isRuntimeCliError(error)) throw error;
      return context.output.clean(error.message);
    }
  };
  const config = {
    message: `${context.output.clean(question)}:`,
    validate,
    ...(fallback === undefined ? {} : {default: fallback}),
  };
  const answer = await ask(({input}, terminal) => input(config, terminal), context);
  return answer.trim();
}

export function askChoice(
  message: string,
  choices: readonly {readonly name: string; readonly value: string}[],
  context: QuestionContext,
): Promise<string> {
  return ask(({select}, terminal) => select({message, choices}, terminal), context);
}

/** Reads a secret: typed in a terminal without echo, or all of stdin. */
export function readSecretInput(what: string, context: QuestionContext): Promise<string> {
  if (context.stdin.isTTY !== true) {
    // Whoever forgot to close a pipe would wait without knowing for what.
    context.output.info(`Reading the ${what} from stdin, up to its end.`);
    return text(context.stdin);
  }
  const message = `${context.output.clean(what)}:`;
  return ask(({password}, terminal) => password({message, toggleMask: false}, terminal), context);
}

async function ask<Answer>(
  prompt: (
    prompts: Pick<typeof Prompts, 'confirm' | 'input' | 'password' | 'select'>,
    terminal: NonNullable<Parameters<typeof Prompts.input>[1]>,
  ) => Promise<Answer>,
  {stdin, output, signal}: QuestionContext,
): Promise<Answer> {
  // The library waits for ever when the input ends.
  const ended = new AbortController();
  const end = () => ended.abort();
  const onKey = (_text: unknown, {ctrl, name}: {readonly ctrl: boolean; readonly name?: string}) => {
    if (ctrl && name === 'd') end();
  };
  stdin.once('end', end).on('keypress', onKey);
  try {
    const terminal = {input: stdin, output: output.stream, signal: AbortSignal.any([signal, ended.signal])};
    // By name, so that the bundle has no other prompts.
    const {confirm, input, password, select} = await import('@inquirer/prompts');
    return await prompt({confirm, input, password, select}, terminal);
  } catch (error) {
    signal.throwIfAborted();
    if (ended.signal.aborted) throw createError('ERR_USAGE', 'The input ended before a value was entered.');
    const isInterrupted = error instanceof Error && error.name === 'ExitPromptError';
    throw isInterrupted ? createError('ERR_INTERRUPTED', 'Interrupted.') : error;
  } finally {
    stdin.off('end', end).off('keypress', onKey);
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
  return open(url)
    .then(
      () => true,
      () => false,
    )
    .finally(() => Object.assign(process.env, Object.fromEntries(secrets)));
}
