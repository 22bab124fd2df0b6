import {setTimeout as sleep} from 'node:timers/promises';
import {afterAll, afterEach, beforeAll, expect, onTestFinished, test, vi} from 'vitest';
import {ApiKeyStrategy, InterruptedError, pushRuntimeBundle} from '../../src/index.js';
import {operations} from './operations.js';
import {createSupplies, trySequence, type Supplies} from './run.js';
import {startService} from './service.js';

let supplies: Supplies;
beforeAll(async () => {
  supplies = await createSupplies();
});
afterAll(() => supplies[Symbol.asyncDispose]());
afterEach(() => void vi.useRealTimers());

const patient = {timeout: 20};

test.each(operations)('$name: nothing goes wrong', async (operation) => {
  expect((await trySequence(operation, [], supplies, patient)).problems).toEqual([]);
});

test.each(operations)('$name: aborted at each request, it keeps its promises', async (operation) => {
  const {requests} = await trySequence(operation, [], supplies, patient);
  for (let index = 0; index < requests; index += 1) {
    for (const reason of [new Error('stop'), new InterruptedError('ERR_INTERRUPTED', 'Interrupted.')]) {
      const stop = new AbortController();
      const onRequest = (at: number) => {
        if (at === index) stop.abort(reason);
      };
      const {run, problems} = await trySequence(operation, [], supplies, {...patient, signal: stop.signal, onRequest});
      expect([index, run.ended, problems]).toEqual([index, 'failed', []]);
    }
  }
});

test.each(operations)('$name: aborted at any time, it keeps its promises', async (operation) => {
  for (let run = 0; run < 8; run += 1) {
    const delay = Math.random() * 60;
    const stop = new AbortController();
    void sleep(delay).then(() => stop.abort(new Error('stop')));
    const {problems} = await trySequence(operation, [], supplies, {...patient, signal: stop.signal});
    expect([delay, problems]).toEqual([delay, []]);
  }
});

test.each(operations)('$name: a clock that jumps does no harm', async (operation) => {
  // Only the time of day is ours: timers and sockets are real.
  vi.useFakeTimers({toFake: ['Date']});
  const year = 365 * 24 * 3_600_000;
  const limited = [[1, '429, retry-after: Fri, 31 Dec 9999 23:59:59 GMT']] as const;
  for (const jump of [year, -year]) {
    const onRequest = () => void vi.setSystemTime(Date.now() + jump);
    const {problems} = await trySequence(operation, limited, supplies, {...patient, onRequest});
    expect([jump, problems]).toEqual([jump, []]);
  }
});

test('50 pushes at once: each has a bundle of its own, and nobody warns of listeners', async () => {
  const warnings: unknown[] = [];
  const warn = (warning: unknown) => void warnings.push(warning);
  process.on('warning', warn);
  onTestFinished(() => void process.off('warning', warn));
  await using service = await startService({}, supplies.archive);
  const {signal} = new AbortController();
  const legacyAuth = new ApiKeyStrategy({apiKey: 'canary-api-key'});
  const where = {preference: 'legacy', projectSlug: 'shop', origin: service.origin, legacyAuth, signal} as const;
  const pushes = Array.from({length: 50}, async (_, index) => {
    const bundle =
      index % 2 === 0 ? {archive: 'v2.tar.gz'} : {v2: true, ssrOnly: ['ssr.js'], ssrShared: ['static/**/*']};
    return pushRuntimeBundle({...where, ...bundle, message: `push ${index}`, cwd: supplies.folder});
  });
  const ids = (await Promise.all(pushes)).map(({bundleId}) => bundleId);
  expect(new Set(ids).size).toBe(50);
  expect(ids.map((id) => service.legacy.bundles.get(Number(id))?.message).sort()).toEqual(
    ids.map((_, index) => `push ${index}`).sort(),
  );
  expect(warnings).toEqual([]);
});
