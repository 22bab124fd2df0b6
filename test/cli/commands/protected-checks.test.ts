import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, beforeEach, expect, test} from 'vitest';
import {createRuntimeBench, type RuntimeBench} from '../with-runtime.js';
import {startServer} from '../../http/with-server.js';

const gate = 'canary-gate-password';
let bench: RuntimeBench;

beforeAll(async () => {
  bench = await createRuntimeBench({MYCLI_TARGET: 'staging', MYCLI_CHECK_RETRIES: '0'}, {protect: gate});
  await writeFile(join(bench.project, 'gate.txt'), `${gate}\n`);
});

afterAll(() => bench[Symbol.asyncDispose]());

beforeEach(() => configure({}));

const configure = (config: object) => writeFile(join(bench.project, 'mycli.config.json'), JSON.stringify(config));
const push = (flags: readonly string[], env = {}) => bench.mycli(['push', '--json', ...flags], env);
const check = ['--check', '/static/index.html'];

test.each<[string, object, object]>([
  ['a user and a password of the environment', {}, {MYCLI_CHECK_USER: 'qa', MYCLI_CHECK_PASSWORD: gate}],
  ['a header in a file', {}, {MYCLI_CHECK_HEADER: 'x-sfdc-access-control=@gate.txt'}],
  ['a header of the environment', {}, {MYCLI_CHECK_HEADER: `X-SFDC-Access-Control=${gate}`}],
  ['a user of the configuration', {check: {user: 'qa'}}, {MYCLI_CHECK_PASSWORD: gate}],
  ['a header of the configuration', {check: {headers: {'x-sfdc-access-control': '@gate.txt'}}}, {}],
  [
    'headers of the configuration and of the environment',
    {check: {headers: {accept: 'text/html'}}},
    {MYCLI_CHECK_HEADER: `{"x-sfdc-access-control": "${gate}"}`},
  ],
  ['the user of a target', {targets: {staging: {check: {user: 'qa'}}}}, {MYCLI_CHECK_PASSWORD: gate}],
])('a check logs in with %s', async (_what, config, env) => {
  await configure(config);
  const {code, stdout, stderr} = await push(check, env);
  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({check: {passed: true, checks: [{status: 200}]}});
  expect(stdout + stderr).not.toContain(gate);
});

test('a check with headers of its own sends these from a file of the configuration', async () => {
  const page = {url: '/static/index.html', headers: {'x-sfdc-access-control': '@gate.txt'}};
  await configure({check: {url: [page]}});
  const {code, stderr} = await push([]);
  expect(code, stderr).toBe(0);
});

test('a site that asks for a login cannot be checked, is not asked again, and nothing is rolled back', async () => {
  await push([]);
  const {code, stdout} = await push([...check, '--rollback-on-failure'], {MYCLI_CHECK_RETRIES: '5'});
  const {error} = JSON.parse(stdout) as {error: {code: string; message: string; suggestions: string[]}};
  expect(error).toMatchObject({details: {check: {checks: [{attempts: 1}]}}});
  expect([code, error.code]).toEqual([11, 'ERR_CHECK_REFUSED']);
  expect(error.message).toMatch(/cannot be checked.*401 Unauthorized.*It was not rolled back\.$/);
  expect(error.suggestions.join(' ')).toContain(
    'Set MYCLI_CHECK_USER (or check.user in mycli.config) and MYCLI_CHECK_PASSWORD, or check.headers.',
  );
  expect(error.suggestions.join(' ').match(/mycli bundle:rollback(?: --to \d+)?/g)).toEqual([
    expect.stringMatching(/--to \d+$/),
  ]);
  const {bundleId} = (error as unknown as {details: {bundleId: number}}).details;
  const status = JSON.parse((await bench.mycli(['history', '--json'])).stdout) as {deployments: {bundleId: number}[]};
  expect(status.deployments[0]?.bundleId).toBe(bundleId);
});

test('a password without a user is not sent, and the error says so', async () => {
  const {code, stdout, stderr} = await push(check, {MYCLI_CHECK_PASSWORD: gate});
  const {error} = JSON.parse(stdout) as {error: {suggestions: string[]}};
  expect([code, error.suggestions[0]]).toEqual([
    11,
    'The password was not sent, because the check has no user. Set MYCLI_CHECK_USER, or check.user in mycli.config.',
  ]);
  expect(stdout + stderr).not.toContain(gate);
});

test('a status of a login that is asked for passes', async () => {
  const {code, stdout} = await push([...check, '--rollback-on-failure'], {MYCLI_CHECK_STATUS: '401'});
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({check: {checks: [{passed: true, status: 401}]}});
});

