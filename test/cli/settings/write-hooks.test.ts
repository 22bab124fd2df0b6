import {describe, expect, test, vi} from 'vitest';
import type {PlannedWrite, WriteOutcome} from '../../../src/backends/contract.js';
import {askBeforeWrite, tellAfterWrite} from '../../../src/cli/settings/write-hooks.js';
import {createError} from '../../../src/errors/index.js';
import {configOf, type HookFunction} from './hooked-plugins.js';

const secret = 'canary-4711';

function createOutput() {
  const warnings: string[] = [];
  return {
    warnings,
    debug: () => undefined,
    warn: (message: string) => void warnings.push(message),
    clean: (text: string) => text.replaceAll(secret, '***'),
  };
}

const planned: PlannedWrite = {
  operation: 'push',
  backend: 'api',
  projectSlug: 'shop',
  targetSlug: 'production',
  bundleIds: [],
  bundle: {format: 'v2', message: 'main: 1a2b3c', size: 12, sha256: 'ab'},
};
const never = new AbortController().signal;

function ask(
  hooks: Readonly<Record<string, HookFunction | string>>,
  {isFirst = true, ...more}: {signal?: AbortSignal; isFirst?: boolean} = {},
) {
  const config = configOf('mycli:before-write', hooks);
  return askBeforeWrite(planned, {dryRun: false, isFirst}, {config, output: createOutput(), signal: never, ...more});
}

function tell(
  hooks: Readonly<Record<string, HookFunction | string>>,
  ended: {readonly error?: unknown} = {},
  more: {signal?: AbortSignal} = {},
) {
  const output = createOutput();
  const config = configOf('mycli:after', hooks);
  const known = {bundleIds: [7], status: 'queued'} as const;
  const told = tellAfterWrite({...planned, ...known}, ended, {config, output, signal: never, ...more});
  return told.then(() => output.warnings);
}

describe('asking plugins before a change', () => {
  test('tells each what is about to be written, and takes nothing for an answer', async () => {
    const seen = vi.fn(() => undefined);
    await ask({a: seen, b: seen});
    expect(seen).toHaveBeenCalledTimes(2);
    expect(seen).toHaveBeenCalledWith({...planned, dryRun: false, signal: expect.any(AbortSignal)});
  });

  test('gives plugins a copy', async () => {
    const change = (options: object) => void Object.assign(options, {projectSlug: 'other'});
    const before = structuredClone(planned);
    await ask({a: change});
    expect(planned).toEqual(before);
  });

  test('refuses the change with the reasons of all that veto it, in the order of their names', async () => {
    const vetoed = ask({
      b: () => ({veto: `no ${secret}\napproval.`}),
      a: () => ({veto: 'a freeze'}),
      c: () => undefined,
    });
    await expect(vetoed).rejects.toMatchObject({
      code: 'ERR_VETOED',
      exitCode: 3,
      message: 'Plugin a vetoed the push: a freeze. Plugin b vetoed the push: no *** approval. Nothing was changed.',
      details: {
        operation: 'push',
        vetoes: [
          {plugin: 'a', reason: 'a freeze'},
          {plugin: 'b', reason: 'no *** approval.'},
        ],
      },
    });
  });

  test('does not say that nothing was changed if the command has changed something before', async () => {
    const vetoed = ask({a: () => ({veto: 'a freeze'})}, {isFirst: false});
    await expect(vetoed).rejects.toThrow(/^Plugin a vetoed the push: a freeze\.$/);
    const failed = ask({a: () => Promise.reject(new Error('no'))}, {isFirst: false});
    await expect(failed).rejects.toThrow(/^Plugin a: its mycli:before-write hook failed: no\.$/);
  });

  test.each<[string, HookFunction | string, string]>([
    ['throws', () => Promise.reject(new Error('the calendar is\nunreachable')), 'the calendar is unreachable'],
    ['answers something else', () => ({vetoed: true}), 'it must return nothing or {veto: "the reason"}'],
    ['vetoes with an empty reason', () => ({veto: ' \n'}), 'it must return nothing or {veto: "the reason"}'],
    ['has no function', 'no function', 'it exports no function'],
  ])('refuses the change if a plugin %s', async (_, hook, reason) => {
    await expect(ask({a: () => undefined, b: hook})).rejects.toMatchObject({
      code: 'ERR_HOOK_FAILED',
      exitCode: 3,
      message: `Plugin b: its mycli:before-write hook failed: ${reason}. Nothing was changed.`,
      suggestions: [expect.stringContaining('MYCLI_SKIP_PLUGINS=1')],
      details: {plugin: 'b'},
    });
  });

  test('gives oclif the time that a plugin may take, and aborts the signal of those that took longer', async () => {
    const signals: unknown[] = [];
    const seen: HookFunction = ({signal}) => void signals.push(signal);
    const config = configOf('mycli:before-write', {a: seen});
    const runHook = vi.spyOn(config, 'runHook');
    await askBeforeWrite(planned, {dryRun: false, isFirst: true}, {config, output: createOutput(), signal: never});
    expect(runHook).toHaveBeenCalledWith('mycli:before-write', expect.anything(), 60_000, true);
    expect(signals).toEqual([expect.objectContaining({aborted: true})]);
  });

  test('prefers a veto to the failure of another plugin', async () => {
    const failing = () => Promise.reject(new Error('x'));
    await expect(ask({a: failing, b: () => ({veto: 'a freeze'})})).rejects.toMatchObject({code: 'ERR_VETOED'});
  });

  test('stops when the command is interrupted', async () => {
    const controller = new AbortController();
    const reason = createError('ERR_INTERRUPTED', 'Interrupted by SIGINT.');
    const asked = ask({a: () => controller.abort(reason)}, {signal: controller.signal});
    await expect(asked).rejects.toBe(reason);
  });
});

