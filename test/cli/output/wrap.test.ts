import {describe, expect, test} from 'vitest';
import {unbroken, wrapSentence} from '../../../src/cli/output/wrap.js';

describe('a sentence on a terminal', () => {
  test('is broken between words, with what it begins with and an indent', () => {
    expect(wrapSentence('  Check that the credentials are complete.', 20, '    ')).toEqual([
      '  Check that the',
      '    credentials are',
      '    complete.',
    ]);
    expect(wrapSentence('short', 20)).toEqual(['short']);
    expect(wrapSentence('no terminal, no width', Number.POSITIVE_INFINITY)).toEqual(['no terminal, no width']);
  });

  test.each([
    'mycli bundle:rollback --project shop --target staging',
    "mycli bundle:push --project 'my shop' --archive ./bundle.tar.gz --v2",
  ])('keeps %s in one piece', (command) => {
    const lines = wrapSentence(
      `To undo this, run ${unbroken(command)} and wait a while, until all is as it was.`,
      75,
      '  ',
    );
    expect(lines.some((line) => line.includes(command))).toBe(true);
    for (const line of lines) if (!line.includes(command)) expect(line.length).toBeLessThanOrEqual(75);
    expect(lines.map((line) => line.trim()).join(' ')).toBe(
      `To undo this, run ${command} and wait a while, until all is as it was.`,
    );
  });

  test('keeps the name of a command with mycli', () => {
    expect(wrapSentence('Run mycli config:show to see.', 14)).toEqual(['Run', 'mycli config:show', 'to see.']);
  });

  test('leaves a line whole that sets a variable', () => {
    const line = 'export MYCLI_RUNTIME_ORIGIN=http://127.0.0.1:4000';
    expect(wrapSentence(`Run:\n${line}`, 30)).toEqual(['Run:', line]);
  });

  test('leaves a word that is too wide whole', () => {
    const url = 'https://runtime.example/projects/shop/targets/staging';
    expect(wrapSentence(`See ${url} for more.`, 30)).toEqual(['See', url, 'for more.']);
  });

  test('takes the indent from what only fits without it', () => {
    const path = '/home/jane/.config/mycli/creds';
    expect(wrapSentence(`          It is stored in ${path}.`, 33, '          ')).toEqual([
      '          It is stored in',
      `  ${path}.`,
    ]);
  });

  test('continues a command that is wider than the terminal, as shells read it', () => {
    const command = "mycli bundle:push --project shop --message 'a b c d' --runtime-backend legacy";
    const lines = wrapSentence(`  Run ${unbroken(command)}`, 30, '  ');
    expect(lines).toEqual([
      '  Run',
      '  mycli bundle:push \\',
      '    --project shop \\',
      "    --message 'a b c d' \\",
      '    --runtime-backend legacy',
    ]);
  });

  test('does not break a duration, nor count colors', () => {
    const took = '\u001B[2m[7\u00A0ms]\u001B[22m';
    expect(wrapSentence(`Uploaded bundle 1 ${took}`, 24)).toEqual(['Uploaded bundle 1 \u001B[2m[7 ms]\u001B[22m']);
    expect(wrapSentence(`Uploaded bundle 1 ${took}`, 23)).toEqual(['Uploaded bundle 1', '\u001B[2m[7 ms]\u001B[22m']);
  });

  test('counts wide characters as two columns', () => {
    expect(wrapSentence('修复登录错误 修复登录错误', 20)).toEqual(['修复登录错误', '修复登录错误']);
  });

  test('keeps its own lines', () => {
    expect(wrapSentence('one two\nthree', 5)).toEqual(['one', 'two', 'three']);
  });
});
