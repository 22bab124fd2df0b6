import {mkdir, readFile} from 'node:fs/promises';
import {createRequire} from 'node:module';
import {join} from 'node:path';
import type {AxeResults} from 'axe-core';
import {chromium, type Browser, type BrowserContextOptions, type Page} from 'playwright-core';
import {afterAll, afterEach, beforeAll, beforeEach, expect, test} from 'vitest';
import {startLocalRuntime, type LocalRuntime} from '../../src/testing.js';
import {v2Archive} from '../local-runtime/archives.js';
import {clientOf} from '../local-runtime/client.js';

let browser: Browser;
let axe: string;
beforeAll(async () => {
  axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  browser = await chromium.launch({executablePath: '/usr/bin/chromium', args: ['--no-sandbox']});
});
afterAll(() => browser.close());

let runtime: LocalRuntime;
let client: ReturnType<typeof clientOf>;
/** The time of the runtime: its deployments proceed when a test says so. */
let time: number;
beforeEach(async () => {
  time = Date.now();
  runtime = await startLocalRuntime({deploymentSeconds: 1, now: () => new Date(time)});
  client = clientOf(runtime);
});
afterEach(() => runtime.close());

const text = (size: number) => 'x'.repeat(size);

/** A shop with two bundles, of which the first is live and the second is not deployed. */
async function fillRuntime(): Promise<void> {
  const common = {'ssr.js': text(300_000), 'static/index.html': '<h1>shop</h1>', 'static/app.css': text(20_000)};
  await client.pushV2(await v2Archive({...common, 'static/app.js': text(90_000), 'server/a.txt': text(10_000)}), {
    message: 'main: 3f2c1a9 Show prices with tax',
  });
  expect((await client.deploy(1, 'staging')).status).toBe(201);
  await client.pushV2(await v2Archive({...common, 'static/app.js': text(140_000), 'static/logo.svg': text(5_000)}), {
    message: 'main: 77b0d41 Add the logo',
  });
  time += 1000;
}

const hostile = '"><img src=x onerror=alert(1)><script>alert(2)</script>\u202E';

/** A project whose every name tries to be something else. */
async function pushHostile(): Promise<void> {
  const files = {
    'ssr.js': 'x',
    "static/'><img src=x onerror=alert(3)>.js": text(5000),
    'static/</title>.css': text(50),
  };
  const settings = {
    ssrOnly: ['ssr.js'],
    ssrShared: ['static/**'],
    ssrParameters: {note: '</pre><script>alert(4)</script>'},
  };
  const slug = encodeURIComponent('<b>shop"');
  const archive = await v2Archive(files, {settings});
  const reply = await client.pushV2(archive, {message: hostile}, slug);
  expect(reply.status).toBe(201);
  const deploy = `projects/${slug}/target/${encodeURIComponent('<i>x')}/deploy/`;
  expect((await client.legacy(deploy, client.json({bundle_id: reply.json.id}))).status).toBe(201);
}

/** A name of 60 characters in which no line can break. */
const long = 'abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwx';

/** A project whose names are all as long as names get, with a deployment to roll back to. */
async function pushLong(): Promise<void> {
  const archive = await v2Archive({'ssr.js': 'x', [`static/${long}/${long}.js`]: text(5000)});
  const target = `projects/${long}/target/${long}/`;
  for (let push = 0; push < 2; push += 1) {
    const {json} = await client.pushV2(archive, {message: `${long}${long}`}, long);
    expect((await client.legacy(`${target}deploy/`, client.json({bundle_id: json.id}))).status).toBe(201);
    time += 1000;
  }
  const settings = {...client.json({name: long, ssr_external_hostname: `${long}.example`}), method: 'PATCH'};
  expect((await client.legacy(target, settings)).status).toBe(200);
  time += 1000;
  const variables = {...client.json({[long]: {value: 'x'}}), method: 'PATCH'};
  expect((await client.legacy(`${target}env-var/`, variables)).status).toBe(204);
  time += 1000;
  await client.legacy(`${target}redirect/`, client.json({from_path: `/${long}`, to_url: `https://${long}.example`}));
  await client.legacy(`${target}invalidation/`, client.json({pattern: `/${long}/*`, items: null}));
}

