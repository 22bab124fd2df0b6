import {execFileSync} from 'node:child_process';
import {randomUUID} from 'node:crypto';
import {mkdir, readdir, readFile, rename, rm, symlink, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {startLocalRuntime} from '../../src/testing.js';
import {v2Archive} from './archives.js';
import {clientOf} from './client.js';
import {makeFolder} from '../folder.js';
import {startRuntime} from './with-runtime.js';

/** A data folder as a checkout might carry it, and beside it a folder that is none of the runtime's business. */
async function hostileFolder() {
  const folder = await makeFolder();
  const [data, victim] = [path.join(folder, 'data'), path.join(folder, 'victim')];
  await mkdir(data);
  await mkdir(path.join(victim, randomUUID()), {recursive: true});
  await writeFile(path.join(victim, 'precious.html'), 'precious');
  const untouched = await readdir(victim);
  onTestFinished(async () => {
    expect(await readdir(victim)).toEqual(untouched);
    expect(await readFile(path.join(victim, 'precious.html'), 'utf8')).toBe('precious');
  });
  return {data, victim};
}

/** A data folder with a bundle that is deployed, of a runtime that has ended. */
async function usedFolder() {
  const {data, victim} = await hostileFolder();
  const runtime = await startLocalRuntime({dataDirectory: data, deploymentSeconds: 0});
  const client = clientOf(runtime);
  await client.pushV2(await v2Archive());
  await client.deploy(1);
  await runtime.close();
  const state = path.join(data, 'state.json');
  const change = async (file: string, changes: object): Promise<void> => {
    const record = JSON.parse(await readFile(file, 'utf8')) as object;
    await writeFile(file, JSON.stringify({...record, ...changes}));
  };
  /** Changes the record of the bundle or the deployment. */
  const changeState = async (kind: 'bundles' | 'deployments', changes: object): Promise<void> => {
    const records = JSON.parse(await readFile(state, 'utf8')) as Record<typeof kind, readonly object[]>;
    await writeFile(state, JSON.stringify({...records, [kind]: [{...records[kind][0], ...changes}]}));
  };
  return {data, victim, state, change, changeState};
}

const refused = (file: string) => ({code: 'ERR_OPTION_INVALID', message: expect.stringContaining(file)});

describe('a data folder from an untrusted source', () => {
  test('is refused when something in it is a link, or of another kind', async () => {
    const folders = ['bundles', 'sites', 'temporary'];
    const make = {
      link: (name: string, victim: string) => symlink(victim, name),
      file: (name: string) => writeFile(name, ''),
      folder: (name: string) => mkdir(name),
    };
    const cases = {link: folders, file: folders, folder: ['port.json', 'credentials.json', 'state.json']};
    for (const kind of ['link', 'file', 'folder'] as const) {
      for (const name of cases[kind]) {
        const {data, victim} = await hostileFolder();
        const file = path.join(data, name);
        await make[kind](file, victim);
        await expect(startLocalRuntime({dataDirectory: data}), kind).rejects.toMatchObject(refused(file));
      }
    }
  });

  test.each(['../../victim', '../victim', '.', '..', '', 'a/b', `${randomUUID()}/..`])(
    'is refused when a deployment has the id "%s"',
    async (deploymentId) => {
      const {data, state, changeState} = await usedFolder();
      await changeState('deployments', {deploymentId});
      await expect(startLocalRuntime({dataDirectory: data})).rejects.toMatchObject(refused(state));
    },
  );

  test.each([0, -1, 1.5, '../../victim'])('is refused when a bundle has the id %j', async (id) => {
    const {data, state, changeState} = await usedFolder();
    await changeState('bundles', {id});
    await expect(startLocalRuntime({dataDirectory: data})).rejects.toMatchObject(refused(state));
  });

  test.each(['bundles/1', 'bundles/1/archive', 'state.json', 'credentials.json'])(
    'is refused when its %s is a link',
    async (name) => {
      const {data, victim} = await usedFolder();
      const moved = path.join(path.dirname(victim), 'moved');
      await rename(path.join(data, name), moved);
      await symlink(moved, path.join(data, name));
      await expect(startLocalRuntime({dataDirectory: data})).rejects.toMatchObject(refused(path.join(data, name)));
    },
  );

  test.each(['bundles/1/contents.json', 'bundles/1/archive', 'state.json', 'port.json'])(
    'is refused when its %s is a named pipe, which would never be read to its end',
    async (name) => {
      const {data} = await usedFolder();
      await rm(path.join(data, name));
      execFileSync('mkfifo', [path.join(data, name)]);
      await expect(startLocalRuntime({dataDirectory: data})).rejects.toMatchObject(refused(path.join(data, name)));
    },
  );

  test('is refused when a credential is more than a word, for it becomes a variable of a shell or a dotenv file', async () => {
    const {data, change} = await usedFolder();
    const file = path.join(data, 'credentials.json');
    const words = {apiKey: 'Key-1_2.3', organizationId: 'org', clientId: 'client', clientSecret: 'secret'};
    for (const name of Object.keys(words)) {
      for (const value of [
        'k\nLD_PRELOAD=/tmp/evil.so',
        'k; touch pwned #',
        '$(id)',
        '`id`',
        'k\n',
        '',
        'k'.repeat(201),
      ]) {
        await change(file, {...words, [name]: value});
        await expect(startLocalRuntime({dataDirectory: data}), value).rejects.toMatchObject(refused(file));
      }
    }
    await change(file, words);
    const {runtime} = await startRuntime({dataDirectory: data});
    expect(runtime.credentials).toMatchObject(words);
  });

  test('serves nothing through a link in place of a deployment', async () => {
    const {data, victim} = await usedFolder();
    const [site = ''] = await readdir(path.join(data, 'sites'));
    await rm(path.join(data, 'sites', site), {recursive: true});
    await symlink(victim, path.join(data, 'sites', site));
    const {client} = await startRuntime({dataDirectory: data});
    expect((await client.site('shop/production/precious.html')).status).toBe(404);
    // The files of the old deployment go: of a link, the link.
    expect((await client.deploy(1)).status).toBe(201);
    expect(await readdir(path.join(data, 'sites'))).not.toContain(site);
  });

  test('unpacks no bundle whose files would be everything in its archive', async () => {
    const {data, change} = await usedFolder();
    await change(path.join(data, 'bundles', '1', 'contents.json'), {root: ''});
    const {client} = await startRuntime({dataDirectory: data});
    expect(await client.deploy(1)).toMatchObject({status: 500, body: expect.stringContaining('contents.json')});
  });

  test('keeps what the runtime did not create', async () => {
    const {data} = await usedFolder();
    const own = ['temporary/notes.txt', 'sites/page.html', 'bundles/7/x', 'notes.json'];
    for (const name of own) {
      await mkdir(path.dirname(path.join(data, name)), {recursive: true});
      await writeFile(path.join(data, name), 'mine');
    }
    const {client} = await startRuntime({dataDirectory: data});
    expect((await client.deploy(1)).status).toBe(201);
    expect((await client.pushV2(await v2Archive())).json.id).toBe(8);
    for (const name of own) expect(await readFile(path.join(data, name), 'utf8')).toBe('mine');
  });

  test('may itself be behind a link', async () => {
    const {data} = await usedFolder();
    await symlink(data, `${data}-link`);
    const {client} = await startRuntime({dataDirectory: `${data}-link`});
    expect((await client.site('shop/production/static/app.js')).status).toBe(200);
  });
});
