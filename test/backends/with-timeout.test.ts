import {expect, test} from 'vitest';
import {withTimeout} from '../../src/backends/with-timeout.js';

const never = new AbortController().signal;
const endless = new Promise<string>(() => undefined);

test('work that comes in time is the result', async () => {
  expect(await withTimeout(Promise.resolve('done'), 10_000, never)).toBe('done');
  await expect(withTimeout(Promise.reject(new Error('no luck')), 10_000, never)).rejects.toThrow('no luck');
});

test('work that does not is an error that tells how long was waited', async () => {
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
