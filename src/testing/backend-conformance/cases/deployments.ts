import assert from 'node:assert/strict';
import type {BundleFormat, DeploymentRef, BundleId, ListRange, ListResult} from '../../../backends/contract.js';
import {shownUrl} from '../../../backends/answers.js';
import {assertHasCode, failureOf, type Check} from '../check.js';
import {plainJsonProblem} from '../observations.js';
import {
  deploy,
  promote,
  promotionTarget,
  pushToTarget,
  readLog,
  unknownIdLike,
  waitUntilFinished,
  deployInOrder,
  listBundles,
  listDeployments,
  listTargets,
  uploadInOrder,
} from '../steps.js';
import {assertDigestTold, type Subject} from '../subject.js';

/** Cases for the capability `deploy`. */
export const deployChecks: readonly Check[] = [
  {
    name: 'deploy: returns a reference in plain JSON',
    async run(scope) {
      const subject = await scope.open();
      const bundleId = await subject.upload(await subject.makeBundle());
      assertPlainJson(await deploy(subject, bundleId));
    },
  },
  {
    name: 'deploy: an unknown bundle is refused with a code',
    async run(scope) {
      const subject = await scope.open();
      const unknown = unknownIdLike(await subject.upload(await subject.makeBundle()));
      assertHasCode(await failureOf('Deploying a bundle that does not exist', deploy(subject, unknown)));
    },
  },
];

/** Cases for the capability `promote`. */
export const promoteChecks: readonly Check[] = [
  {
    name: 'promote: the bundle of one target runs on the other',
    async run(scope) {
      const subject = await scope.open();
      const {backend} = subject;
      const [newer, older] = await uploadInOrder(subject, 2);
      assert.ok(newer !== undefined && older !== undefined);
      await deployInOrder(subject, [older]);
      const deployment = await promote(subject, older);
      assertPlainJson(deployment);
      if (backend.getDeployment) await waitUntilFinished(subject, deployment);
      if (!backend.listDeployments) return;
      const {items} = await listDeployments(subject, everything, promotionTarget(subject));
      assert.deepEqual(idsOf(items), [older], 'The history of the target is not the promoted bundle.');
    },
  },
  {
    name: 'promote: an unknown bundle is refused with a code',
    async run(scope) {
      const subject = await scope.open();
      const bundleId = await subject.upload(await subject.makeBundle());
      await deployInOrder(subject, [bundleId]);
      const promoting = promote(subject, unknownIdLike(bundleId));
      assertHasCode(await failureOf('Promoting a bundle that does not exist', promoting));
    },
  },
];

/** Cases for the capability `wait` in each format. */
export function waitChecks(format: BundleFormat): readonly Check[] {
  return [
    {
      name: `wait (${format}): a push to a target finishes`,
      async run(scope) {
        const subject = await scope.open();
        const deployment = await pushToTarget(subject, format);
        // The waiting process may be a different one that only has the JSON.
        await waitUntilFinished(scope.reopen(subject), JSON.parse(JSON.stringify(deployment)) as DeploymentRef);
      },
    },
  ];
}

function assertPlainJson(deployment: DeploymentRef): void {
  assert.equal(plainJsonProblem(deployment, 'deployment'), undefined);
}

/** More than the suite uploads. */
const everything: ListRange = {limit: 100, offset: 0};

/** Cases for the capability `list`. */
export const listChecks: readonly Check[] = [
  {
    name: 'list: a digest matches the archive',
    async run(scope) {
      const subject = await scope.open();
      const bundle = await subject.makeBundle();
      await subject.upload(bundle);
      const {items} = await listBundles(subject, everything);
      assertDigestTold(bundle, items[0], 'The list');
    },
  },
  {
    name: 'list: metadata is plain JSON, and stays the same',
    async run(scope) {
      const subject = await scope.open();
      await subject.upload(await subject.makeBundle());
      const [first] = (await listBundles(subject, everything)).items;
      assert.equal(plainJsonProblem(first?.metadata, 'metadata'), undefined);
      const [again] = (await listBundles(scope.reopen(subject), everything)).items;
      assert.deepEqual(again?.metadata, first?.metadata, 'The metadata of a bundle changed between two lists.');
    },
  },
  {
    name: 'list: the newest bundle comes first',
    async run(scope) {
      const subject = await scope.open();
      const newestFirst = await uploadInOrder(subject, 3);
      const {items, total} = await listBundles(subject, everything);
      assert.deepEqual(idsOf(items), newestFirst, 'The list is not the uploaded bundles, newest first.');
      assert.ok(total === undefined || total === 3, `The total is ${String(total)}, not 3.`);
    },
  },
  {
    name: 'list: limit and offset select the page',
    async run(scope) {
      const subject = await scope.open();
      await uploadInOrder(subject, 3);
      await assertPages(async (range) => (await listBundles(subject, range)).items);
    },
  },
];

