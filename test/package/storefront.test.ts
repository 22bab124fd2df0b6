import {execFile} from 'node:child_process';
import {mkdtemp, readFile, rm, stat} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {pathToFileURL} from 'node:url';
import {promisify} from 'node:util';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';

const example = path.resolve(import.meta.dirname, '../../examples/storefront');

describe('the storefront example', () => {
  let build: string;

  beforeAll(async () => {
    build = await mkdtemp(path.join(tmpdir(), 'mycli-storefront-'));
    await promisify(execFile)(process.execPath, [path.join(example, 'build.mjs'), build]);
  });

  afterAll(() => rm(build, {recursive: true, force: true}));

  test('answers a product with a page of its own', async () => {
    const {handler} = (await import(pathToFileURL(path.join(build, 'ssr.js')).href)) as {
      handler: (request: {url: string}) => string;
    };
    expect(handler({url: '/products/fern'})).toContain('<title>Fern · Lamp &#38; Leaf</title>');
    expect(handler({url: '/products/fern'})).not.toContain('Tea tin');
    expect(handler({url: '/'})).toContain('Tea tin');
  });

  test('has every asset that its first page asks for', async () => {
    const page = await readFile(path.join(build, 'static/index.html'), 'utf8');
    const assets = [...page.matchAll(/(?:href|src)="([^"?]+)"/g)].map(([, asset]) => String(asset));
    expect(assets.length).toBeGreaterThanOrEqual(3);
    for (const asset of assets) expect((await stat(path.join(build, 'static', asset))).isFile()).toBe(true);
  });
});
