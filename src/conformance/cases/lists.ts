import assert from 'node:assert/strict';
import type {Bundle, BundleId, ListRange, ListResult} from '../../backends/contract.js';
import {shownUrl} from '../../backends/answers.js';
import {NotTried, offered, type CaseScope, type Check} from '../check.js';
import {plainJsonProblem} from '../observations.js';
import {
  checkDeployment,
  eventually,
  everything,
  fromJson,
  otherTarget,
  pushToTarget,
  waitUntilFinished,
  deployInOrder,
  listBundles,
  listDeployments,
  listTargets,
  uploadInOrder,
} from '../steps.js';
import {assertDigestTold, type Subject} from '../subject.js';

/** Cases for the capability `list`. */
export const listChecks: readonly Check[] = [
  {
    name: 'list: a digest matches the archive',
    async run(scope) {
      const subject = await scope.open();
      const bundle = await uploadOne(subject);
      const {items} = await listBundles(subject);
      assertDigestTold(bundle, items[0], 'The list');
    },
  },
  {
    name: 'list: the message is that of the bundle',
    async run(scope) {
      const subject = await scope.open();
      const {message} = await uploadOne(subject);
      const [item] = (await listBundles(subject)).items;
      assert.ok(item?.message === undefined || item.message === message, `It is ${JSON.stringify(item?.message)}.`);
    },
  },
  {
    name: 'list: each project has its own',
    async run(scope) {
      const subject = await scope.open();
      const other = otherProject(scope, subject);
      for (const one of [subject, other]) {
        const bundleIds = await uploadInOrder(one, 1);
        const {items} = await listBundles(one);
        assert.deepEqual(
          idsOf(items),
          bundleIds,
          'The list is not the bundles of its project. Use context.projectSlug, in a stand-in for the service, too.',
        );
      }
    },
  },
  {
    name: 'list: metadata is plain JSON, and stays the same',
    async run(scope) {
      const subject = await scope.open();
      await uploadOne(subject);
      const [first] = (await listBundles(subject)).items;
      assert.equal(plainJsonProblem(first?.metadata, 'metadata'), undefined);
      const [again] = (await listBundles(scope.reopen(subject))).items;
      assert.deepEqual(again?.metadata, first?.metadata, 'The metadata of a bundle changed between two lists.');
    },
  },
  {
    name: 'list: the newest bundle comes first',
    async run(scope) {
      const subject = await scope.open();
      const newestFirst = await uploadInOrder(subject, 3);
      const {items} = await listBundles(subject);
      assert.deepEqual(idsOf(items), newestFirst, 'The list is not the uploaded bundles, newest first.');
    },
  },
  {
    name: 'list: the total is that of all pages',
    async run(scope) {
      const subject = await scope.open();
      await uploadInOrder(subject, 2);
      await assertTotals((range) => listBundles(subject, range));
    },
  },
  {
    name: 'list: createdAt is when the bundle was uploaded',
    async run(scope) {
      const subject = await scope.open();
      await uploadInOrder(subject, 2);
      await assertTimes(subject, 'uploaded', () => listBundles(subject));
    },
  },
  {
    name: 'list: an uploaded bundle becomes ready',
    async run(scope) {
      const subject = await scope.open();
      await subject.upload(await subject.makeBundle());
      let status: string | undefined;
      const isReady = await eventually(subject, async () => {
        status = (await listBundles(subject)).items[0]?.status;
        return status === 'ready' || status === 'unknown';
      });
      assert.ok(
        isReady,
        `The bundle was still "${String(status)}" when the time was up. Only "ready" can be deployed.`,
      );
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

/** Cases for backends that have both `list` and `deploy`. */
export const listDeployedChecks: readonly Check[] = [
  {
    name: 'list: inUseBy names the targets that run the bundle',
    async run(scope) {
      const subject = await scope.open();
      const [newer, older] = await uploadInOrder(subject, 2);
      assert.ok(newer !== undefined && older !== undefined);
      for (const bundleId of [older, newer]) {
        await deployInOrder(subject, [bundleId]);
        const {items} = await listBundles(subject);
        // inUseBy is optional.
        for (const {bundleId: id, inUseBy} of items.filter((item) => item.inUseBy !== undefined)) {
          const expected = id === bundleId ? [subject.targetSlug] : [];
          assert.deepEqual(
            inUseBy,
            expected,
            `The target "${subject.targetSlug}" runs bundle ${String(bundleId)}, but the inUseBy of bundle ` +
              `${String(id)} is ${JSON.stringify(inUseBy)}.`,
          );
        }
      }
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
      const {items} = await listDeployments(subject);
      assert.deepEqual(idsOf(items), [newer, older], 'The history is not the deployments, newest first.');
      for (const {deployment} of items) assert.equal(plainJsonProblem(deployment, 'deployment'), undefined);
    },
  },
  {
    name: 'history: the total is that of all pages',
    async run(scope) {
      const subject = await scope.open();
      await deployTwo(subject);
      await assertTotals((range) => listDeployments(subject, range));
    },
  },
  {
    name: 'history: createdAt is when the bundle was deployed',
    async run(scope) {
      const subject = await scope.open();
      await deployTwo(subject);
      await assertTimes(subject, 'deployed', () => listDeployments(subject));
    },
  },
  {
    name: 'history: a deployment that is done is listed as finished',
    async run(scope) {
      const subject = await scope.open();
      await deployTwo(subject);
      let statuses: readonly string[] = [];
      const areFinished = await eventually(subject, async () => {
        statuses = (await listDeployments(subject)).items.map(({status}) => status);
        return statuses.every((status) => status === 'finished' || status === 'unknown');
      });
      assert.ok(areFinished, `The history lists deployments that are done as ${statuses.join(', ')}.`);
    },
  },
  {
    name: 'history: a deployment that failed is not listed as finished',
    async run(scope) {
      const subject = await scope.open();
      await offered(subject.service, 'failDeployments')();
      const {deployment} = await pushToTarget(subject);
      const {getDeployment} = subject.backend;
      const hasFailed = async () => (await checkDeployment(subject, deployment)).status === 'failed';
      if (getDeployment) await eventually(subject, hasFailed);
      await subject.nextInstant();
      const [item] = (await listDeployments(subject)).items;
      assert.notEqual(item?.status, 'finished', 'A rollback would go back to it.');
    },
  },
  {
    name: 'history: each project has its own',
    async run(scope) {
      const subject = await scope.open();
      const other = otherProject(scope, subject);
      const [bundleId] = await uploadInOrder(subject, 1);
      assert.ok(bundleId !== undefined);
      await deployInOrder(subject, [bundleId]);
      // There may be no history of a target yet.
      const items = await listDeployments(other).then(
        (list) => list.items,
        () => [],
      );
      assert.deepEqual(items, [], 'The history lists the deployments of another project. Use context.projectSlug.');
    },
  },
  {
    name: 'history: an earlier bundle can be deployed again',
    async run(scope) {
      const subject = await scope.open();
      await deployTwo(subject);
      const earlier = (await listDeployments(subject)).items[1]?.bundleId;
      if (earlier === undefined) throw new NotTried('The history does not report which bundles were deployed.');
      await deployInOrder(subject, [earlier]).catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        assert.fail(`A rollback deploys a bundle of the history, but bundle ${String(earlier)} was refused: ${reason}`);
      });
    },
  },
  {
    name: 'history: each target has its own',
    async run(scope) {
      const subject = await scope.open();
      const [newer, older] = await uploadInOrder(subject, 2);
      assert.ok(newer !== undefined && older !== undefined);
      const targets = [
        {targetSlug: subject.targetSlug, bundleId: older},
        {targetSlug: otherTarget(subject), bundleId: newer},
      ];
      for (const {targetSlug, bundleId} of targets) await deployInOrder(subject, [bundleId], {targetSlug});
      for (const {targetSlug, bundleId} of targets) {
        const {items} = await listDeployments(subject, everything, {targetSlug});
        assert.deepEqual(
          idsOf(items),
          [bundleId],
          `Bundle ${String(bundleId)} was deployed to "${targetSlug}", and nothing else was, but its history lists ` +
            `${JSON.stringify(idsOf(items))}. Use the targetSlug of each request.`,
        );
      }
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

/** Cases for backends that have both `history` and `wait`. */
export const historyReferenceChecks: readonly Check[] = [
  {
    name: 'history: its references can be checked',
    async run(scope) {
      const subject = await scope.open();
      await deployTwo(subject);
      const {items} = await listDeployments(subject);
      const other = scope.reopen(subject);
      for (const {deployment} of items) {
        await waitUntilFinished(other, fromJson(deployment)).catch((error: unknown) => {
          const reason = error instanceof Error ? error.message : String(error);
          assert.fail(
            `getDeployment() does not find ${JSON.stringify(deployment)}, a reference from listDeployments(), finished. ` +
              `Return references with everything that getDeployment() needs. It failed with: ${reason}`,
          );
        });
      }
    },
  },
];

/** Cases for the capability `targets`. */
export const targetChecks: readonly Check[] = [
  {
    name: 'targets: each target that was deployed to is listed once, with an http(s) URL or none',
    async run(scope) {
      const subject = await scope.open();
      for (const targetSlug of await useBothTargets(subject)) {
        const found = (await listTargets(subject)).items.filter((item) => item.targetSlug === targetSlug);
        assert.equal(found.length, 1, `The target "${targetSlug}" is listed ${String(found.length)} times.`);
      }
      for (const {targetSlug, url} of (await listTargets(subject)).items) {
        assert.ok(
          url === undefined || shownUrl(url) !== undefined,
          `The URL of the target "${targetSlug}" is no http(s) URL.`,
        );
      }
    },
  },
  {
    name: 'targets: limit and offset select the page, and each has the total of all',
    async run(scope) {
      const subject = await scope.open();
      await useBothTargets(subject);
      await assertPages(async (range) => (await listTargets(subject, range)).items);
      await assertTotals((range) => listTargets(subject, range));
    },
  },
];

/** Cases for backends that have both `targets` and `history`. */
export const targetHistoryChecks: readonly Check[] = [
  {
    name: 'targets: each has a history',
    async run(scope) {
      const subject = await scope.open();
      await useBothTargets(subject);
      for (const {targetSlug} of (await listTargets(subject)).items) {
        await listDeployments(subject, {limit: 1, offset: 0}, {targetSlug}).catch((error: unknown) => {
          const reason = error instanceof Error ? error.message : String(error);
          assert.fail(`The target "${targetSlug}" is listed, but its history cannot be read: ${reason}`);
        });
      }
    },
  },
];

/** Another project of the same service. */
function otherProject(scope: CaseScope, {service, relay, projectSlug}: Subject): Subject {
  if (service.projectSlug === undefined) {
    return scope.reopen({service, relay, projectSlug: `${projectSlug}-2`, states: new Map()});
  }
  throw new NotTried('The service of the fixtures has a projectSlug, so there is no other project.');
}

/** Deploys to both targets. Returns their slugs. */
async function useBothTargets(subject: Subject): Promise<readonly string[]> {
  const slugs = [subject.targetSlug, otherTarget(subject)];
  for (const targetSlug of slugs) {
    const {deployment} = await pushToTarget(subject, {targetSlug});
    if (subject.backend.getDeployment) await waitUntilFinished(subject, deployment);
    await subject.nextInstant();
  }
  return slugs;
}

/** Uploads a bundle, and waits until lists show it. */
async function uploadOne(subject: Subject): Promise<Bundle> {
  const bundle = await subject.makeBundle();
  await subject.upload(bundle);
  await subject.nextInstant();
  return bundle;
}

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

/** Asserts that each page reports the same total, that of the whole list. */
async function assertTotals(list: (range: ListRange) => Promise<ListResult<unknown>>): Promise<void> {
  const count = (await list(everything)).items.length;
  for (const range of [everything, {limit: 1, offset: 0}, {limit: 1, offset: count}]) {
    const {total} = await list(range);
    assert.ok(
      total === undefined || total === count,
      `The total at limit ${String(range.limit)}, offset ${String(range.offset)} is ${String(total)}, but the list ` +
        `has ${String(count)} items. Without a total from the service, leave it out.`,
    );
  }
}

const dayMs = 24 * 60 * 60 * 1000;
/** A local time without its zone would be a different time for each reader. */
const isoTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})$/;

/** Asserts that what was created just now has a time of creation that says so, and that stays. */
async function assertTimes(
  subject: Subject,
  done: string,
  list: () => Promise<ListResult<{readonly createdAt?: string | undefined}>>,
): Promise<void> {
  const timesOf = async () => (await list()).items.flatMap(({createdAt}) => createdAt ?? []);
  const times = await timesOf();
  for (const time of times) {
    assert.match(
      time,
      isoTime,
      `createdAt is "${time}". It must be ISO 8601 with a time zone, such as 2026-01-31T12:00:00Z.`,
    );
    const away = Math.abs(Date.parse(time) - Date.now());
    assert.ok(away < dayMs, `createdAt is ${time}, but the bundle was ${done} just now.`);
  }
  await subject.nextInstant();
  assert.deepEqual(await timesOf(), times, `createdAt changes from list to list. It is when the bundle was ${done}.`);
}

/** The bundles that are listed, or were deployed. */
export function idsOf(items: readonly {readonly bundleId?: BundleId | undefined}[]): readonly (BundleId | undefined)[] {
  return items.map(({bundleId}) => bundleId);
}
