import {setImmediate as nextTurn} from 'node:timers/promises';
import type {Interfaces} from '@oclif/core';
import {pluginTimeoutMs, withTimeout} from '../../backends/call.js';
import type {AfterHook, BeforeWriteHook, PlannedWrite, WriteOutcome} from '../../backends/contract.js';
import {createError, isRuntimeCliError} from '../../errors/index.js';
import {isRecord} from '../../errors/json.js';
import {asSentence} from '../../errors/sentence.js';
import type {Output} from '../output/output.js';
import {afterHook, beforeHook} from '../process/plugin-sources.js';
import {withoutPlugin} from '../process/process-end.js';
import type {AllowedWrite} from '../process/session.js';

/** How long plugins may take to answer before a change, in milliseconds: enough to ask a service, not a person. */
export const beforeWriteTimeoutMs = 60_000;
/** How long plugins may take after a command, in milliseconds. */
export const afterTimeoutMs = 5000;
/** How long they may take after a signal, in milliseconds: less than a command has to clean up. */
const interruptedTimeoutMs = 500;

/** A plugin with one of our hooks. */
interface HookedPlugin {
  readonly name: string;
  /** Runs this plugin's hooks only. Rejects if one fails. */
  run(options: Readonly<Record<string, unknown>>): Promise<readonly unknown[]>;
}

/** oclif's configuration, with its plugins. */
export type PluginConfig = Pick<Interfaces.Config, 'plugins' | 'runHook'>;

function pluginsWith(config: PluginConfig, hook: string): readonly HookedPlugin[] {
  return [...config.plugins.values()]
    .filter((plugin) => (plugin.hooks[hook]?.length ?? 0) > 0)
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((plugin) => ({name: plugin.name, run: (options) => runHooks(config, plugin, hook, options)}));
}

async function runHooks(
  config: PluginConfig,
  plugin: Interfaces.Plugin,
  hook: string,
  options: Readonly<Record<string, unknown>>,
): Promise<readonly unknown[]> {
  const scoped = Object.assign(Object.create(config) as PluginConfig, {plugins: new Map([[plugin.name, plugin]])});
  const {successes, failures} = await scoped.runHook(hook, options, undefined, true);
  const [failure] = failures;
  if (failure !== undefined) throw failure.error;
  // oclif silently skips a module that does not export a function.
  if (successes.length < (plugin.hooks[hook]?.length ?? 0)) throw new Error('it exports no function');
  return successes.map(({result}): unknown => result);
}

/** What asking before a change needs. */
interface Asking {
  readonly config: PluginConfig;
  readonly output: Pick<Output, 'warn' | 'clean'>;
  readonly signal: AbortSignal;
  /** @default 60000 */
  readonly timeoutMs?: number | undefined;
}

/**
 * Asks every plugin at the same time whether a change may be made. What cannot answer has not allowed it: nothing has
 * been sent yet, so that trying again costs less than a change during a freeze.
 * @throws RuntimeCliError `ERR_VETOED` with the reasons of all plugins, or `ERR_HOOK_FAILED`; `signal.reason` when
 * aborted.
 */
export async function askBeforeWrite(
  planned: PlannedWrite,
  {dryRun}: {readonly dryRun: boolean},
  {config, output, signal, timeoutMs = beforeWriteTimeoutMs}: Asking,
): Promise<void> {
  signal.throwIfAborted();
  const plugins = pluginsWith(config, beforeHook);
  if (plugins.length === 0) return;
  const over = new AbortController();
  const hookSignal = AbortSignal.any([signal, over.signal]);
  // A copy for each: what one changes is neither seen by others nor carried out.
  const options = (): Parameters<BeforeWriteHook>[0] => ({...structuredClone(planned), dryRun, signal: hookSignal});
  const waiting = new Set(plugins.map(({name}) => name));
  const slow = setTimeout(() => {
    output.warn(`Still waiting for the ${beforeHook} hook of ${[...waiting].join(', ')}. Press Ctrl-C to stop.`);
  }, pluginTimeoutMs).unref();
  const ask = async ({name, run}: HookedPlugin) => {
    const answers = await settle(() => withTimeout(run({...options()}), timeoutMs, signal));
    waiting.delete(name);
    return {plugin: name, ...answers};
  };
  const asked = await Promise.all(plugins.map(ask)).finally(() => {
    clearTimeout(slow);
    over.abort();
  });
  signal.throwIfAborted();
  refuse(
    planned,
    asked.map(({plugin, ...answer}) => ({plugin, ...judge(answer, output)})),
  );
}

type Settled = {readonly answers: readonly unknown[]} | {readonly failure: unknown};

async function settle(run: () => Promise<readonly unknown[]>): Promise<Settled> {
  try {
    return {answers: await run()};
  } catch (failure) {
    return {failure};
  }
}

interface Judgement {
  readonly veto?: string;
  readonly failure?: {readonly message: string; readonly cause?: unknown};
}

