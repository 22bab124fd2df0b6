import {expect, test} from 'vitest';
import {sweep} from './start.js';

test('every fault, at each request of every operation: no promise is broken', async () => {
  const {runs, output} = await sweep(['singles']);
  expect(output).toBe('');
  expect(runs).toBeGreaterThan(7000);
});

test('two faults, in a sample of all pairs: no promise is broken', async () => {
  const {runs, output} = await sweep(['pairs', '2000', '1']);
  expect(output).toBe('');
  expect(runs).toBe(2000);
});
