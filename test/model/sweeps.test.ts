import {expect, test} from 'vitest';
import {sweep} from './start.js';

test('every fault, at each request of every operation: no promise is broken', async () => {
  const {runs, failures} = await sweep([]);
  expect(failures).toEqual([]);
  expect(runs).toBeGreaterThan(7000);
});

test('two faults, in a sample of all pairs: no promise is broken', async () => {
  const {runs, failures} = await sweep(['--sample=2000']);
  expect(failures).toEqual([]);
  expect(runs).toBe(2000);
});
