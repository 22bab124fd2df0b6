import {describe, expect, test} from 'vitest';
import type {DeploymentRef} from '../../src/backends/contract.js';
import {legacyBackend} from '../../src/backends/legacy/backend.js';
import type {LegacyBackendOptions} from '../../src/backends/legacy/connection.js';
import {ApiKeyStrategy} from '../../src/http/index.js';
import {startRecordingServer, type RecordingServer, type Reply} from '../recording-server.js';
import {contextFor, promised} from './context-for.js';

const deploy = promised(legacyBackend.deploy);
const getDeployment = promised(legacyBackend.getDeployment);
const listDeployments = promised(legacyBackend.listDeployments);

const target = '/api/projects/my%20shop/target/a%2Fb/deploy/';
const at = (second: number) => `2026-01-01T00:00:0${String(second)}Z`;
const row = (id: unknown, status: unknown, second: number) => ({bundle: {id}, status, created_at: at(second)});

const contextAt = ({origin}: RecordingServer) =>
  contextFor<LegacyBackendOptions>({origin, auth: new ApiKeyStrategy({apiKey: 'key'})});

/** A server that answers `list` when it is asked for deployments, and takes every request to deploy. */
const listing = (list: Reply) =>
  startRecordingServer(({method}) => (method === 'GET' ? list : {status: 201, body: {warnings: ['careful']}}));

const page = (results: unknown, count?: unknown): Reply => ({status: 200, body: {results, count}});

describe('a deployment on legacy', () => {
  test.each<[string, Reply, DeploymentRef['before']]>([
    ['the newest one', page([row(1, 'Finished', 1)], 3), {createdAt: at(1), count: 3}],
    ['one, of an untold number', page([row(1, 'Finished', 1)]), {createdAt: at(1), count: 0}],
    ['none', page([], 0), 'none'],
    ['no target', {status: 404, body: {}}, 'none'],
    ['nobody', {status: 403, body: {}}, 'unknown'],
  ])('is asked for after a look at what was there before: %s', async (_, list, before) => {
    await using server = await listing(list);
    expect(await deploy({bundleId: '5', targetSlug: 'a/b'}, await contextAt(server))).toEqual({
      deployment: {bundleId: 5, targetSlug: 'a/b', before},
      status: 'queued',
      warnings: ['careful'],
      raw: {warnings: ['careful']},
    });
    expect(server.requests.map(({method, path}) => `${method} ${path}`)).toEqual([
      `GET ${target}?limit=1&offset=0`,
      `POST ${target}`,
    ]);
    expect(server.requests[1]?.body.toString()).toBe('{"bundle_id":5}');
  });

  test('is not asked for when that look fails, or the id is no number', async () => {
    await using server = await listing({status: 400, body: {}});
    const context = await contextAt(server);
    await expect(deploy({bundleId: 5, targetSlug: 'a'}, context)).rejects.toMatchObject({status: 400});
    await expect(deploy({bundleId: 'b5', targetSlug: 'a'}, context)).rejects.toMatchObject({
      code: 'ERR_OPTION_INVALID',
      message: expect.stringContaining('of the legacy backend') as string,
    });
    expect(server.requests.map(({method}) => method)).toEqual(['GET']);
  });
});

describe('the state of a deployment on legacy', () => {
  const stateAmong = async (results: unknown, before: unknown, count?: unknown) => {
    await using server = await listing(page(results, count));
    const state = await getDeployment({bundleId: 5, targetSlug: 'a/b', before}, await contextAt(server));
    expect(server.requests.map(({path}) => path)).toEqual([`${target}?limit=100&offset=0`]);
    return state;
  };
  const before = {createdAt: at(3), count: 2};

  test.each([
    ['Queued', 'queued'],
    ['In Progress', 'in_progress'],
    ['Finished', 'finished'],
    ['Failed', 'failed'],
  ])('is the %j of its row', async (said, status) => {
    const ours = row(5, said, 4);
    expect(await stateAmong([ours], before, 1)).toEqual({status, raw: ours});
  });

  test.each(['finished', 'Lost', undefined, 4])('is an error when the row says %j', async (said) => {
    await expect(stateAmong([row(5, said, 4)], before, 3)).rejects.toMatchObject({
      code: 'ERR_RESPONSE_INVALID',
      message: expect.stringContaining(`unknown deployment status: ${JSON.stringify(said)}`) as string,
    });
  });

  test.each<[string, unknown, unknown, unknown]>([
    ['the list is empty', [], before, 0],
    ['the list is none', 'empty', 'none', 0],
    ['others only are later', [row(6, 'Finished', 5)], before, 3],
    ['ours is older', [row(5, 'Finished', 2)], before, 9],
    ['ours was there before', [row(5, 'Finished', 3), row(4, 'Finished', 1)], before, 2],
    ['ours has no time', [{bundle: {id: 5}, status: 'Finished'}], before, 9],
    ['ours is of the same second, and the number is not told', [row(5, 'Finished', 3)], before, undefined],
    [
      'bundles have other types',
      [row('5', 'Finished', 4), {bundle: 5, status: 'Finished', created_at: at(4)}],
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

  test.each(['unknown', undefined, {createdAt: at(1)}, {count: 1}, {createdAt: 1, count: 1}, [at(1), 1]])(
    'is not to be had after %j: nothing is asked, and the way out is told',
    async (known) => {
      await using server = await listing(page([row(5, 'Finished', 4)]));
      const pending = getDeployment({bundleId: 5, targetSlug: 'a', before: known}, await contextAt(server));
      await expect(pending).rejects.toMatchObject({
        code: 'ERR_OUTCOME_UNKNOWN',
        exitCode: 10,
        message: expect.stringContaining('bundle 5') as string,
        suggestions: [expect.stringContaining('web page')],
      });
      expect(server.requests).toEqual([]);
    },
  );
});

test('the deployments of a legacy target are read row by row, and what names no bundle is left out', async () => {
  await using server = await listing(
    page(
      [
        {bundle: {id: 5, message: 'five'}, status: 'Finished', created_at: 'then', user: 'me'},
        {bundle: {id: '6'}, status: 'Finished'},
        {bundle: {id: 7}, status: 'Failed'},
        {status: 'Finished'},
        null,
      ],
      9,
    ),
  );
  const range = {targetSlug: 'a/b', limit: 5, offset: 10};
  const {items, total, raw} = await listDeployments(range, await contextAt(server));
  const unknown = {targetSlug: 'a/b', before: 'unknown'};
  expect(items).toEqual([
    {
      deployment: {...unknown, bundleId: 5},
      bundleId: 5,
      status: 'finished',
      message: 'five',
      createdAt: 'then',
      createdBy: 'me',
    },
    {deployment: {...unknown, bundleId: 7}, bundleId: 7, status: 'failed'},
  ]);
  expect(total).toBe(9);
  expect(raw).toHaveProperty('results.length', 5);
  expect(server.requests.map(({path}) => path)).toEqual([`${target}?limit=5&offset=10`]);
});