/** Opens a page, and collects what it complains about. */
async function open(
  path: string,
  options: BrowserContextOptions = {viewport: {width: 1280, height: 900}},
): Promise<{readonly page: Page; readonly noise: readonly string[]}> {
  const page = await browser.newPage(options);
  const noise: string[] = [];
  page.on('console', (message) => noise.push(message.text()));
  page.on('pageerror', (error) => noise.push(error.message));
  page.on('dialog', (dialog) => noise.push(dialog.message()));
  page.on('request', (request) => {
    if (!request.url().startsWith(runtime.origin)) noise.push(request.url());
  });
  await page.goto(new URL(path, runtime.origin).href);
  return {page, noise};
}

/** Where screenshots go that people look at. */
const shots = process.env['SCREENSHOTS'];

/** How a page is looked at, and the rules that may judge differently then. */
const views = {
  light: {rules: undefined, width: 1280, colorScheme: 'light'},
  dark: {rules: ['color-contrast'], width: 1280, colorScheme: 'dark'},
  phone: {
    rules: ['color-contrast', 'scrollable-region-focusable', 'target-size', 'meta-viewport'],
    width: 390,
    colorScheme: 'light',
  },
  'dark-phone': {rules: ['color-contrast'], width: 390, colorScheme: 'dark'},
} as const;

/** What sticks out of the page, and what is short and takes two lines all the same: times, states, sizes and names. */
const misfits = `[
  ...[...document.querySelectorAll('main *')].filter((one) => one.getBoundingClientRect().right > innerWidth),
  ...[...document.querySelectorAll('time, .state, .whole')].filter((one) => {
    return one.textContent.length <= 30 && one.getClientRects().length > 1;
  }),
  ...[...document.querySelectorAll('td button')].filter((one) => one.offsetHeight > 60),
].map((one) => one.outerHTML)`;

/** Looks at a page, with all that can be opened, in the light, in the dark and on a phone. */
async function check(path: string, name: string): Promise<void> {
  const {page, noise} = await open(path);
  await page.evaluate(axe);
  await page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))");
  for (const [view, {rules, width, colorScheme}] of Object.entries(views)) {
    await page.setViewportSize({width, height: 900});
    await page.emulateMedia({colorScheme});
    expect([path, await page.evaluate('document.documentElement.scrollWidth - innerWidth')]).toEqual([path, 0]);
    expect([path, view, await page.evaluate(misfits)]).toEqual([path, view, []]);
    // Nothing is cut: no table is wider than its place.
    const cut = "[...document.querySelectorAll('.scroll')].filter((one) => one.scrollWidth > one.clientWidth).length";
    expect([path, view, await page.evaluate(cut)]).toEqual([path, view, 0]);
    const options = JSON.stringify({resultTypes: ['violations'], ...(rules && {runOnly: rules})});
    const {violations, passes} = await page.evaluate<AxeResults>(`axe.run(${options})`);
    expect(violations.map(({id, nodes}) => [path, view, id, nodes[0]?.html])).toEqual([]);
    expect(passes.map(({id}) => id)).toContain('color-contrast');
    if (shots !== undefined) {
      await mkdir(shots, {recursive: true});
      await page.screenshot({path: join(shots, `${name}-${view}.png`), fullPage: true});
    }
  }
  expect(noise).toEqual([]);
  await page.close();
}

test('the pages load and run nothing foreign, fit, and have no barrier that axe finds', async () => {
  await check('/', 'empty');
  await fillRuntime();
  await pushHostile();
  await pushLong();
  for (const fault of ['429x2:retry-after=1', 'latency=200', 'resetx1:route=download,after=1000000']) {
    runtime.addFault(fault);
  }
  const hostileProject = `/-/projects/${encodeURIComponent('<b>shop"')}`;
  const pages = {
    overview: '/',
    project: '/-/projects/shop',
    target: '/-/projects/shop/targets/staging',
    bundle: '/-/projects/shop/bundles/2',
    faults: '/-/faults',
    hostile: hostileProject,
    'hostile-bundle': `${hostileProject}/bundles/3`,
    long: `/-/projects/${long}`,
    'long-target': `/-/projects/${long}/targets/${long}`,
    'long-bundle': `/-/projects/${long}/bundles/4`,
  };
  for (const [name, path] of Object.entries(pages)) await check(path, name);
});

