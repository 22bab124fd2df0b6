import {expect, test} from 'vitest';
import {growingTexts, patternsOfSources, stepCounter} from './patterns.js';

/** They read the stacks of the user's own code, which could as well loop. */
const ofOwnCode = /^src\/(?:modules\/load-module|cli\/command\/error-report)\.ts:/;

const [size, doubled] = [300, 600];

function slowTexts(pattern: {readonly source: string; readonly flags: string}): readonly string[] {
  const count = stepCounter(pattern, 1000 * doubled);
  return growingTexts(pattern)
    .filter((text) => {
      const steps = count(text(doubled));
      return steps === Number.POSITIVE_INFINITY || (steps > 20 * doubled && steps > 3 * count(text(size)));
    })
    .map((text) => JSON.stringify(text(6)));
}

test('steps of a search are counted as an engine takes them', () => {
  expect(stepCounter({source: 'a+b', flags: ''}, 100)('aaab')).toBe(5);
  expect(slowTexts({source: String.raw`\s*[\n\t]\s*`, flags: 'g'})).toContain(JSON.stringify('      ☃'));
  expect(slowTexts({source: String.raw`:\/\/[^/?#\s:]*:[^\s]*@`, flags: ''})).not.toEqual([]);
  expect(slowTexts({source: '(a+)+$', flags: ''})).not.toEqual([]);
  expect(slowTexts({source: String.raw`(?<!\s)\s*[\n\t]\s*`, flags: 'g'})).toEqual([]);
});

test('every pattern takes twice as many steps for twice as much text, because others may have written it', () => {
  const patterns = patternsOfSources().filter(({place}) => !ofOwnCode.test(place));
  expect(patterns.length).toBeGreaterThan(300);
  const slow = patterns.flatMap((pattern) => {
    const [text] = slowTexts(pattern);
    return text === undefined ? [] : [`${pattern.place} /${pattern.source}/${pattern.flags} for ${text}`];
  });
  expect(slow).toEqual([]);
});