test('a wrong password says that the site refused it, and is masked', async () => {
  const password = 'canary-wrong-password';
  const {code, stdout, stderr} = await push([...check, '--debug'], {
    MYCLI_CHECK_USER: 'qa',
    MYCLI_CHECK_PASSWORD: password,
  });
  expect(code).toBe(11);
  expect(JSON.parse(stdout)).toMatchObject({
    error: {
      suggestions: [
        expect.stringContaining('the site refused them'),
        expect.anything(),
        expect.stringContaining('To roll back, run: mycli bundle:rollback --project shop --target staging'),
      ],
    },
  });
  expect(stdout + stderr).not.toContain(password);
  expect(stdout + stderr).not.toContain(Buffer.from(`qa:${password}`).toString('base64'));
});

test('credentials of a check do not follow a redirect to another origin', async () => {
  const received: unknown[] = [];
  const other = await startServer(({headers}, response) => {
    received.push(headers);
    response.end('ok');
  });
  const site = await startServer((_, response) => response.writeHead(302, {location: `${other.origin}/in`}).end());
  await configure({check: {headers: {'x-gate': '@gate.txt'}, user: 'qa'}});
  const {code, stdout} = await push(['--check', `${site.origin}/`], {MYCLI_CHECK_PASSWORD: gate});
  expect(code).toBe(11);
  expect(JSON.parse(stdout)).toMatchObject({error: {code: 'ERR_UNHEALTHY'}});
  expect(received).toEqual([]);
});

test('credentials of a check go to no origin that MYCLI_TRUSTED_ORIGINS leaves out', async () => {
  const received: unknown[] = [];
  const evil = await startServer(({headers}, response) => {
    received.push(headers);
    response.end('ok');
  });
  await configure({check: {url: `${evil.origin}/`}});
  const {code, stdout} = await push([], {
    MYCLI_CHECK_HEADER: `x-gate=${gate}`,
    MYCLI_TRUSTED_ORIGINS: bench.runtime.origin,
  });
  expect(code).toBe(3);
  expect(JSON.parse(stdout)).toMatchObject({
    error: {code: 'ERR_ORIGIN_UNTRUSTED', message: expect.stringContaining(evil.origin) as string},
  });
  expect(received).toEqual([]);
});

test.each<[string, object, object, string, string]>([
  ['a user without a password', {MYCLI_CHECK_USER: 'qa'}, {}, 'ERR_USAGE', 'No password of the check specified.'],
  ['a file that is missing', {MYCLI_CHECK_HEADER: 'x-gate=@none.txt'}, {}, 'ERR_OPTION_INVALID', 'cannot be read'],
  ['an empty value', {MYCLI_CHECK_HEADER: 'x-gate='}, {}, 'ERR_OPTION_INVALID', 'must not be empty'],
  ['no header', {MYCLI_CHECK_HEADER: 'x-gate'}, {}, 'ERR_OPTION_INVALID', 'must be key=value'],
  [
    'a name that is none',
    {MYCLI_CHECK_HEADER: 'x gate=1'},
    {},
    'ERR_OPTION_INVALID',
    'invalid name or value of the header "x gate"',
  ],
  [
    'a secret in the configuration',
    {},
    {check: {headers: {'x-sfdc-access-control': gate}}},
    'ERR_CONFIG_INVALID',
    'check.headers.x-sfdc-access-control',
  ],
  ['a password in the configuration', {}, {check: {password: gate}}, 'ERR_CONFIG_INVALID', 'check.password'],
  [
    'a password of one check in the configuration',
    {},
    {check: {url: [{url: '/', password: gate}]}},
    'ERR_CONFIG_INVALID',
    'Set MYCLI_CHECK_PASSWORD instead',
  ],
])('a check with %s is refused before anything is sent', async (_what, env, config, error, told) => {
  await configure(config);
  const before = bench.runtime.requests.length;
  const {stdout} = await push(check, env);
  expect(JSON.parse(stdout)).toMatchObject({error: {code: error, message: expect.stringContaining(told) as string}});
  expect(stdout).not.toContain(gate);
  expect(bench.runtime.requests).toHaveLength(before);
});

test('config:show masks a secret header', async () => {
  const shown = await bench.mycli(['config:show', '--json'], {MYCLI_CHECK_HEADER: `x-gate=${gate},accept=text/html`});
  expect(shown.stdout).not.toContain(gate);
  expect(shown.stdout).toContain('text/html');
});
