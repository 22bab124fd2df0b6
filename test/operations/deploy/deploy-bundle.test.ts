import {describe, expect, test} from 'vitest';
import type {Backend} from '../../../src/backends/contract.js';
import {createBackendRegistry} from '../../../src/backends/registry.js';
import {ApiKeyStrategy, BearerTokenStrategy} from '../../../src/http/index.js';
import type {DeployBundleOptions} from '../../../src/operations/options.js';
import {pushRuntimeBundle} from '../../../src/pipelines/push.js';
import {startRecordingServer, type RecordingServer} from '../../recording-server.js';
import {acme} from '../acme.js';
import {createProject} from '../test-host.js';
import {deployBundle} from '../../../src/pipelines/deploy.js';

const optionsFor = ({origin}: RecordingServer): DeployBundleOptions => ({
  preference: 'legacy',
  projectSlug: 'shop',
  targetSlug: 'staging',
  bundleId: 'latest',
  origin,
  legacyAuth: new ApiKeyStrategy({apiKey: 'legacy-key'}),
  rateLimit: {maxRetries: 0},
});

describe('latest', () => {
  const at = (day: number) => `2026-01-0${String(day)}T00:00:00Z`;

  test('is the newest completed bundle by creation time that is not being deleted', async () => {
    const results = [
      {id: 9, status: 0, created_at: at(9)},
      {id: 8, status: 2, created_at: at(8)},
      {id: 7, status: 1, deletion_status: 'CLEANUP_IN_PROGRESS', created_at: at(7)},
      {id: 6, status: null, created_at: at(6)},
      {id: 4, status: 1, deletion_status: null, created_at: at(4)},
      {id: 5, status: 1, deletion_status: 'ACTIVE', created_at: at(5)},
      {id: 3, status: 1, created_at: null},
    ];
    await using server = await startRecordingServer(({method}) =>
      method === 'GET' ? {status: 200, body: {count: results.length, results}} : {status: 201, body: {warnings: []}},
    );
    await using project = await createProject();
    expect(await deployBundle(optionsFor(server), project.host)).toMatchObject({bundleId: 5, status: 'queued'});
    const requested = server.requests.find(({method}) => method === 'POST');
    expect(requested?.body.toString()).toBe('{"bundle_id":5}');
  });

  test('does not exist while no bundle is completed', async () => {
    await using server = await startRecordingServer(() => ({
      status: 200,
      body: {count: 1, results: [{id: 1, status: 0}]},
    }));
    await using project = await createProject();
    await expect(deployBundle(optionsFor(server), project.host)).rejects.toMatchObject({code: 'ERR_REJECTED'});
    expect(server.requests.map(({method}) => method)).toEqual(['GET']);
  });
});

describe('a deployment with auto', () => {
  const auto = (server: RecordingServer): DeployBundleOptions => ({
    ...optionsFor(server),
    preference: 'auto',
    apiConnection: {origin: server.origin, organizationId: 'org', auth: new BearerTokenStrategy('api-token')},
  });
  const isApi = ({path}: {readonly path: string}) => path.startsWith('/storefront/');

  test.each([400, 401, 403, 404, 405])('of an id never falls back: after %i legacy hears nothing', async (status) => {
    await using server = await startRecordingServer((request) =>
      isApi(request) ? {status, body: {detail: 'no'}} : {status: 201, body: {}},
    );
    await using project = await createProject();
    const called: string[] = [];
    const callbacks = {onFallback: () => called.push('fallback'), onResolve: (name: string) => called.push(name)};
    const pending = deployBundle({...auto(server), ...callbacks, bundleId: 5}, project.host);
    await expect(pending).rejects.toMatchObject({
      status,
      suggestions: expect.arrayContaining([
        'mycli bundle:deploy 5 --project shop --target staging --runtime-backend legacy',
      ]) as string[],
    });
    expect(called).toEqual(['api']);
    expect(server.requests.filter((request) => !isApi(request))).toEqual([]);
  });

  test.each([401, 403])('of latest falls back after %i, and legacy looks up its own', async (status) => {
    await using server = await startRecordingServer((request) => {
      if (isApi(request)) return {status, body: {}};
      return request.method === 'GET'
        ? {status: 200, body: {count: 1, results: [{id: 8, status: 1}]}}
        : {status: 201, body: {}};
    });
    await using project = await createProject();
    expect(await deployBundle(auto(server), project.host)).toMatchObject({backend: 'legacy', bundleId: 8});
  });

  test('whose callback throws before anything is sent sends nothing; after that it is ignored', async () => {
    await using server = await startRecordingServer((request) => {
      if (isApi(request)) return {status: 403, body: {}};
      return request.method === 'GET' ? {status: 200, body: {results: [{id: 8, status: 1}]}} : {status: 204};
    });
    await using project = await createProject();
    const fail = () => {
      throw new Error('my callback');
    };
    await expect(deployBundle({...auto(server), onResolve: fail}, project.host)).rejects.toThrow('my callback');
    expect(server.requests).toEqual([]);
    const onResolve = (name: string) => {
      if (name === 'legacy') fail();
    };
    const result = await deployBundle({...auto(server), onFallback: fail, onResolve}, project.host);
    expect(result).toMatchObject({backend: 'legacy', bundleId: 8});
  });
});

