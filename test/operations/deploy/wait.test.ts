import {describe, expect, test} from 'vitest';
import type {RuntimeCliError} from '../../../src/errors/index.js';
import {pauseMs} from '../../../src/operations/deploy/poll.js';
import {waitForDeployment} from '../../../src/pipelines/deploy.js';
import {deleteTarget} from '../../../src/pipelines/targets.js';
import {startRecordingServer, type Reply} from '../../recording-server.js';
import {acme} from '../acme.js';
import {createProject} from '../test-host.js';
import {deployOptions, deployTo} from './deploy-to.js';
import {deployBundle, hearing, pushRuntimeBundle} from '../calls.js';
import {startService} from '../pushed-bundles.js';

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
  test('waiting does not take an older deployment of the same bundle for ours', async () => {
    const before = [row(5, 'Finished', 1)];
    const later = [
      [row(5, 'In Progress', 2), ...before],
      [row(5, 'Finished', 2), ...before],
    ];
    const {outcome, requests} = await deployTo(legacyTarget([before, before, ...later]), {wait: true});
    expect(outcome).toMatchObject({status: 'finished', bundleId: 5, warnings: ['careful']});
    expect(requests.map(({method}) => method)).toEqual(['GET', 'POST', 'GET', 'GET', 'GET']);
  });

  test('waiting takes a time that is not a whole number of milliseconds', async () => {
    const target = legacyTarget([[], [row(5, 'Finished', 1)]]);
    expect((await deployTo(target, {wait: true, timeout: 64.1})).outcome).toMatchObject({status: 'finished'});
  });

  test('without waiting nothing is looked at before the request, nor told', async () => {
    await using server = await startRecordingServer(() => ({status: 204}));
    await using project = await createProject();
    const {outcome, requests} = await deployTo(() => ({status: 204}));
    expect(outcome).toMatchObject({status: 'queued', warnings: []});
    expect(requests.map(({method}) => method)).toEqual(['POST']);
    const {deployment} = outcome as {readonly deployment: Record<string, string>};
    const waiting = waitForDeployment({...deployOptions(server), backend: 'legacy', deployment}, project.host);
    await expect(waiting).rejects.toMatchObject({
      code: 'ERR_OUTCOME_UNKNOWN',
      message: expect.stringContaining('without waiting') as string,
    });
    expect(server.requests).toEqual([]);
  });

  test('waiting without credentials is refused as any call is, with what to do', async () => {
    await using project = await createProject();
    const deployment = {deploymentId: 'd-1'};
    const options = {projectSlug: 'shop', backend: 'legacy', origin: 'https://cloud.example', deployment};
    await expect(waitForDeployment(options, project.host)).rejects.toMatchObject({
      code: 'ERR_CREDENTIALS_MISSING',
      message: 'The Runtime (API key) backend is not configured: missing legacyAuth (an API key).',
      suggestions: [expect.stringContaining('auth:login')],
    });
  });

  test('a look that failed costs a push the certainty, never the push', async () => {
    await using server = await startRecordingServer(({method}) =>
      method === 'POST' ? {status: 200, body: {bundle_id: 5}} : {status: 404, body: {}},
    );
    await using project = await createProject();
    const push = pushRuntimeBundle({...deployOptions(server), wait: true}, project.host);
    await expect(push).rejects.toMatchObject({
      ...{code: 'ERR_OUTCOME_UNKNOWN', exitCode: 10, details: {bundleId: 5}},
      message: expect.stringContaining('The earlier deployments could not be read') as string,
      suggestions: expect.arrayContaining([expect.stringMatching(/^mycli bundle:history /)]) as string[],
    });
  });
});

