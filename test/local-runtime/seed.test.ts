import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {startLocalRuntime, type LocalRuntimeOptions} from '../../src/testing.js';

/** A folder with these files. It is gone when the test has ended. */
async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'mycli-seed-'));
  onTestFinished(() => rm(folder, {recursive: true}));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, name)), {recursive: true});
    await writeFile(path.join(folder, name), content);
  }
  return folder;
}

async function start(options: LocalRuntimeOptions) {
  const runtime = await startLocalRuntime(options);
  onTestFinished(() => runtime.close());
  const get = async (place: string) => (await fetch(`${runtime.appsOrigin}${place}`)).text();
  const list = async (place: string): Promise<unknown> => {
    const headers = {authorization: `Bearer ${runtime.credentials.apiKey}`};
    return (await fetch(`${runtime.origin}${place}`, {headers})).json();
  };
  return {runtime, get, list};
}

const builds = {
  'shop/staging/ssr.js': 'server',
  'shop/staging/static/app.js': 'browser',
  'shop/production/index.html': 'a static site',
  'other/live/index.html': 'another',
  'other/.cache/index.html': 'hidden',
  'README.md': 'not a build',
};

test('each folder PROJECT/TARGET is served when the runtime has started', async () => {
  const {get, list} = await start({seed: await folderWith(builds)});
  expect(await get('/shop/staging/static/app.js')).toBe('browser');
  expect(await get('/shop/staging/ssr.js')).not.toBe('server');
  expect(await get('/shop/production/')).toBe('a static site');
  expect(await get('/other/live/')).toBe('another');
  expect(await list('/api/projects/')).toMatchObject({results: [{slug: 'other'}, {slug: 'shop'}]});
  expect(await list('/api/projects/shop/bundles/')).toMatchObject({
    results: [
      {message: 'Seeded from shop/staging', status: 1},
      {message: 'Seeded from shop/production', status: 1},
    ],
  });
});

test('a target of the data folder that has a deployment keeps it', async () => {
  const dataDirectory = await folderWith({});
  const first = await start({dataDirectory, seed: await folderWith(builds)});
  await first.runtime.close();
  const changed = {'shop/production/index.html': 'changed', 'shop/new/index.html': 'new'};
  const {get} = await start({dataDirectory, seed: await folderWith(changed)});
  expect(await get('/shop/production/')).toBe('a static site');
  expect(await get('/shop/new/')).toBe('new');
});

test.each([
  ['is missing', undefined, /no such file or directory\. *$/],
  ['has no builds', {'index.html': 'a build itself'}, /it has no folder PROJECT\/TARGET with a build\.$/],
])('a folder that %s is refused', async (_, files, message) => {
  const folder = files === undefined ? path.join(await folderWith({}), 'missing') : await folderWith(files);
  await expect(startLocalRuntime({seed: folder})).rejects.toMatchObject({
    code: 'ERR_OPTION_INVALID',
    message: expect.stringMatching(message) as string,
  });
});

test.each([
  [
    'a secret',
    {'shop/staging/index.html': '', 'shop/staging/.env.production': 'KEY=value'},
    /shop\/staging: .*\.env\.prod/,
  ],
  ['a name that is no slug', {'shop/a\\b/index.html': ''}, /a\\b: the slug of the target /],
])('a build with %s is refused, and named', async (_, files, message) => {
  await expect(startLocalRuntime({seed: await folderWith(files)})).rejects.toMatchObject({
    code: 'ERR_OPTION_INVALID',
    message: expect.stringMatching(message) as string,
  });
});
