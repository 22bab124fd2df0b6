import {spawn} from 'node:child_process';
import {randomUUID} from 'node:crypto';
import {once} from 'node:events';
import {existsSync} from 'node:fs';
import {mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {createInterface} from 'node:readline';
import {describe, expect, onTestFinished, test} from 'vitest';
import {startLocalRuntime, type LocalRuntime} from '../../src/testing.js';
import {compiled} from '../compiled.js';
import {build, v2Archive} from './archives.js';
import {clientOf, sendRaw} from './client.js';
import {anyPorts, startRuntime} from './with-runtime.js';

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'mycli-test-runtime-'));
  onTestFinished(() => rm(folder, {recursive: true, force: true}));
  return folder;
}

const compiledChild = (): Promise<string> => compiled(path.join(import.meta.dirname, 'runtime-child.ts'));

/** Runs a runtime in a process of its own. `dieAt`: the call at which it dies, see `bench/die-at.js`. */
function spawnChild(dataDirectory: string, script: string, dieAt: string) {
  const preload = path.join(import.meta.dirname, '../../bench/die-at.js');
  return spawn(process.execPath, ['--import', preload, script, dataDirectory], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {...process.env, DIE_AT: dieAt},
  });
}

/** Starts a runtime in a process of its own, and waits until it listens. */
async function startChild(dataDirectory: string, script: string, dieAt = '') {
  const child = spawnChild(dataDirectory, script, dieAt);
  const ended = once(child, 'exit');
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return {client: clientOf({...(JSON.parse(line) as LocalRuntime)}), ended};
}

