import {expect, test} from 'vitest';
import {commandNamed} from '../../../src/cli/command/named-commands.js';
import {flagNamed, oldCommands, oldFlags} from '../../../src/cli/setup/other-clients.js';

const known = oldCommands.flatMap(({now}) => now.split(' ').slice(0, 1));

test.each([
  ['mrt bundle deploy', 'bundle:push'],
  ['b2c mrt bundle deploy 12', 'bundle:deploy 12'],
  ['mrt env clone preview', 'target:create preview --copy-from TARGET'],
  ['mrt', 'help'],
  ['sfnext push', 'bundle:push'],
  ['save-credentials', 'auth:login'],
  ['pwa-kit-dev tail-logs', 'logs'],
  ['firebase emulators:start', 'runtime:start'],
  ['secrets:set', 'env:set'],
  ['hosting:channel:list', 'preview:list'],
  ['firebase hosting:channel:delete', 'preview:down'],
  ['deployment list', 'bundle:history'],
  ['functions:list', 'help'],
  ['rm', 'bundle:delete'],
  ['rm 3', 'bundle:delete 3'],
])('an old command is named: %s is %s', (typed, now) => {
  expect(commandNamed(typed.split(' '), known)?.command.join(' ')).toBe(now);
});

test('what follows the name of an old command is told apart', () => {
  const typed = ['b2c', 'mrt', 'env', 'var', 'set', 'TOKEN=canary'];
  expect(commandNamed(typed, known)).toMatchObject({count: 5, command: ['env:set'], rest: ['TOKEN=canary']});
});

test('an old word is passed over where there is no such command or flag', () => {
  expect(commandNamed(['tail-logs'], ['bundle:push'])).toBeUndefined();
  expect(commandNamed(['bundle', 'lst'], ['bundle:push'])).toBeUndefined();
  expect(flagNamed('mrt-backend', ['target'])).toBeUndefined();
});

test.each(oldFlags)('the old flag $was is $now', ({was, now}) => {
  const [, name = ''] = /^--([\w-]+)/.exec(now) ?? [];
  for (const flag of was.split('|')) expect(flagNamed(flag.replace(/^-+/, ''), [name])).toBe(now.slice(2));
});
