import {setImmediate as nextTurn} from 'node:timers/promises';
import {describe, expect, test} from 'vitest';
import {discoverBackends, type BackendPlugin, type HookOutcome} from '../../src/backends/plugins/discover.js';

const never = new AbortController().signal;

const discover = (plugins: readonly BackendPlugin[], more: {timeoutMs?: number; signal?: AbortSignal} = {}) =>
  discoverBackends(plugins, {version: '1.2.3', signal: never, ...more});

function backend(name: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    apiVersion: 1,
    name,
    summary: 'For tests',
    formats: ['v2'],
    check: async () => ({configured: true}),
    upload: async () => ({bundleId: 1, raw: undefined}),
    ...more,
  };
}

/** A plugin whose hook has one module, which answers `result`: at once, or some turns of the event loop later. */
function plugin(name: string, result: unknown, turns = 0): BackendPlugin {
  return {
    name,
    version: '1.0.0',
    runHook: async () => {
      for (let turn = 0; turn < turns; turn += 1) await nextTurn();
      return {successes: [{result}], failures: []};
    },
  };
}

const hanging = (name: string): BackendPlugin => ({name, runHook: () => new Promise(() => undefined)});

describe('discovering the backends of plugins', () => {
  test('registers them with plugin and version, in the order of plugins and not of their answers', async () => {
    const {registrations, failures} = await discover([
      plugin('b', {backends: [backend('fast')]}),
      plugin('a', {backends: [backend('slow'), backend('other')]}, 5),
    ]);
    expect(registrations.map((item) => [item.backend.name, item.plugin, item.version])).toEqual([
      ['api', 'mycli', undefined],
      ['legacy', 'mycli', undefined],
      ['slow', 'a', '1.0.0'],
      ['other', 'a', '1.0.0'],
      ['fast', 'b', '1.0.0'],
    ]);
    expect(failures).toEqual([]);
  });

  test('leaves out a plugin that does not answer in time, and keeps the others', async () => {
    const registry = await discover([hanging('a'), plugin('b', {backends: [backend('acme')]})], {timeoutMs: 50});
    expect(registry.has('acme')).toBe(true);
    expect(registry.failures).toEqual([
      {plugin: 'a', message: 'Plugin a: its mycli:backends hook failed: no answer within 0.05 s.'},
    ]);
  });

  test('keeps the backends of one module of a hook when another one fails', async () => {
    const half: BackendPlugin = {
      name: 'half',
      runHook: () =>
        Promise.resolve({
          successes: [{result: {backends: [backend('acme')]}}],
          failures: [{error: new Error('two\n  lines')}],
        }),
    };
    const registry = await discover([half]);
    expect(registry.has('acme')).toBe(true);
    expect(registry.failures.map(({message}) => message)).toEqual([
      'Plugin half: its mycli:backends hook failed: two lines.',
    ]);
  });

  test('asks nobody when its signal is aborted already', async () => {
    const reason = new Error('stop');
    const asked: string[] = [];
    const asking: BackendPlugin = {
      name: 'a',
      runHook: async () => {
        asked.push('a');
        return {successes: [], failures: []};
      },
    };
    await expect(discover([asking], {signal: AbortSignal.abort(reason)})).rejects.toBe(reason);
    expect(asked).toEqual([]);
  });

  test('tells plugins its version and how long they may take', async () => {
    const told: unknown[] = [];
    const asking: BackendPlugin = {
      name: 'a',
      runHook: async (options, timeoutMs) => {
        told.push([options, timeoutMs]);
        return {successes: [], failures: []};
      },
    };
    await discover([asking]);
    await discover([asking], {timeoutMs: 500});
    const options = {host: {version: '1.2.3', apiVersion: 1}};
    expect(told).toEqual([
      [options, 10_000],
      [options, 500],
    ]);
  });

  const returning = (result: unknown): HookOutcome => ({successes: [{result}], failures: []});
  const noList = ['returned no {backends: [...]}'];

  test.each<[string, HookOutcome, readonly string[]]>([
    ['returns nothing', returning(null), noList],
    ['returns a list', returning([backend('acme')]), noList],
    ['returns no list', returning({backends: backend('acme')}), noList],
    ['fails with no error', {successes: [], failures: [{error: ' no\n luck '}]}, ['failed: no luck']],
    [
      'fails and returns nothing',
      {successes: [{result: undefined}], failures: [{error: new Error('no luck')}]},
      ['failed: no luck', 'returned no {backends: [...]}'],
    ],
  ])('reports a hook that %s', async (_, outcome, problems) => {
    const odd: BackendPlugin = {name: 'odd', runHook: () => Promise.resolve(outcome)};
    const {registrations, failures} = await discover([odd]);
    expect(registrations).toHaveLength(2);
    expect(failures).toEqual(
      problems.map((problem) => ({plugin: 'odd', message: `Plugin odd: its mycli:backends hook ${problem}.`})),
    );
  });

  test('an abort is told and not the failure that it makes', async () => {
    const controller = new AbortController();
    const reason = new Error('stop');
    const failing: BackendPlugin = {
      name: 'a',
      runHook: () => {
        controller.abort(reason);
        return Promise.reject(new Error('no luck'));
      },
    };
    await expect(discover([failing], {signal: controller.signal})).rejects.toBe(reason);
  });

  test('rejects with the reason of its signal while plugins hang', async () => {
    const controller = new AbortController();
    const reason = new Error('stop');
    const discovered = discover([hanging('a')], {signal: controller.signal});
    controller.abort(reason);
    await expect(discovered).rejects.toBe(reason);
  });
});
