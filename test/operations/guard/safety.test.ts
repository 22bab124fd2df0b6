import {describe, expect, onTestFinished, test} from 'vitest';
import {isProductionName, parseSafety} from '../../../src/operations/guard/safety.js';
import type {Host} from '../../../src/operations/host.js';
import {startService, type Service} from '../pushed-bundles.js';
import {deleteBundles, pruneBundles} from '../../../src/pipelines/delete.js';
import {previewPush} from '../../../src/pipelines/push.js';
import {listBundles} from '../../../src/pipelines/read.js';
import {deployBundle, promoteBundle, pushRuntimeBundle, rollbackBundle} from '../calls.js';

const operations = {
  push: ({connection}: Service, host: Host, targetSlug?: string) =>
    pushRuntimeBundle({...connection, preference: 'legacy', targetSlug}, host),
  preview: ({connection}: Service, host: Host, targetSlug?: string) =>
    previewPush({...connection, preference: 'legacy', targetSlug}, host),
  deploy: ({connection}: Service, host: Host, targetSlug = 'staging') =>
    deployBundle({...connection, preference: 'legacy', targetSlug, bundleId: 1}, host),
  promote: ({connection}: Service, host: Host, targetSlug = 'staging') =>
    promoteBundle({...connection, preference: 'legacy', from: 'test', targetSlug}, host),
  rollback: ({connection}: Service, host: Host, targetSlug = 'staging') =>
    rollbackBundle({...connection, preference: 'legacy', targetSlug}, host),
  delete: ({connection}: Service, host: Host) =>
    deleteBundles({...connection, preference: 'legacy', bundleIds: [1]}, host),
  prune: ({connection}: Service, host: Host) => pruneBundles({...connection, preference: 'legacy'}, host),
};

async function sendNothing(act: (service: Service, host: Host) => Promise<unknown>, host: Partial<Host>, mode: string) {
  const service = await startService();
  await expect(act(service, {...service.project.host, ...host})).rejects.toMatchObject({
    code: 'ERR_SAFETY',
    exitCode: 3,
    details: {safety: mode},
  });
  expect(service.runtime.requests).toEqual([]);
}

const changes = Object.keys(operations) as (keyof typeof operations)[];
const deployments = changes.filter((name) => name !== 'delete' && name !== 'prune');

describe('MYCLI_SAFETY', () => {
  test.each([
    ...changes.map((name) => [name, 'read-only', undefined] as const),
    ...deployments.map((name) => [name, 'no-production', 'production'] as const),
    ...(['delete', 'prune'] as const).map((name) => [name, 'no-delete', undefined] as const),
  ])('MYCLI_SAFETY: a %s is refused by %s before anything is sent', async (name, mode, targetSlug) => {
    const act = (service: Service, host: Host) => operations[name](service, host, targetSlug);
    await sendNothing(act, {env: {MYCLI_SAFETY: `no-production, ${mode}`}}, mode);
  });

  test.each([
    {production: false, targetSlug: 'eu-live'},
    {production: true, targetSlug: 'shop-7'},
  ])('MYCLI_SAFETY: production is what has its name or is configured as such: %j', async (options) => {
    const push = ({connection}: Service, host: Host) =>
      pushRuntimeBundle({...connection, preference: 'legacy', ...options}, host);
    await sendNothing(push, {safety: 'no-production'}, 'no-production');
  });

  test('leaves the rest alone', async () => {
    const service = await startService();
    const host = {...service.project.host, env: {MYCLI_SAFETY: 'no-delete,no-production'}};
    await operations.push(service, host, 'staging');
    const readOnly = {...host, env: {MYCLI_SAFETY: 'read-only'}};
    expect(await listBundles({...service.connection, preference: 'legacy'}, readOnly)).toMatchObject({total: 1});
  });

  test('cannot be loosened by code that changes the environment after the start', async () => {
    await sendNothing(operations.push, {safety: 'read-only', env: {MYCLI_SAFETY: ''}}, 'read-only');
  });

  test.each(['readonly', 'no-deletes', 'read-only;no-delete', ','])('that is %j is an error', async (value) => {
    const service = await startService();
    onTestFinished(() => {
      expect(service.runtime.requests).toEqual([]);
    });
    const host = {...service.project.host, env: {MYCLI_SAFETY: value}};
    await expect(operations.push(service, host)).rejects.toMatchObject({
      code: 'ERR_OPTION_INVALID',
      message: 'MYCLI_SAFETY must be read-only, no-delete, no-create, no-production or several of them.',
    });
  });

  test('separates several with commas', () => {
    expect(parseSafety(' no-production,READ-ONLY, ')).toEqual(['read-only', 'no-production']);
    expect([parseSafety(undefined), parseSafety(''), parseSafety('  ')]).toEqual([[], [], []]);
  });
});

test('a target is production if a word of its name says so', () => {
  const production = ['production', 'prod', 'PROD', 'live', 'eu-live', 'shop_prd', 'production2', 'webProd'];
  const others = ['staging', 'product-page', 'olive', 'preprod', 'pre-prod', 'non-prod', 'delivery', 'test'];
  expect([...production, ...others].filter((name) => isProductionName(name))).toEqual(production);
});
