import {describe, expect, test} from 'vitest';
import {legacyBackend} from '../../src/backends/legacy/backend.js';
import type {LegacyBackendOptions} from '../../src/backends/legacy/connection.js';
import {ApiKeyStrategy} from '../../src/http/index.js';
import {startRecordingServer, type RecordingServer} from '../recording-server.js';
import {contextFor, promised} from './context-for.js';

const deleteBundle = promised(legacyBackend.deleteBundle);
const listBundles = promised(legacyBackend.listBundles);

const auth = new ApiKeyStrategy({apiKey: 'key'});
const bundles = '/api/projects/my%20shop/bundles/';

const contextAt = ({origin}: RecordingServer) => contextFor<LegacyBackendOptions>({origin, auth});
const answering = (body: unknown) => startRecordingServer(() => ({status: 200, body}));

describe('the bundles of legacy', () => {
  test('are read item by item', async () => {
    await using server = await answering({
      count: 7,
      results: [
        {id: 1, message: 'one', status: 1, created_at: 'then', user: 'me', in_use_by: ['a', 2]},
        {id: 2, message: 3, status: 0, in_use_by: 'a'},
        {id: 3, status: 2},
        {id: 4, status: '1'},
        {id: '5', status: 1, message: null, created_at: null, user: null, in_use_by: null},
      ],
    });
    const {items, total, raw} = await listBundles({limit: 5, cursor: '10'}, await contextAt(server));
    expect(items).toEqual([
      {bundleId: 1, message: 'one', status: 'ready', createdAt: 'then', createdBy: 'me', inUseBy: ['a', '2']},
      {bundleId: 2, status: 'preparing'},
      {bundleId: 3, status: 'broken'},
      {bundleId: 4, status: 'unknown'},
      {bundleId: 5, status: 'ready'},
    ]);
    expect(total).toBe(7);
    expect(raw).toHaveProperty('results.length', 5);
    expect(server.requests.map(({path}) => path)).toEqual([`${bundles}?limit=5&offset=10`]);
    expect(server.requests[0]?.headers.authorization).toBe('Bearer key');
  });

  test.each([
    ['{}'],
    ['{"results":{},"count":"9"}'],
    ['{"data":[]}'],
    ['{"message":"maintenance"}'],
    ['[]'],
    ['null'],
    ['"maintenance"'],
    ['<!doctype html>'],
    [''],
  ])('are not what the answer %s is: that is never an empty list', async (body) => {
    await using server = await answering(body);
    const list = listBundles({limit: 1}, await contextAt(server));
    await expect(list).rejects.toMatchObject({code: 'ERR_RESPONSE_INVALID', exitCode: 7, method: 'GET', status: 200});
  });

  test.each<[number, unknown]>([
    [202, {}],
    [202, {detail: 'queued'}],
    [200, {}],
    [200, {id: 12}],
  ])('are deleted when %i and %j is the answer', async (status, body) => {
    await using server = await startRecordingServer(() => ({status, body}));
    await expect(deleteBundle({bundleId: 12}, await contextAt(server))).resolves.toBeUndefined();
  });

  test.each<[number, unknown]>([
    [200, '<!doctype html><title>Sign in</title>'],
    [202, '<!doctype html>'],
    [200, '"maintenance"'],
    [200, {message: 'maintenance'}],
    [200, {error: 'no'}],
    [202, {errors: ['no']}],
    [200, ''],
    [200, []],
    [200, 'null'],
  ])('are not known to be deleted when %i and %j is the answer', async (status, body) => {
    await using server = await startRecordingServer(() => ({status, body}));
    await expect(deleteBundle({bundleId: 12}, await contextAt(server))).rejects.toMatchObject({
      code: 'ERR_RESPONSE_INVALID',
      exitCode: 7,
      suggestions: [
        expect.stringContaining('Check before retrying'),
        "mycli bundle:list --project 'my shop' --runtime-backend legacy",
      ],
    });
  });

  test('are deleted by their number', async () => {
    await using server = await answering({});
    const context = await contextAt(server);
    await deleteBundle({bundleId: '12'}, context);
    await expect(deleteBundle({bundleId: 'b12'}, context)).rejects.toMatchObject({
      code: 'ERR_OPTION_INVALID',
      message: expect.stringContaining('of the legacy backend') as string,
    });
    expect(server.requests.map(({method, path}) => `${method} ${path}`)).toEqual([`DELETE ${bundles}12/`]);
  });
});

describe('the legacy backend', () => {
  test('names an invalid address', async () => {
    const context = await contextFor<LegacyBackendOptions>({origin: 'ftp://runtime.example', auth});
    await expect(listBundles({limit: 1}, context)).rejects.toMatchObject({
      code: 'ERR_ORIGIN_INVALID',
      message: expect.stringMatching(/^origin /) as string,
    });
  });

  const origin = 'https://runtime.example';
  const both = ['origin (MYCLI_RUNTIME_ORIGIN)', 'legacyAuth (an API key)'];

  test.each<[string, LegacyBackendOptions, Readonly<Record<string, string>>, readonly string[]]>([
    ['with both', {origin, auth}, {}, []],
    ['with the address of the environment', {auth}, {MYCLI_RUNTIME_ORIGIN: origin}, []],
    ['with both, whatever the caller misses', {origin, auth, missing: ['--origin']}, {}, []],
    ['with nothing', {}, {}, both],
    ['with an address that is empty', {auth}, {MYCLI_RUNTIME_ORIGIN: ''}, both.slice(0, 1)],
    ['without a key', {origin}, {}, both.slice(1)],
    ['without a key, in the words of the caller', {origin, missing: ['--api-key']}, {}, ['--api-key']],
    ['without a key, and the caller has no words', {origin, missing: []}, {}, both.slice(1)],
  ])('tells what it misses %s', async (_, options, env, missing) => {
    const context = await contextFor(options, {env});
    if (missing.length === 0) {
      expect(await legacyBackend.check(context)).toEqual({configured: true});
    } else {
      expect(await legacyBackend.check(context)).toEqual({configured: false, missing});
      const list = listBundles({limit: 1}, context);
      await expect(list).rejects.toMatchObject({code: 'ERR_CREDENTIALS_MISSING'});
      await expect(list).rejects.toThrow(missing.join(' and '));
    }
  });
});
