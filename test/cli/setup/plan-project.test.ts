import {once} from 'node:events';
import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {PassThrough} from 'node:stream';
import {stripVTControlCharacters} from 'node:util';
import type {Interfaces} from '@oclif/core';
import {beforeEach, describe, expect, test} from 'vitest';
import {CommandContext} from '../../../src/cli/command/command-context.js';
import {collectOutput} from '../collect-output.js';
import {updateCredentials} from '../../../src/cli/settings/credential-file.js';
import {planProject} from '../../../src/cli/setup/plan-project.js';
import type {ImportMode} from '../../../src/cli/setup/take-over.js';
import type {LocalRuntime} from '../../../src/testing.js';
import {closedOrigin} from '../../recording-server.js';
import {configOf} from '../settings/hooked-plugins.js';
import {makeFolder, writeTree} from '../../folder.js';
import {startRuntime} from '../../local-runtime/with-runtime.js';

const key = 'canary-api-key-91fe';
const acme = {
  apiVersion: 1,
  name: 'acme',
  summary: 'Acme',
  formats: ['v2'],
  check: () => ({configured: false, missing: ['region']}),
  upload: () => Promise.reject(new Error('not here')),
};

let root: string;
let cwd: string;
let runtime: LocalRuntime;
beforeEach(async () => {
  root = await makeFolder();
  cwd = join(root, 'My Shop!');
  await write({'dist/index.html': ''});
  ({runtime} = await startRuntime({credentials: {apiKey: key}}));
});
async function write(files: Readonly<Record<string, string>>): Promise<void> {
  await writeTree(cwd, files);
}

interface Given {
  readonly flags?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly columns?: number;
  readonly mode?: ImportMode;
}

/** Plans in a terminal that gives each answer once its question is there. Without answers, nothing can be asked. */
async function plan(
  dialogue: readonly (readonly [question: string, answer?: string])[],
  {flags = {}, env = {}, columns = 120, mode = 'ask'}: Given = {},
) {
  const stderr = Object.assign(new PassThrough({encoding: 'utf8'}), {isTTY: true, columns, _isStdio: true});
  const stdin = Object.assign(new PassThrough(), {isTTY: true});
  const {output} = collectOutput({stderr, interactive: true});
  const session = {
    cwd,
    env,
    safety: undefined,
    // A stream of lines is all that is read from it.
    stdin: stdin as unknown as NodeJS.ReadStream,
    output,
    temporary: [],
    signal: new AbortController().signal,
    guardCode: <T>(load: () => Promise<T>) => load(),
    foreign: false,
    cleanups: [],
    hooking: new Set<string>(),
    pluginProblems: [],
    ledgers: [],
  };
  const hooks = configOf('mycli:backends', {'mycli-plugin-acme': () => ({backends: [acme]})});
  const folders = {
    version: '0.0.0',
    userAgent: 'mycli',
    home: root,
    configDir: join(root, 'config'),
    dataDir: join(root, 'data'),
  };
  const context = new CommandContext(session, flags, {...folders, ...hooks} as Interfaces.Config);
  let shown = '';
  const settings = await context.loadSettings();
  const asks = dialogue.length > 0;
  const planned = planProject(context, settings, {asks, verify: true, mode: asks ? mode : 'names'});
  const isOver = planned.then(
    () => true,
    () => true,
  );
  let at = 0;
  for (const [question, answer] of dialogue) {
    for (;;) {
      // Whatever the width, where a line breaks does not matter.
      shown += stripVTControlCharacters(String(stderr.read() ?? '')).replaceAll('\n', ' ');
      const found = shown.indexOf(question, at);
      if (found !== -1) {
        at = found + question.length;
        break;
      }
      if ((await Promise.race([once(stderr, 'readable'), isOver])) === true) break;
    }
    expect(shown.slice(0, at)).toContain(question);
    // What is left from an answer that will not do is replaced.
    if (answer !== undefined) stdin.write(`\u0015${answer}\n`);
  }
  const done = await planned;
  shown += stripVTControlCharacters(String(stderr.read() ?? ''));
  expect(shown).not.toContain(key);
  return {...done, shown};
}

const stored = async () => JSON.parse(await readFile(join(root, 'config/credentials.json'), 'utf8')) as unknown;
const keyQuestion = 'skip):';

