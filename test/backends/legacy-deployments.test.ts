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
  contextFor<LegacyBackendOptions>({origin, auth: new ApiKeyStrategy({apiKey: 'key'})}, {wait: true});

/** A server that answers `list` when it is asked for deployments, and takes every request to deploy. */
const listing = (list: Reply) =>
  startRecordingServer(({method}) => (method === 'GET' ? list : {status: 201, body: {warnings: ['careful']}}));

const page = (results: unknown, count?: unknown): Reply => ({status: 200, body: {results, count}});

describe('a deployment on legacy', () => {
  test.each<[string, Reply, DeploymentRef['before']]>([
    ['the newest one', page([row(1, 'Finished', 1)], 3), {createdAt: at(1), count: 3}],
    ['one, of an untold number', page([row(1, 'Finished', 1)]), {createdAt: at(1)}],
    ['one, of a number that cannot be', page([row(1, 'Finished', 1)], 0), {createdAt: at(1)}],
    [
      'the newest of several',
      page([row(1, 'Failed', 1), row(2, 'Finished', 3), row(1, 'Failed', 2)]),
      {createdAt: at(3)},
    ],
    ['none', page([], 0), 'none'],
    ['none, of an untold number', page([]), 'none'],
  ])('is asked for after a look at what was there before: %s', async (_, list, before) => {
    await using server = await listing(list);
    expect(await deploy({bundleId: '5', targetSlug: 'a/b'}, await contextAt(server))).toEqual({
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

  test.each<[string, Reply, boolean]>([
    ['the oldest comes first', page([row(5, 'Finished', 1), row(5, 'Finished', 2)], 9), false],
    ['the oldest comes first, of an untold number', page([row(5, 'Finished', 1), row(5, 'Finished', 2)]), false],
    ['both of two are there', page([row(5, 'Finished', 1), row(5, 'Finished', 2)], 2), true],
    ['the newest comes first', page([row(5, 'Finished', 2), row(5, 'Finished', 1)], 9), true],
    ['both are of the same second', page([row(5, 'Finished', 2), row(5, 'Finished', 2)], 9), true],
    ['the second tells no time', page([row(5, 'Finished', 2), {bundle: null}], 9), true],
  ])('is followed only when it is certain which one was the newest: %s', async (_, list, certain) => {
    await using server = await listing(list);
    const {deployment} = await deploy({bundleId: 5, targetSlug: 'a'}, await contextAt(server));
    const unknown = {unknown: expect.stringContaining('does not list the newest deployment first') as string};
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

  test('is not asked for when the id is no number', async () => {
    await using server = await listing(page([], 0));
    await expect(deploy({bundleId: 'b5', targetSlug: 'a'}, await contextAt(server))).rejects.toMatchObject({
      code: 'ERR_OPTION_INVALID',
      message: expect.stringContaining('of the legacy backend') as string,
    });
    expect(server.requests).toEqual([]);
  });

  const answered = async (status: number, body: unknown) => {
    await using server = await startRecordingServer(() => ({status, body}));
    return await deploy({bundleId: 5, targetSlug: 'a'}, {...(await contextAt(server)), wait: false});
  };

  test.each<[number, unknown, string]>([
    [202, undefined, 'queued'],
    [200, {}, 'queued'],
    [201, {status: 'In Progress', message: 'deploying'}, 'in_progress'],
    [202, {message: 'queued'}, 'queued'],
  ])('is accepted when %i and %j is the answer', async (status, body, state) => {
    expect(await answered(status, body)).toMatchObject({status: state, warnings: []});
  });

  test.each<[number, unknown]>([
    [200, '<!doctype html>'],
    [202, '<!doctype html>'],
    [200, ''],
    [200, '"maintenance"'],
    [200, 'null'],
    [200, []],
    [200, {message: 'maintenance'}],
    [201, {detail: 'no'}],
    [201, {error: 'no', status: 'Queued'}],
    [202, {errors: {bundle_id: ['no']}}],
  ])('is not known to be accepted when %i and %j is the answer', async (status, body) => {
    await expect(answered(status, body)).rejects.toMatchObject({
      code: 'ERR_RESPONSE_INVALID',
      exitCode: 7,
      suggestions: [
        expect.stringContaining('Check before retrying'),
        "mycli bundle:history --project 'my shop' --target a --runtime-backend legacy",
      ],
    });
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

  test.each(['finished', 'Lost', 4])('is an error when the row says %j', async (said) => {
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
    const unordered = [row(5, 'Finished', 4), row(5, 'Failed', 3), row(5, 'Queued', 5)];
    expect(await stateAmong(unordered, before, 5)).toMatchObject({status: 'finished'});
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

test('the deployments of a legacy target are read row by row, and what names no bundle is shown', async () => {
  await using server = await listing(
    page(
      [
        {bundle: {id: 5, message: 'five'}, status: 'Finished', created_at: 'then', user: 'me'},
        {bundle: {id: '6', message: null}, status: 'Finished', created_at: null, user: null},
        {bundle: null, status: 'Failed', deploy_type: 'Deploy Settings'},
        {},
      ],
      9,
    ),
  );
  const range = {targetSlug: 'a/b', limit: 5, cursor: '10'};
  const {items, total, raw} = await listDeployments(range, await contextAt(server));
  expect(items.map(({deployment, ...item}) => ({...item, target: deployment['targetSlug']}))).toEqual([
    {bundleId: 5, status: 'finished', message: 'five', createdAt: 'then', createdBy: 'me', target: 'a/b'},
    {bundleId: 6, status: 'finished', target: 'a/b'},
    {status: 'failed', target: 'a/b'},
    {status: 'queued', target: 'a/b'},
  ]);
  expect(total).toBe(9);
  expect(raw).toHaveProperty('results.length', 4);
  expect(server.requests.map(({path}) => path)).toEqual([`${target}?limit=5&offset=10`]);
});