test('a bundle is deployed with the keyboard, and seen going live', async () => {
  await fillRuntime();
  const {page, noise} = await open('/-/projects/shop');
  await page.locator('#deploy-bundle').focus();
  expect(await page.locator('#deploy-bundle').inputValue()).toBe('2');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Deploy');
  await page.keyboard.press('Enter');
  await page.getByText('The deployment has started.').waitFor();
  await page.locator('body[data-live=yes]').waitFor();
  await page.locator('#target .state.queued').waitFor();
  time += 500;
  await page.locator('#target').getByText('Deploying 33%').waitFor();
  time += 500;
  await page.locator('#target .next').waitFor({state: 'detached'});
  expect(await page.locator('#target').innerText()).toMatch(/staging\s+Live\s[^]*Bundle 2 /);
  expect(noise).toEqual([]);
  await page.close();
});

test('a page keeps the focus and what was typed while it changes', async () => {
  await fillRuntime();
  const {page} = await open('/-/projects/shop');
  await page.locator('#deploy-target').fill('preview');
  await page.locator('#deploy-bundle').selectOption('1');
  await page.locator('body[data-live=yes]').waitFor();
  await page.locator('#deploy-target').focus();
  await client.pushV2(await v2Archive(), {message: 'third'});
  await page.locator('#bundles').getByText('third').waitFor();
  await page.locator('#deploy-bundle option[value="3"]').waitFor({state: 'attached'});
  expect(await page.evaluate('document.activeElement.id')).toBe('deploy-target');
  expect(await page.locator('#deploy-target').inputValue()).toBe('preview');
  expect(await page.locator('#deploy-bundle').inputValue()).toBe('1');
  await page.close();
});

test('a button keeps the focus while its table changes, stays open, and leads back to the page of its target', async () => {
  await fillRuntime();
  await client.deploy(2, 'staging');
  time += 1000;
  const {page} = await open('/-/projects/shop/targets/staging');
  await page.locator('body[data-live=yes]').waitFor();
  const button = page.getByRole('button', {name: 'Roll back staging to bundle 1'});
  expect(await button.isVisible()).toBe(false);
  // Chromium has no role for a summary.
  await page.getByLabel('Roll back to this…: bundle 1 on staging').press('Enter');
  await button.focus();
  await client.pushV2(await v2Archive(), {message: 'third'});
  await client.deploy(3, 'staging');
  time += 1000;
  await page.locator('#deployments').getByText('third').waitFor();
  await page.keyboard.press('Enter');
  await page.getByText('The deployment has started.').waitFor();
  expect(new URL(page.url()).pathname).toBe('/-/projects/shop/targets/staging');
  await page.close();
});

test('the open page of a target says that it was deleted', async () => {
  await fillRuntime();
  const {page} = await open('/-/projects/shop/targets/staging');
  await page.locator('body[data-live=yes]').waitFor();
  expect((await client.legacy('projects/shop/target/staging/', {method: 'DELETE'})).status).toBe(204);
  time += 2000;
  await page.getByText('What this page shows was deleted.').waitFor();
  await page.close();
});

test('a bundle is deleted with a second key, also without JavaScript', async () => {
  await fillRuntime();
  const {page, noise} = await open('/-/projects/shop/bundles/2', {javaScriptEnabled: false});
  const button = page.getByRole('button', {name: 'Delete bundle 2'});
  expect(await button.isVisible()).toBe(false);
  await page.locator('summary').press('Enter');
  if (shots !== undefined) await page.screenshot({path: join(shots, 'delete-bundle.png'), fullPage: true});
  await button.press('Enter');
  await page.getByText('The bundle was deleted.').waitFor();
  expect(noise).toEqual([]);
  await page.close();
});

test('without JavaScript, a push shows after a reload, and the buttons work', async () => {
  await fillRuntime();
  const {page} = await open('/-/projects/shop', {javaScriptEnabled: false});
  await page.locator('#deploy-target').fill('production');
  await page.getByRole('button', {name: 'Deploy', exact: true}).click();
  await page.getByRole('button', {name: 'Create production and deploy bundle 2'}).click();
  await page.getByText('The deployment has started.').waitFor();
  expect(await page.locator('#target').textContent()).toContain('production');
  await page.close();
});