describe('waiting on the Api backend', () => {
  const deploymentId = '0b9f6a1e-0000-4000-8000-000000000001';
  const api = {preference: 'api', wait: true} as const;

  /** A deployment whose n-th look is answered by `looks[n]`; the last stays. */
  function apiTarget(
    ...looks: readonly (Reply | undefined)[]
  ): (request: {method: string; path: string}) => Reply | undefined {
    let look = 0;
    return ({method, path}) => {
      if (method === 'POST') return state('queued');
      // Whether the target is still there.
      if (!path.includes(deploymentId)) return {status: 403, body: {}};
      return looks[Math.min(look++, looks.length - 1)];
    };
  }
  const state = (status: string, more: object = {}): Reply => ({status: 202, body: {deploymentId, status, ...more}});

  test('waiting looks until the deployment has finished, and reports its percentage', async () => {
    const copying = state('in_progress', {progress: {description: 'copying', percentage: 40}});
    const seen: number[] = [];
    const {outcome} = await deployTo(apiTarget(state('queued'), copying, state('finished')), {
      ...api,
      onEvent: (event) => event.type === 'progress' && seen.push(event.transferred),
    });
    expect(outcome).toMatchObject({status: 'finished', deploymentId});
    expect(seen).toEqual([40, 100]);
  });

  test('a look that tells nothing is lost; five in a row, and the outcome is unknown', async () => {
    const lost: Reply = {status: 200, body: '<!doctype html>'};
    const {outcome} = await deployTo(apiTarget(lost, lost, lost, lost, state('finished')), api);
    expect(outcome).toMatchObject({status: 'finished'});
    const gone = await deployTo(apiTarget(lost), api);
    const message = /^Deployment .* was accepted, but its state could not be read 5 times in a row: .+ GET /;
    expect(gone.outcome).toMatchObject({
      code: 'ERR_OUTCOME_UNKNOWN',
      message: expect.stringMatching(message) as string,
    });
    expect(gone.requests).toHaveLength(6);
  });

  test('a state that cannot be read is told, until it can be read again', async () => {
    const told: (string | undefined)[] = [];
    const lost: Reply = {status: 200, body: '<!doctype html>'};
    await deployTo(apiTarget(state('queued'), lost, state('queued'), state('finished')), {
      ...api,
      onEvent: (event) => event.type === 'wait' && told.push(event.description),
    });
    const unread = expect.stringMatching(/^its state cannot be read: /) as string;
    expect(told).toEqual([undefined, unread, undefined, undefined]);
  });

  test('a deployment that has failed when it is accepted is a failed one, waited for or not', async () => {
    const {outcome} = await deployTo(() => state('failed'), {...api, wait: false});
    expect(outcome).toMatchObject({code: 'ERR_DEPLOYMENT_FAILED', exitCode: 8});
  });

  test.each([
    ['its reason, once', state('failed', {statusMessage: 'No space'}), ' failed: No space.'],
    ['nothing worse when that fails', {status: 500, body: {}}, ' failed.'],
    ['nothing else when that says otherwise', state('finished'), ' failed.'],
  ])('a deployment that has failed at once is looked at for %s', async (_, look, end) => {
    const {outcome, requests} = await deployTo(({method}) => (method === 'POST' ? state('failed') : look), api);
    expect(outcome).toMatchObject({code: 'ERR_DEPLOYMENT_FAILED', message: `Deployment ${deploymentId}${end}`});
    const {suggestions} = outcome as RuntimeCliError;
    expect(suggestions.some((line) => line.includes('gives no reason'))).toBe(end === ' failed.');
    expect(requests.map(({method}) => method)).toEqual(['POST', 'GET']);
  });

  test('an answer that refuses the look decides, and the error says how to look otherwise', async () => {
    const {outcome} = await deployTo(apiTarget({status: 403, body: {detail: 'no'}}), api);
    expect(outcome).toMatchObject({
      ...{exitCode: 4, status: 403},
      message: expect.stringMatching(/^Deployment \S+ was accepted, but its state cannot be read: /) as string,
      suggestions: expect.arrayContaining([
        expect.stringMatching(/^mycli bundle:history .*--target staging/),
      ]) as string[],
    });
  });
});

test('a wait that ends while a plugin has no answer says which function has not answered', async () => {
  await using project = await createProject();
  const deployment = {deploymentId: 'd-1'};
  const never = () => new Promise(() => undefined);
  const waiting = (getDeployment: () => Promise<unknown>, more: object = {}) =>
    waitForDeployment({...acme({getDeployment}), backend: 'acme', deployment, ...more}, project.host);
  await expect(waiting(never, {timeout: 0.1})).rejects.toThrow(
    'Deployment d-1 did not finish within 0.1 s. Its last status: unknown. ' +
      'The acme backend of plugin mycli-plugin-acme has not answered getDeployment.',
  );
  const queued = () => Promise.resolve({status: 'queued'});
  await expect(waiting(queued, {timeout: 0.1})).rejects.toThrow(/Its last status: queued\.$/);
});

