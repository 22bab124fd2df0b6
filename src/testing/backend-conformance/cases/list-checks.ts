import assert from 'node:assert/strict';
import type {BundleId, ListRange, ListResult} from '../../../backends/contract.js';
import type {Check} from '../check.js';
import {plainJsonProblem} from '../plain-json.js';
import {deployInOrder, listBundles, listDeployments, uploadInOrder} from '../steps.js';
import type {Subject} from '../subject.js';

/** More than the suite ever uploads. */
const everything: ListRange = {limit: 100, offset: 0};

/** What the capability `list` promises. */
export const listChecks: readonly Check[] = [
  {
    name: 'list: the newest bundle comes first',
    async run(scope) {
      const subject = await scope.open();
      const newestFirst = await uploadInOrder(subject, 3);
      const {items, total} = await listBundles(subject, everything);
      assert.deepEqual(idsOf(items), newestFirst, 'the list is not what was uploaded, the newest first');
      assert.ok(total === undefined || total === 3, `the total is ${String(total)} and not 3`);
    },
  },
  {
    name: 'list: limit and offset choose the part',
    async run(scope) {
      const subject = await scope.open();
      await uploadInOrder(subject, 3);
      await assertPages(async (range) => (await listBundles(subject, range)).items);
    },
  },
];

/** What the capability `history` promises. */
export const historyChecks: readonly Check[] = [
  {
    name: 'history: the newest deployment comes first',
    async run(scope) {
      const subject = await scope.open();
      const [newer, older] = await deployTwo(subject);
      const {items, total} = await listDeployments(subject, everything);
      assert.deepEqual(idsOf(items), [newer, older], 'the history is not what was deployed, the newest first');
      assert.ok(total === undefined || total === 2, `the total is ${String(total)} and not 2`);
      for (const {deployment} of items) assert.equal(plainJsonProblem(deployment, 'deployment'), undefined);
    },
  },
  {
    name: 'history: limit and offset choose the part',
    async run(scope) {
      const subject = await scope.open();
      await deployTwo(subject);
      await assertPages(async (range) => (await listDeployments(subject, range)).items);
    },
  },
];

/** Deploys two bundles, the one that was uploaded last first: the history has an order of its own. */
async function deployTwo(subject: Subject): Promise<readonly BundleId[]> {
  const newestFirst = await uploadInOrder(subject, 2);
  await deployInOrder(subject, newestFirst);
  return newestFirst.toReversed();
}

/** Asserts that each part of a list is the same part of the whole. */
async function assertPages(list: (range: ListRange) => Promise<ListResult<unknown>['items']>): Promise<void> {
  const whole = await list(everything);
  assert.ok(whole.length > 1, 'the list is too short to have parts');
  const ranges = [
    {limit: 1, offset: 0},
    {limit: 1, offset: 1},
    {limit: 100, offset: 1},
    {limit: 1, offset: whole.length},
  ];
  for (const {limit, offset} of ranges) {
    const part = await list({limit, offset});
    assert.deepEqual(part, whole.slice(offset, offset + limit), `limit ${String(limit)}, offset ${String(offset)}`);
  }
}

function idsOf(items: readonly {readonly bundleId?: BundleId | undefined}[]): readonly (BundleId | undefined)[] {
  return items.map(({bundleId}) => bundleId);
}
