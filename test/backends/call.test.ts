import {setTimeout as delay} from 'node:timers/promises';
import {inspect} from 'node:util';
import {afterEach, beforeEach, describe, expect, test, vi} from 'vitest';
import {Activity, callBackend, callInContext, withTimeout} from '../../src/backends/call.js';
import {backendError} from '../../src/backends/backend-context.js';
import type {AbortCleanup} from '../../src/backends/contract.js';
import {createError, type RuntimeCliError} from '../../src/errors/index.js';
import {closedPort} from '../http/with-server.js';
import {startRecordingServer} from '../recording-server.js';
import {contextFor, silent} from './context-for.js';

const backend = {name: 'acme'};

function call(thrown: unknown, signal = new AbortController().signal): Promise<never> {
  return callBackend(backend, 'uploading the bundle', signal, () => {
    throw thrown;
  });
}

test('an error of the catalogue passes as it is', async () => {
  const error = createError('ERR_SERVER', 'down');
  await expect(call(error)).rejects.toBe(error);
});

test('an error of context.error becomes one of the catalogue, with its own message', async () => {
  const error = backendError('ERR_FORBIDDEN', 'There is no entry', {status: 403, suggestions: ['Ask for a key.']});
  await expect(call(error)).rejects.toMatchObject({
    code: 'ERR_FORBIDDEN',
    exitCode: 4,
    status: 403,
    message: 'There is no entry.',
    suggestions: ['Ask for a key.'],
    details: {backend: 'acme'},
  });
});

test('anything else is a failure of the backend, with its cause', async () => {
  const cause = new TypeError('x is not a function');
  await expect(call(cause)).rejects.toMatchObject({
    code: 'ERR_BACKEND_FAILED',
    message: 'The acme backend failed while uploading the bundle: x is not a function.',
    cause,
  });
});

test.each([
  [new Error('connect ECONNREFUSED 127.0.0.1:9'), 'fetch failed: connect ECONNREFUSED 127.0.0.1:9.'],
  [Object.assign(new AggregateError([]), {code: 'ECONNREFUSED'}), 'fetch failed: ECONNREFUSED.'],
  [undefined, 'fetch failed.'],
])('a fetch that failed is told with its cause', async (cause, told) => {
  await expect(call(new TypeError('fetch failed', {cause}))).rejects.toMatchObject({
    message: `The acme backend failed while uploading the bundle: ${told}`,
  });
});

test('errors of the backend are told without its secrets, in their causes too', async () => {
  const thrown = new TypeError('canary-1 is wrong', {cause: new Error('canary-2')});
  const failing = (error: unknown) =>
    callBackend(backend, 'uploading the bundle', new AbortController().signal, () => Promise.reject(error as Error), [
      'canary-1',
      'canary-2',
    ]).catch((failure: unknown) => failure);
  const error = await failing(thrown);
  expect(error).toMatchObject({
    message: 'The acme backend failed while uploading the bundle: *** is wrong.',
    cause: {name: 'TypeError', message: '*** is wrong', stack: expect.stringContaining('call.test.ts') as string},
  });
  const own = backendError('ERR_REJECTED', 'no canary-1', {suggestions: ['Renew canary-2.']});
  expect(await failing(own)).toMatchObject({suggestions: ['Renew ***.']});
  // As those of clients, which have the request.
  const ofClient = Object.assign(new Error('no', {cause: thrown}), {config: {headers: {'x-key': 'canary-1'}}});
  const errors = [error, await failing(own), await failing('canary-1'), await failing(ofClient)];
  expect(inspect([...errors, await failing({config: {key: 'canary-2'}})], {depth: 9})).not.toContain('canary');
});

test.each([
  ['an error of the system, which has a code too', Object.assign(new Error('lost'), {code: 'ECONNRESET'})],
  ['without a code', new Error('lost')],
  ['with a code that is not listed', Object.assign(new Error('lost'), {code: 'ERR_ACME'})],
])('%s is no backend error', async (_, error) => {
  await expect(call(error)).rejects.toMatchObject({
    code: 'ERR_BACKEND_FAILED',
    message: 'The acme backend failed while uploading the bundle: lost.',
    details: undefined,
  });
});

test('a call that is aborted already is not begun', async () => {
  const reason = new Error('too late');
  const begun: unknown[] = [];
  const pending = callBackend(backend, 'uploading', AbortSignal.abort(reason), async () => begun.push('call'));
  await expect(pending).rejects.toBe(reason);
  expect(begun).toEqual([]);
});

test('an abort rejects with its reason, whatever the backend makes of it', async () => {
  const controller = new AbortController();
  const reason = new Error('enough');
  const pending = callBackend(backend, 'uploading', controller.signal, () => {
    controller.abort(reason);
    throw new Error('swallowed');
  });
  await expect(pending).rejects.toBe(reason);
});

const never = new AbortController().signal;
const endless = new Promise<string>(() => undefined);

test('work that takes too long is an error that tells how long was waited', async () => {
  await expect(withTimeout(endless, 20, never)).rejects.toThrow('no answer within 0.02 s');
});

