import type {PruneBundlesOptions, PruneRules} from '../../src/operations/bundle-options.js';
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import type {BundleId, BundleItem, DeploymentItem} from '../../src/backends/contract.js';
import {planPrune} from '../../src/operations/prune-bundles.js';
import {bundlesLeft as left, startService, type Service} from './pushed-bundles.js';
import type {EventBody} from '../../src/pipelines/host.js';
import {pruneBundles} from '../../src/pipelines/delete.js';
import {deployBundle} from './calls.js';

const now = new Date('2026-06-30T12:00:00Z');
const dayMs = 86_400_000;

function bundle(bundleId: BundleId, item: Partial<BundleItem> & {readonly daysAgo?: number} = {}): BundleItem {
  const {daysAgo = 100 - Number(bundleId), ...rest} = item;
  return {bundleId, status: 'ready', createdAt: new Date(now.getTime() - daysAgo * dayMs).toISOString(), ...rest};
}

function ran(status: DeploymentItem['status'], bundleId?: BundleId): DeploymentItem {
  return {deployment: {data: {}}, status, bundleId};
}

function pruned(bundles: readonly BundleItem[], rules: PruneRules, ...histories: readonly DeploymentItem[][]) {
  const targets = histories.map((deployments, index) => ({targetSlug: `target-${String(index)}`, deployments}));
  return planPrune(bundles, targets, rules, now).map(({bundleId}) => bundleId);
}

const six = [1, 2, 3, 4, 5, 6].map((id) => bundle(id));