/** What an answer means. It is a plugin's object, whose members may throw. */
function judge(settled: Settled, output: Asking['output']): Judgement {
  try {
    return readJudgement(settled, output);
  } catch (error) {
    return {failure: {message: 'what it returned cannot be read', cause: error}};
  }
}

function readJudgement(settled: Settled, output: Asking['output']): Judgement {
  if ('failure' in settled) return {failure: {message: messageOf(settled.failure, output), cause: settled.failure}};
  for (const answer of settled.answers) {
    if (answer === undefined) continue;
    const reason = isRecord(answer) ? answer['veto'] : undefined;
    const veto = typeof reason === 'string' ? oneLine(reason, output) : '';
    if (veto !== '') return {veto};
    return {failure: {message: 'it returned neither nothing nor {veto: "the reason"}'}};
  }
  return {};
}

/** Throws if any plugin has not allowed the change. A veto tells users more than a failure. */
function refuse({operation}: PlannedWrite, judged: readonly (Judgement & {readonly plugin: string})[]): void {
  const vetoes = judged.flatMap(({plugin, veto}) => (veto === undefined ? [] : [{plugin, reason: veto}]));
  const nouns = {push: 'push', deploy: 'deployment', promote: 'promotion', rollback: 'rollback', delete: 'deletion'};
  const noun = nouns[operation];
  if (vetoes.length > 0) {
    const reasons = vetoes.map(({plugin, reason}) => asSentence(`Plugin ${plugin} vetoed the ${noun}: ${reason}`));
    throw createError('ERR_VETOED', `${reasons.join(' ')} Nothing was changed.`, {
      suggestions:
        operation === 'push'
          ? ['To check whether it is allowed, without pushing, run mycli bundle:push --dry-run with the same flags.']
          : ['Run the command again once the plugin allows it.'],
      details: {operation, vetoes},
    });
  }
  for (const {plugin, failure} of judged) {
    if (failure === undefined) continue;
    const what = asSentence(`Plugin ${plugin}: its ${beforeHook} hook failed: ${failure.message}`);
    throw createError('ERR_HOOK_FAILED', `${what} Nothing was changed.`, {
      suggestions: [withoutPlugin(plugin)],
      details: {operation, plugin},
      cause: failure.cause,
    });
  }
}

/** What telling plugins about an outcome needs. */
interface Telling {
  readonly config: PluginConfig;
  readonly output: Pick<Output, 'warn' | 'clean'>;
  readonly signal: AbortSignal;
  /** @default 5000, or 500 after a signal */
  readonly timeoutMs?: number | undefined;
}

/** Tells every plugin at the same time how a change ended. Never rejects: what fails or takes too long is a warning. */
export async function tellAfterWrite(
  {planned, known}: AllowedWrite,
  ended: {readonly error?: unknown},
  telling: Telling,
): Promise<void> {
  const {config, output, signal} = telling;
  const isLate = signal.aborted;
  const {timeoutMs = isLate ? interruptedTimeoutMs : afterTimeoutMs} = telling;
  const over = new AbortController();
  // Ctrl-C stops what is only a notification. After it, the time is limited anyway.
  const waitSignal = isLate ? over.signal : signal;
  const outcome: WriteOutcome = {...planned, ...known, ...outcomeOf(ended, output)};
  const hookSignal = AbortSignal.any([waitSignal, over.signal]);
  const options = (): Parameters<AfterHook>[0] => ({...structuredClone(outcome), signal: hookSignal});
  const tell = async ({name, run}: HookedPlugin) => {
    const told = await settle(() => withTimeout(run({...options()}), timeoutMs, waitSignal));
    if (!('failure' in told)) return;
    output.warn(asSentence(`Plugin ${name}: its ${afterHook} hook failed: ${messageOf(told.failure, output)}`));
  };
  await Promise.all(pluginsWith(config, afterHook).map(tell));
  over.abort();
  // Node reports a promise that a hook has left to fail when nothing else is to be done.
  await nextTurn();
}

function outcomeOf(
  ended: {readonly error?: unknown},
  output: Telling['output'],
): Pick<WriteOutcome, 'outcome' | 'error'> {
  if (!('error' in ended)) return {outcome: 'succeeded'};
  const {error} = ended;
  const message = messageOf(error, output);
  if (!isRuntimeCliError(error)) return {outcome: 'failed', error: {code: 'ERR_UNEXPECTED', message}};
  const {code} = error;
  const isUnknown = code === 'ERR_OUTCOME_UNKNOWN' || code === 'ERR_WAIT_TIMEOUT';
  const outcome = code === 'ERR_INTERRUPTED' ? 'interrupted' : isUnknown ? 'unknown' : 'failed';
  return {outcome, error: {code, message}};
}

function messageOf(error: unknown, output: Telling['output']): string {
  return oneLine(error instanceof Error ? error.message : String(error), output);
}

/** Text of a plugin or a server on one line, without secrets: hooks send it elsewhere. */
function oneLine(text: string, output: Telling['output']): string {
  return output.clean(text).replaceAll(/\s+/g, ' ').trim();
}
