import type {BundleDeletion, DeleteBundlesOptions} from '../../src/operations/bundle-options.js';
import {describe, expect, test} from 'vitest';
import {createError} from '../../src/errors/index.js';
import {acme} from './acme.js';
import {bundlesLeft as left, startService, type Service} from './pushed-bundles.js';
import {deleteBundles} from '../../src/pipelines/delete.js';
import type {BundleItem} from '../../src/backends/contract.js';
import type {EventBody} from '../../src/pipelines/host.js';

function remove({connection, project}: Service, options: Partial<DeleteBundlesOptions>) {
  return deleteBundles({...connection, preference: 'legacy', bundleIds: [], ...options}, project.host);
}

const requests = ({runtime}: Service) => runtime.requests.filter(({route}) => route === 'delete');

describe('deleting bundles', () => {
  test('deletes each once, however its id is written and how often', async () => {
    const service = await startService();
    for (let pushes = 0; pushes < 3; pushes += 1) await service.push();
    expect(await remove(service, {bundleIds: ['1', 3, '3']})).toEqual({
      backend: 'legacy',
      projectSlug: 'shop',
      deleted: [1, 3],
    });
    expect(await left(service)).toEqual([2]);
  });

  test('warns of what the next rollback of a target goes back to, before it asks', async () => {
    const service = await startService();
    for (let pushes = 0; pushes < 2; pushes += 1) await service.push({targetSlug: 'staging'});
    const order: string[] = [];
    const onEvent = (event: EventBody) => {
      if (event.type === 'warning') order.push(event.message);
    };
    const confirm = async (_backend: unknown, ids: unknown, [listed]: readonly BundleItem[]) => {
      order.push(
        `asked about ${String(ids)}, of ${String(listed?.createdAt?.slice(0, 2))}.. by ${String(listed?.createdBy)}`,
      );
    };
    const host = {...service.project.host, onEvent};
    await deleteBundles({...service.connection, preference: 'legacy', bundleIds: [1], confirm}, host);
    expect(order).toEqual([
      'The next rollback of staging would go back to bundle 1.',
      'asked about 1, of 20.. by api-key',
    ]);
  });

  test('does not ask about what is not there, and says so before it asks about the rest', async () => {
    const service = await startService();
    await service.push();
    const order: string[] = [];
    const onEvent = (event: EventBody) => void (event.type === 'warning' && order.push(event.message));
    const confirm = async (_: unknown, ids: unknown) => void order.push(`asked about ${String(ids)}`);
    const host = {...service.project.host, onEvent};
    const remove = (bundleIds: readonly number[]) =>
      deleteBundles({...service.connection, preference: 'legacy', bundleIds, confirm}, host);
    await expect(remove([8, 9])).rejects.toMatchObject({
      code: 'ERR_BUNDLE_UNKNOWN',
      message: 'The project "shop" has no bundle 8 or 9.',
    });
    expect(order).toEqual([]);
    expect(requests(service)).toEqual([]);
    await expect(remove([9, 1])).rejects.toMatchObject({code: 'ERR_BUNDLE_UNKNOWN', details: {deleted: [1]}});
    expect(order).toEqual(['The project "shop" has no bundle 9.', 'asked about 9,1']);
  });

  test.each(['.', '..'])("an ID that would lead above the bundles of a plugin's service is refused: %s", async (id) => {
    const service = await startService();
    const asked: unknown[] = [];
    const deleteBundle = async (request: object) => void asked.push(request);
    await expect(remove(service, {...acme({deleteBundle}), bundleIds: ['b-1', id]})).rejects.toMatchObject({
      code: 'ERR_OPTION_INVALID',
      message: `"${id}" is not a bundle ID.`,
    });
    expect(asked).toEqual([]);
  });

  test('a bundle that the server refuses does not keep the others; the error tells of each', async () => {
    const service = await startService();
    for (let pushes = 0; pushes < 2; pushes += 1) await service.push();
    await service.push({targetSlug: 'staging'});
    const told: BundleDeletion[] = [];
    const failed = remove(service, {bundleIds: [1, 3, 9, 2], onDeletion: (deletion) => told.push(deletion)});
    await expect(failed).rejects.toMatchObject({
      code: 'ERR_REJECTED',
      status: 409,
      exitCode: 7,
      message: expect.stringMatching(
        /^Deleted: 1, 2\. Bundle 3 was not deleted: .* Bundle 9 was not deleted: /,
      ) as string,
      suggestions: ['If a target runs it, deploy another bundle there first: mycli status tells which one.'],
      details: {deleted: [1, 2], failed: [{bundleId: 3}, {bundleId: 9}], notTried: []},
    });
    expect(told.map(({bundleId, error}) => [bundleId, error?.status])).toEqual([
      [1, undefined],
      [3, 409],
      [9, 404],
      [2, undefined],
    ]);
    expect(await left(service)).toEqual([3]);
  });

  test('ends at a failure that would meet the others too, and tells which were not tried', async () => {
    const service = await startService({faults: ['401:route=delete']});
    const failed = remove(service, {bundleIds: [1, 2, 3]});
    await expect(failed).rejects.toMatchObject({
      code: 'ERR_UNAUTHORIZED',
      exitCode: 4,
      details: {deleted: [], failed: [{bundleId: 1}], notTried: [2, 3]},
    });
    expect(requests(service)).toHaveLength(1);
  });

  test('an interruption tells what was deleted before it', async () => {
    const service = await startService();
    await service.push();
    await service.push();
    const controller = new AbortController();
    const onDeletion = () => {
      controller.abort(createError('ERR_INTERRUPTED', 'Interrupted by SIGTERM.', {exitCode: 143}));
    };
    const failed = remove(service, {bundleIds: [1, 2], signal: controller.signal, onDeletion});
    await expect(failed).rejects.toMatchObject({code: 'ERR_INTERRUPTED', exitCode: 143, details: {deleted: [1]}});
    expect(await left(service)).toEqual([2]);
  });

  test.each([
    ['an invalid id, even among others', {bundleIds: [1, 'newest']}, 'ERR_OPTION_INVALID'],
    ['Api', {bundleIds: [1], preference: 'api'}, 'ERR_CAPABILITY_UNSUPPORTED'],
  ])('refuses %s before anything is sent', async (_, options, code) => {
    const service = await startService();
    await expect(remove(service, options)).rejects.toMatchObject({code});
    expect(service.runtime.requests).toEqual([]);
  });
});