describe('what is pruned', () => {
  test('is all but the newest', () => {
    expect(pruned(six, {keep: 2})).toEqual([4, 3, 2, 1]);
    expect(pruned(six, {})).toEqual([]);
    expect(pruned(six.toReversed(), {keep: 2})).toEqual([4, 3, 2, 1]);
  });

  test('is no bundle that a target runs, is getting, or could be rolled back to', () => {
    const history = [ran('queued', 1), ran('failed', 2), ran('finished', 3), ran('finished', 3), ran('finished', 4)];
    expect(pruned(six, {keep: 1}, history)).toEqual([5, 2]);
    expect(pruned(six, {keep: 1}, history, [ran('unknown', 2), ran('finished', 5)])).toEqual([]);
    const rolledBack = [ran('finished', 3), ran('finished', 4), ran('finished', 3), ran('finished', 2)];
    expect(pruned(six, {keep: 1}, rolledBack)).toEqual([5, 1]);
    expect(pruned([bundle(1, {inUseBy: ['live']}), ...six.slice(1)], {keep: 1})).toEqual([5, 4, 3, 2]);
  });

  test('is no bundle that is being uploaded or deleted; only usable ones count among the newest', () => {
    const bundles = [
      bundle(1, {status: 'preparing'}),
      bundle(2, {status: 'deleting'}),
      bundle(3, {status: 'broken'}),
      bundle(4),
      bundle(5, {status: 'broken'}),
    ];
    expect(pruned(bundles, {keep: 1})).toEqual([5, 3]);
  });

  test('is old enough: a bundle of unknown age is new', () => {
    const bundles = [...six, bundle(7, {createdAt: undefined}), bundle(8, {createdAt: 'yesterday'})];
    expect(pruned(bundles, {keep: 1, olderThanMs: 97 * dayMs})).toEqual([3, 2, 1]);
    expect(pruned(bundles, {keep: 2, olderThanMs: 97 * dayMs + 1})).toEqual([2, 1]);
  });

  test('has a message that matches as a whole, and the newest are those that match', () => {
    const messages = ['preview-1: a', 'main: b', 'preview-2: c (d)', 'preview-3', undefined];
    const bundles = messages.map((message, index) => bundle(index + 1, {message}));
    expect(pruned(bundles, {keep: 1, match: 'preview-*'})).toEqual([3, 1]);
    expect(pruned([...bundles, bundle(9)], {keep: 1, match: '*(?)'})).toEqual([]);
    expect(pruned(bundles, {keep: 1, match: ''})).toEqual([]);
    expect(pruned([...bundles, bundle(6, {message: 'xpreview-3'})], {keep: 1, match: 'preview-?'})).toEqual([]);
  });

  test('is nothing if the server does not say what a target runs or gets', () => {
    for (const history of [[ran('finished')], [ran('unknown')], [ran('in_progress'), ran('finished', 1)]]) {
      expect(() => pruned(six, {keep: 1}, history)).toThrow(
        'The server does not report which bundle the target "target-0" runs.',
      );
    }
    expect(pruned(six, {keep: 1}, [ran('failed'), ran('finished', 1), ran('finished')])).toEqual([5, 4, 3, 2]);
  });

  test('never is what is needed, in 10,000 histories', () => {
    const id = fc.integer({min: 1, max: 12});
    const statuses = ['queued', 'in_progress', 'finished', 'failed', 'unknown'] as const;
    const history = fc.array(fc.record({status: fc.constantFrom(...statuses), id}), {maxLength: 25});
    const stored = fc.uniqueArray(
      fc.record({
        id,
        daysAgo: fc.integer({min: 0, max: 40}),
        status: fc.constantFrom('ready', 'preparing', 'broken', 'deleting', 'unknown'),
        message: fc.constantFrom('main: a', 'preview: b', undefined),
      }),
      {selector: (item) => item.id},
    );
    const rules = fc.record({
      keep: fc.integer({min: 1, max: 4}),
      olderThanMs: fc.constantFrom(undefined, 0, 10 * dayMs),
      match: fc.constantFrom(undefined, 'preview*'),
    });
    let deletions = 0;
    fc.assert(
      fc.property(stored, fc.array(history, {maxLength: 3}), rules, (items, histories, rule) => {
        const bundles = items.map(({id: bundleId, ...item}) => bundle(bundleId, item));
        const targets = histories.map((rows) => rows.map((row) => ran(row.status, row.id)));
        const gone = pruned(bundles, rule, ...targets);
        deletions += gone.length;
        const needed = targets.flatMap((deployments) => {
          const idsOf = (...states: readonly string[]) =>
            deployments.filter(({status}) => states.includes(status)).map(({bundleId}) => bundleId);
          const [running, ...before] = new Set(idsOf('finished'));
          // What is being deployed, or may run.
          return [running, ...before.slice(0, rule.keep), ...idsOf('queued', 'in_progress', 'unknown')];
        });
        const matching = bundles.filter(({message = ''}) => rule.match === undefined || message.startsWith('preview'));
        return gone.every((bundleId) => {
          const item = matching.find((candidate) => candidate.bundleId === bundleId);
          if (item === undefined || needed.includes(bundleId)) return false;
          const {status, createdAt = ''} = item;
          const isOld = now.getTime() - Date.parse(createdAt) >= (rule.olderThanMs ?? 0);
          const newest = matching.filter(
            (other) => ['ready', 'unknown'].includes(other.status) && (other.createdAt ?? '') >= createdAt,
          );
          return isOld && (status === 'broken' || (['ready', 'unknown'].includes(status) && newest.length > rule.keep));
        });
      }),
      {numRuns: 10_000},
    );
    expect(deletions).toBeGreaterThan(1000);
  });
});

