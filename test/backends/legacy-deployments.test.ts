import {describe, expect, onTestFinished, test, vi} from 'vitest';
import type {DeploymentRef} from '../../src/backends/contract.js';
import {legacyBackend} from '../../src/backends/legacy/backend.js';
import type {LegacyBackendOptions} from '../../src/backends/legacy/connection.js';
import {ApiKeyStrategy} from '../../src/http/index.js';
import {startRecordingServer, type RecordingServer, type Reply} from '../recording-server.js';
import {contextFor, promised} from './context-for.js';

const deploy = promised(legacyBackend.deploy);
const getDeployment = promised(legacyBackend.getDeployment);

const target = '/api/projects/my%20shop/target/a%2Fb/deploy/';
const at = (second: number) => `2026-01-01T00:00:0${String(second)}Z`;
const row = (id: unknown, status: unknown, second: number) => ({bundle: {id}, status, created_at: at(second)});

const contextAt = ({origin}: RecordingServer) =>
  contextFor<LegacyBackendOptions>({origin, auth: new ApiKeyStrategy({apiKey: 'key'})}, {wait: true});

/** A server that answers `list` when it is asked for deployments, and takes every request to deploy. */
const listing = (list: Reply) =>
  startRecordingServer(({method}) => (method === 'GET' ? list : {status: 201, body: {warnings: ['careful']}}));

const page = (results: unknown, count?: unknown): Reply => ({status: 200, body: {results, count}});

describe('a deployment on legacy', () => {
  test.each<[string, Reply, DeploymentRef['before']]>([
    ['the newest one', page([row(1, 'Finished', 1)], 3), {createdAt: at(1), count: 3}],
    ['one, of an untold number', page([row(1, 'Finished', 1)]), {createdAt: at(1)}],
    ['none', page([], 0), 'none'],
    ['none, of an untold number', page([]), 'none'],
  ])('is asked for after a look at what was there before: %s', async (_, list, before) => {
    await using server = await listing(list);
    expect(await deploy({bundleId: 5, targetSlug: 'a/b'}, await contextAt(server))).toEqual({
      deployment: {bundleId: 5, targetSlug: 'a/b', before},
      status: 'queued',
      warnings: ['careful'],
      raw: {warnings: ['careful']},
    });
    expect(server.requests.map(({method, path}) => `${method} ${path}`)).toEqual([
      `GET ${target}?limit=2&offset=0`,
      `POST ${target}`,
    ]);
    expect(server.requests[1]?.body.toString()).toBe('{"bundle_id":5}');
  });

  const oldestFirst = [row(5, 'Finished', 1), row(5, 'Finished', 2)];
  test.each<[string, Reply, boolean]>([
    ['the oldest comes first', page(oldestFirst, 9), false],
    ['the oldest comes first, of an untold number', page(oldestFirst), false],
    ['there are some, but none is listed', page([], 3), false],
    ['the first tells no time', page([{bundle: null}]), false],
    ['the newest comes first', page([row(5, 'Finished', 2), row(5, 'Finished', 1)], 9), true],
    ['both are of the same second', page([row(5, 'Finished', 2), row(5, 'Finished', 2)], 9), true],
    ['the second tells no time', page([row(5, 'Finished', 2), {bundle: null}], 9), true],
  ])('is followed only when it is certain which one was the newest: %s', async (_, list, certain) => {
    await using server = await listing(list);
    const {deployment} = await deploy({bundleId: 5, targetSlug: 'a'}, await contextAt(server));
    const unknown = {unknown: expect.stringContaining('does not start with the newest deployment') as string};
    expect(deployment['before']).toMatchObject(certain ? {createdAt: at(2)} : unknown);
  });

  test('is asked for without that look when nobody waits', async () => {
    await using server = await listing(page([], 0));
    const context = {...(await contextAt(server)), wait: false};
    const {deployment, warnings} = await deploy({bundleId: 5, targetSlug: 'a'}, context);
    expect(deployment['before']).toEqual({unknown: 'It was requested without waiting for it.'});
    expect(warnings).toEqual(['careful']);
    expect(server.requests.map(({method}) => method)).toEqual(['POST']);
  });

  test('is asked for also when that look fails, which is a warning', async () => {
    await using server = await listing({status: 400, body: {}});
    const {deployment, warnings} = await deploy({bundleId: 5, targetSlug: 'a'}, await contextAt(server));
    const reason = expect.stringMatching(/^The earlier deployments could not be read\. .*400/) as string;
    expect(deployment['before']).toEqual({unknown: reason});
    expect(warnings).toEqual([expect.stringMatching(/^The deployment cannot be tracked\. /), 'careful']);
    expect(server.requests.map(({method}) => method)).toEqual(['GET', 'POST']);
  });
});

