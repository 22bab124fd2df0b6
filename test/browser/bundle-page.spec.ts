import {mkdtemp, readFile, rm, writeFile} from 'node:fs/promises';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import type {AxeResults} from 'axe-core';
import {chromium, type Browser, type BrowserContextOptions, type Page} from 'playwright-core';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {renderBundlePage} from '../../src/html/bundle-page.js';
import {hostileBundle, hostileDiff} from '../html/hostile-bundle.js';

let folder: string;
let browser: Browser;
let axe: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mycli-browser-'));
  await writeFile(
    join(folder, 'page.html'),
    renderBundlePage(hostileBundle(300), {name: '<b>Bundle 42</b>', diff: hostileDiff()}),
  );
  axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  browser = await chromium.launch({executablePath: '/usr/bin/chromium', args: ['--no-sandbox']});
});
afterAll(async () => {
  await browser.close();
  await rm(folder, {recursive: true});
});

/** Opens the page, and collects what it asks for or complains about. */
async function open(options: BrowserContextOptions): Promise<{readonly page: Page; readonly noise: readonly string[]}> {
  const page = await browser.newPage(options);
  const noise: string[] = [];
  page.on('console', (message) => noise.push(message.text()));
  page.on('pageerror', (error) => noise.push(error.message));
  page.on('dialog', (dialog) => noise.push(dialog.message()));
  const url = pathToFileURL(join(folder, 'page.html')).href;
  page.on('request', (request) => {
    if (request.url() !== url) noise.push(request.url());
  });
  await page.goto(url);
  return {page, noise};
}

const views = [
  ['on a desktop', {viewport: {width: 1280, height: 900}}],
  ['in the dark', {viewport: {width: 1280, height: 900}, colorScheme: 'dark'}],
  ['on a phone', {viewport: {width: 390, height: 844}}],
] as const satisfies readonly (readonly [string, BrowserContextOptions])[];

describe.each(views)('the page about a bundle, %s', (_, options) => {
  test('loads and runs nothing, fits, and has no barrier that axe finds', async () => {
    const {page, noise} = await open(options);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
    const {violations, passes} = await page.evaluate<AxeResults>(`${axe}; axe.run()`);
    expect(violations.map(({id, nodes}) => [id, nodes[0]?.html])).toEqual([]);
    expect(passes.map(({id}) => id)).toEqual(
      expect.arrayContaining(['color-contrast', 'heading-order', 'landmark-one-main']),
    );
    expect(noise).toEqual([]);
    await page.close();
  });
});

test('the styles apply, the treemap has its areas, and the keyboard reaches what can be scrolled', async () => {
  const {page} = await open({viewport: {width: 1280, height: 900}});
  expect(await page.locator('h1').textContent()).toBe('<b>Bundle 42</b>');
  const box = await page.locator('svg.treemap').boundingBox();
  expect(box?.width).toBeGreaterThan(1000);
  const covered = await page.evaluate(`
    const areaOf = (node) => node.getBoundingClientRect().width * node.getBoundingClientRect().height;
    const areas = [...document.querySelectorAll('svg.treemap > svg > rect:not(.folder)')].map(areaOf);
    areas.reduce((sum, area) => sum + area, 0) / areaOf(document.querySelector('svg.treemap'));
  `);
  expect(covered).toBeGreaterThan(0.5);
  expect(covered).toBeLessThanOrEqual(1);
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.getAttribute("href")')).toBe('#problems');
  await page.close();
});

test('it prints on paper', async () => {
  const {page} = await open({});
  const pdf = await page.pdf({format: 'A4'});
  expect(pdf.subarray(0, 5).toString()).toBe('%PDF-');
  await page.close();
});
