import {createHash} from 'node:crypto';
import {expect, test} from 'vitest';
import {renderBundlePage} from '../../src/html/bundle-page.js';
import {hostileBundle} from './hostile-bundle.js';

const page = renderBundlePage(hostileBundle(50_000), {name: '<i>Bundle "42"</i>'});

/** The elements of a page, by name. */
const elementsOf = (markup: string) => new Set([...markup.matchAll(/<([a-z][\w-]*)/gi)].map(([, name]) => name));

test('names are text, whatever they contain', () => {
  const plain = renderBundlePage(
    {...hostileBundle(100), files: hostileBundle(100).files.slice(0, 100)},
    {name: 'plain'},
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

test('a bundle without files or sizes has a page, too', () => {
  const empty = {...hostileBundle(0), files: [], config: undefined, problems: []};
  expect(renderBundlePage(empty, {name: 'empty'})).toContain('All files are empty.');
});
