import {describe, expect, test} from 'vitest';
import {discoverBackends, type HookOutcome} from '../../src/backends/plugins/discover.js';

const never = new AbortController().signal;
const nothing: HookOutcome = {successes: [], failures: []};

const discover = (outcome: Partial<HookOutcome>, signal = never) =>
  discoverBackends(() => Promise.resolve({...nothing, ...outcome}), {version: '1.2.3', signal});

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

/** What the hook of a plugin has answered. */
const answer = (name: string, result: unknown) => ({plugin: {name, version: '1.0.0'}, result});

describe('discovering the backends of plugins', () => {
  test('registers them with plugin and version, in the order of plugins and not of their answers', async () => {
    const {registrations, failures} = await discover({
      successes: [
        answer('b', {backends: [backend('fast')]}),
        answer('a', {backends: [backend('slow'), backend('other')]}),
      ],
    });
    expect(registrations.map((item) => [item.backend.name, item.plugin, item.version])).toEqual([
      ['api', 'mycli', undefined],
      ['legacy', 'mycli', undefined],
      ['slow', 'a', '1.0.0'],
      ['other', 'a', '1.0.0'],
      ['fast', 'b', '1.0.0'],
    ]);
    expect(failures).toEqual([]);
  });

  test('keeps the backends of one module of a hook when another one fails', async () => {
    const registry = await discover({
      successes: [answer('half', {backends: [backend('acme')]})],
      failures: [{plugin: {name: 'half'}, error: new Error('two\n  lines')}],
    });
    expect(registry.has('acme')).toBe(true);
    expect(registry.failures.map(({message}) => message)).toEqual([
      'Plugin half: its mycli:backends hook failed: two lines.',
    ]);
  });

  test('tells plugins its version and how long they may take, unless its signal is aborted', async () => {
    const told: unknown[] = [];
    const ask = (signal: AbortSignal) =>
      discoverBackends(
        async (...given) => {
          told.push(given);
          return nothing;
        },
        {version: '1.2.3', signal},
      );
    const reason = new Error('stop');
    await expect(ask(AbortSignal.abort(reason))).rejects.toBe(reason);
    await ask(never);
    expect(told).toEqual([[{host: {version: '1.2.3', apiVersion: 1}}, 10_000]]);
  });

  const returning = (result: unknown): HookOutcome => ({successes: [answer('odd', result)], failures: []});
  const failing = (error: unknown) => ({plugin: {name: 'odd'}, error});
  const noList = ['returned no {backends: [...]}'];

  test.each<[string, HookOutcome, readonly string[]]>([
    ['returns nothing', returning(null), noList],
    ['returns a list', returning([backend('acme')]), noList],
    ['returns no list', returning({backends: backend('acme')}), noList],
    ['fails with no error', {successes: [], failures: [failing(' no\n luck ')]}, ['failed: no luck']],
    [
      'fails and returns nothing',
      {...returning(undefined), failures: [failing(new Error('no luck'))]},
      ['failed: no luck', 'returned no {backends: [...]}'],
    ],
  ])('reports a hook that %s', async (_, outcome, problems) => {
    const {registrations, failures} = await discover(outcome);
    expect(registrations).toHaveLength(2);
    expect(failures).toEqual(
      problems.map((problem) => ({plugin: 'odd', message: `Plugin odd: its mycli:backends hook ${problem}.`})),
    );
  });

  test('an abort while they answer is told', async () => {
    const controller = new AbortController();
    const reason = new Error('stop');
    const runHook = async () => {
      controller.abort(reason);
      return nothing;
    };
    const {signal} = controller;
    await expect(discoverBackends(runHook, {version: '1.2.3', signal})).rejects.toBe(reason);
  });
});
