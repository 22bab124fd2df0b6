import {once} from 'node:events';
import {mkdir, mkdtemp, readFile, rm, writeFile} from 'node:fs/promises';
import {request} from 'node:http';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {Client} from '@modelcontextprotocol/sdk/client/index.js';
import {StdioClientTransport} from '@modelcontextprotocol/sdk/client/stdio.js';
import type {RequestOptions} from '@modelcontextprotocol/sdk/shared/protocol.js';
import {startLocalRuntime} from 'mycli/testing';
import {afterAll, beforeAll, expect, onTestFinished, test} from 'vitest';

const plugin = fileURLToPath(new URL('..', import.meta.url));
const root = join(plugin, '../..');
let folder: string;
let runtime: Awaited<ReturnType<typeof startLocalRuntime>>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mycli-mcp-'));
  runtime = await startLocalRuntime({deploymentSeconds: 0, ssr: true});
  const linked = {name: 'mycli-plugin-mcp', root: plugin, type: 'link'};
  const files = {
    'data/mycli/package.json': JSON.stringify({private: true, oclif: {schema: 1, plugins: [linked]}}),
    'build/ssr.mjs':
      "setInterval(() => console.log('alive'), 100);\nexport default (request, response) => response.end('hello');\n",
    'mycli.config.json': JSON.stringify({
      projectSlug: 'shop',
      targets: {guarded: {guard: {ciOnly: true}}},
    }),
  };
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), {recursive: true});
    await writeFile(join(folder, path), content);
  }
});
afterAll(async () => {
  await runtime.close();
  await rm(folder, {recursive: true});
});

interface Outcome {
  readonly isError?: boolean;
  readonly content: readonly [{readonly text: string}];
  readonly structuredContent: Readonly<Record<string, unknown>>;
}

async function connect(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [join(root, 'bin/run.js'), 'mcp', ...args],
    cwd: folder,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: folder,
      XDG_DATA_HOME: join(folder, 'data'),
      MYCLI_RUNTIME_ORIGIN: runtime.origin,
      MYCLI_API_KEY: runtime.credentials.apiKey,
      MYCLI_POLL_INTERVAL: '0.05',
      ...env,
    },
  });
  const client = new Client({name: 'test', version: '1'});
  await client.connect(transport);
  onTestFinished(() => client.close());
  const call = async (name: string, input: object = {}, options?: RequestOptions) =>
    (await client.callTool({name, arguments: {...input}}, undefined, options)) as unknown as Outcome;
  return {client, call};
}

test('an agent pushes, looks, reads logs and rolls back, and hears of each step', async () => {
  const {call, client} = await connect(['--allow-changes']);
  expect(client.getInstructions()).toMatch(/^\s*# mycli/);
  const heard: string[] = [];
  const push = {target: 'staging', wait: true, 'build-directory': 'build', 'ssr-only': ['ssr.mjs']};
  const first = await call('bundle_push', push, {onprogress: ({message = ''}) => void heard.push(message)});
  expect(first).toMatchObject({structuredContent: {schemaVersion: 1, bundleId: expect.anything()}});
  expect(heard).toContain('Upload the bundle, done');
  await writeFile(join(folder, 'build/new.html'), 'new');
  const second = await call('bundle_push', push);
  expect(second.structuredContent['bundleId']).not.toBe(first.structuredContent['bundleId']);

  const live = async () => {
    const {structuredContent} = await call('status', {target: 'staging'});
    const [target] = structuredContent['targets'] as readonly [
      {readonly live: {readonly bundleId: unknown}; readonly url: string},
    ];
    return target;
  };
  const {
    url,
    live: {bundleId},
  } = await live();
  expect(bundleId).toBe(second.structuredContent['bundleId']);
  const {port, host} = new URL(url);
  const [answer] = await once(request({host: '127.0.0.1', port, headers: {host}}).end(), 'response');
  answer.resume();
  expect(await call('logs', {target: 'staging', seconds: 8})).toMatchObject({
    structuredContent: {documents: expect.arrayContaining([expect.objectContaining({message: 'alive'})])},
  });
  expect(await call('bundle_rollback', {target: 'staging', wait: true})).not.toHaveProperty('isError');
  expect((await live()).live.bundleId).toBe(first.structuredContent['bundleId']);
});

test('without --allow-changes, the tools are the commands that change nothing, and the host refuses changes', async () => {
  const {client, call} = await connect([]);
  const {tools} = await client.listTools();
  const manifest = JSON.parse(await readFile(join(root, 'oclif.manifest.json'), 'utf8')) as {
    readonly commands: Readonly<Record<string, {readonly changes?: string}>>;
  };
  const names = tools.map(({name}) => name);
  expect(names).toEqual(expect.arrayContaining(['status', 'bundle_list', 'logs', 'doctor']));
  expect(names.filter((name) => manifest.commands[name.replaceAll('_', ':')]?.changes !== undefined)).toEqual([]);
  expect(tools.every(({annotations}) => annotations?.readOnlyHint)).toBe(true);
  await expect(call('bundle_delete', {bundle: ['1']})).rejects.toThrow('There is no tool bundle_delete.');
  const [{text}] = (await call('doctor')).content;
  expect(text).toContain('MYCLI_SAFETY=read-only');
});

test('with --allow-changes, MYCLI_SAFETY, guards and questions hold, and nothing is taken for a flag', async () => {
  const {client, call} = await connect(['--allow-changes'], {MYCLI_SAFETY: 'no-production'});
  const {tools} = await client.listTools();
  expect(tools.find(({name}) => name === 'target_delete')?.annotations).toEqual({
    readOnlyHint: false,
    destructiveHint: true,
  });
  const codeOf = async (name: string, input: object) => {
    const {isError, content} = await call(name, input);
    expect(isError).toBe(true);
    return (JSON.parse(content[0].text) as {readonly error: {readonly code: string}}).error.code;
  };
  expect(await codeOf('bundle_push', {target: 'production', 'build-directory': 'build'})).toBe('ERR_SAFETY');
  expect(await codeOf('bundle_push', {target: 'guarded', 'build-directory': 'build'})).toBe('ERR_GUARD_REFUSED');
  expect(await codeOf('target_delete', {slug: 'staging'})).toBe('ERR_USAGE');
  expect(await codeOf('bundle_deploy', {bundle: '--force', target: 'staging'})).not.toBe('ERR_USAGE');
  await expect(call('status', {targets: 'staging'})).rejects.toThrow('status has no input targets.');
});
