import {describe, expect, test} from 'vitest';
import {ApiKeyStrategy, BearerTokenStrategy} from '../../../src/http/index.js';
import {pauseMs} from '../../../src/operations/deploy/poll.js';
import type {DeployBundleOptions} from '../../../src/operations/options.js';
import {startRecordingServer, type RecordingServer, type Reply} from '../../recording-server.js';
import {createProject} from '../test-host.js';
import {deployBundle, waitForDeployment} from '../../../src/pipelines/deploy.js';
import {pushRuntimeBundle} from '../../../src/pipelines/push.js';

const base = {projectSlug: 'shop', targetSlug: 'staging', bundleId: 5, wait: true, pollInterval: 0.01} as const;

function legacyOptions({origin}: RecordingServer): DeployBundleOptions {
  return {...base, preference: 'legacy', origin, legacyAuth: new ApiKeyStrategy({apiKey: 'key'})};
}

function apiOptions({origin}: RecordingServer): DeployBundleOptions {
  const apiConnection = {origin, organizationId: 'org', auth: new BearerTokenStrategy('token')};
  return {...base, preference: 'api', apiConnection, rateLimit: {maxRetries: 0, baseDelayMs: 1}};
}

const row = (id: number, status: string, second: number) => ({
  bundle: {id, message: 'm'},
  status,
  created_at: `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`,
});

/** A legacy target whose list of deployments is `lists[n]` at the n-th look; the last stays. */
function legacyTarget(lists: readonly (readonly unknown[])[]): (request: {method: string}) => Reply {
  let looks = 0;
  return ({method}) => {
    if (method === 'POST') return {status: 201, body: {warnings: ['careful']}};
    const results = lists[Math.min(looks++, lists.length - 1)] ?? [];
    return {status: 200, body: {count: results.length, results}};
  };
}

describe('waiting on the legacy backend, which has no deployment ids', () => {
  test('an older deployment of the same bundle is not taken for ours', async () => {
    const before = [row(5, 'Finished', 1)];
    await using server = await startRecordingServer(
      legacyTarget([before, before, [row(5, 'In Progress', 2), ...before], [row(5, 'Finished', 2), ...before]]),
    );
    await using project = await createProject();
    const result = await deployBundle(legacyOptions(server), project.host);
    expect(result).toMatchObject({status: 'finished', bundleId: 5, warnings: ['careful']});
    expect(server.requests.map(({method}) => method)).toEqual(['GET', 'POST', 'GET', 'GET', 'GET']);
  });

  test('a time that is not a whole number of milliseconds is waited for', async () => {
    await using server = await startRecordingServer(legacyTarget([[], [row(5, 'Finished', 1)]]));
    await using project = await createProject();
    await expect(deployBundle({...legacyOptions(server), timeout: 64.1}, project.host)).resolves.toMatchObject({
      status: 'finished',
    });
  });

  test('without waiting nothing is looked at before the request, nor told', async () => {
    await using server = await startRecordingServer(() => ({status: 204}));
    await using project = await createProject();
    const result = await deployBundle({...legacyOptions(server), wait: false}, project.host);
    expect(result).toMatchObject({status: 'queued', warnings: []});
    expect(server.requests.map(({method}) => method)).toEqual(['POST']);
    const waiting = waitForDeployment(
      {...legacyOptions(server), backend: 'legacy', deployment: result.deployment},
      project.host,
    );
    await expect(waiting).rejects.toMatchObject({
      code: 'ERR_OUTCOME_UNKNOWN',
      message: expect.stringContaining('without waiting') as string,
    });
    expect(server.requests).toHaveLength(1);
  });

  test('a look that failed costs a push the certainty, never the push', async () => {
    await using server = await startRecordingServer(({method}) =>
      method === 'POST' ? {status: 200, body: {bundle_id: 5}} : {status: 404, body: {}},
    );
    await using project = await createProject();
    const push = pushRuntimeBundle(legacyOptions(server), project.host);
    await expect(push).rejects.toMatchObject({
      ...{code: 'ERR_OUTCOME_UNKNOWN', exitCode: 10, details: {bundleId: 5}},
      message: expect.stringContaining('The earlier deployments could not be read') as string,
      suggestions: expect.arrayContaining([expect.stringMatching(/^mycli bundle:history /)]) as string[],
    });
  });
});

