import type {Interfaces} from '@oclif/core';
import type {PlannedWrite, WriteOutcome} from '../../backends/contract.js';
import {writeNouns} from '../../backends/contract/hooks.js';
import {createError, isRuntimeCliError, messageOf} from '../../errors/index.js';
import {isRecord} from '../../text/json.js';
import {asSentence, oneLine} from '../../text/sentence.js';
import type {Output} from '../output/output.js';
import {withoutPlugin} from '../command/error-report.js';

const beforeHook = 'mycli:before-write';
const afterHook = 'mycli:after';

/** Whether a plugin follows changes. Loads none of its code. */
export function followsWrites({plugins}: Pick<Interfaces.Config, 'plugins'>): boolean {
  return [...plugins.values()].some(({hooks}) => [beforeHook, afterHook].some((hook) => hooks[hook] !== undefined));
}

/** How long plugins may take to answer before a change, in milliseconds: enough to ask a service, not a person. */
const beforeWriteTimeoutMs = 60_000;
/** How long plugins may take after a command, in milliseconds. */
const afterTimeoutMs = 5000;
/** How long they may take after a signal, in milliseconds: less than a command has to clean up. */
const interruptedTimeoutMs = 500;

export type PluginConfig = Pick<Interfaces.Config, 'runHook'>;

type Answer = {readonly plugin: string} & ({readonly result: unknown} | {readonly error: unknown});

/** Runs a hook of all plugins with a copy of `options`. Resolves to their answers, ordered by their names. */
async function runHooks(
  config: PluginConfig,
  hook: string,
  options: object,
  signals: readonly AbortSignal[],
  timeoutMs: number,
): Promise<readonly Answer[]> {
  const over = new AbortController();
  const given = {...structuredClone(options), signal: AbortSignal.any([...signals, over.signal])};
  const outcome = await config.runHook(hook, given, timeoutMs, true);
  over.abort();
  const answers: Answer[] = [
    ...outcome.successes.map(({plugin, result}) => ({plugin: plugin.name, result: result as unknown})),
    ...outcome.failures.map(({plugin, error}) => ({plugin: plugin.name, error})),
  ];
  return answers.toSorted((a, b) => (a.plugin < b.plugin ? -1 : 1));
}

interface Asking {
  readonly config: PluginConfig;
  readonly output: Pick<Output, 'warn' | 'clean'>;
  readonly signal: AbortSignal;
}

/**
 * Asks every plugin whether a change may be made. What cannot answer has not allowed it: nothing has been sent yet, so
 * that trying again costs less than a change during a freeze.
 * @param options `isFirst`: whether the command has changed nothing before
 */
export async function askBeforeWrite(
  planned: PlannedWrite,
  {dryRun, isFirst}: {readonly dryRun: boolean; readonly isFirst: boolean},
  {config, output, signal}: Asking,
): Promise<void> {
  signal.throwIfAborted();
  const answers = await runHooks(config, beforeHook, {...planned, dryRun}, [signal], beforeWriteTimeoutMs);
  signal.throwIfAborted();
  const {operation} = planned;
  // After one preview, others are deleted.
  const state = isFirst && operation !== 'delete-target' ? ' Nothing was changed.' : '';
  const vetoes = answers.flatMap(({plugin, ...answer}) => {
    const veto = 'result' in answer && isRecord(answer.result) ? answer.result['veto'] : undefined;
    const reason = typeof veto === 'string' ? lineOf(veto, output) : '';
    return reason === '' ? [] : [{plugin, reason}];
  });
  if (vetoes.length > 0) {
    const reasons = vetoes.map(({plugin, reason}) =>
      asSentence(`Plugin ${plugin} vetoed the ${writeNouns[operation]}: ${reason}`),
    );
    throw createError('ERR_VETOED', `${reasons.join(' ')}${state}`, {
      suggestions: ['Run the command again once the plugin allows it.'],
      details: {operation, vetoes},
    });
  }
  const failed = answers.find((answer) => 'error' in answer || answer.result !== undefined);
  if (failed === undefined) return;
  const {plugin} = failed;
  const cause = 'error' in failed ? failed.error : new Error('it must return nothing or {veto: "the reason"}');
  const what = asSentence(`Plugin ${plugin}: its ${beforeHook} hook failed: ${lineOf(messageOf(cause), output)}`);
  throw createError('ERR_HOOK_FAILED', `${what}${state}`, {
    suggestions: [withoutPlugin(plugin)],
    details: {operation, plugin},
    cause,
  });
}

/** Tells every plugin how a change ended. Never rejects: what fails or takes too long is a warning. */
export async function tellAfterWrite(
  write: Omit<WriteOutcome, 'outcome' | 'error'>,
  ended: {readonly error?: unknown},
  {config, output, signal}: Asking,
): Promise<void> {
  const outcome: WriteOutcome = {...write, ...outcomeOf(ended, output)};
  // After Ctrl-C, the time is limited anyway.
  const [signals, timeoutMs] = signal.aborted ? [[], interruptedTimeoutMs] : [[signal], afterTimeoutMs];
  const answers = await runHooks(config, afterHook, outcome, signals, timeoutMs);
  for (const answer of answers) {
    if (!('error' in answer)) continue;
    const message = lineOf(messageOf(answer.error), output);
    output.warn(asSentence(`Plugin ${answer.plugin}: its ${afterHook} hook failed: ${message}`));
  }
}

function outcomeOf(
  ended: {readonly error?: unknown},
  output: Asking['output'],
): Pick<WriteOutcome, 'outcome' | 'error'> {
  if (!('error' in ended)) return {outcome: 'succeeded'};
  const {error} = ended;
  const message = lineOf(messageOf(error), output);
  if (!isRuntimeCliError(error)) return {outcome: 'failed', error: {code: 'ERR_UNEXPECTED', message}};
  const {code} = error;
  const isUnknown = code === 'ERR_OUTCOME_UNKNOWN' || code === 'ERR_WAIT_TIMEOUT';
  const outcome = code === 'ERR_INTERRUPTED' ? 'interrupted' : isUnknown ? 'unknown' : 'failed';
  return {outcome, error: {code, message}};
}

/** Text of a plugin or a server without secrets: hooks send it elsewhere. */
function lineOf(text: string, output: Asking['output']): string {
  return oneLine(output.clean(text));
}
