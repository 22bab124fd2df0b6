import {readdir} from 'node:fs/promises';
import {request} from 'node:http';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {createError} from '../../../src/errors/index.js';
import {startRecordingServer, type Handler, type Reply} from '../../recording-server.js';
import {ApiKeyStrategy} from '../../../src/http/index.js';
import {startRuntime} from '../../local-runtime/with-runtime.js';
import {acme} from '../acme.js';
import {createProject} from '../test-host.js';
import {deployOptions, deployTo} from './deploy-to.js';
import {deployBundle, hearing, pushRuntimeBundle} from '../calls.js';

const since = '2026-01-01T00:00:00Z';
const busy: Reply = {status: 409, body: {detail: 'Another deployment is running.'}};
const forbidden: Reply = {status: 403, body: {detail: 'no'}};

function row(id: number, status: string) {
  return {bundle: {id, message: 'main: 1a2b3c'}, status, user: 'jane', created_at: since};
}

/** Answers the n-th request of each kind with the n-th reply; the last stays. */
function target(answers: readonly Reply[], lists: readonly Reply[]): Handler {
  let [post, list] = [0, 0];
  return ({method}) =>
    method === 'POST' ? answers[Math.min(post++, answers.length - 1)] : lists[Math.min(list++, lists.length - 1)];
}

function listOf(...results: readonly unknown[]): Reply {
  return {status: 200, body: {count: results.length, results}};
}

const accepted: Reply = {status: 201, body: {}};
const running = listOf(row(3, 'In Progress'), row(2, 'Finished'));
const ended = listOf(row(3, 'Finished'), row(2, 'Finished'));

/** What Ctrl-C is to an operation. */
function interruption(): {readonly signal: AbortSignal; interrupt(): void} {
  const controller = new AbortController();
  return {
    signal: controller.signal,
    interrupt: () => controller.abort(createError('ERR_INTERRUPTED', 'Interrupted.', {exitCode: 130})),
  };
}

describe('a target that is busy (409)', () => {
  test.each([
    [{status: 'Queued', bundle: null}, 'The target is busy (409): another bundle is being deployed to staging'],
    [{status: 'Cancelled', bundle: {id: 3}}, 'Another deployment is running.'],
  ])('a busy target is told as far as the server tells it: %j', async (newest, message) => {
    expect(await deployTo(target([busy], [listOf(newest)]))).toMatchObject({
      outcome: {status: 409, message: expect.stringContaining(message) as string},
    });
  });

  test('a busy target is an error that says what is running, since when and who started it, and what to do', async () => {
    expect(await deployTo(target([busy], [running]))).toMatchObject({
      outcome: {
        ...{code: 'ERR_TARGET_BUSY', exitCode: 7, status: 409},
        message: `The target is busy (409): bundle 3 "main: 1a2b3c" has been deploying to staging since ${since}, started by jane.`,
        suggestions: [expect.stringContaining('--wait-for-slot') as string],
        details: {running: {bundleId: 3, status: 'in_progress', createdAt: since, createdBy: 'jane'}},
      },
      posts: 1,
    });
  });
});

