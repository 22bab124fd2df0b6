import {setImmediate as nextTurn} from 'node:timers/promises';
import type {Interfaces} from '@oclif/core';
import type {PlannedWrite, WriteOutcome} from '../../backends/contract.js';
import {createError, isRuntimeCliError} from '../../errors/index.js';
import {isRecord} from '../../errors/json.js';
import {asSentence} from '../../errors/sentence.js';
import {messageOf} from '../../errors/system-failure.js';
import type {Output} from '../output/output.js';
import {withoutPlugin} from '../command/error-report.js';
import {afterHook, beforeHook} from '../command/plugins.js';
import type {AllowedWrite} from '../command/context.js';

/** How long plugins may take to answer before a change, in milliseconds: enough to ask a service, not a person. */
const beforeWriteTimeoutMs = 60_000;
/** How long plugins may take after a command, in milliseconds. */
const afterTimeoutMs = 5000;
/** How long they may take after a signal, in milliseconds: less than a command has to clean up. */
const interruptedTimeoutMs = 500;

export type PluginConfig = Pick<Interfaces.Config, 'plugins' | 'runHook'>;

/** What a hook of a plugin has returned or thrown. */
type Answer = {readonly plugin: string} & ({readonly result: unknown} | {readonly error: unknown});

/** Runs a hook of all plugins at the same time. Resolves to their answers, ordered by the names of the plugins. */
async function runHooks(
  config: PluginConfig,
  hook: string,
  options: Readonly<Record<string, unknown>>,
  timeoutMs: number,
): Promise<readonly Answer[]> {
  const {successes, failures} = await config.runHook(hook, options, timeoutMs, true);
  const answers: Answer[] = [
    ...successes.map(({plugin, result}) => ({plugin: plugin.name, result: result as unknown})),
    ...failures.map(({plugin, error}) => ({plugin: plugin.name, error})),
  ];
  // oclif silently skips a module that does not export a function.
  const silent = [...config.plugins.values()].filter(
    ({name, hooks}) => (hooks[hook]?.length ?? 0) > answers.filter(({plugin}) => plugin === name).length,
  );
  answers.push(...silent.map(({name}) => ({plugin: name, error: new Error('it exports no function')})));
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
 */
export async function askBeforeWrite(
  planned: PlannedWrite,
  {dryRun}: {readonly dryRun: boolean},
  {config, output, signal}: Asking,
): Promise<void> {
  signal.throwIfAborted();
  const over = new AbortController();
  const options = {...structuredClone(planned), dryRun, signal: AbortSignal.any([signal, over.signal])};
  const answers = await runHooks(config, beforeHook, options, beforeWriteTimeoutMs);
  over.abort();
  signal.throwIfAborted();
  const {operation} = planned;
  const nouns = {push: 'push', deploy: 'deployment', promote: 'promotion', rollback: 'rollback', delete: 'deletion'};
  const vetoes = answers.flatMap((answer) => {
    const reason = vetoOf(answer, output);
    return reason === undefined ? [] : [{plugin: answer.plugin, reason}];
  });
  if (vetoes.length > 0) {
    const reasons = vetoes.map(({plugin, reason}) =>
      asSentence(`Plugin ${plugin} vetoed the ${nouns[operation]}: ${reason}`),
    );
    const dryRun = [
      'To check whether it is allowed, run ',
      {run: ['bundle:push', '--dry-run']},
      ' with the same flags.',
    ];
    throw createError('ERR_VETOED', `${reasons.join(' ')} Nothing was changed.`, {
      suggestions: [operation === 'push' ? dryRun : 'Run the command again once the plugin allows it.'],
      details: {operation, vetoes},
    });
  }
  const failed = answers.find((answer) => 'error' in answer || answer.result !== undefined);
  if (failed === undefined) return;
  const {plugin} = failed;
  const cause = 'error' in failed ? failed.error : new Error('it must return nothing or {veto: "the reason"}');
  const what = asSentence(`Plugin ${plugin}: its ${beforeHook} hook failed: ${oneLine(messageOf(cause), output)}`);
  throw createError('ERR_HOOK_FAILED', `${what} Nothing was changed.`, {
    suggestions: [withoutPlugin(plugin)],
    details: {operation, plugin},
    cause,
  });
}

/** The reason of a veto; undefined if the answer is none. */
function vetoOf(answer: Answer, output: Asking['output']): string | undefined {
  const reason = 'result' in answer && isRecord(answer.result) ? answer.result['veto'] : undefined;
  return (typeof reason === 'string' && oneLine(reason, output)) || undefined;
}

/** Tells every plugin how a change ended. Never rejects: what fails or takes too long is a warning. */
export async function tellAfterWrite(
  {planned, known}: AllowedWrite,
  ended: {readonly error?: unknown},
  {config, output, signal}: Asking,
): Promise<void> {
  const outcome: WriteOutcome = {...planned, ...known, ...outcomeOf(ended, output)};
  const over = new AbortController();
  // After Ctrl-C, the time is limited anyway.
  const hookSignal = signal.aborted ? over.signal : AbortSignal.any([signal, over.signal]);
  const timeoutMs = signal.aborted ? interruptedTimeoutMs : afterTimeoutMs;
  const answers = await runHooks(config, afterHook, {...structuredClone(outcome), signal: hookSignal}, timeoutMs);
  over.abort();
  for (const answer of answers) {
    if (!('error' in answer)) continue;
    const message = oneLine(messageOf(answer.error), output);
    output.warn(asSentence(`Plugin ${answer.plugin}: its ${afterHook} hook failed: ${message}`));
  }
  // Node reports a promise that a hook has left to fail when nothing else is to be done.
  await nextTurn();
}

function outcomeOf(
  ended: {readonly error?: unknown},
  output: Asking['output'],
): Pick<WriteOutcome, 'outcome' | 'error'> {
  if (!('error' in ended)) return {outcome: 'succeeded'};
  const {error} = ended;
  const message = oneLine(messageOf(error), output);
  if (!isRuntimeCliError(error)) return {outcome: 'failed', error: {code: 'ERR_UNEXPECTED', message}};
  const {code} = error;
  const isUnknown = code === 'ERR_OUTCOME_UNKNOWN' || code === 'ERR_WAIT_TIMEOUT';
  const outcome = code === 'ERR_INTERRUPTED' ? 'interrupted' : isUnknown ? 'unknown' : 'failed';
  return {outcome, error: {code, message}};
}

/** Text of a plugin or a server on one line, without secrets: hooks send it elsewhere. */
function oneLine(text: string, output: Asking['output']): string {
  return output.clean(text).replaceAll(/\s+/g, ' ').trim();
}