/** Cases for the capability `history`. */
export const historyChecks: readonly Check[] = [
  {
    name: 'history: the newest deployment comes first',
    async run(scope) {
      const subject = await scope.open();
      const [newer, older] = await deployTwo(subject);
      const {items, total} = await listDeployments(subject, everything);
      assert.deepEqual(idsOf(items), [newer, older], 'The history is not the deployments, newest first.');
      assert.ok(total === undefined || total === 2, `The total is ${String(total)}, not 2.`);
      for (const {deployment} of items) assert.equal(plainJsonProblem(deployment, 'deployment'), undefined);
    },
  },
  {
    name: 'history: limit and offset select the page',
    async run(scope) {
      const subject = await scope.open();
      await deployTwo(subject);
      await assertPages(async (range) => (await listDeployments(subject, range)).items);
    },
  },
];

/** What the capability `targets` promises. */
export const targetChecks: readonly Check[] = [
  {
    name: 'targets: a target that was deployed to is listed, with an http(s) URL or none',
    async run(scope) {
      const subject = await scope.open();
      await deploy(subject, await subject.upload(await subject.makeBundle()));
      const {items} = await listTargets(subject, everything);
      const target = items.find(({targetSlug}) => targetSlug === subject.targetSlug);
      assert.ok(target, 'The target is not in the list.');
      const {url} = target;
      assert.ok(url === undefined || shownUrl(url) !== undefined, 'The URL of the target is no http(s) URL.');
    },
  },
];

/** Cases for the capability `logs`. */
export const logChecks: readonly Check[] = [
  {
    name: 'logs: the log of a finished deployment is complete, the same each time, and continued by its cursors',
    async run(scope) {
      const subject = await scope.open();
      const deployment = await pushToTarget(subject, subject.backend.formats[0] ?? 'v2');
      if (subject.backend.getDeployment) await waitUntilFinished(subject, deployment);
      const {lines, cursors} = await readLog(subject, deployment);
      assert.ok(
        lines.every((line) => !/[\r\n]/.test(line)),
        'A line of the log contains a line break.',
      );
      const again = await readLog(scope.reopen(subject), JSON.parse(JSON.stringify(deployment)) as DeploymentRef);
      assert.deepEqual(again.lines, lines, 'The log is different when it is read again.');
      const last = cursors.at(-1);
      if (last === undefined) return;
      assert.deepEqual(
        (await readLog(subject, deployment, last)).lines,
        [],
        'The last cursor is followed by old lines.',
      );
    },
  },
];

/** Deploys two bundles, the last upload first, because the history has its own order. */
async function deployTwo(subject: Subject): Promise<readonly BundleId[]> {
  const newestFirst = await uploadInOrder(subject, 2);
  await deployInOrder(subject, newestFirst);
  return newestFirst.toReversed();
}

/** Asserts that each page of a list is the same part of the whole list. */
async function assertPages(list: (range: ListRange) => Promise<ListResult<unknown>['items']>): Promise<void> {
  const whole = await list(everything);
  assert.ok(whole.length > 1, 'The list is too short to have pages.');
  const ranges = [
    {limit: 1, offset: 0},
    {limit: 1, offset: 1},
    {limit: 100, offset: 1},
    {limit: 1, offset: whole.length},
  ];
  for (const {limit, offset} of ranges) {
    const part = await list({limit, offset});
    assert.deepEqual(
      part,
      whole.slice(offset, offset + limit),
      `The page at limit ${String(limit)}, offset ${String(offset)} is wrong.`,
    );
  }
}

function idsOf(items: readonly {readonly bundleId?: BundleId | undefined}[]): readonly (BundleId | undefined)[] {
  return items.map(({bundleId}) => bundleId);
}
