import {describe, expect, test} from 'vitest';
import {ApiKeyStrategy, BearerTokenStrategy} from '../../src/http/index.js';
import {deployBundle} from '../../src/operations/deploy-bundle.js';
import type {DeployBundleOptions} from '../../src/operations/options.js';
import {startRecordingServer, type RecordingServer, type Reply} from '../recording-server.js';
import {createProject} from './test-host.js';

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

  test('two deployments within one second are told apart by their place in the list', async () => {
    const before = [row(5, 'Finished', 1)];
    await using server = await startRecordingServer(legacyTarget([before, [row(5, 'Failed', 1), ...before]]));
    await using project = await createProject();
    await expect(deployBundle(legacyOptions(server), project.host)).rejects.toMatchObject({exitCode: 8});
  });

  test('a later deployment of another bundle, or of ours again, does not decide', async () => {
    const before = [row(4, 'Finished', 1)];
    const after = [row(5, 'Failed', 4), row(6, 'Failed', 3), row(5, 'Finished', 2), ...before];
    await using server = await startRecordingServer(legacyTarget([before, after]));
    await using project = await createProject();
    await expect(deployBundle(legacyOptions(server), project.host)).resolves.toMatchObject({status: 'finished'});
  });

  test('a target that was never deployed to has no deployment before ours', async () => {
    let posted = false;
    await using server = await startRecordingServer(({method}) => {
      if (method === 'POST') posted = true;
      else if (!posted) return {status: 404, body: {detail: 'no such target'}};
      return {status: 200, body: {count: 1, results: [row(5, 'Finished', 1)]}};
    });
    await using project = await createProject();
    await expect(deployBundle(legacyOptions(server), project.host)).resolves.toMatchObject({status: 'finished'});
  });

  test('a time that is no whole number of milliseconds is waited for', async () => {
    await using server = await startRecordingServer(legacyTarget([[], [row(5, 'Finished', 1)]]));
    await using project = await createProject();
    await expect(deployBundle({...legacyOptions(server), timeout: 64.1}, project.host)).resolves.toMatchObject({
      status: 'finished',
    });
  });

  test('a key that may not list deployments can deploy, but the state is unknown', async () => {
    await using server = await startRecordingServer(({method}) =>
      method === 'POST' ? {status: 201, body: {}} : {status: 403, body: {detail: 'no'}},
    );
    await using project = await createProject();
    await expect(deployBundle({...legacyOptions(server), wait: false}, project.host)).resolves.toMatchObject({
      status: 'queued',
    });
    await expect(deployBundle(legacyOptions(server), project.host)).rejects.toMatchObject({exitCode: 10});
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

  test('lost looks are repeated', async () => {
    const lost: Reply = {status: 503, body: {detail: 'busy'}};
    await using server = await startRecordingServer(apiTarget([lost, lost, lost, lost, state('finished')]));
    await using project = await createProject();
    await expect(deployBundle(apiOptions(server), project.host)).resolves.toMatchObject({status: 'finished'});
  });

  test('a state that cannot be read any more is unknown: exit code 10', async () => {
    await using server = await startRecordingServer(apiTarget([{status: 503, body: {detail: 'busy'}}]));
    await using project = await createProject();
    await expect(deployBundle(apiOptions(server), project.host)).rejects.toMatchObject({
      code: 'ERR_OUTCOME_UNKNOWN',
      exitCode: 10,
    });
  });

  test('an answer that refuses the look decides, and the error says how to look otherwise', async () => {
    await using server = await startRecordingServer(apiTarget([{status: 403, body: {detail: 'no'}}]));
    await using project = await createProject();
    await expect(deployBundle(apiOptions(server), project.host)).rejects.toMatchObject({
      exitCode: 4,
      status: 403,
      message: expect.stringMatching(/^the deployment \S+ was accepted, but its state cannot be read: /) as string,
      suggestions: expect.arrayContaining([
        expect.stringMatching(/^mycli bundle:history .*--target staging/),
      ]) as string[],
    });
  });

  test('why a deployment failed is told', async () => {
    await using server = await startRecordingServer(apiTarget([state('failed', {statusMessage: 'no memory'})]));
    await using project = await createProject();
    await expect(deployBundle(apiOptions(server), project.host)).rejects.toMatchObject({
      exitCode: 8,
      message: expect.stringContaining('no memory') as string,
    });
  });

  test('an abort ends the wait with its reason', async () => {
    await using server = await startRecordingServer(apiTarget([state('queued')]));
    await using project = await createProject();
    const controller = new AbortController();
    const reason = new Error('enough');
    const waiting = deployBundle(
      {
        ...apiOptions(server),
        pollInterval: 60,
        signal: controller.signal,
        onProgress: () => {
          controller.abort(reason);
        },
      },
      project.host,
    );
    await expect(waiting).rejects.toBe(reason);
  });
});

test('bundle ids of the built-in backends are numbers', async () => {
  await using server = await startRecordingServer(() => ({status: 200, body: {}}));
  await using project = await createProject();
  const deploy = deployBundle({...legacyOptions(server), bundleId: 'my-bundle'}, project.host);
  await expect(deploy).rejects.toMatchObject({code: 'ERR_OPTION_INVALID', exitCode: 3});
  expect(server.requests).toEqual([]);
});