test('an abort ends the waiting with its reason', async () => {
  const controller = new AbortController();
  const reason = new Error('stop');
  const waiting = withTimeout(endless, 10_000, controller.signal);
  controller.abort(reason);
  await expect(waiting).rejects.toBe(reason);
  await expect(withTimeout(endless, 10_000, controller.signal)).rejects.toBe(reason);
});

test.each([
  ['acme', 'ERR_OUTCOME_UNKNOWN'],
  ['legacy', 'ERR_RESPONSE_INVALID'],
])('%s: after an answer to a write that makes no sense, the error is %s and says how to check', async (name, code) => {
  await using server = await startRecordingServer(() => ({status: 200, body: {}}));
  const uploaded = callInContext(
    {name},
    {doing: 'uploading', effect: 'writes'},
    await contextFor({}),
    async ({http}) => {
      await http.post(server.origin);
      throw createError('ERR_RESPONSE_INVALID', 'It has no bundle ID.');
    },
  );
  await expect(uploaded).rejects.toMatchObject({
    code,
    message: 'It has no bundle ID. The request may have been carried out.',
    suggestions: [expect.stringContaining('Check before retrying')],
  });
});

test.each([
  ['an answer to a read', 'reads', 'ERR_RESPONSE_INVALID', true],
  ['an answer to a write that is clear', 'writes', 'ERR_REJECTED', true],
  ['a write that was not answered with 2xx', 'writes', 'ERR_RESPONSE_INVALID', false],
] as const)('%s stays the error that it is', async (_, effect, code, isWritten) => {
  await using server = await startRecordingServer(() => ({status: 200, body: {}}));
  const error = createError(code, 'It has no bundle ID.');
  const context = await contextFor({});
  const work = callInContext({name: 'legacy'}, {doing: 'uploading', effect}, context, async ({http}) => {
    if (isWritten) await http.post(server.origin);
    throw error;
  });
  await expect(work).rejects.toBe(error);
});

test('only for a backend of our own, what does not run on this machine may be the local runtime', async () => {
  const advice = 'If it is the local runtime, start it again with the same data folder: mycli runtime:start --data DIR';
  const context = await contextFor({});
  const url = `http://127.0.0.1:${String(await closedPort())}`;
  const suggestionsOf = (given: {readonly name: string; readonly plugin?: string}) =>
    callInContext(given, {doing: 'listing'}, context, async ({http}) => http.get(url)).catch(
      (error: unknown) => (error as RuntimeCliError).suggestions,
    );
  const start = 'Start the service there, or check the address.';
  expect(await suggestionsOf({name: 'legacy'})).toEqual([start, advice]);
  expect(await suggestionsOf({name: 'acme', plugin: 'mycli-plugin-acme'})).toEqual([start]);
});

describe('what ends when nothing happens', () => {
  beforeEach(() => void vi.useFakeTimers({toFake: ['setInterval', 'clearInterval', 'performance']}));
  afterEach(() => void vi.useRealTimers());

  /** When `end` was called, in milliseconds from now. */
  function watch(activity: Activity, limitMs: number) {
    const startedAt = performance.now();
    const ends: number[] = [];
    const timer = activity.watch(limitMs, () => {
      ends.push(performance.now() - startedAt);
      clearInterval(timer);
    });
    return ends;
  }

  test('ends at the limit, short or long', () => {
    const ends = watch(new Activity(), 400);
    vi.advanceTimersByTime(399);
    expect(ends).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(ends).toEqual([400]);
  });

  test('ends the limit after the last sign of life, at the next look', () => {
    const activity = new Activity();
    const ends = watch(activity, 10_000);
    vi.advanceTimersByTime(300);
    activity.touch();
    vi.advanceTimersByTime(20_000);
    expect(ends).toEqual([11_000]);
  });

  test('does not end during what has a limit of its own, nor right after it', () => {
    const activity = new Activity();
    const ends = watch(activity, 400);
    const [end, endOther] = [activity.begin(), activity.begin()];
    vi.advanceTimersByTime(1000);
    end();
    vi.advanceTimersByTime(1050);
    endOther();
    expect(ends).toEqual([]);
    vi.advanceTimersByTime(1000);
    expect(ends).toEqual([2500]);
  });
});

