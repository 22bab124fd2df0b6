import {expect, test} from 'vitest';
import {sweep} from './start.js';

test(
  'every fault, at each kind of request, and two faults in a sample: no promise is broken',
  {timeout: 3_600_000},
  async () => {
    const {runs, failures} = await sweep(['--gate', '--sample=500']);
    expect(failures).toEqual([]);
    expect(runs).toBeGreaterThan(3000);
  },
);
