import {inspect} from 'node:util';
import {describe, expect, test} from 'vitest';

import {checkedBackend} from '../../src/backends/plugins/checked-backend.js';
import {optionsOf, secretsOf} from '../../src/backends/resolve-backend.js';
import type {HostBackend} from '../../src/backends/host-backend.js';
import type {Backend} from '../../src/backends/contract.js';
import {backendMembers, capabilitiesOf, type MemberName} from '../../src/backends/members.js';
import {OptionText} from '../../src/backends/plugins/option-text.js';

/** A backend whose members answer what they are told to, whatever the types say. */
function answering(answer: unknown, more: object = {}): HostBackend {
  const member = () => Promise.resolve(answer);
  const backend: unknown = {
    apiVersion: 1,
    name: 'acme',
    summary: 'For tests',
    formats: ['v2'],
    check: member,
    upload: member,
    deploy: member,
    getDeployment: member,
    listBundles: member,
    listDeployments: member,
    ...more,
  };
  return checkedBackend(backend as Backend, 'mycli-plugin-acme');
}

function call(backend: HostBackend, member: string): Promise<unknown> {
  const called: unknown = Reflect.get(backend, member);
  if (typeof called !== 'function') throw new Error(`no ${member}`);
  return called.call(backend, {}, {}) as Promise<unknown>;
}

const item = {bundleId: 'b1', status: 'ready'};
const circular: Record<string, unknown> = {};
circular['itself'] = circular;

describe('the answers of a plugin', () => {
  test.each([
    ['upload', {bundleId: 'b1', warnings: ['w'], raw: {}}],
    ['upload', {bundleId: 'b1'}],
    ['upload', {bundleId: 0, extra: 1}],
    ['deploy', {deployment: {}, status: 'queued', raw: null}],
    ['getDeployment', {status: 'in_progress', percentage: 40, raw: undefined}],
    ['listBundles', {items: [item], total: 1, raw: []}],
    ['listDeployments', {items: [{...item, deployment: {}, status: 'failed'}], raw: []}],
    ['listDeployments', {items: [{deployment: {}, status: 'unknown'}], raw: []}],
  ])('%s may answer %j, which passes unchanged', async (member, answer) => {
    expect(await call(answering(answer), member)).toEqual(answer);
  });

  test('listVariables keeps nothing that could be a value', async () => {
    const [kept, answer] = [
      {name: 'A', status: 'published'},
      {name: 'A', status: 'published', value: 'canary'},
    ];
    expect(
      await call(answering(undefined, {listVariables: () => Promise.resolve({items: [answer]})}), 'listVariables'),
    ).toEqual({items: [kept]});
  });

  test.each<[MemberName, unknown, string]>([
    ['check', undefined, 'configured'],
    ['check', {configured: false}, 'configured'],
    ['check', {configured: true, missing: ['token']}, 'configured'],
    ['upload', undefined, 'uploading'],
    ['upload', {id: 1}, 'bundleId'],
    ['upload', {bundleId: ''}, 'bundleId'],
    ['upload', {bundleId: NaN}, 'bundleId'],
    ['upload', {bundleId: 1, warnings: 'careful'}, 'warnings'],
    ['upload', {bundleId: 1, raw: circular}, 'raw: must be plain JSON'],
    ['deploy', {status: 'queued'}, 'deployment'],
    ['deploy', {deployment: {size: 1n}, status: 'queued'}, 'deployment: must be plain JSON'],
    ['deploy', {deployment: {}, status: 'done'}, 'status'],
    ['getDeployment', {status: 'Finished'}, 'status'],
    ['listBundles', [item], 'items'],
    ['listBundles', {items: [item, {bundleId: 1}]}, 'items.1.status'],
    ['listDeployments', {items: [item]}, 'items.0.deployment'],
  ])('%s may not answer %o: the error names plugin, backend and member', async (member, answer, problem) => {
    await expect(call(answering(answer), member)).rejects.toMatchObject({
      code: ['upload', 'deploy'].includes(member) ? 'ERR_OUTCOME_UNKNOWN' : 'ERR_BACKEND_FAILED',
      message: expect.stringContaining(
        `The acme backend of plugin mycli-plugin-acme returned an invalid result while ${backendMembers[member].doing}: `,
      ) as string,
      suggestions: expect.arrayContaining([expect.stringContaining('mycli-plugin-acme')]) as string[],
      details: {
        backend: 'acme',
        plugin: 'mycli-plugin-acme',
        problems: expect.not.arrayContaining(['']) as string[],
      },
    });
    await expect(call(answering(answer), member)).rejects.toThrow(problem);
  });

  test.each(['upload', 'deploy'])('that are wrong after a write may have changed something: %s', async (member) => {
    await expect(call(answering({}), member)).rejects.toMatchObject({
      code: 'ERR_OUTCOME_UNKNOWN',
      exitCode: 10,
      suggestions: [expect.stringContaining('Check before retrying'), expect.stringContaining('a bug')],
    });
  });

  test('that are wrong as a whole tell what they should be', async () => {
    await expect(call(answering({}), 'check')).rejects.toMatchObject({
      message: expect.stringMatching(/ configuration: must be \{configured: true\}, or /) as string,
    });
  });

  test('that are wrong in several places tell of each', async () => {
    await expect(call(answering({items: [{bundleId: []}], total: 'many'}), 'listBundles')).rejects.toMatchObject({
      details: {
        problems: [
          expect.stringContaining('items.0.bundleId: must be a number or a string without control characters'),
          expect.stringContaining('items.0.status: '),
          expect.stringContaining('total: '),
        ],
      },
      message: expect.stringMatching(/characters; items\.0\.status: .*; total: /) as string,
    });
  });

  test('members that are absent stay absent', () => {
    const backend = answering({}, {deploy: undefined});
    expect(capabilitiesOf(backend)).toEqual(['wait', 'list', 'history']);
    for (const member of ['deploy', 'download', 'deleteBundle']) expect(backend).not.toHaveProperty(member);
    expect(backend).toMatchObject({secrets: undefined, options: undefined});
    expect(answering({}, {getDeployment: undefined})).not.toHaveProperty('getDeployment');
    expect(answering({}, {listBundles: undefined})).not.toHaveProperty('listBundles');
    expect(answering({}, {listDeployments: undefined})).not.toHaveProperty('listDeployments');
  });

  test.each([
    [{required: ['url', 'token'], check: undefined}, ['token']],
    [{required: ['url'], check: undefined}, []],
    [
      {required: ['token'], check: () => Promise.resolve({configured: false, missing: ['a region']})},
      ['token', 'a region'],
    ],
    [{check: () => Promise.resolve({configured: true})}, []],
  ])('what is missing is what is required and what the check says: %o', async (more, missing) => {
    const {check} = answering({}, more);
    const given = {options: {url: 'u', token: ''}, configDirectory: '/', env: {}, logger: console};
    expect(await check(given)).toEqual(missing.length === 0 ? {configured: true} : {configured: false, missing});
  });

  test('a check that throws is an error that names the backend', async () => {
    const backend = answering({}, {check: () => Promise.reject(new Error('no idea'))});
    await expect(call(backend, 'check')).rejects.toMatchObject({
      code: 'ERR_BACKEND_FAILED',
      message: 'The acme backend failed while checking its configuration: no idea.',
    });
  });
});

