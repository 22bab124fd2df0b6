import {createHash} from 'node:crypto';
import {expect, test} from 'vitest';
import {renderBundlePage} from '../../src/html/bundle-page.js';
import {hostileBundle, hostileDiff} from './hostile-bundle.js';

const page = renderBundlePage(hostileBundle(50_000), {name: '<i>Bundle "42"</i>', diff: hostileDiff()});

/** The elements of a page, by name. */
const elementsOf = (markup: string) => new Set([...markup.matchAll(/<([a-z][\w-]*)/gi)].map(([, name]) => name));

test('names are text, whatever they contain', () => {
  const plain = renderBundlePage(
    {...hostileBundle(100), files: hostileBundle(100).files.slice(0, 100)},
    {name: 'plain', diff: {...hostileDiff(), changes: [], config: []}},
  );
  expect([...elementsOf(page)].filter((name) => !elementsOf(plain).has(name))).toEqual([]);
  expect(page).not.toMatch(/<(?:script|img|b|i|x)\b/);
  expect(page).toContain('&lt;img src=x onerror=alert(1)&gt;.js');
  expect(page).toContain('evil\\u{202E}gpj.exe');
  expect(page).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\p{Cs}]/u);
});

test('a page about 50,000 files and names of 4,000 characters is small', () => {
  expect(Buffer.byteLength(page)).toBeLessThan(500_000);
  expect(page).toContain('50,014 files');
});

test('nothing is loaded or run: the policy allows the styles of the page only', () => {
  const styles = /<style>([^]*?)<\/style>/.exec(page)?.[1] ?? '';
  const digest = createHash('sha256').update(styles).digest('base64');
  expect(page).toContain(
    `content="default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'"`,
  );
  const tags = page.replaceAll(/>[^<]*</g, '><');
  expect(tags).not.toMatch(/\ssrc=|\son\w+=|\sstyle=|href="(?!#)/i);
});

test('the same bundle makes the same page, with secrets masked', () => {
  const mask = (text: string) => text.replaceAll('chunk-3', '***').replaceAll('alert', '***');
  const masked = renderBundlePage(hostileBundle(100), {name: 'alert', mask});
  expect(masked).toBe(renderBundlePage(hostileBundle(100), {name: 'alert', mask}));
  expect(masked).not.toMatch(/chunk-3|alert/);
});

test('differences are listed with their sizes', () => {
  const text = page.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
  expect(text).toContain('1 added, 1 removed, 2 changed, +2 MB.');
  expect(text).toContain('added – 2 MB +2 MB');
  expect(text).toContain('removed 5 B – -5 B');
  expect(text).toContain('changed, content 1 B 6 B +5 B');
  expect(text).toContain('ssrParameters.&lt;b&gt;');
  const same = {...hostileDiff(), identical: true, changes: [], config: []};
  expect(renderBundlePage(hostileBundle(10), {name: 'x', diff: same})).toContain('The same as ');
});

test('a bundle without files or sizes has a page, too', () => {
  const empty = {...hostileBundle(0), files: [], config: undefined, problems: []};
  expect(renderBundlePage(empty, {name: 'empty'})).toContain('All files are empty.');
});
