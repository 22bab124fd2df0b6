import {afterEach, beforeEach, describe, expect, test, vi} from 'vitest';
import {ApiKeyStrategy, OAuthClientCredentialsStrategy} from '../../src/http/index.js';
import {createProject} from '../operations/test-host.js';
import {startRecordingServer, type Reply} from '../recording-server.js';
import {deployBundle, waitForDeployment} from '../../src/pipelines/deploy.js';
import {listBundles} from '../../src/pipelines/read.js';

const year = 365 * 24 * 3_600_000;
const jumps = [
  ['a year ahead', year],
  ['a year back', -year],
] as const;

// Only the time of day is ours: timers and sockets are real.
beforeEach(() => void vi.useFakeTimers({toFake: ['Date']}));
afterEach(() => void vi.useRealTimers());

const legacyAuth = new ApiKeyStrategy({apiKey: 'key'});
const wait = {backend: 'legacy', projectSlug: 'shop', legacyAuth, pollInterval: 0.001} as const;
const deployment = {bundleId: 7, targetSlug: 'staging', before: 'none'};
const list = (status: string): Reply => ({
  status: 200,
  body: {count: 1, results: [{bundle: {id: 7}, status, created_at: '2026-01-01T00:00:00Z'}]},
});

describe.each(jumps)('a clock that jumps %s', (_, jump) => {
  test('while waiting for a deployment: the wait continues', async () => {
    let looks = 0;
    await using server = await startRecordingServer(() => {
      looks += 1;
      vi.setSystemTime(Date.now() + jump);
      return list(looks < 4 ? 'In Progress' : 'Finished');
    });
    await using project = await createProject();
    const waiting = waitForDeployment({...wait, origin: server.origin, deployment, timeout: 60}, project.host);
    await expect(waiting).resolves.toMatchObject({status: 'finished'});
    expect(looks).toBe(4);
  });

  test('while a deployment does not end: the wait does', async () => {
    await using server = await startRecordingServer(() => {
      vi.setSystemTime(Date.now() + jump);
      return list('In Progress');
    });
    await using project = await createProject();
    const waiting = waitForDeployment({...wait, origin: server.origin, deployment, timeout: 0.2}, project.host);
    await expect(waiting).rejects.toMatchObject({code: 'ERR_WAIT_TIMEOUT', exitCode: 9});
  });

  test('while another deployment occupies the target: the wait continues', async () => {
    let looks = 0;
    await using server = await startRecordingServer(({method}) => {
      if (method === 'POST') return looks < 4 ? {status: 409} : {status: 201, body: {}};
      looks += 1;
      vi.setSystemTime(Date.now() + jump);
      return list(looks === 1 || looks > 3 ? 'Finished' : 'In Progress');
    });
    await using project = await createProject();
    const request = {preference: 'legacy', targetSlug: 'staging', bundleId: 7, origin: server.origin} as const;
    const deploying = deployBundle({...wait, ...request, waitForSlot: true, timeout: 60}, project.host);
    await expect(deploying).resolves.toMatchObject({status: 'queued'});
    expect(looks).toBeGreaterThan(3);
  });

  test('between two requests: a token that may have expired is renewed, one that has is not the end', async () => {
    let tokens = 0;
    let isJumped = false;
    await using server = await startRecordingServer(({path, headers}) => {
      if (path === '/token')
        return {status: 200, body: {access_token: `token-${String((tokens += 1))}`, expires_in: 600}};
      // The server's own clock is right: the first token has expired.
      if (isJumped && headers.authorization === 'Bearer token-1') return {status: 401};
      return {status: 200, body: {total: 0, data: []}};
    });
    await using project = await createProject();
    const credentials = {clientId: 'client', clientSecret: 'secret'};
    const auth = new OAuthClientCredentialsStrategy({tokenUrl: `${server.origin}/token`, ...credentials});
    const apiConnection = {origin: server.origin, organizationId: 'org', auth};
    const call = () => listBundles({preference: 'api', projectSlug: 'shop', apiConnection}, project.host);
    await call();
    vi.setSystemTime(Date.now() + jump);
    isJumped = true;
    await expect(call()).resolves.toMatchObject({bundles: []});
    expect(tokens).toBe(2);
  });

  test('so that a date in Retry-After is far away or gone by: no wait is longer than the longest', async () => {
    const until = new Date(Date.now() + 1000).toUTCString();
    let requests = 0;
    await using server = await startRecordingServer(({method}) => {
      if (method === 'GET') return {status: 404};
      requests += 1;
      return requests === 1 ? {status: 429, headers: {'retry-after': until}} : {status: 201, body: {}};
    });
    await using project = await createProject();
    vi.setSystemTime(Date.now() - jump);
    const waits: number[] = [];
    const deploying = deployBundle(
      {
        ...{preference: 'legacy', projectSlug: 'shop', targetSlug: 'staging', bundleId: 7, legacyAuth},
        origin: server.origin,
        rateLimit: {maxDelayMs: 20},
        onRetry: ({delayMs}) => waits.push(delayMs),
      },
      project.host,
    );
    await expect(deploying).resolves.toMatchObject({status: 'queued'});
    expect(waits).toEqual([jump > 0 ? 20 : 0]);
  });
});

test('an interval that is longer than any timer is no reason to look without a pause', async () => {
  let looks = 0;
  await using server = await startRecordingServer(() => {
    looks += 1;
    return list('In Progress');
  });
  await using project = await createProject();
  const times = {pollInterval: 10_000_000, timeout: 1};
  const waiting = waitForDeployment({...wait, ...times, origin: server.origin, deployment}, project.host);
  await expect(waiting).rejects.toMatchObject({code: 'ERR_WAIT_TIMEOUT'});
  // Without a pause there would be hundreds.
  expect(looks).toBeLessThan(5);
});

test('a look that hangs ends with the time to wait', async () => {
  await using server = await startRecordingServer(() => new Promise<undefined>(() => undefined));
  await using project = await createProject();
  const waiting = waitForDeployment({...wait, origin: server.origin, deployment, timeout: 0.2}, project.host);
  await expect(waiting).rejects.toMatchObject({
    code: 'ERR_WAIT_TIMEOUT',
    message: expect.stringContaining('Its last known status is unknown.') as string,
  });
});
