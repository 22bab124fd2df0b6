import {expect, test} from 'vitest';
import {crashLines} from '../../src/local-runtime/sites/crash-lines.js';

test('the lines of a crash begin with its error, and leave out most of a minified program', () => {
  const error = ['TypeError: a is not a function', '    at /app/ssr.js:1:30', '', 'Node.js v20.20.2'];
  const lines = crashLines(['Listening', '/app/ssr.js:1', 'x'.repeat(8000), '     ^', '', ...error]);
  expect(lines.slice(0, 6)).toEqual([...error, 'Listening', '/app/ssr.js:1']);
  expect(lines[6]).toBe(`${'x'.repeat(199)}…`);
});

test('the lines of a crash have 2 kB at most', () => {
  const lines = crashLines(Array.from({length: 40}, () => 'y'.repeat(300)));
  expect(lines.join('\n').length).toBeLessThanOrEqual(2000);
  expect(lines.length).toBe(9);
});
