import {describe, expect, test} from 'vitest';
import {isDebugging, isInteractive, terminalWidth, usesColor, usesUnicode} from '../../../src/cli/output/terminal.js';

const terminal = {isTTY: true};

describe('isInteractive', () => {
  test.each([
    [terminal, {}, false, true],
    [{}, {}, false, false],
    [terminal, {}, true, false],
    [terminal, {TERM: 'dumb'}, false, false],
    [{isTTY: true, columns: 0}, {}, false, true],
  ])('%j with %j, CI %s: %s', (stream, env, isCI, expected) => {
    expect(isInteractive(stream, env, isCI)).toBe(expected);
  });
});

describe('terminalWidth', () => {
  test.each([
    [{isTTY: true, columns: 120}, 120],
    // Of a container, for example.
    [{isTTY: true, columns: 0}, 80],
    [{}, Number.POSITIVE_INFINITY],
  ])('%j: %s', (stream, expected) => {
    expect(terminalWidth(stream)).toBe(expected);
  });
});

describe('usesColor', () => {
  test.each([
    [terminal, {}, true],
    [{}, {}, false],
    [terminal, {NO_COLOR: '1'}, false],
    [terminal, {NO_COLOR: ''}, true],
    [{}, {FORCE_COLOR: '1'}, true],
    [{}, {FORCE_COLOR: ''}, true],
    [terminal, {FORCE_COLOR: '0'}, false],
    [{}, {FORCE_COLOR: '1', NO_COLOR: '1'}, false],
  ])('%j with %j: %s', (stream, env, expected) => {
    expect(usesColor(stream, env, false)).toBe(expected);
  });
});

describe('usesUnicode', () => {
  test.each([
    [{}, true],
    [{LANG: 'en_US.UTF-8'}, true],
    [{LANG: 'C.utf8'}, true],
    [{LANG: 'C'}, false],
    [{LANG: 'de_DE.ISO-8859-1'}, false],
    [{LANG: 'en_US.UTF-8', LC_ALL: 'POSIX'}, false],
    [{LANG: 'C', LC_CTYPE: 'C.UTF-8', LC_ALL: ''}, true],
    [{LANG: 'en_US.UTF-8', TERM: 'linux'}, false],
    [{OS: 'Windows_NT'}, false],
    [{OS: 'Windows_NT', WT_SESSION: '1'}, true],
    [{OS: 'Windows_NT', TERM_PROGRAM: 'vscode'}, true],
  ])('%j: %s', (env, expected) => {
    expect(usesUnicode(env)).toBe(expected);
  });
});

describe('isDebugging', () => {
  test.each([
    ['mycli*', true],
    ['mycli', true],
    ['*', true],
    ['express:* mycli*', true],
    ['', false],
    ['other', false],
    ['xmycli', false],
    ['myclix', false],
  ])('DEBUG=%s: %s', (pattern, expected) => {
    expect(isDebugging({DEBUG: pattern})).toBe(expected);
  });
});