describe('the questions of a setup', () => {
  test('are asked again, with the reason, for what will not do', async () => {
    const {config, shown} = await plan([
      ['For a service on this machine, run mycli runtime:start --data .runtime-data'],
      ['Which service do you deploy to?', ''],
      ['URL of the service:', ''],
      ['> This cannot be empty.', 'ftp://x'],
      ['> The address must be an http or https URL, not ftp://.', 'http:/127.0.0.1:420'],
      ['> The address must begin with http://: "http:/127.0.0.1:420".', 'no host'],
      ['> The address is not a valid URL: "no host".', new URL(runtime.origin).host],
      ['Project slug: (my-shop)', 'a/b'],
      ['> It must not contain / or \\: "a/b".', 'My Other Shop!'],
      ['> It can only contain letters, digits, ".", "_" and "-".', 'my-shop'],
      ['Target to deploy to', 'staging'],
      ['Build folder: (dist)', 'dist'],
      [keyQuestion, key],
    ]);
    expect(config).toEqual({
      projectSlug: 'my-shop',
      targetSlug: 'staging',
      runtimeBackend: 'legacy',
      origin: runtime.origin,
      apiUser: undefined,
      buildDirectory: 'dist',
      static: true,
    });
    expect(shown).not.toMatch(/legacy|v1|v2|Api\b/);
  });

  test('are also whether to use what each other client has stored', async () => {
    await write({'dw.json': '{"mrtProject": "theirs", "mrt-environment": "staging"}'});
    const env = {MRT_PROJECT: 'mine', MRT_API_KEY: key, MRT_CLOUD_ORIGIN: runtime.origin};
    const dialogue = [
      ['Use what the environment has?', 'y'],
      ['Use what dw.json has?', 'n'],
      ['Target to deploy to', ''],
      ['Build folder: (dist)', ''],
    ] as const;
    const {config, stored: kind, shown} = await plan(dialogue, {env});
    expect(config).toMatchObject({projectSlug: 'mine', targetSlug: 'staging', origin: runtime.origin});
    expect(kind).toBe('api-key');
    expect(shown).toContain('API key  ********  (MRT_API_KEY)');
    expect(shown).toContain('Conflict: project theirs (dw.json) differs from mine (MRT_PROJECT), which is used.');
  });

  test('begin with the kind of the service', async () => {
    await write({'package.json': '{"name": "@acme/Web.Shop"}'});
    const origin = await closedOrigin();
    const project = [
      ['Project slug: (web-shop)', ''],
      ['("-" for none): (staging)', '-'],
      ['Build folder: (dist)', ''],
    ] as const;
    const client = [
      ['Which service do you deploy to?', '\u001B[B'],
      ['URL of the service:', origin],
      ['Organization ID:', 'org_1'],
      ['Token URL:', 'login.example/token'],
      ['Client ID:', 'ci'],
    ] as const;
    const unfit = [
      ['Project slug: (web-shop)', 'x_Y'],
      ['> It must be a project slug of at most 20 lowercase letters, digits and inner hyphens, not "x_Y".', 'web-shop'],
      ['("-" for none): (staging)', 'Prod'],
      ['> It must be a target slug of at most 19 lowercase letters, digits and inner hyphens, not "Prod".', '-'],
      ['Build folder: (dist)', ''],
    ] as const;
    const {config} = await plan([...client, ...unfit, ['skip):', '']]);
    const api = {origin, organizationId: 'org_1', tokenUrl: 'https://login.example/token', clientId: 'ci'};
    expect(config).toMatchObject({projectSlug: 'web-shop', runtimeBackend: 'api', api});
    const plugin = await plan([['acme', '\u001B[B\u001B[B'], project[0], project[2]]);
    expect(plugin.config).toMatchObject({projectSlug: 'web-shop', runtimeBackend: 'acme'});
    expect(plugin.problem?.message).toBe('The acme backend is not configured: missing region.');
    const flags = {project: 'shop', target: 'a b', 'runtime-backend': 'acme'};
    await expect(plan([], {flags})).rejects.toMatchObject({
      message: expect.stringContaining('The acme backend requires a target slug without blanks') as string,
    });
  });

  test('leave out what variables set, and offer to store the key from one', async () => {
    const env = {MYCLI_RUNTIME_ORIGIN: runtime.origin, MYCLI_API_KEY: key, MYCLI_PROJECT: 'shop'};
    const {config, shown, hasCredentials} = await plan(
      [
        ['("-" for none): (staging)', '-'],
        ['Build folder: (dist)', ''],
        ['Save this API key for later shells? (Y/n)', ''],
      ],
      {env},
    );
    expect(config).toMatchObject({projectSlug: 'shop', runtimeBackend: 'legacy', origin: runtime.origin});
    expect(hasCredentials).toBe(true);
    expect(shown).not.toContain('URL of the service');
    expect(await stored()).toMatchObject({origins: {[runtime.origin]: {apiKey: {key}}}});
  });
});

test('init --import: what it has found and shown is not asked for, only whether a key goes to the address', async () => {
  const {origin} = runtime;
  await write({'dw.json': JSON.stringify({mrtProject: 'shop', mrtEnvironment: 'staging', mrtOrigin: origin})});
  const {config, shown} = await plan(
    [
      ['Build folder: (dist)', ''],
      [`dw.json names ${origin}, which nobody has confirmed on this machine. Send the API key there? (y/N)`, 'y'],
    ],
    {env: {MRT_API_KEY: key}, mode: 'all'},
  );
  expect(config).toMatchObject({projectSlug: 'shop', runtimeBackend: 'legacy', origin});
  expect(shown).not.toMatch(/Which service|URL of the service/);
});

