import {join} from 'node:path';
import {afterAll, beforeAll, expect, test, vi} from 'vitest';
import type * as Programs from '../../src/files/programs.js';
import type * as Commands from '../../src/text/suggest.js';
import {makeFolder} from '../folder.js';

const {platform} = process;
let commands: typeof Commands;
let programs: typeof Programs;
beforeAll(async () => {
  vi.resetModules();
  Object.defineProperty(process, 'platform', {value: 'win32'});
  commands = await import('../../src/text/suggest.js');
  programs = await import('../../src/files/programs.js');
});
afterAll(() => {
  Object.defineProperty(process, 'platform', {value: platform});
  vi.resetModules();
});

test.each([
  [String.raw`C:\shop`, String.raw`C:\shop`],
  [String.raw`C:\my shop`, String.raw`"C:\my shop"`],
  ['C:\\my shop\\', '"C:\\my shop\\\\"'],
  ['a,b', '"a,b"'],
  ['@file', '"@file"'],
  ['$(calc) & `calc`', '"`$(calc) & ``calc``"'],
  ['say "hi"', '"say ""hi"""'],
  ['two\nlines', '"two`nlines"'],
  ['', '""'],
])('a word on Windows, %j, is quoted for PowerShell and cmd: %s', (word, quoted) => {
  expect(commands.shellLine(word)).toBe(quoted);
});

test('variables on Windows are set for PowerShell and for cmd', () => {
  expect(commands.variableCommands([['ORIGIN', 'http://127.0.0.1:4000']])).toEqual([
    '$env:ORIGIN = "http://127.0.0.1:4000"',
    '',
    'With cmd instead:',
    '',
    'set ORIGIN=http://127.0.0.1:4000',
  ]);
});

// The cmd of Wine reads a percent sign otherwise, so no program shows it.
test.each([
  ['@echo done', '^"^%PATH^%^" ^"a^|b^"'],
  ['@node tool.js %*', '^^^"^^^%PATH^^^%^^^" ^^^"a^^^|b^^^"'],
])('a variable in an argument of the batch file %s is escaped as often as it is read', async (text, line) => {
  const file = join(await makeFolder({'tool.cmd': text}), 'tool.cmd');
  const {args} = programs.startOf(file, ['%PATH%', 'a|b'], {});
  expect(args).toEqual(['/d', '/s', '/c', `""${file}" ${line}"`]);
});
