import {request, type IncomingMessage} from 'node:http';
import {readFile, stat} from 'node:fs/promises';
import {join} from 'node:path';
import {buffer} from 'node:stream/consumers';
import type {Browser, Page} from 'playwright-core';
import type {ZooProject} from './projects.js';

/** A build, and where it is served. */
interface Site {
  readonly url: string;
  readonly build: string;
  readonly project: ZooProject;
}

/** In the path of a file below a public folder: only a site without a server has it public. */
const dotFile = /\/\.(?!well-known\/)/;

/** Asks for every file of a bundle by its URL. Returns what should not be served and is, and what should and isn't. */
export async function crawl(
  {url, build, project: {serves = ['']}}: Site,
  paths: readonly string[],
  secret: string,
): Promise<readonly string[]> {
  const found: string[] = [];
  const queue = paths.values();
  const worker = async () => {
    for (const path of queue) {
      const file = join(build, path);
      if (!(await stat(file)).isFile()) continue;
      const content = await readFile(file);
      const roots = serves.filter((folder) => path.startsWith(folder));
      const isPublic = roots.some((root) => root === '' || !dotFile.test(path.slice(root.length - 1)));
      // Next.js serves `.next/static` as `_next/static`.
      const names = roots.map((root) => path.slice(root.length));
      const urls = new Set([path, ...names, path.replace(/^.*\.next\//, '_next/')]);
      const answers = await Promise.all(
        [...urls].map((name) => ask(new URL(encodeURI(name).replaceAll(/[?#]/g, encodeURIComponent), url))),
      );
      const isAnswered = answers.some(({status, body}) => status === 200 && body.equals(content));
      if (isAnswered !== isPublic && content.length > 0) found.push(`${path} is ${isAnswered ? 'public' : 'missing'}`);
      if (answers.some(({body}) => body.includes(secret))) found.push(`${path} answers with the secret`);
    }
  };
  await Promise.all(Array.from({length: 8}, worker));
  return found.toSorted();
}

/** Not every resolver knows the names below localhost, and `fetch` sends no Host of its own. */
async function ask(url: URL): Promise<{readonly status: number | undefined; readonly body: Buffer}> {
  const options = {host: '127.0.0.1', port: url.port, path: url.pathname, headers: {host: url.host}};
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request(options).once('response', resolve).once('error', reject).end();
  });
  return {status: answer.statusCode, body: await buffer(answer)};
}

/** Opens a site as a visitor does. Returns what is wrong with it. */
export async function look(browser: Browser, {url, project}: Site): Promise<readonly string[]> {
  const {text, deep, missing = 404, form, hasAssets = true} = project;
  const wrong: string[] = [];
  const context = await browser.newContext();
  // For what hangs: a busy machine takes its time to unpack a server.
  context.setDefaultTimeout(120_000);
  try {
    const page = await context.newPage();
    let assets = 0;
    page.on('response', (response) => {
      const isPage = response.request().isNavigationRequest();
      if (!response.url().startsWith(url) || isPage) return;
      if (response.status() >= 400) wrong.push(`${String(response.status())} ${response.url()}`);
      else if (['script', 'stylesheet', 'image'].includes(response.request().resourceType())) assets += 1;
    });
    page.on('pageerror', (error) => wrong.push(`${page.url()}: ${error.message}`));
    const open = async (path: string, status: number) => {
      const response = await page.goto(new URL(path, url).href, {waitUntil: 'load'});
      if (response?.status() !== status) wrong.push(`${String(response?.status())} ${path}, not ${String(status)}`);
    };
    await open('', 200);
    await shows(page, text);
    await page.waitForLoadState('networkidle');
    if (assets === 0 && hasAssets) wrong.push('The page asked for no asset.');
    if (deep !== undefined) {
      await open(deep.path, deep.status ?? 200);
      await shows(page, deep.text);
    }
    if (form !== undefined) {
      await open(form.path, 200);
      await page.waitForLoadState('networkidle');
      await page.locator('form input[name=name]').fill('zebra');
      await page.locator('form button').first().click();
      await shows(page, form.text);
    }
    await open('zoo/missing', missing);
  } finally {
    await context.close();
  }
  return wrong;
}

async function shows(page: Page, text: string): Promise<void> {
  await page.getByText(text).first().waitFor({state: 'visible'});
}
