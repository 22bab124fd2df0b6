import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {Readable} from 'node:stream';
import {afterEach, beforeEach, expect, test} from 'vitest';
import {explainSettings} from '../../../src/cli/settings/load-settings.js';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mycli-explain-'));
});

afterEach(async () => {
  await rm(directory, {recursive: true, force: true});
});

async function explain(
  flags: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string>> = {},
  config?: unknown,
) {
  if (config !== undefined) await writeFile(join(directory, 'mycli.config.json'), JSON.stringify(config));
  const stdin = Readable.from(['canary from stdin']);
  const warn = () => undefined;
  const credentialFile = {directory, env: {}, platform: process.platform, pid: process.pid, hasModes: false, warn};
  const origin = {flags, env, cwd: directory, configFile: undefined, uid: undefined, stdin, warn, credentialFile};
  const all = await explainSettings(origin);
  return {all, of: (name: string) => all.settings.find((setting) => setting.name === name)};
}

test('an overridden value that could not be used is told; one that counts is an error', async () => {
  const {of} = await explain({timeout: '1'}, {MYCLI_TIMEOUT: 'soon'}, {timeout: 3});
  expect(of('timeout')?.overrode).toMatchObject([
    {source: {name: 'MYCLI_TIMEOUT'}, problem: expect.stringContaining('MYCLI_TIMEOUT') as string},
    {source: {kind: 'config'}, value: 3},
    {source: {kind: 'default'}, value: 600},
  ]);
  await expect(explain({}, {MYCLI_TIMEOUT: 'soon'})).rejects.toMatchObject({code: 'ERR_OPTION_INVALID'});
});

test('secrets are masked, and neither their files nor stdin are read', async () => {
  const flags = {'api-key': '-', 'api-token': '@/nowhere', 'runtime-backend': 'acme'};
  const env = {MYCLI_API_KEY: 'canary-1', MYCLI_CLIENT_SECRET: 'canary-2', MYCLI_BACKEND_OPTION: 'authToken=canary-3'};
  const {all, of} = await explain(flags, env, {backends: {acme: {region: 'eu'}}});
  expect(JSON.stringify(all.settings)).not.toContain('canary');
  expect(of('apiKey')).toMatchObject({value: '********', overrode: [{value: '********'}]});
  expect(of('backendOptions')).toMatchObject({value: {acme: {region: 'eu', authToken: '********'}}});
});
