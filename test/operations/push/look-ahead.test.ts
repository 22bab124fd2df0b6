import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {ApiKeyStrategy, BearerTokenStrategy, OAuthClientCredentialsStrategy} from '../../../src/http/index.js';
import type {PushRuntimeBundleBackendOptions} from '../../../src/operations/push/options.js';
import {pushRuntimeBundle} from '../calls.js';
import {acme} from '../acme.js';
import {startService, type Service} from '../pushed-bundles.js';
import {startRecordingServer} from '../../recording-server.js';

const wrongKey = {legacyAuth: new ApiKeyStrategy({apiKey: 'wrong'})};
const waiting = {targetSlug: 'staging', wait: true, pollInterval: 0.01} as const;

function push(service: Service, options: Partial<PushRuntimeBundleBackendOptions> = {}) {
  const {connection, project} = service;
  return pushRuntimeBundle({...connection, preference: 'legacy', ...options}, project.host);
}

async function makeLarge({project}: Service): Promise<void> {
  await writeFile(join(project.directory, 'build', 'large.bin'), Buffer.alloc(21_000_000));
}

const routes = ({runtime}: Service, before = 0) => runtime.requests.slice(before).map(({route}) => route);

describe('a key that is refused', () => {
  test.each([
    ['v2 that is waited for: by the look at the history', {v2: true, ...waiting}, ['history']],
    ['v1 that is waited for: by the look at the history', waiting, ['history']],
  ])('is known before the upload of %s', async (_, options, asked) => {
    const service = await startService();
    await expect(push(service, {...options, ...wrongKey})).rejects.toMatchObject({code: 'ERR_UNAUTHORIZED'});
    expect(routes(service)).toEqual(asked);
  });

  test.each([
    ['without a target: by the list', {}, ['list']],
    ['with a target: by its history', {targetSlug: 'staging', v2: true}, ['history']],
  ])('is known before a large upload %s', async (_, options, asked) => {
    const service = await startService();
    await makeLarge(service);
    await expect(push(service, {...options, ...wrongKey})).rejects.toMatchObject({code: 'ERR_UNAUTHORIZED'});
    expect(routes(service)).toEqual(asked);
  });

  test('is known by a small upload alone', async () => {
    const service = await startService();
    await expect(push(service, wrongKey)).rejects.toMatchObject({code: 'ERR_UNAUTHORIZED'});
    expect(routes(service)).toEqual(['upload']);
  });
});

test('an OAuth client that is refused is known before the build is packed', async () => {
  const service = await startService();
  const {origin, credentials} = service.runtime;
  const {organizationId, clientId, tokenUrl} = credentials;
  const auth = new OAuthClientCredentialsStrategy({tokenUrl, clientId, clientSecret: 'wrong'});
  const options = {preference: 'api', apiConnection: {origin, organizationId, auth}, legacyAuth: undefined} as const;
  await expect(push(service, options)).rejects.toMatchObject({code: 'ERR_OAUTH'});
  expect(routes(service)).toEqual(['token']);
});

test.each([
  ['legacy', 'the newest deployment', {v2: true, ...waiting}],
  ['legacy', 'the targets, for a URL to check', {v2: true, targetSlug: 'staging', check: {url: '/'}}],
  ['api', 'the targets, for a URL to check', {targetSlug: 'staging', check: {url: '/'}}],
] as const)(
  'a read-only service (%s) is known before anything is packed by the look at %s',
  async (preference, _, push) => {
    await using server = await startRecordingServer(() => ({status: 503, headers: {'x-mrt-read-only': 'true'}}));
    const {project, connection} = await startService();
    const {origin} = server;
    const apiConnection = {origin, organizationId: 'org', auth: new BearerTokenStrategy('token')};
    const events: string[] = [];
    const pushing = pushRuntimeBundle(
      {
        ...{...connection, ...push, origin, apiConnection, preference},
        onEvent: (event) => void (event.type === 'step' && events.push(`${event.step} ${event.status}`)),
      },
      project.host,
    );
    await expect(pushing).rejects.toMatchObject({code: 'ERR_MAINTENANCE'});
    expect(new Set(server.requests.map(({method}) => method))).toEqual(new Set(['GET']));
    expect(events).toContain('verify failed');
    expect(events).toContain('build skipped');
  },
);

describe('a target that is busy', () => {
  async function startBusy(): Promise<Service> {
    const service = await startService({deploymentSeconds: 1000});
    await push(service, {targetSlug: 'staging', v2: true});
    return service;
  }

  test.each([{v2: true}, {v2: false}])(
    'is known before the upload, if the deployment is waited for (%j)',
    async (format) => {
      const service = await startBusy();
      const before = service.runtime.requests.length;
      await expect(push(service, {...format, ...waiting})).rejects.toMatchObject({
        code: 'ERR_TARGET_BUSY',
        message: expect.stringContaining('bundle 1') as string,
        details: {running: {bundleId: 1}},
      });
      expect(new Set(routes(service, before))).toEqual(new Set(['history']));
    },
  );

  test('keeps no bundle from being uploaded as v2, if the push waits for its turn', async () => {
    const service = await startBusy();
    const before = service.runtime.requests.length;
    const waits = {v2: true, ...waiting, waitForSlot: true, timeout: 0.05};
    await expect(push(service, waits)).rejects.toMatchObject({code: 'ERR_WAIT_TIMEOUT'});
    expect(routes(service, before)).toContain('upload');
  });
});

test('an unchanged bundle that is deployed is looked ahead for by nothing', async () => {
  const service = await startService();
  const pushRecords = {read: () => Promise.resolve(undefined), write: () => Promise.resolve()};
  await push(service, {v2: true, ...waiting, ifChanged: true, pushRecords});
  expect(routes(service)[0]).toBe('upload');
});

test('a large upload that nothing is against costs one request more', async () => {
  const service = await startService();
  await push(service);
  await makeLarge(service);
  await push(service);
  expect(routes(service)).toEqual(['upload', 'list', 'upload']);
});

test("the list of a plugin's backend is read before a large upload, not its history: busy may be nothing to it", async () => {
  const service = await startService();
  await makeLarge(service);
  const calls: string[] = [];
  const members = {
    listBundles() {
      calls.push('list');
      return Promise.reject(Object.assign(new Error('There is no connection.'), {code: 'ERR_NETWORK'}));
    },
    listDeployments() {
      calls.push('history');
      return Promise.resolve({items: []});
    },
    upload() {
      calls.push('upload');
      return Promise.resolve({bundleId: 1, raw: undefined});
    },
  };
  await push(service, acme(members));
  expect(calls).toEqual(['list', 'upload']);
});