describe('the backend of a plugin', () => {
  const deployTo = async (bundleIds: 'number' | undefined, bundleId: string, more: object = {}) => {
    const asked: unknown[] = [];
    const deploy = async (request: unknown) => {
      asked.push(request);
      return {deployment: {}, status: 'queued', raw: undefined};
    };
    const options = {...acme({bundleIds, deploy, ...more}), bundleId};
    await using project = await createProject();
    const error: unknown = await deployBundle(options, project.host).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    return {asked, error};
  };

  test.each([
    ['rejects with what it makes of an answer to a POST', 201, 'ERR_OUTCOME_UNKNOWN', 10],
    ['rejects although it has only read', 200, 'ERR_BACKEND_FAILED', 7],
    ['passes on a refusal', 409, 'ERR_REJECTED', 7],
  ])('that %s (%d) ends with %s', async (_, status, code, exitCode) => {
    await using server = await startRecordingServer(() => ({status, body: 'no JSON'}));
    const backend: Pick<Backend, 'deploy'> = {
      async deploy(_request, {http}) {
        const {body} = await http(server.origin, {method: status === 200 ? 'GET' : 'POST'});
        throw new SyntaxError(`Unexpected answer: ${body}`);
      },
    };
    const {error} = await deployTo(undefined, '1', backend);
    expect(error).toMatchObject({code, exitCode});
  });

  test('is found by its whole name if another plugin has one of that name', async () => {
    const plugins = ['mycli-plugin-a', 'mycli-plugin-b'].map((plugin) => ({
      plugin,
      backend: {
        ...{apiVersion: 1, name: 'acme', summary: plugin, formats: ['v2']},
        check: async () => ({configured: true}),
        upload: async () => ({bundleId: plugin, raw: undefined}),
        deploy: async () => ({deployment: {}, status: 'queued', raw: undefined}),
      },
    }));
    await using project = await createProject();
    const common = {
      backends: createBackendRegistry(plugins),
      preference: 'mycli-plugin-b/acme',
      projectSlug: 'shop',
      targetSlug: 'staging',
    };
    const pushed = await pushRuntimeBundle(common, project.host);
    expect(pushed).toMatchObject({backend: 'mycli-plugin-b/acme', bundleId: 'mycli-plugin-b'});
    const deployed = await deployBundle({...common, bundleId: pushed.bundleId}, project.host);
    expect(deployed).toMatchObject({backend: 'mycli-plugin-b/acme', bundleId: 'mycli-plugin-b'});
  });

  test('gets its IDs as they were typed, or numbers if they are numbers, and never anything else', async () => {
    expect(await deployTo(undefined, '12')).toMatchObject({asked: [{bundleId: '12', targetSlug: 'staging'}]});
    const numbered = await deployTo('number', '12');
    expect(numbered).toEqual({asked: [{bundleId: 12, targetSlug: 'staging'}], error: undefined});
    const wrong = await deployTo('number', 'abc');
    expect(wrong).toMatchObject({asked: [], error: {code: 'ERR_OPTION_INVALID'}});
  });
});
