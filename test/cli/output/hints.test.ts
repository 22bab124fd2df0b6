import {expect, test} from 'vitest';
import {shortenCommands} from '../../../src/cli/output/hints.js';

const context = {
  aliases: new Map([['bundle:rollback', 'rollback']]),
  given: [
    {flag: '--project', value: 'shop'},
    {flag: '--target', value: 'my target'},
    {flag: '--runtime-backend', value: 'legacy'},
  ],
} as const;

test.each([
  ['Run mycli bundle:rollback --project shop.', 'Run mycli rollback.'],
  ["mycli bundle:rollback --project shop --target 'my target' --runtime-backend legacy", 'mycli rollback'],
  // What the configuration does not give, or gives otherwise, stays.
  [
    'mycli bundle:rollback --project shop-2 --target TARGET --to 3',
    'mycli rollback --project shop-2 --target TARGET --to 3',
  ],
  ['Run mycli bundle:history --project shop --limit 3 to see.', 'Run mycli bundle:history --limit 3 to see.'],
  // Status without a target shows all of them.
  ["mycli status --project shop --target 'my target'", "mycli status --target 'my target'"],
  ['Pass --project shop.', 'Pass --project shop.'],
])('the command to type in %j is as short as it can be', (text, shorter) => {
  expect(shortenCommands(text, context)).toBe(shorter);
});