test('looks come every half second, then after a fifth of the time waited, up to the interval', () => {
  const waited = [0, 2500, 5000, 10_000, 25_000, 600_000];
  expect(waited.map((ms) => pauseMs(5000, ms))).toEqual([500, 500, 1000, 2000, 5000, 5000]);
  expect(pauseMs(10, 0)).toBe(10);
  // However long a deployment takes, its end is seen a fifth later at most.
  for (const ends of [1000, 5000, 12_345, 20_000]) {
    let ms = 0;
    while (ms < ends) ms += pauseMs(5000, ms);
    expect(ms).toBeLessThanOrEqual(ends * 1.2 + 500);
  }
});

describe('a target that is deleted while something waits for it', () => {
  /** A deployment to `staging` that takes a minute; once the wait has reported `phase`, the target is deleted. */
  async function waitWhileDeleted(
    preference: string,
    {isGone = false, phase = 'wait', ...more}: {isGone?: boolean; phase?: 'wait' | 'slot'; waitForSlot?: boolean} = {},
  ) {
    let ahead = 0;
    const service = await startService({deploymentSeconds: 60, now: () => new Date(Date.now() + ahead)});
    const {connection, project, push, runtime} = service;
    const options = {...connection, preference, targetSlug: 'staging', pollInterval: 0.01};
    const bundleId = await push();
    if (phase === 'slot') await deployBundle({...options, bundleId}, project.host);
    const deleted: Promise<unknown>[] = [];
    const onEvent = hearing((progress) => {
      if (progress.phase !== phase || deleted.length > 0) return;
      const deletion = deleteTarget({...connection, preference, targetSlug: 'staging', force: true}, project.host);
      // The service has cleaned up.
      deleted.push(deletion.finally(() => (ahead = isGone ? 61_000 : 0)));
    });
    const waiting = deployBundle({...options, ...more, bundleId, wait: true, onEvent}, project.host);
    const error: unknown = await waiting.catch((reason: unknown) => reason);
    await Promise.all(deleted);
    return {error, requests: runtime.requests};
  }

  test.each([
    ['legacy', false],
    ['legacy', true],
    ['api', false],
    ['api', true],
  ])('ends the wait for a deployment (%s, is gone: %j)', async (preference, isGone) => {
    const {error} = await waitWhileDeleted(preference, {isGone});
    expect(error).toMatchObject({
      ...{code: 'ERR_DEPLOYMENT_FAILED', exitCode: 8},
      message: expect.stringMatching(/^Target staging was deleted before the deployment finished\.$/) as string,
      suggestions: expect.arrayContaining([expect.stringMatching(/: mycli target:list /)]) as string[],
      details: {targetSlug: 'staging'},
    });
  });

  test.each(['legacy', 'api'])('ends the wait for the slot, and nothing is deployed (%s)', async (preference) => {
    const {error, requests} = await waitWhileDeleted(preference, {phase: 'slot', isGone: true, waitForSlot: true});
    expect(error).toMatchObject({
      ...{code: 'ERR_REJECTED', exitCode: 7},
      message: expect.stringMatching(/^Target staging was deleted before it was free\.$/) as string,
      details: {targetSlug: 'staging'},
    });
    expect(requests.filter(({route}) => route === 'deploy').length).toBeLessThan(4);
  });

  test('is not taken for one that a first deployment makes and the service does not list yet', async () => {
    let looks = 0;
    const {outcome} = await deployTo(
      ({method, path}) => {
        if (method === 'POST') return {status: 201, body: {}};
        if (!path.includes('/deploy')) return {status: 200, body: {count: 0, results: []}};
        const results = looks++ < 4 ? [] : [row(5, 'Finished', 1)];
        return {status: 200, body: {count: results.length, results}};
      },
      {wait: true},
    );
    expect(outcome).toMatchObject({status: 'finished'});
  });
});
