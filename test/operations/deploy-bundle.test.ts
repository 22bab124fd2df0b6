import {describe, expect, test} from 'vitest';
import {ApiKeyStrategy} from '../../src/http/index.js';
import {deployBundle} from '../../src/operations/deploy-bundle.js';
import type {DeployBundleOptions} from '../../src/operations/options.js';
import {startRecordingServer, type RecordingServer} from '../recording-server.js';
import {createProject} from './test-host.js';

const optionsFor = ({origin}: RecordingServer): DeployBundleOptions => ({
  preference: 'legacy',
  projectSlug: 'shop',
  targetSlug: 'staging',
  bundleId: 'latest',
  origin,
  legacyAuth: new ApiKeyStrategy({apiKey: 'legacy-key'}),
  rateLimit: {maxRetries: 0},
});

describe('latest', () => {
  const at = (day: number) => `2026-01-0${String(day)}T00:00:00Z`;

  test('is the newest completed bundle by creation time that is not being deleted', async () => {
    const results = [
      {id: 9, status: 0, created_at: at(9)},
      {id: 8, status: 2, created_at: at(8)},
      {id: 7, status: 1, deletion_status: 'CLEANUP_IN_PROGRESS', created_at: at(7)},
      {id: 6, status: null, created_at: at(6)},
      {id: 4, status: 1, deletion_status: null, created_at: at(4)},
      {id: 5, status: 1, deletion_status: 'ACTIVE', created_at: at(5)},
      {id: 3, status: 1, created_at: null},
    ];
    await using server = await startRecordingServer(({method}) =>
      method === 'GET' ? {status: 200, body: {count: results.length, results}} : {status: 201, body: {warnings: []}},
    );
    await using project = await createProject();
    expect(await deployBundle(optionsFor(server), project.host)).toMatchObject({bundleId: 5, status: 'queued'});
    expect(server.requests.at(-1)?.body.toString()).toBe('{"bundle_id":5}');
  });

  test('is not guessed at when the server gives the same part of its list for every offset', async () => {
    const results = Array.from({length: 200}, (_, index) => ({id: 200 - index, status: 1}));
    await using server = await startRecordingServer(() => ({status: 200, body: {count: 500, results}}));
    await using project = await createProject();
    const deploy = deployBundle(optionsFor(server), project.host);
    await expect(deploy).rejects.toMatchObject({code: 'ERR_RESPONSE_INVALID', exitCode: 7});
    expect(server.requests.map(({method}) => method)).toEqual(['GET', 'GET']);
  });

  test('does not exist while no bundle is completed', async () => {
    await using server = await startRecordingServer(() => ({
      status: 200,
      body: {count: 1, results: [{id: 1, status: 0}]},
    }));
    await using project = await createProject();
    await expect(deployBundle(optionsFor(server), project.host)).rejects.toMatchObject({code: 'ERR_REJECTED'});
    expect(server.requests.map(({method}) => method)).toEqual(['GET']);
  });
});