describe('telling plugins after a change', () => {
  const outcomes: readonly (readonly [string, {readonly error?: unknown}, Partial<WriteOutcome>])[] = [
    ['success', {}, {outcome: 'succeeded'}],
    [
      'a failure, without secrets',
      {error: createError('ERR_REJECTED', `No: ${secret}.`)},
      {outcome: 'failed', error: {code: 'ERR_REJECTED', message: 'No: ***.'}},
    ],
    [
      'a lost answer',
      {error: createError('ERR_OUTCOME_UNKNOWN', 'Lost.')},
      {outcome: 'unknown', error: {code: 'ERR_OUTCOME_UNKNOWN', message: 'Lost.'}},
    ],
    ['a bug', {error: new TypeError('x')}, {outcome: 'failed', error: {code: 'ERR_UNEXPECTED', message: 'x'}}],
  ];

  test.each(outcomes)('of %s', async (_, ended, outcome) => {
    const seen = vi.fn(() => undefined);
    expect(await tell({a: seen}, ended)).toEqual([]);
    const known = {bundleIds: [7], status: 'queued'};
    expect(seen).toHaveBeenCalledWith({...planned, ...known, ...outcome, signal: expect.any(AbortSignal)});
  });

  test('warns of what fails, and names the plugin', async () => {
    const warnings = await tell({a: () => Promise.reject(new Error('gone')), c: 'no function'});
    expect(warnings.toSorted()).toEqual([
      'Plugin a: its mycli:after hook failed: gone.',
      'Plugin c: its mycli:after hook failed: it exports no function.',
    ]);
  });

  test('still happens after a signal', async () => {
    const interruption = createError('ERR_INTERRUPTED', 'Interrupted by SIGINT.');
    const seen = vi.fn(() => undefined);
    expect(await tell({a: seen}, {error: interruption}, {signal: AbortSignal.abort(interruption)})).toEqual([]);
    expect(seen).toHaveBeenCalledWith(expect.objectContaining({outcome: 'interrupted'}));
  });
});
