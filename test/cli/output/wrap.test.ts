import {expect, test} from 'vitest';
import {unbroken, wrapSentence} from '../../../src/cli/output/terminal.js';

const command = "mycli bundle:push --project 'my shop' --archive ./bundle.tar.gz --v2";

test.each([
  [
    'breaks between words, after what it begins with and an indent',
    wrapSentence('  Check that the credentials are complete.', 22, '    '),
    ['  Check that the', '    credentials are', '    complete.'],
  ],
  [
    'keeps the indentation of a line that has more',
    wrapSentence('    project  shop of all that we have', 22, '  '),
    ['    project  shop of', '    all that we have'],
  ],
  [
    'gives the first line the room that an indent takes from the others',
    wrapSentence('✔ proxy  No proxy is used, and none is set.', 24, '         '),
    ['✔ proxy  No proxy is', '         used, and none', '         is set.'],
  ],
  [
    'gives a narrow terminal four spaces of a wide indent',
    wrapSentence(`${' '.repeat(12)}Install it with npm.`, 24, ' '.repeat(12)),
    ['    Install it with npm.'],
  ],
  [
    'gives the other lines of a narrow terminal four spaces of a wide indent',
    wrapSentence('✔ certificates   They are in /etc/ssl/certs.', 30, ' '.repeat(17)),
    ['✔ certificates   They are in', '    /etc/ssl/certs.'],
  ],
  ['leaves what fits', wrapSentence('short', 20), ['short']],
  ['leaves all without a terminal', wrapSentence('no terminal, no width', Infinity), ['no terminal, no width']],
  ['keeps its own lines', wrapSentence('one two\nthree', 5), ['one', 'two', 'three']],
  [
    'keeps a command whole',
    wrapSentence(`Run ${unbroken(command)}, then wait.`, 70),
    ['Run', `${command},`, 'then wait.'],
  ],
  [
    'leaves a command whole that is wider than the terminal',
    wrapSentence(`Run ${unbroken(command)}`, 30, '  '),
    ['Run', `  ${command}`],
  ],
  [
    'keeps the flags of a command in plain text with their values',
    wrapSentence(`Set them: mycli env:set A=@FILE --project 'my shop' --wait, then wait.`, 40, '  '),
    ['Set them:', `  mycli env:set A=@FILE --project 'my shop' --wait,`, '  then wait.'],
  ],
  [
    'keeps npx with the command that it runs',
    wrapSentence('Set them: npx mycli env:set A=@FILE', 14),
    ['Set them:', 'npx mycli env:set A=@FILE'],
  ],
  [
    'keeps the package that a command in plain text names',
    wrapSentence('Remove it: mycli plugins:uninstall @acme/mycli-s3. Or wait.', 40),
    ['Remove it:', 'mycli plugins:uninstall @acme/mycli-s3.', 'Or wait.'],
  ],
  [
    'keeps the name of a command with mycli',
    wrapSentence('Run mycli config:show to see.', 14),
    ['Run', 'mycli config:show', 'to see.'],
  ],
  [
    'leaves a line whole that sets a variable',
    wrapSentence(unbroken('export MYCLI_RUNTIME_ORIGIN=http://127.0.0.1:4000'), 30),
    ['export MYCLI_RUNTIME_ORIGIN=http://127.0.0.1:4000'],
  ],
  [
    'leaves a word whole that is too wide',
    wrapSentence('See https://runtime.example/projects/shop for more.', 30),
    ['See', 'https://runtime.example/projects/shop', 'for more.'],
  ],
  [
    'counts no colors',
    wrapSentence('Uploaded bundle 1 \u001B[2m[7\u00A0ms]\u001B[22m', 24),
    ['Uploaded bundle 1 \u001B[2m[7 ms]\u001B[22m'],
  ],
  [
    'counts wide letters as two columns',
    wrapSentence('修复登录错误 修复登录错误', 20),
    ['修复登录错误', '修复登录错误'],
  ],
])('a sentence on a terminal: %s', (_, lines, expected) => {
  expect(lines).toEqual(expected);
});
