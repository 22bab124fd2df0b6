import {describe, expect, test} from 'vitest';
import type {Backend} from '../../../src/backends/contract.js';
import {createBackendRegistry} from '../../../src/backends/registry.js';
import {startRecordingServer, type Handler, type RecordedRequest, type Reply} from '../../recording-server.js';
import {acme} from '../acme.js';
import {createProject} from '../test-host.js';
import {deployTo} from './deploy-to.js';
import {deployBundle, pushRuntimeBundle} from '../calls.js';

/** Answers lists of bundles with these. */
function bundles(...results: readonly object[]) {
  return ({method}: RecordedRequest): Reply =>
    method === 'GET' ? {status: 200, body: {count: results.length, results}} : {status: 201, body: {warnings: []}};
}

describe('latest', () => {
  const at = (day: number) => `2026-01-0${String(day)}T00:00:00Z`;

  test('latest is the newest completed bundle by creation time that is not being deleted', async () => {
    const target = bundles(
      {id: 9, status: 0, created_at: at(9)},
      {id: 8, status: 2, created_at: at(8)},
      {id: 7, status: 1, deletion_status: 'CLEANUP_IN_PROGRESS', created_at: at(7)},
      {id: 4, status: 1, deletion_status: null, created_at: at(4)},
      {id: 5, status: 1, deletion_status: 'ACTIVE', created_at: at(5)},
      {id: 3, status: 1, created_at: null},
    );
    const {outcome, requests} = await deployTo(target, {bundleId: 'latest'});
    expect(outcome).toMatchObject({bundleId: 5, status: 'queued'});
    expect(requests.find(({method}) => method === 'POST')?.body.toString()).toBe('{"bundle_id":5}');
  });

  test.each([[{status: null}], [{status: 'done'}], [{}]])('latest is not chosen past a status like %j', async (odd) => {
    const target = bundles({id: 6, ...odd, created_at: at(6)}, {id: 5, status: 1, created_at: at(5)});
    const {outcome, requests} = await deployTo(target, {bundleId: 'latest'});
    expect(outcome).toMatchObject({code: 'ERR_RESPONSE_INVALID', exitCode: 7});
    expect(requests.map(({method}) => method)).toEqual(['GET']);
  });

  test('latest does not exist while no bundle is completed', async () => {
    const {outcome, requests} = await deployTo(bundles({id: 1, status: 0}), {bundleId: 'latest'});
    expect(outcome).toMatchObject({code: 'ERR_REJECTED'});
    expect(requests.map(({method}) => method)).toEqual(['GET']);
  });
});

describe('a deployment with auto', () => {
  const isApi = ({path}: RecordedRequest) => path.startsWith('/storefront/');
  const refusing = (status: number): Handler => {
    const refusal: Reply = {status, body: {detail: 'no'}};
    const legacy = bundles({id: 8, status: 1});
    return (request) => (isApi(request) ? refusal : legacy(request));
  };

  test.each([400, 401, 403, 404, 405])(
    'auto never falls back with an ID: after %i legacy hears nothing',
    async (status) => {
      const called: string[] = [];
      const onResolve = (name: string) => called.push(name);
      const auto = {preference: 'auto', onFallback: () => called.push('fallback'), onResolve};
      const {outcome, requests} = await deployTo(refusing(status), auto);
      const advice =
        'If your project is on the Runtime (API key) backend, run the command again with --runtime-backend legacy.';
      expect(outcome).toMatchObject({status, suggestions: expect.arrayContaining([advice]) as string[]});
      expect(called).toEqual(['api']);
      expect(requests.filter((request) => !isApi(request))).toEqual([]);
    },
  );

  test.each([401, 403])('auto falls back with latest after %i, and legacy looks up its own', async (status) => {
    const {outcome} = await deployTo(refusing(status), {preference: 'auto', bundleId: 'latest'});
    expect(outcome).toMatchObject({backend: 'legacy', bundleId: 8});
  });

  test('a callback that throws before anything is sent sends nothing; after that it is ignored', async () => {
    const fail = () => {
      throw new Error('my callback');
    };
    const latest = {preference: 'auto', bundleId: 'latest', onFallback: fail};
    const failed = await deployTo(refusing(403), {...latest, onResolve: fail});
    expect(failed).toMatchObject({outcome: {message: 'my callback'}, requests: []});
    const onResolve = (name: string) => {
      if (name === 'legacy') fail();
    };
    const {outcome} = await deployTo(refusing(403), {...latest, onResolve});
    expect(outcome).toMatchObject({backend: 'legacy', bundleId: 8});
  });
});

describe('the backend of a plugin', () => {
  const deployWith = async (bundleIds: 'number' | undefined, bundleId: string, more: object = {}) => {
    const asked: unknown[] = [];
    const deploy = async (request: unknown) => {
      asked.push(request);
      return {deployment: {}, status: 'queued', raw: undefined};
    };
    const options = {...acme({bundleIds, deploy, ...more}), bundleId};
    await using project = await createProject();
    const outcome: unknown = await deployBundle(options, project.host).catch((reason: unknown) => reason);
    return {asked, outcome};
  };

  test.each([
    ['rejects with what it makes of an answer to a POST', 201, 'ERR_OUTCOME_UNKNOWN', 10],
    ['rejects although it has only read', 200, 'ERR_BACKEND_FAILED', 7],
    ['passes on a refusal', 409, 'ERR_REJECTED', 7],
  ])('a backend that %s (%d) ends with %s', async (_, status, code, exitCode) => {
    await using server = await startRecordingServer(() => ({status, body: 'no JSON'}));
    const backend: Pick<Backend, 'deploy'> = {
      async deploy(_request, {http}) {
        const {body} = await http(server.origin, {method: status === 200 ? 'GET' : 'POST'});
        throw new SyntaxError(`Unexpected answer: ${body}`);
      },
    };
    expect((await deployWith(undefined, '1', backend)).outcome).toMatchObject({code, exitCode});
  });

  test('a backend is found by its whole name if another plugin has one of that name', async () => {
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
    const preference = 'mycli-plugin-b/acme';
    const common = {...acme({}), backends: createBackendRegistry(plugins), preference};
    const pushed = await pushRuntimeBundle(common, project.host);
    expect(pushed).toMatchObject({backend: preference, bundleId: 'mycli-plugin-b'});
    const deployed = await deployBundle({...common, bundleId: pushed.bundleId}, project.host);
    expect(deployed).toMatchObject({backend: preference, bundleId: 'mycli-plugin-b'});
  });

  test('a backend gets its IDs as they were typed, or numbers if they are numbers, and never anything else', async () => {
    expect(await deployWith(undefined, '12')).toMatchObject({asked: [{bundleId: '12', targetSlug: 'staging'}]});
    // Whole: a request has nothing else.
    expect((await deployWith('number', '12')).asked).toEqual([{bundleId: 12, targetSlug: 'staging'}]);
    const wrong = await deployWith('number', 'abc');
    expect(wrong).toMatchObject({asked: [], outcome: {code: 'ERR_OPTION_INVALID'}});
  });
});
