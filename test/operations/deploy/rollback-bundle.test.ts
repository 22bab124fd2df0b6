import {describe, expect, test} from 'vitest';
import type {FailedCheck} from '../../../src/operations/host.js';
import type {RollbackBundleOptions} from '../../../src/operations/options.js';
import {startRecordingServer, type RecordingServer} from '../../recording-server.js';
import {startService, stagingHistory as history, type Service} from '../pushed-bundles.js';
import {createProject} from '../test-host.js';
import {deleteBundles} from '../../../src/pipelines/delete.js';
import {downloadBundle, inspectBundle} from '../../../src/pipelines/read.js';
import {deployOptions} from './deploy-to.js';
import {deployBundle, pushRuntimeBundle, rollbackBundle} from '../calls.js';

const wait = {wait: true, pollInterval: 0.01, targetSlug: 'staging'};

function rollback({connection, project}: Service, options: Partial<RollbackBundleOptions> = {}) {
  return rollbackBundle({...connection, preference: 'legacy', ...wait, ...options}, project.host);
}

function deploy({connection, project}: Service, bundleId: number) {
  return deployBundle({...connection, preference: 'legacy', ...wait, bundleId}, project.host);
}

describe.each(['legacy', 'api'])('a rollback with %s', (preference) => {
  test('goes to the latest finished deployment of another bundle than the current one', async () => {
    const service = await startService();
    await service.push({targetSlug: 'staging'});
    await service.push({targetSlug: 'staging'});
    await service.push({targetSlug: 'staging'});
    await deploy(service, 3);
    expect(await rollback(service, {preference})).toMatchObject({
      backend: preference,
      bundleId: 2,
      rolledBackFrom: 3,
      status: 'finished',
    });
    expect(await history(service)).toEqual(['2 finished', '3 finished', '3 finished', '2 finished', '1 finished']);
  });

  test('with nothing to go back to deploys nothing, and says to push if there is no other bundle', async () => {
    const service = await startService();
    await service.push({targetSlug: 'staging'});
    await expect(rollback(service, {preference})).rejects.toMatchObject({
      code: 'ERR_REJECTED',
      suggestions: [expect.stringContaining('push it: mycli bundle:push') as string],
    });
    expect(await history(service)).toEqual(['1 finished']);
  });
});

test('a rollback skips a bundle that was rolled back from, and says so', async () => {
  const service = await startService();
  for (let pushes = 0; pushes < 3; pushes += 1) await service.push({targetSlug: 'staging'});
  expect(await rollback(service)).toMatchObject({bundleId: 2, warnings: []});
  const skipped = 'Skipped bundle 3, which was rolled back from. To deploy it, pass --to 3.';
  expect(await rollback(service)).toMatchObject({bundleId: 1, rolledBackFrom: 2, warnings: [skipped]});
  await expect(rollback(service)).rejects.toMatchObject({
    code: 'ERR_REJECTED',
    suggestions: expect.arrayContaining([skipped, skipped.replaceAll('3', '2')]) as string[],
  });
  expect(await rollback(service, {to: 2})).toMatchObject({bundleId: 2});
  expect(await rollback(service)).toMatchObject({bundleId: 1, rolledBackFrom: 2});
  await deploy(service, 3);
  expect(await rollback(service)).toMatchObject({bundleId: 1, rolledBackFrom: 3});
});

test('a rollback skips a bundle that failed its check and was not rolled back, and says so', async () => {
  const service = await startService();
  const records: FailedCheck[] = [];
  const checkRecords = {
    read: () => Promise.resolve(records),
    add: (_: unknown, failed: FailedCheck) => Promise.resolve(void records.push(failed)),
  };
  const host = {...service.project.host, checkRecords};
  await service.push({targetSlug: 'staging'});
  const check = {url: `${service.runtime.origin}/missing`, retries: 0};
  const unhealthy = {...service.connection, preference: 'legacy', ...wait, v2: true, check};
  await expect(pushRuntimeBundle(unhealthy, host)).rejects.toMatchObject({code: 'ERR_UNHEALTHY'});
  await service.push({targetSlug: 'staging'});
  expect(await rollbackBundle({...service.connection, preference: 'legacy', ...wait}, host)).toMatchObject({
    bundleId: 1,
    warnings: ['Skipped bundle 2, which failed its check. To deploy it, pass --to 2.'],
  });
});