test('init: the user of the last login is not that of another address', async () => {
  const directory = join(root, 'config');
  const last = 'https://last.example';
  await updateCredentials({directory, warn: () => undefined}, () => ({
    origins: {[last]: {apiKey: {key: 'old', user: 'ann'}}},
    last: {backend: 'legacy', legacy: last},
  }));
  const flags = {project: 'shop', target: 'staging', 'build-directory': 'dist', static: true};
  const {config, hasCredentials} = await plan(
    [
      ['Which service do you deploy to?', ''],
      [`URL of the service (from your last login): (${last})`, runtime.origin],
      [keyQuestion, ''],
    ],
    {flags},
  );
  expect(config).toMatchObject({origin: runtime.origin, apiUser: undefined});
  expect(hasCredentials).toBe(false);
});

test('init: the service of the last login is offered, with its backend, on this machine too', async () => {
  const {origin} = runtime;
  await updateCredentials({directory: join(root, 'config'), warn: () => undefined}, () => ({
    origins: {[origin]: {api: {kind: 'api-token', organizationId: 'acme', token: 'old'}}},
    last: {backend: 'api', api: {origin}},
  }));
  const {config, shown} = await plan(
    [
      ['Which service do you deploy to?', ''],
      [`URL of the service (from your last login): (${origin})`, ''],
      ['Organization ID: (acme)', ''],
    ],
    {flags: {project: 'shop', target: 'staging', 'build-directory': 'dist', static: true}},
  );
  expect(config).toMatchObject({runtimeBackend: 'api', api: {origin, organizationId: 'acme'}});
  expect(shown).not.toContain('For a service on this machine');
});

test('init: the last login is shown without questions, and one to this machine is no service of a project', async () => {
  const login = (origin: string) =>
    updateCredentials({directory: join(root, 'config'), warn: () => undefined}, () => ({
      origins: {[origin]: {apiKey: {key: 'old'}}},
      last: {backend: 'legacy', legacy: origin},
    }));
  const given = {flags: {project: 'shop', target: 'staging', static: true}};
  await login('http://127.0.0.1:1');
  await expect(plan([], given)).rejects.toMatchObject({
    code: 'ERR_ORIGIN_MISSING',
    suggestions: [expect.any(String), 'For the local service of your last login, pass --origin http://127.0.0.1:1'],
  });
  await login('https://last.example');
  const {config, shown} = await plan([], given);
  expect(config).toMatchObject({origin: 'https://last.example'});
  expect(shown).toContain('Service: https://last.example (from your last login).');
});

describe('credentials that will not do', () => {
  const given = {flags: {project: 'shop', target: 'staging', 'build-directory': 'dist', static: true}};

  test('are asked for again when the service refuses them', async () => {
    const {config, stored: kind} = await plan([[keyQuestion, 'wrong'], ['Error: '], [keyQuestion, key]], {
      flags: {...given.flags, origin: runtime.origin},
    });
    expect(kind).toBe('api-key');
    expect(config).toMatchObject({origin: runtime.origin});
    expect(await stored()).toMatchObject({origins: {[runtime.origin]: {apiKey: {key}}}});
  });

  test('can be stored unchecked when the service cannot be reached', async () => {
    const origin = await closedOrigin();
    const flags = {...given.flags, origin};
    const question = 'Store the API key without checking it? (y/N)';
    const unstored = await plan(
      [
        [keyQuestion, key],
        [question, 'n'],
        [keyQuestion, ''],
      ],
      {flags},
    );
    expect(unstored).toMatchObject({config: {origin}, hasCredentials: false});
    const unchecked = await plan(
      [
        [keyQuestion, key],
        [question, 'y'],
      ],
      {flags},
    );
    expect(unchecked).toMatchObject({config: {origin}, stored: 'api-key'});
  });
});

describe('a setup without questions', () => {
  test('completes a URL of this machine with http', async () => {
    const {host} = new URL(runtime.origin);
    const {config} = await plan([], {flags: {project: 'shop', origin: host}});
    expect(config).toMatchObject({origin: runtime.origin});
  });

  test('refuses a backend that is not there', async () => {
    const flags = {project: 'shop', 'runtime-backend': 'nope'};
    await expect(plan([], {flags})).rejects.toMatchObject({code: 'ERR_BACKEND_UNKNOWN'});
  });

  test('chooses as auto does between backends that variables set', async () => {
    const api = {MYCLI_API_ORIGIN: runtime.origin, MYCLI_ORGANIZATION: 'o', MYCLI_API_TOKEN: 'token-5c1d'};
    const env = {MYCLI_RUNTIME_ORIGIN: runtime.origin, MYCLI_API_KEY: key, MYCLI_PROJECT: 'shop'};
    const both = await plan([], {env: {...env, ...api}});
    expect(both.config).toMatchObject({runtimeBackend: 'api'});
    const half = await plan([], {env: {...env, MYCLI_API_ORIGIN: runtime.origin}});
    expect(half.config).toMatchObject({runtimeBackend: 'legacy'});
  });
});
