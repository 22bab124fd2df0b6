import {describe, expect, test} from 'vitest';
import {listDeployments} from '../../src/operations/list-deployments.js';
import {rollbackBundle, type RollbackBundleOptions} from '../../src/operations/rollback-bundle.js';
import {deployBundle} from '../../src/operations/deploy-bundle.js';
import {startService, type Service} from './pushed-bundles.js';

const wait = {wait: true, pollInterval: 0.01, targetSlug: 'staging'};

function rollback({connection, project}: Service, options: Partial<RollbackBundleOptions> = {}) {
  return rollbackBundle({...connection, preference: 'legacy', ...wait, ...options}, project.host);
}

function deploy({connection, project}: Service, bundleId: number) {
  return deployBundle({...connection, preference: 'legacy', ...wait, bundleId}, project.host);
}

async function history({connection, project}: Service) {
  const options = {...connection, preference: 'legacy', targetSlug: 'staging'};
  const {deployments} = await listDeployments(options, project.host);
  return deployments.map(({bundleId, status}) => `${String(bundleId)} ${status}`);
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

  test('passes over deployments that failed, also when the newest did', async () => {
    const service = await startService();
    await service.push({targetSlug: 'staging'});
    service.runtime.addFault('failx1');
    await service.push({targetSlug: 'staging'}).catch(() => undefined);
    await service.push({targetSlug: 'staging'});
    service.runtime.addFault('failx1');
    await service.push({targetSlug: 'staging'}).catch(() => undefined);
    expect(await history(service)).toEqual(['4 failed', '3 finished', '2 failed', '1 finished']);
    expect(await rollback(service, {preference})).toMatchObject({bundleId: 1, rolledBackFrom: 3});
  });

  test('with nothing to go back to deploys nothing, and says how to name a bundle', async () => {
    const service = await startService();
    await service.push({targetSlug: 'staging'});
    await expect(rollback(service, {preference})).rejects.toMatchObject({
      code: 'ERR_REJECTED',
      suggestions: [expect.stringContaining('--to ID') as string],
    });
    expect(await history(service)).toEqual(['1 finished']);
  });

  test('goes to the bundle that is named, without looking at the history', async () => {
    const service = await startService();
    await service.push();
    await service.push({targetSlug: 'staging'});
    expect(await rollback(service, {preference, to: '1', wait: false})).toMatchObject({bundleId: 1});
    expect(await history(service)).toEqual(['1 finished', '2 finished']);
  });
});
