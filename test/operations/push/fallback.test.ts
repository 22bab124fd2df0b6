import {readdir} from 'node:fs/promises';
import {describe, expect, test} from 'vitest';
import {ApiKeyStrategy, BearerTokenStrategy} from '../../../src/http/index.js';
import type {PushRuntimeBundleBackendOptions} from '../../../src/operations/push/options.js';
import {startRecordingServer, type Handler, type RecordingServer} from '../../recording-server.js';
import {createProject, smallBuild} from '../test-host.js';
import {pushRuntimeBundle} from '../calls.js';

const isApi = (path: string) => path.startsWith('/storefront/');

function optionsFor({origin}: RecordingServer): PushRuntimeBundleBackendOptions {
  return {
    preference: 'auto',
    projectSlug: 'shop',
    origin,
    legacyAuth: new ApiKeyStrategy({apiKey: 'legacy-key'}),
    apiConnection: {origin, organizationId: 'org', auth: new BearerTokenStrategy('api-token')},
    rateLimit: {maxRetries: 0},
  };
}

/** Answers `status` to Api uploads, success to everything of legacy. */
function refusing(status: number | undefined): Handler {
  return ({path}) => {
    if (isApi(path)) return status === undefined ? undefined : {status, body: {detail: 'no'}};
    if (path.includes('/v2/')) return {status: 201, body: {id: 7}};
    return {status: 200, body: {bundle_id: 7}};
  };
}

describe('falling back from Api to legacy', () => {
  test.each([400, 401, 403, 404, 405, 406, 415])('%i to the upload: legacy v1 serves the call', async (status) => {
    await using server = await startRecordingServer(refusing(status));
    await using project = await createProject();
    const calls: string[] = [];
    const result = await pushRuntimeBundle(
      {
        ...optionsFor(server),
        onFallback: (reason) => calls.push(`fallback: ${reason}`),
        onResolve: (backend) => calls.push(backend),
      },
      project.host,
    );
    expect(result).toMatchObject({backend: 'legacy', bundleId: 7, archive: {format: 'v1'}, deployed: false});
    expect(calls).toEqual([
      'api',
      `fallback: the Runtime (OAuth) backend rejected the upload (${String(status)}): no`,
      'legacy',
    ]);
    expect(server.requests.map(({path}) => path)).toEqual([
      '/storefront/deployments/v1/organizations/org/storefronts/shop/bundles',
      '/api/projects/shop/builds/',
    ]);
    expect(await readdir(project.temporary)).toEqual([]);
  });

  test.each([401, 403, 404, 405, 406, 415])(
    '%i with a web page is no answer of the service: no fallback',
    async (status) => {
      const page = {status, headers: {'content-type': 'text/html'}, body: '<!doctype html><title>Blocked</title>'};
      await using server = await startRecordingServer(({path}) =>
        isApi(path) ? page : {status: 200, body: {bundle_id: 7}},
      );
      await using project = await createProject();
      await expect(pushRuntimeBundle(optionsFor(server), project.host)).rejects.toMatchObject({
        code: 'ERR_NETWORK',
        exitCode: 6,
        status,
      });
      expect(server.requests).toHaveLength(1);
    },
  );

  test('when legacy fails, too, the error names both refusals', async () => {
    await using server = await startRecordingServer(({path}) => ({status: isApi(path) ? 403 : 400}));
    await using project = await createProject();
    await expect(pushRuntimeBundle(optionsFor(server), project.host)).rejects.toMatchObject({
      ...{code: 'ERR_REJECTED', status: 400},
      message: expect.stringMatching(
        /^The credentials .*\(403 .*\)\. The Runtime \(API key\) backend also failed: .*\(400 /,
      ) as string,
    });
  });

  test('an explicit api never falls back', async () => {
    await using server = await startRecordingServer(refusing(404));
    await using project = await createProject();
    const push = pushRuntimeBundle({...optionsFor(server), preference: 'api'}, project.host);
    await expect(push).rejects.toMatchObject({status: 404});
    expect(server.requests.map(({method}) => method)).toEqual(['POST', 'GET']);
  });

  test('with v2 the same archive goes to legacy', async () => {
    await using server = await startRecordingServer(refusing(404));
    await using project = await createProject();
    const result = await pushRuntimeBundle({...optionsFor(server), v2: true}, project.host);
    expect(result).toMatchObject({backend: 'legacy', archive: {format: 'v2'}});
    expect(server.requests.map(({path}) => path)[1]).toBe('/api/v2/projects/shop/bundles/');
    const bodies = server.requests.map(({headers, body}) => {
      const boundary = /boundary=(.+)$/.exec(headers['content-type'] ?? '')?.[1] ?? '';
      return body.toString('latin1').replaceAll(boundary, '');
    });
    expect(bodies[1]).toBe(bodies[0]);
  });

  test('v2-only options that the v1 fallback leaves out are warned about, and nothing is told twice', async () => {
    await using server = await startRecordingServer(refusing(404));
    const key = {'build/server/key.pem': 'x'};
    await using project = await createProject({...smallBuild, ...key});
    const result = await pushRuntimeBundle({...optionsFor(server), rootDir: 'app', matchMode: 'strict'}, project.host);
    expect(result.warnings.toSorted()).toEqual([
      expect.stringContaining('Fell back to the Runtime (API key) backend'),
      expect.stringContaining('server/key.pem'),
      'matchMode has no effect on a v1 bundle.',
      'rootDir has no effect on a v1 bundle.',
    ]);
  });

  const thrown = () => {
    throw new Error('callback');
  };
  // The types ask for no promise; JavaScript callers give one all the same.
  const rejected = () => Promise.reject(new Error('callback')) as unknown as undefined;

  test.each([
    ['throws', thrown],
    ['rejects', rejected],
  ])('a callback that %s before anything is sent fails the push, and is ignored after', async (_, failing) => {
    await using server = await startRecordingServer(refusing(404));
    await using project = await createProject();
    await expect(pushRuntimeBundle({...optionsFor(server), onResolve: failing}, project.host)).rejects.toThrow(
      'callback',
    );
    expect(server.requests).toEqual([]);
    await expect(
      pushRuntimeBundle({...optionsFor(server), onFallback: failing, onEvent: rejected}, project.host),
    ).resolves.toMatchObject({
      backend: 'legacy',
    });
  });
});