describe('a data folder', () => {
  test('has all of an operation or nothing after a kill -9 at any of its steps', async () => {
    const dataDirectory = await temporaryFolder();
    const script = await compiledChild();
    const archives = await Promise.all(
      ['one', 'two', 'three'].map((text) => v2Archive({...build, 'static/app.js': text})),
    );
    type Client = ReturnType<typeof clientOf>;
    const push = (client: Client, index: number) => client.pushV2(archives[index] ?? Buffer.alloc(0));
    const pushSecond = (client: Client) => push(client, 1);
    const deploySecond = (client: Client) => client.deploy(2);
    const remove = ({legacy}: Client) => legacy('projects/shop/bundles/1/', {method: 'DELETE'});
    const first = await startLocalRuntime({...anyPorts, dataDirectory, deploymentSeconds: 0});
    await push(clientOf(first), 0);
    await clientOf(first).deploy(1);
    await first.close();
    const whole = ['archive', 'contents.json'];
    const both = {1: whole, 2: whole};
    const moments: readonly [string, (client: Client) => Promise<unknown>, object, string, number][] = [
      ['rename /bundles/2 before', pushSecond, {1: whole}, 'one', 1],
      ['rename /state.json after', pushSecond, both, 'one', 1],
      ['rename /sites/ after', deploySecond, both, 'one', 1],
      ['rename /state.json after', deploySecond, both, 'two', 2],
      ['rm bundles/1 before', remove, {2: whole}, 'two', 2],
    ];
    for (const [dieAt, operation, bundles, served, deployments] of moments) {
      const child = await startChild(dataDirectory, script, dieAt);
      await expect(operation(child.client), dieAt).rejects.toThrow('fetch failed');
      expect(await child.ended, dieAt).toEqual([null, 'SIGKILL']);

      const runtime = await startLocalRuntime({...anyPorts, dataDirectory, deploymentSeconds: 0});
      const client = clientOf(runtime);
      const folders: Record<string, readonly string[]> = {};
      for (const id of await readdir(path.join(dataDirectory, 'bundles'))) {
        folders[id] = (await readdir(path.join(dataDirectory, 'bundles', id))).sort();
      }
      expect(folders, dieAt).toEqual(bundles);
      expect(await readdir(path.join(dataDirectory, 'temporary')), dieAt).toEqual([]);
      expect(await readdir(path.join(dataDirectory, 'sites')), dieAt).toHaveLength(1);
      const shown = Object.keys(bundles);
      const {json} = await client.legacy('projects/shop/bundles/');
      expect(json.results.map(({id}: {id: number}) => String(id)).sort(), dieAt).toEqual(shown);
      for (const id of shown) {
        const {json: link} = await client.legacy(`projects/shop/bundles/${id}/download/`);
        const download = Buffer.from(await (await fetch(link.download_url)).arrayBuffer());
        expect(archives[Number(id) - 1]?.equals(download), dieAt).toBe(true);
      }
      const {json: target} = await client.legacy('projects/shop/target/production/');
      const file = await sendRaw(new URL('static/app.js', target.url).href);
      expect(file.body, dieAt).toBe(served);
      const {json: history} = await client.legacy('projects/shop/target/production/deploy/');
      expect(history.count, dieAt).toBe(deployments);
      await runtime.close();
    }
  });

  test('has every variable that was acknowledged to several writers, after a kill -9 in their midst', async () => {
    const dataDirectory = await temporaryFolder();
    const first = await startLocalRuntime({...anyPorts, dataDirectory, deploymentSeconds: 0});
    await clientOf(first).pushV2(await v2Archive(build));
    await clientOf(first).deploy(1);
    await first.close();
    const child = await startChild(dataDirectory, await compiledChild(), 'rename /state.json after');
    const acknowledged: string[] = [];
    const write = async (name: string) => {
      const change = {...child.client.json({[name]: {value: name}}), method: 'PATCH'};
      const {status} = await child.client.legacy('projects/shop/target/production/env-var/', change);
      if (status === 204) acknowledged.push(name);
    };
    await Promise.allSettled(Array.from({length: 10}, (_, index) => write(`A${String(index)}`)));
    await child.ended;
    const runtime = await startLocalRuntime({...anyPorts, dataDirectory, deploymentSeconds: 0});
    const {json} = await clientOf(runtime).legacy('projects/shop/target/production/env-var/?limit=100');
    const names = json.results.flatMap((row: object) => Object.keys(row));
    expect(names).toEqual(expect.arrayContaining(acknowledged));
    expect(names.length).toBeGreaterThan(0);
    await runtime.close();
  });

  test('starts again after a kill -9 at any step of a start', async () => {
    const dataDirectory = await temporaryFolder();
    const script = await compiledChild();
    const moments = [
      'mkdir /bundles after',
      'writeFile /temporary/ during',
      'rename /credentials.json before',
      'rename /port.json before',
    ];
    for (const dieAt of moments) {
      const child = spawnChild(dataDirectory, script, dieAt);
      expect(await once(child, 'exit'), dieAt).toEqual([null, 'SIGKILL']);
    }
    const {client} = await startRuntime({dataDirectory});
    expect(await readdir(path.join(dataDirectory, 'temporary'))).toEqual([]);
    expect((await client.pushV2(await v2Archive())).json.id).toBe(1);
  });

  test('keeps its credentials, readable only by the owner, and its tokens stay valid after a restart', async () => {
    const dataDirectory = path.join(await temporaryFolder(), 'new', 'folder');
    const first = await startLocalRuntime({...anyPorts, dataDirectory});
    const {json} = await clientOf(first).token();
    await first.close();
    const {runtime, client} = await startRuntime({dataDirectory});
    expect({...runtime.credentials, tokenUrl: ''}).toEqual({...first.credentials, tokenUrl: ''});
    if (process.platform !== 'win32') {
      expect((await stat(path.join(dataDirectory, 'credentials.json'))).mode & 0o777).toBe(0o600);
    }
    const headers = {authorization: `Bearer ${json.access_token}`};
    expect((await fetch(`${client.apiBase}/shop/bundles`, {headers})).status).toBe(200);
  });

  test('keeps itself out of git, and may get files of the user', async () => {
    const dataDirectory = path.join(await temporaryFolder(), 'data');
    const first = await startLocalRuntime({...anyPorts, dataDirectory});
    await first.close();
    expect(await readFile(path.join(dataDirectory, '.gitignore'), 'utf8')).toBe('*\n');
    await rm(path.join(dataDirectory, '.gitignore'));
    await writeFile(path.join(dataDirectory, 'notes.txt'), 'mine');
    await startRuntime({dataDirectory});
    expect(existsSync(path.join(dataDirectory, '.gitignore'))).toBe(false);
  });

  test('is none of another use: a folder with files is refused before anything is written', async () => {
    const dataDirectory = await temporaryFolder();
    await mkdir(path.join(dataDirectory, 'static'));
    await writeFile(path.join(dataDirectory, 'ssr.js'), '');
    await expect(startLocalRuntime({dataDirectory})).rejects.toMatchObject({
      code: 'ERR_OPTION_INVALID',
      message: `The folder ${dataDirectory} is not for the data of a local runtime: it contains ssr.js, static.`,
      suggestions: ['Choose a new or an empty folder, such as .runtime-data.'],
    });
    expect((await readdir(dataDirectory)).sort()).toEqual(['ssr.js', 'static']);
  });

  test('may have what systems leave in an empty folder', async () => {
    const dataDirectory = await temporaryFolder();
    await writeFile(path.join(dataDirectory, '.DS_Store'), '');
    await startRuntime({dataDirectory});
    expect(await readFile(path.join(dataDirectory, '.gitignore'), 'utf8')).toBe('*\n');
  });

  test('keeps a .gitignore that is there', async () => {
    const dataDirectory = await temporaryFolder();
    await writeFile(path.join(dataDirectory, '.gitignore'), 'credentials.json\n');
    await startRuntime({dataDirectory});
    expect(await readFile(path.join(dataDirectory, '.gitignore'), 'utf8')).toBe('credentials.json\n');
  });

  test('is not changed by given credentials', async () => {
    const dataDirectory = await temporaryFolder();
    const {runtime} = await startRuntime({dataDirectory, credentials: {apiKey: 'given', organizationId: 'org'}});
    expect(runtime.credentials).toMatchObject({apiKey: 'given', organizationId: 'org'});
    const kept = await readFile(path.join(dataDirectory, 'credentials.json'), 'utf8');
    expect(kept).not.toContain('given');
    expect(kept).toContain(runtime.credentials.clientSecret);
  });

  test('continues a deployment after a restart', async () => {
    const dataDirectory = await temporaryFolder();
    let time = Date.parse('2030-01-01T00:00:00Z');
    const now = () => new Date(time);
    const first = await startLocalRuntime({...anyPorts, dataDirectory, deploymentSeconds: 100, now});
    await clientOf(first).pushV2(await v2Archive());
    await clientOf(first).deploy(1);
    await first.close();
    time += 50_000;
    const {client} = await startRuntime({dataDirectory, now});
    const state = async () => (await client.legacy('projects/shop/target/production/')).json.state;
    expect(await state()).toBe('CREATE_IN_PROGRESS');
    time += 50_000;
    expect(await state()).toBe('ACTIVE');
  });

  test('never reuses the ID of a deleted bundle, and removes what a killed run left behind', async () => {
    const dataDirectory = await temporaryFolder();
    const first = await startLocalRuntime({...anyPorts, dataDirectory});
    await clientOf(first).pushV2(await v2Archive());
    await clientOf(first).legacy('projects/shop/bundles/1/', {method: 'DELETE'});
    await first.close();
    const [half, ofNoDeployment] = [randomUUID(), randomUUID()];
    await mkdir(path.join(dataDirectory, 'temporary', half));
    await writeFile(path.join(dataDirectory, 'temporary', half, 'archive'), 'half');
    await writeFile(path.join(dataDirectory, 'temporary', `${half}.json`), '{');
    await mkdir(path.join(dataDirectory, 'sites', ofNoDeployment));
    const {client} = await startRuntime({dataDirectory});
    expect(await readdir(path.join(dataDirectory, 'temporary'))).toEqual([]);
    expect(await readdir(path.join(dataDirectory, 'sites'))).toEqual([]);
    expect((await client.legacy('projects/shop/bundles/')).json.count).toBe(0);
    expect((await client.pushV2(await v2Archive())).json.id).toBe(2);
  });

  test('is used by one runtime at a time, whatever its ports, which keeps the uploads in progress', async () => {
    const {runtime} = await startRuntime({dataDirectory: await temporaryFolder()});
    const {dataDirectory} = runtime;
    const upload = path.join(dataDirectory, 'temporary', randomUUID());
    await mkdir(upload);
    const refused = {
      code: 'ERR_OPTION_INVALID',
      message: expect.stringContaining('A local runtime is already running on the data folder'),
      suggestions: expect.arrayContaining([
        expect.stringContaining('Stop it, or choose another data folder. If no mycli is running, remove '),
      ]),
    };
    await expect(startRuntime({dataDirectory})).rejects.toMatchObject(refused);
    expect(existsSync(upload)).toBe(true);
    await runtime.close();
    await startRuntime({dataDirectory});
  });

  test.each([
    ['state.json', '{"bundles": ['],
    ['state.json', '{}'],
    ['credentials.json', '[]'],
  ])('with an invalid %s is an error that names it', async (name, content) => {
    const dataDirectory = await temporaryFolder();
    const file = path.join(dataDirectory, name);
    await mkdir(path.dirname(file), {recursive: true});
    await writeFile(file, content);
    await expect(startLocalRuntime({dataDirectory})).rejects.toMatchObject({
      code: 'ERR_OPTION_INVALID',
      message: expect.stringContaining(file),
    });
  });

  test('is temporary by default', async () => {
    const runtime = await startLocalRuntime();
    expect(existsSync(runtime.dataDirectory)).toBe(true);
    await runtime.close();
    expect(existsSync(runtime.dataDirectory)).toBe(false);
  });
});
