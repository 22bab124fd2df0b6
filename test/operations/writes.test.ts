import {describe, expect, test} from 'vitest';
import type {PlannedWrite} from '../../src/backends/contract.js';
import {createError} from '../../src/errors/index.js';
import type {PushRecord} from '../../src/operations/push/options.js';
import type {PipelineHost} from '../../src/pipelines/host.js';
import type {Ledger} from '../../src/pipelines/ledger.js';
import {factsOfChange} from '../../src/pipelines/outcome.js';
import {startService, type Service} from './pushed-bundles.js';
import {deleteBundles} from '../../src/pipelines/delete.js';
import {previewPush} from '../../src/pipelines/push.js';
import {deployBundle, promoteBundle, pushRuntimeBundle, rollbackBundle} from './calls.js';

const veto = createError('ERR_VETOED', 'A freeze.');

/** A host that records what it is asked, and vetoes everything if told so. */
function observed({project}: Service, {vetoes = false} = {}) {
  const asked: (PlannedWrite & {readonly dryRun?: boolean})[] = [];
  const ledgers: Ledger[] = [];
  const host: PipelineHost = {
    ...project.host,
    onLedger: (ledger) => void ledgers.push(ledger),
    async beforeWrite(planned, {dryRun}) {
      asked.push({...planned, ...(dryRun && {dryRun})});
      if (vetoes) throw veto;
    },
  };
  /** What hooks get of the changes, besides what was planned. */
  const facts = () => ledgers.flatMap((ledger) => ledger.changes.map((change) => factsOfChange(change, ledger)));
  return {host, asked, facts};
}

/** What has been sent that changes something. */
const written = ({runtime}: Service) => runtime.requests.filter(({method}) => method !== 'GET');

const staging = {preference: 'legacy', targetSlug: 'staging', wait: true, pollInterval: 0.01} as const;
const where = {backend: 'legacy', projectSlug: 'shop', targetSlug: 'staging'};

/** Each operation that changes something, and what it is to say of it. Bundles 1 and 2 have been deployed. */
const operations: Readonly<
  Record<string, readonly [PlannedWrite, (service: Service, host: PipelineHost) => Promise<unknown>]>
> = {
  deploy: [
    {operation: 'deploy', ...where, bundleIds: [2]},
    ({connection}, host) => deployBundle({...connection, ...staging, bundleId: 'latest'}, host),
  ],
  promote: [
    {operation: 'promote', ...where, targetSlug: 'production', bundleIds: [2]},
    ({connection}, host) => promoteBundle({...connection, ...staging, from: 'staging', targetSlug: 'production'}, host),
  ],
  rollback: [
    {operation: 'rollback', ...where, bundleIds: [1]},
    ({connection}, host) => rollbackBundle({...connection, ...staging}, host),
  ],
  delete: [
    {operation: 'delete', backend: 'legacy', projectSlug: 'shop', bundleIds: [1]},
    ({connection}, host) => deleteBundles({...connection, preference: 'legacy', bundleIds: ['1']}, host),
  ],
};

describe.each(Object.entries(operations))('%s', (name, [planned, run]) => {
  test('says what it is about to change, and what came of it; a veto stops it', async () => {
    const service = await startService();
    for (const targetSlug of ['staging', 'staging']) await service.push({targetSlug});
    const before = written(service).length;
    await expect(run(service, observed(service, {vetoes: true}).host)).rejects.toBe(veto);
    expect(written(service)).toHaveLength(before);
    const {host, asked, facts} = observed(service);
    await run(service, host);
    expect(asked).toEqual([planned]);
    expect(facts()).toMatchObject([
      name === 'delete' ? {bundleIds: [1]} : {status: 'finished', deployment: expect.any(Object) as object},
    ]);
  });
});

describe('a push', () => {
  test.each([
    ['with its digest', true, {size: expect.any(Number), sha256: expect.stringMatching(/^[\da-f]{64}$/)}],
    ['that is packed while it is sent, without', false, {size: expect.any(Number), sha256: undefined}],
  ])('tells of the bundle, %s', async (_, v2, archive) => {
    const service = await startService();
    const {host, asked, facts} = observed(service);
    const result = await pushRuntimeBundle({...service.connection, ...staging, v2, message: 'main: 1a2b3c'}, host);
    const bundle = {format: v2 ? 'v2' : 'v1', message: 'main: 1a2b3c', ...archive};
    expect(asked).toEqual([{operation: 'push', ...where, bundleIds: [], bundle}]);
    const {deployment, url, bundleId} = result;
    expect(facts()).toEqual([{bundleIds: [bundleId], deployment, status: 'finished', url}]);
  });

  test('asks again for the backend that it falls back to', async () => {
    const service = await startService({faults: ['403x1:route=upload']});
    const {host, asked} = observed(service);
    await pushRuntimeBundle({...service.connection, preference: 'auto'}, host);
    expect(asked.map(({backend, targetSlug}) => [backend, targetSlug])).toEqual([
      ['api', undefined],
      ['legacy', undefined],
    ]);
  });

  test.each([
    [true, ['history']],
    [false, []],
  ])('that is vetoed changes nothing, and falls back to nothing (v2: %s)', async (v2, asked) => {
    const service = await startService();
    const {host, asked: writes} = observed(service, {vetoes: true});
    await expect(pushRuntimeBundle({...service.connection, ...staging, v2}, host)).rejects.toBe(veto);
    await expect(pushRuntimeBundle({...service.connection, preference: 'auto'}, host)).rejects.toBe(veto);
    expect(writes.map(({backend}) => backend)).toEqual(['legacy', 'api']);
    expect(service.runtime.requests.map(({route}) => route)).toEqual(asked);
  });

  test('of an unchanged bundle asks about its deployment only', async () => {
    const service = await startService();
    let record: PushRecord | undefined;
    const pushRecords = {read: async () => record, write: async (_: unknown, next: PushRecord) => void (record = next)};
    const push = {...service.connection, ...staging, v2: true, message: 'same', ifChanged: true, pushRecords};
    await pushRuntimeBundle(push, service.project.host);
    const {host, asked} = observed(service);
    await pushRuntimeBundle({...push, targetSlug: undefined, wait: false}, host);
    expect(asked).toEqual([]);
    await previewPush(push, host);
    await pushRuntimeBundle(push, host);
    const planned = {operation: 'push', ...where, bundleIds: [1]};
    expect(asked).toEqual([{...planned, dryRun: true}, planned]);
  });
});
