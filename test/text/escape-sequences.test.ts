import {expect, test} from 'vitest';
import {withoutEscapeSequences} from '../../src/text/escape-sequences.js';

test.each([
  ['\u001b[31mred\u001b[0m', 'red'],
  ['\u001b[2J\u001b[?25l\u001b[1;31;40mx', 'x'],
  ['a\u001b]0;my title\u0007b', 'ab'],
  ['\u001b]8;;https://x.test/a b\u001b\\link\u001b]8;;\u001b\\', 'link'],
  ['\u001bP1$r\u001b\\x\u009b31my', 'xy'],
  ['\u001b(Bx\u001bc', 'x'],
  // A string without an end hides nothing.
  ['\u001b]0;what follows\nis there', '0;what follows\nis there'],
  ['plain [31m text', 'plain [31m text'],
  ['\u0090\u0090x\u009c\u009d2;a\u0090b\u0007c', '\u0090\u009d2;ac'],
])('escape sequences of %j are left out', (text, expected) => {
  expect(withoutEscapeSequences(text)).toBe(expected);
});
