import {expect, test} from 'vitest';
import {longestTimeoutSeconds} from '../../../src/cli/settings/parsers.js';
import {longestTimeoutSeconds as ofOperations} from '../../../src/operations/longest-timeout.js';

// The layers keep the command line from taking the number from the operations.
test('the command line takes time-outs as long as the operations do', () => {
  expect(longestTimeoutSeconds).toBe(ofOperations);
});