describe.concurrent('the cleanups of a call', () => {
  /** A call that registers a cleanup, and what happened in which order. */
  async function calling(
    end: (signal: AbortSignal, abort: () => void) => Promise<unknown>,
    cleanup: AbortCleanup = () => Promise.resolve(),
  ) {
    const controller = new AbortController();
    const events: string[] = [];
    const logger = {...silent, warn: (message: string) => events.push(message)};
    const context = await contextFor({}, {signal: controller.signal, logger});
    const outcome = await callInContext(backend, {doing: 'uploading'}, context, async ({onAbort, signal}) => {
      onAbort(async (given) => {
        events.push('cleanup');
        await cleanup(given);
      });
      return end(signal, () => controller.abort(new Error('stop'))).finally(() => events.push('end'));
    }).then(
      () => 'resolved',
      (error: unknown) => String(error),
    );
    return {outcome, events};
  }

  const aborted = (signal: AbortSignal, abort: () => void) => {
    abort();
    return Promise.reject(signal.reason as Error);
  };

  test('run once it has ended, before it rejects, with a client that the abort does not affect', async () => {
    await using server = await startRecordingServer(() => ({status: 200, body: {}}));
    const result = await calling(aborted, async ({http, signal}) => {
      expect(signal.aborted).toBe(false);
      await http.delete(server.origin);
    });
    expect(result).toEqual({outcome: 'Error: stop', events: ['end', 'cleanup']});
    expect(server.requests).toHaveLength(1);
  });

  test('do not run when it resolves all the same, or fails by itself', async () => {
    const late = async (_: AbortSignal, abort: () => void) => {
      abort();
    };
    expect(await calling(late)).toEqual({outcome: 'resolved', events: ['end']});
    expect((await calling(() => Promise.reject(new Error('no')))).events).toEqual(['end']);
  });

  test('run for one that is registered after the abort, too', async () => {
    const controller = new AbortController();
    const cleanup = vi.fn(() => Promise.resolve());
    const context = await contextFor({}, {signal: controller.signal});
    const work = callInContext(backend, {doing: 'uploading'}, context, async ({onAbort, signal}) => {
      controller.abort(new Error('stop'));
      onAbort(cleanup);
      throw signal.reason;
    });
    await expect(work).rejects.toThrow('stop');
    expect(cleanup).toHaveBeenCalledOnce();
  });

  test('become a warning when they fail', async () => {
    const result = await calling(aborted, () => Promise.reject(new Error('no access')));
    expect(result).toEqual({outcome: 'Error: stop', events: ['end', 'cleanup', 'Cleaning up failed: no access.']});
  });

  test('run although the call does not end, and are left when they do not end either', async () => {
    const controller = new AbortController();
    const warnings: string[] = [];
    const context = await contextFor(
      {},
      {signal: controller.signal, logger: {...silent, warn: (message) => warnings.push(message)}},
    );
    let given: AbortSignal | undefined;
    const cleaned = new Promise<void>((resolve) => {
      void callInContext(
        {name: 'acme'},
        {doing: 'uploading'},
        {...context, cleanUp: (run) => context.cleanUp(run).then(resolve)},
        (own) => {
          own.onAbort(({signal}) => {
            given = signal;
            return new Promise(() => undefined);
          });
          controller.abort(new Error('stop'));
          return new Promise(() => undefined);
        },
      );
    });
    await cleaned;
    expect(given?.aborted).toBe(true);
    expect(warnings).toEqual(['Cleaning up failed: no answer within 5 s.']);
  });
});

describe.concurrent('a call of a plugin in which nothing happens', () => {
  const plugin = {name: 'acme', plugin: 'mycli-plugin-acme'};
  const timeouts = {requestMs: 1000};
  const wait = 'Check the network and the proxy, or wait longer with --request-timeout SECONDS.';
  const check = expect.stringContaining('Check before retrying') as string;

  test.each([
    ['reads', 'ERR_TIMEOUT', 'listing bundles.', [wait]],
    ['writes', 'ERR_OUTCOME_UNKNOWN', 'listing bundles. It may have been carried out.', [check, wait]],
  ] as const)(
    'and that %s ends with %s, which names the plugin, and its signal',
    async (effect, code, end, suggestions) => {
      const context = await contextFor({}, {timeouts});
      const signals: AbortSignal[] = [];
      const cleanUp = vi.fn(async () => undefined);
      const work = callInContext(plugin, {doing: 'listing bundles', effect}, context, async ({signal, onAbort}) => {
        signals.push(signal);
        onAbort(cleanUp);
        await new Promise(() => undefined);
      });
      const message = `The acme backend of plugin mycli-plugin-acme made no progress for 1 s while ${end}`;
      await expect(work).rejects.toMatchObject({code, message, suggestions});
      expect(signals).toEqual([expect.objectContaining({aborted: true})]);
      expect(cleanUp).toHaveBeenCalledOnce();
    },
  );

  test('goes on while it sends requests, waits to retry or reports progress', async () => {
    await using server = await startRecordingServer(async () => delay(700, {status: 200}));
    const context = await contextFor({}, {timeouts: {requestMs: 1000}, rateLimit: {baseDelayMs: 1500}});
    const work = callInContext(plugin, {doing: 'listing bundles'}, context, async ({http, onProgress, waitToRetry}) => {
      for (const path of ['a', 'b']) await http.get(`${server.origin}/${path}`);
      expect(await waitToRetry({retries: 0, reason: 'busy', status: 429})).toBe(true);
      for (let transferred = 0; transferred < 5; transferred += 1) {
        await delay(250);
        onProgress({transferred});
      }
      return 'done';
    });
    await expect(work).resolves.toBe('done');
  });
});