test('a deployment is asked for also when the look before it gets no answer for 10 s', async () => {
  const late = new AbortController();
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(late.signal);
  onTestFinished(() => timeout.mockRestore());
  const never = new Promise<undefined>(() => undefined);
  await using server = await startRecordingServer(({method}) => {
    if (method !== 'GET') return {status: 201, body: {}};
    late.abort();
    return never;
  });
  const {deployment} = await deploy({bundleId: 5, targetSlug: 'a'}, await contextAt(server));
  const unknown = 'The earlier deployments could not be read. There was no answer within 10 s.';
  expect(deployment['before']).toEqual({unknown});
  expect(timeout).toHaveBeenCalledWith(10_000);
  expect(server.requests.map(({method}) => method)).toEqual(['GET', 'POST']);
});

describe('the state of a deployment on legacy', () => {
  const stateAmong = async (results: unknown, before: unknown, count?: unknown) => {
    await using server = await listing(page(results, count));
    const state = await getDeployment({bundleId: 5, targetSlug: 'a/b', before}, await contextAt(server));
    expect(server.requests.map(({path}) => path)).toEqual([`${target}?limit=100&offset=0`]);
    return state;
  };
  const before = {createdAt: at(3), count: 2};

  test.each(['Done', 'Lost', 4])('is an error when the row says %j', async (said) => {
    await expect(stateAmong([row(5, said, 4)], before, 3)).rejects.toMatchObject({
      code: 'ERR_RESPONSE_INVALID',
      message: expect.stringContaining(`unknown deployment status: ${JSON.stringify(said)}`) as string,
    });
  });

  test.each<[string, unknown, unknown, unknown]>([
    ['the list is empty', [], before, 0],
    ['others only are later', [row(6, 'Finished', 5)], before, 3],
    ['ours is older', [row(5, 'Finished', 2)], before, 9],
    ['ours was there before', [row(5, 'Finished', 3), row(4, 'Finished', 1)], before, 2],
    ['ours has no time', [{bundle: {id: 5}, status: 'Finished'}], before, 9],
    ['ours is of the same second, and the number is not told', [row(5, 'Finished', 3)], before, undefined],
    ['ours is of the same second, and the number was not told', [row(5, 'Finished', 3)], {createdAt: at(3)}, 9],
    [
      'bundles have other types',
      [row('b5', 'Finished', 4), {bundle: 5, status: 'Finished', created_at: at(4)}],
      before,
      4,
    ],
  ])('is queued while %s', async (_, results, known, count) => {
    expect(await stateAmong(results, known, count)).toMatchObject({status: 'queued', raw: {results}});
  });

  test('is that of the first row of the bundle after those before, which the list has last', async () => {
    const rows = [row(5, 'Failed', 5), row(5, 'Finished', 4), row(5, 'Failed', 3), row(5, 'Failed', 2)];
    expect(await stateAmong(rows, before, 5)).toMatchObject({status: 'failed', raw: rows[2]});
    expect(await stateAmong(rows, before, 4)).toMatchObject({status: 'finished', raw: rows[1]});
    expect(await stateAmong(rows, 'none', 0)).toMatchObject({status: 'failed', raw: rows[3]});
  });

  test.each([
    'unknown',
    undefined,
    {createdAt: 'yesterday', count: 1},
    {count: 1},
    {createdAt: 1, count: 1},
    [at(1), 1],
  ])('is not to be had after %j: nothing is asked, and the way out is told', async (known) => {
    await using server = await listing(page([row(5, 'Finished', 4)]));
    const pending = getDeployment({bundleId: 5, targetSlug: 'a', before: known}, await contextAt(server));
    await expect(pending).rejects.toMatchObject({
      code: 'ERR_OUTCOME_UNKNOWN',
      exitCode: 10,
      message: expect.stringContaining('bundle 5') as string,
      suggestions: [expect.stringContaining('website')],
    });
    expect(server.requests).toEqual([]);
  });
});