describe('waiting on the Api backend', () => {
  const id = '0b9f6a1e-0000-4000-8000-000000000001';

  /** A deployment whose n-th look is answered by `looks[n]`; the last stays. */
  function apiTarget(looks: readonly (Reply | undefined)[]): (request: {method: string}) => Reply | undefined {
    let look = 0;
    return ({method}) =>
      method === 'POST'
        ? {status: 202, body: {deploymentId: id, status: 'queued'}}
        : looks[Math.min(look++, looks.length - 1)];
  }
  const state = (status: string, more: object = {}): Reply => ({
    status: 200,
    body: {deploymentId: id, status, ...more},
  });

  test('looks until the deployment has finished, and reports its percentage', async () => {
    await using server = await startRecordingServer(
      apiTarget([
        state('queued'),
        state('in_progress', {progress: {description: 'copying', percentage: 40}}),
        state('finished'),
      ]),
    );
    await using project = await createProject();
    const seen: number[] = [];
    const result = await deployBundle(
      {...apiOptions(server), onProgress: ({phase, transferred}) => phase === 'wait' && seen.push(transferred)},
      project.host,
    );
    expect(result).toMatchObject({status: 'finished', deploymentId: id});
    expect(seen).toEqual([0, 40, 100]);
  });

  test('a look that tells nothing is lost; five in a row, and the outcome is unknown', async () => {
    const lost: Reply = {status: 200, body: '<!doctype html>'};
    await using server = await startRecordingServer(apiTarget([lost, lost, lost, lost, state('finished')]));
    await using project = await createProject();
    await expect(deployBundle(apiOptions(server), project.host)).resolves.toMatchObject({status: 'finished'});
    await using gone = await startRecordingServer(apiTarget([lost]));
    await expect(deployBundle(apiOptions(gone), project.host)).rejects.toMatchObject({code: 'ERR_OUTCOME_UNKNOWN'});
    expect(gone.requests).toHaveLength(6);
  });

  test('a deployment that has failed when it is accepted is a failed one, waited for or not', async () => {
    await using server = await startRecordingServer(() => state('failed'));
    await using project = await createProject();
    const deploy = deployBundle({...apiOptions(server), wait: false}, project.host);
    await expect(deploy).rejects.toMatchObject({code: 'ERR_DEPLOYMENT_FAILED', exitCode: 8});
  });

  test('an answer that refuses the look decides, and the error says how to look otherwise', async () => {
    await using server = await startRecordingServer(apiTarget([{status: 403, body: {detail: 'no'}}]));
    await using project = await createProject();
    await expect(deployBundle(apiOptions(server), project.host)).rejects.toMatchObject({
      exitCode: 4,
      status: 403,
      message: expect.stringMatching(/^Deployment \S+ was accepted, but its state cannot be read: /) as string,
      suggestions: expect.arrayContaining([
        expect.stringMatching(/^mycli bundle:history .*--target staging/),
      ]) as string[],
    });
  });
});

test('bundle ids of the built-in backends are numbers', async () => {
  await using server = await startRecordingServer(() => ({status: 200, body: {}}));
  await using project = await createProject();
  const deploy = deployBundle({...legacyOptions(server), bundleId: 'my-bundle'}, project.host);
  await expect(deploy).rejects.toMatchObject({code: 'ERR_OPTION_INVALID', exitCode: 3});
  expect(server.requests).toEqual([]);
});

test('looks come half a second after the first, then less and less often, up to the interval', () => {
  expect([1, 2, 3, 4, 2000].map((looks) => pauseMs(5000, looks))).toEqual([500, 750, 1125, 1687.5, 5000]);
  expect(pauseMs(10, 1)).toBe(10);
});