describe('waitForSlot', () => {
  test('waitForSlot asks again and again when the server does not show what is running', async () => {
    const refusals = Array<Reply>(8).fill(busy);
    const {posts: sent} = await deployTo(target([...refusals, accepted], [forbidden]), {waitForSlot: true});
    expect(sent).toBe(9);
  });

  test('waitForSlot waits while the server receives the v1 push of someone else, which it does not show', async () => {
    const refused: number[] = [];
    let leave = () => {};
    const {runtime} = await startRuntime({
      onRequest({status}) {
        if (status === 409) refused.push(status);
        if (refused.length === 7) leave();
      },
    });
    const path = '/api/projects/shop/builds/staging/';
    const headers = {authorization: `Bearer ${runtime.credentials.apiKey}`, 'content-type': 'application/json'};
    const other = request(`${runtime.origin}${path}`, {method: 'POST', headers});
    leave = () => void other.destroy();
    other.on('error', () => {}).write('{"data":"');
    await expect.poll(() => readdir(join(runtime.dataDirectory, 'temporary'))).toHaveLength(1);
    await using project = await createProject();
    const {origin, credentials} = runtime;
    const legacyAuth = new ApiKeyStrategy(credentials);
    const place = {preference: 'legacy', projectSlug: 'shop', targetSlug: 'staging', origin, legacyAuth};
    const pushing = pushRuntimeBundle({...place, waitForSlot: true, pollInterval: 0.01}, project.host);
    expect(await pushing).toMatchObject({bundleId: 1, deployed: true});
    expect(refused.length).toBeGreaterThanOrEqual(7);
  });

  test('waitForSlot ends after the time-out with exit code 9, and says how to look', async () => {
    expect(await deployTo(target([busy], [running]), {waitForSlot: true, timeout: 1})).toMatchObject({
      outcome: {
        ...{code: 'ERR_WAIT_TIMEOUT', exitCode: 9},
        message: expect.stringContaining('still busy after 1 s: bundle 3') as string,
        suggestions: expect.arrayContaining([
          expect.stringMatching(
            /^mycli bundle:history --project shop --target staging --runtime-backend legacy --origin http:\S+$/,
          ),
        ]) as string[],
      },
      posts: 1,
    });
  });

  test.each([
    ['a push', {v2: true}, 'Interrupted. Bundle 7 was uploaded. Nothing was deployed.'],
    ['a push in one call', {v2: false}, 'Interrupted. No bundle was created.'],
  ])('an interruption of the wait of %s says that nothing was deployed', async (_, format, message) => {
    await using server = await startRecordingServer(({method, path}) => {
      if (method !== 'POST') return running;
      return path.endsWith('/deploy/') || !format.v2 ? busy : {status: 201, body: {id: 7}};
    });
    await using project = await createProject();
    const {signal, interrupt} = interruption();
    const onEvent = hearing(({phase}) => {
      if (phase === 'slot') interrupt();
    });
    const push = {...deployOptions(server), ...format, waitForSlot: true, pollInterval: 60, signal, onEvent};
    await expect(pushRuntimeBundle(push, project.host)).rejects.toMatchObject({exitCode: 130, message});
    // The upload, and the request to deploy it where that is one of its own.
    const sent = server.requests.filter(({method}) => method === 'POST');
    expect(sent).toHaveLength(format.v2 ? 2 : 1);
  });

  test('a v1 push that deploys in one call waits first, and sends the whole body again', async () => {
    const pushed: Reply = {status: 200, body: {bundle_id: 8}};
    const lists = [ended, running, running, ended];
    await using server = await startRecordingServer(target([busy, pushed], lists));
    await using project = await createProject();
    const result = await pushRuntimeBundle({...deployOptions(server), waitForSlot: true}, project.host);
    expect(result).toMatchObject({bundleId: 8, deployed: true});
    const [first, second] = server.requests.filter(({method}) => method === 'POST');
    expect(first?.path).toBe('/api/projects/shop/builds/staging/');
    expect(second?.body.equals(first?.body ?? Buffer.alloc(0))).toBe(true);
    expect(JSON.parse(String(second?.body))).toMatchObject({encoding: 'base64'});
  });
});

test.each([
  ['is asked again when it says that the target is busy', {code: 'ERR_TARGET_BUSY'}, 3, {status: 'queued'}],
  [
    'has statuses of its own: a 409 alone says nothing about the target',
    {code: 'ERR_REJECTED', status: 409},
    ...([1, {code: 'ERR_REJECTED', status: 409}] as const),
  ],
])("a plugin's backend %s", async (_, error, requests, outcome) => {
  let asked = 0;
  const deploy = async () => {
    asked += 1;
    if (asked <= 2) throw Object.assign(new Error('no'), error);
    return {deployment: {}, status: 'queued', raw: undefined};
  };
  await using project = await createProject();
  const plugin = {...acme({deploy}), bundleId: 'b', waitForSlot: true, pollInterval: 0.01};
  expect(await deployBundle(plugin, project.host).catch((reason: unknown) => reason)).toMatchObject(outcome);
  expect(asked).toBe(requests);
});

test('a 409 to an upload that deploys nothing is no busy target', async () => {
  await using server = await startRecordingServer(target([busy], [running]));
  await using project = await createProject();
  const push = pushRuntimeBundle({...deployOptions(server), v2: true, waitForSlot: true}, project.host);
  await expect(push).rejects.toMatchObject({status: 409, message: expect.not.stringContaining('busy') as string});
  expect(server.requests).toHaveLength(1);
});