describe('pruning', () => {
  function prune({connection, project}: Service, options: Partial<PruneBundlesOptions> = {}) {
    return pruneBundles({...connection, preference: 'legacy', keep: 1, ...options}, project.host);
  }
  const deletions = ({runtime}: Service) => runtime.requests.filter(({route}) => route === 'delete').length;

  test('deletes the oldest first, and says what it keeps', async () => {
    const service = await startService();
    for (const targetSlug of ['live', 'staging', undefined, 'live', 'live', undefined, undefined])
      await service.push(targetSlug === undefined ? {} : {targetSlug});
    const asked: unknown[] = [];
    const confirm = (_: string, found: readonly BundleItem[]) => {
      asked.push(...found.map(({bundleId}) => bundleId));
      return Promise.resolve();
    };
    const preview = await prune(service, {dryRun: true, confirm});
    expect(preview).toMatchObject({backend: 'legacy', dryRun: true, kept: 4, deleted: []});
    expect(preview.found.map(({bundleId}) => bundleId)).toEqual([6, 3, 1]);
    expect([asked, deletions(service)]).toEqual([[], 0]);
    expect(await prune(service, {confirm})).toMatchObject({dryRun: false, deleted: [1, 3, 6]});
    expect(asked).toEqual([6, 3, 1]);
    expect(await left(service)).toEqual([7, 5, 4, 2]);
    expect(await prune(service, {confirm: () => Promise.reject(new Error('asked'))})).toMatchObject({found: []});
  });

  /** The service with bundles 1 to 4, and a host that keeps warnings. */
  async function fourBundles() {
    const service = await startService();
    for (let pushes = 0; pushes < 4; pushes += 1) await service.push();
    const warnings: string[] = [];
    const onEvent = (event: EventBody) => {
      if (event.type === 'warning') warnings.push(event.message);
    };
    const {connection, project} = service;
    const pruneToo = (options: Partial<PruneBundlesOptions> = {}) =>
      pruneBundles({...connection, preference: 'legacy', keep: 1, ...options}, {...project.host, onEvent});
    return {service, warnings, pruneToo};
  }

  test('tells in one sentence what somebody else has deleted while the user was asked', async () => {
    const {service, warnings, pruneToo} = await fourBundles();
    expect(await pruneToo({confirm: async () => void (await prune(service))})).toMatchObject({deleted: []});
    expect(warnings).toEqual(['Already deleted by someone else: 3, 2, 1.']);
    expect(deletions(service)).toBe(3);
  });

  test('that happens twice at the same time deletes everything once, and fails nowhere', async () => {
    const {service, warnings, pruneToo} = await fourBundles();
    const both = await Promise.all([pruneToo(), pruneToo()]);
    expect(both.flatMap(({deleted}) => deleted).toSorted()).toEqual([1, 2, 3]);
    for (const warning of warnings) expect(warning).toMatch(/^Already deleted by someone else: [\d, ]+\.$/);
    expect(await left(service)).toEqual([4]);
  });

  test('spares what was deployed while the user was asked, and tells it', async () => {
    const {service, warnings, pruneToo} = await fourBundles();
    const {connection, project} = service;
    const confirm = async () => {
      await deployBundle(
        {...connection, preference: 'legacy', bundleId: 2, targetSlug: 'live', wait: true, pollInterval: 0.01},
        project.host,
      );
    };
    expect(await pruneToo({confirm})).toMatchObject({deleted: [1, 3]});
    expect(await left(service)).toEqual([4, 2]);
    expect(deletions(service)).toBe(2);
    expect(warnings).toEqual(['Needed again, so not deleted: 2.']);
  });

  test.each([
    ['ahead of', 1],
    ['behind', -1],
  ])('counts ages by the clock of the service, and tells that this one is %s it', async (relation, sign) => {
    const service = await startService();
    for (let pushes = 0; pushes < 2; pushes += 1) await service.push();
    const {connection, project} = service;
    const warnings: string[] = [];
    const host = {
      ...project.host,
      now: () => new Date(Date.now() + sign * 60 * dayMs),
      onEvent: (event: EventBody) => {
        if (event.type === 'warning') warnings.push(event.message);
      },
    };
    const rules = {keep: 1, olderThanMs: 30 * dayMs, dryRun: true};
    expect(await pruneBundles({...connection, preference: 'legacy', ...rules}, host)).toMatchObject({found: []});
    expect(warnings).toEqual([
      `The clock of this machine is 86400 minutes ${relation} the service's. Ages are counted by the service's.`,
    ]);
  });

  test('deletes nothing when the answer is no', async () => {
    const service = await startService();
    for (let pushes = 0; pushes < 2; pushes += 1) await service.push();
    await expect(prune(service, {confirm: () => Promise.reject(new Error('no'))})).rejects.toThrow('no');
    expect([await left(service), deletions(service)]).toEqual([[2, 1], 0]);
  });

  test('needs a backend that knows its targets', async () => {
    const service = await startService();
    await expect(prune(service, {preference: 'api'})).rejects.toMatchObject({code: 'ERR_CAPABILITY_UNSUPPORTED'});
    expect(service.runtime.requests).toEqual([]);
  });
});