describe('the options of a plugin', () => {
  const schema = (validate: (value: unknown) => unknown) => ({
    options: {'~standard': {version: 1, vendor: 'x', validate}},
  });

  test('are what its schema makes of them', async () => {
    const backend = answering(
      {},
      schema((value) => ({value: {made: value}})),
    );
    expect(await optionsOf(backend, {backendOptions: {region: 'eu'}})).toEqual({made: {region: 'eu'}});
    expect(await optionsOf(backend, {})).toEqual({made: {}});
    expect(backend.options?.['~standard']).toMatchObject({version: 1, vendor: 'x'});
  });

  test('that are wrong are named, and secrets that the schema quotes are masked', async () => {
    const issues = [
      {message: 'must be a number', path: ['retry', {key: 'limit'}]},
      {message: 'canary-77 is too short', path: ['token']},
      {message: 'too few'},
    ];
    const backend = answering({}, {...schema(() => ({issues})), secrets: ['token']});
    await expect(optionsOf(backend, {backendOptions: {token: 'canary-77'}})).rejects.toMatchObject({
      code: 'ERR_OPTION_INVALID',
      message:
        'The options of the acme backend are invalid: retry.limit: must be a number; token: *** is too short; too few.',
      suggestions: [expect.stringContaining('auth:login'), expect.stringContaining('"backends.acme"')],
      details: {backend: 'acme', problems: expect.arrayContaining(['too few']) as string[]},
    });
  });

  test('a schema that throws is an error that names the backend', async () => {
    const throwing = () => {
      throw new Error('no schema');
    };
    await expect(optionsOf(answering({}, schema(throwing)), {})).rejects.toMatchObject({
      code: 'ERR_BACKEND_FAILED',
      message: 'The acme backend failed while checking its options: no schema.',
    });
  });

  test('that are secrets are found whatever they were parsed as', () => {
    const key = new OptionText('{"id":"i"}');
    const backendOptions = {token: ' spaced ', pin: 1234, pair: {left: 'l', right: ['r']}, key, region: 'eu'};
    const found = secretsOf({secrets: ['token', 'pin', 'pair', 'key', 'absent']}, {backendOptions});
    expect(new Set(found)).toEqual(new Set([' spaced ', 'spaced', '1234', 'l', 'r', 'i', '{"id":"i"}']));
  });
});

test('what check() logs, misses and throws has none of the secrets in the options', async () => {
  const said: string[] = [];
  const log = (message: string) => void said.push(message);
  const env = {ACME_KEY: 'canary-2'};
  const context = {options: {token: 'canary-1'}, env, logger: {debug: log, info: log, warn: log}};
  const checking = (check: () => unknown) =>
    answering(undefined, {
      secrets: ['token'],
      secretEnv: ['ACME_KEY'],
      async check({options, logger}: {options: {token: string}; logger: typeof context.logger}) {
        logger.warn(`The token is ${options.token}.`);
        return check();
      },
    }).check({...context, configDirectory: '/', projectSlug: 'shop'});
  const missing = ['a longer token than canary-1'];
  said.push(inspect(await checking(() => ({configured: false, missing}))));
  const throwing = () => Promise.reject(Object.assign(new Error('canary-1'), {headers: {key: 'canary-2'}}));
  said.push(inspect(await checking(throwing).catch((error: unknown) => error)));
  expect(said).toEqual([
    'The token is ***.',
    expect.stringContaining('a longer token than ***'),
    'The token is ***.',
    expect.not.stringContaining('canary'),
  ]);
});