test('a rollback skips a bundle that was deleted, and names it', async () => {
  const service = await startService();
  for (let bundle = 1; bundle <= 3; bundle += 1) await service.push({targetSlug: 'staging'});
  const options = {...service.connection, preference: 'legacy', targetSlug: 'staging'} as const;
  await deleteBundles({...options, bundleIds: [2]}, service.project.host);
  expect(await rollbackBundle(options, service.project.host)).toMatchObject({
    bundleId: 1,
    warnings: ['Skipped bundle 2, which was deleted.'],
  });
});

describe('the history that a rollback reads', () => {
  const row = (id: number, second: number, status = 'Finished') => ({
    ...{bundle: {id}, status},
    created_at: `2026-01-01T00:00:0${String(second)}Z`,
  });
  const rollbackAmong = async (results: readonly unknown[]) => {
    await using server = await startRecordingServer(({method, path}) => {
      if (method === 'POST') return {status: 204};
      const offset = Number(new URL(path, 'http://x').searchParams.get('offset'));
      return {status: 200, body: {count: results.length, results: results.slice(offset, offset + 2)}};
    });
    await using project = await createProject();
    return await rollbackBundle(deployOptions(server), project.host);
  };

  test.each([
    ['the newest first', [row(3, 3), row(2, 2), row(1, 1)]],
    ['the oldest first', [row(1, 1), row(2, 2), row(3, 3)]],
    ['in no order, over several pages', [row(2, 2), row(1, 1), row(4, 5, 'Failed'), row(3, 4), row(3, 3)]],
    ['with one of unknown state further back', [row(3, 4), row(9, 3, 'Cancelled'), row(2, 2)]],
  ])('a history may come in any order: %s', async (_, rows) => {
    expect(await rollbackAmong(rows)).toMatchObject({bundleId: 2, rolledBackFrom: 3});
  });

  test('a history decides nothing when a row in it may be of any bundle', async () => {
    const decides = (rows: readonly unknown[]) => expect(rollbackAmong(rows)).rejects;
    await decides([{}, row(3, 3), row(2, 2)]).toMatchObject({exitCode: 7, message: expect.stringMatching(/ runs\.$/)});
    const message = 'The server does not report what the target "staging" ran before bundle 3.';
    await decides([row(3, 3), {}, row(2, 2)]).toMatchObject({exitCode: 7, message});
    expect(await rollbackAmong([row(3, 3), row(2, 2), {}])).toMatchObject({bundleId: 2});
  });

  test('a history decides nothing when its newest deployment is in a state that is not known', async () => {
    await expect(rollbackAmong([row(3, 3, 'Cancelled'), row(2, 2), row(1, 1)])).rejects.toMatchObject({
      code: 'ERR_REJECTED',
      message: 'The server does not report which bundle the target "staging" runs.',
      suggestions: [
        expect.stringContaining('--to ID') as string,
        expect.stringContaining('push it: mycli bundle:push') as string,
      ],
    });
  });
});

describe('with auto, a backend that definitely refuses', () => {
  const auto = (server: RecordingServer) => ({...deployOptions(server), preference: 'auto'});
  const advice =
    'If your project is on the Runtime (API key) backend, run the command again with --runtime-backend legacy.';

  test('a rollback names the other one', async () => {
    await using server = await startRecordingServer(() => ({status: 403, body: {detail: 'no'}}));
    await using project = await createProject();
    await expect(rollbackBundle(auto(server), project.host)).rejects.toMatchObject({
      exitCode: 4,
      suggestions: expect.arrayContaining([advice]) as string[],
    });
    expect(server.requests.every(({path}) => path.startsWith('/storefront/'))).toBe(true);
    await expect(rollbackBundle({...auto(server), preference: 'api'}, project.host)).rejects.toMatchObject({
      suggestions: expect.not.arrayContaining([advice]) as string[],
    });
  });

  test('what the Api backend cannot do names legacy, and nothing is sent', async () => {
    await using server = await startRecordingServer(() => ({status: 500}));
    await using project = await createProject();
    const {host} = project;
    const options = {...auto(server), targetSlug: undefined, bundleIds: [5, 6]};
    for (const run of [downloadBundle, inspectBundle, deleteBundles]) {
      await expect(run(options, host)).rejects.toMatchObject({
        code: 'ERR_CAPABILITY_UNSUPPORTED',
        suggestions: expect.arrayContaining([advice]) as string[],
      });
    }
    expect(server.requests).toEqual([]);
  });
});
