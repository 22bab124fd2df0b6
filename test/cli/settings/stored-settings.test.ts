import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {resolveSettings} from '../../../src/cli/settings/settings.js';
import {storedSettings} from '../../../src/cli/settings/load-settings.js';

const [legacy, api, other] = ['https://runtime.example', 'https://api.example', 'https://other.example'];
const tokenUrl = 'https://login.example/token';
const client = {kind: 'client-secret', organizationId: 'org', clientId: 'ci', clientSecret: 'canary-secret', tokenUrl};
const origins = {[legacy]: {apiKey: {key: 'canary-key', user: 'ann'}}, [api]: {api: client}};
const last = {backend: 'legacy', legacy: `${legacy}/base`, api: {origin: api}};

let directory: string;
let warnings: string[];
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mycli-stored-'));
});
afterAll(() => rm(directory, {recursive: true}));

type Variables = Readonly<Record<string, string>>;

async function add(variables: Variables, content: object) {
  warnings = [];
  const file = {directory, warn: (message: string) => void warnings.push(message)};
  await writeFile(join(directory, 'credentials.json'), JSON.stringify({version: 1, ...content}), {mode: 0o600});
  const env = Object.fromEntries(Object.entries(variables).map(([name, value]) => [`MYCLI_${name}`, value]));
  return storedSettings(resolveSettings({flags: {}, env, cwd: '/'}), file);
}

test.each<[string, Variables, string]>([
  ['of an origin serve for it', {RUNTIME_ORIGIN: 'runtime.example/base'}, 'apiKey apiUser'],
  ['of an origin serve for no other', {RUNTIME_ORIGIN: other}, ''],
  ['are weaker than a key', {RUNTIME_ORIGIN: legacy, API_KEY: 'x'}, ''],
  ['of Api serve for it', {API_ORIGIN: api}, 'organizationId tokenUrl clientId clientSecret'],
  ['of Api do without their organization', {API_ORIGIN: api, ORGANIZATION: 'b'}, 'tokenUrl clientId clientSecret'],
  ['of Api are weaker than a token', {API_ORIGIN: api, API_TOKEN: 'x'}, ''],
  [
    'of Api fill in what is not given',
    {API_ORIGIN: api, TOKEN_URL: 'login.example/token'},
    'organizationId clientId clientSecret',
  ],
])('stored credentials: %s', async (_what, variables, keys) => {
  const stored = await add(variables, {origins});
  expect(Object.keys(stored).join(' ')).toBe(keys);
});

test('stored credentials: a client secret goes to its own token endpoint only', async () => {
  expect(await add({API_ORIGIN: api, TOKEN_URL: `${other}/token`}, {origins})).toEqual({});
  expect(warnings.at(-1)).toBe(
    `The client secret stored for ${api} is not used, because MYCLI_TOKEN_URL does not match it.`,
  );
});

test.each<[string, Variables, string]>([
  ['is the service where none is named', {}, 'origin apiKey apiUser'],
  [
    'is that to the backend that is asked for',
    {RUNTIME_BACKEND: 'api'},
    'apiOrigin organizationId tokenUrl clientId clientSecret',
  ],
  ['gets no key from the environment', {API_KEY: 'x'}, ''],
  ['is not mixed with a user from elsewhere', {API_USER: 'eve'}, ''],
  ['is not mixed with half an API connection', {API_ORIGIN: other}, ''],
  ['is not mixed with another token endpoint', {TOKEN_URL: other}, ''],
  ['is not mixed with another origin', {RUNTIME_ORIGIN: other}, ''],
])('last login: %s', async (_what, variables, keys) => {
  const stored = await add(variables, {origins, last});
  expect(Object.keys(stored).join(' ')).toBe(keys);
});
