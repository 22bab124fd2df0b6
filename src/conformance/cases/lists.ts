import assert from 'node:assert/strict';
import {inspect} from 'node:util';
import {shownUrl} from '../../backends/answers.js';
import type {BundleId, ListRange, ListResult} from '../../backends/contract.js';
import {plainJsonProblem} from '../observations.js';
import {notTried, offered, type Case} from '../scope.js';
import {fromJson, type RequestOf, type Subject} from '../subject.js';
import {historyIfAny, idsOf} from './deployments.js';

/** More than some services return at a time. */
const manyItems = 6;

/** Cases for the capability `list`. */
export const listCases: readonly Case[] = [
  {
    name: 'list: a bundle is listed as it was uploaded',
    needs: ['listBundles'],
    proves:
      'The message and a digest are those of the bundle, `createdAt` is ISO 8601 with a time zone and just now, ' +
      '`metadata` is plain JSON, and all of it is the same the next time.',
    async run(scope) {
      const subject = await scope.open();
      const {message, sha256} = await uploadOne(subject);
      const [item] = await subject.list('listBundles', {});
      assert.ok(item, 'The uploaded bundle is not listed.');
      assert.equal(item.message ?? message, message, 'The message in the list is not that of the bundle.');
      assert.equal(item.sha256 ?? sha256, sha256, "The list reports a sha256 that is not the archive's.");
      assert.equal(plainJsonProblem(item.metadata, 'metadata'), undefined);
      assertIsNow(item.createdAt, 'uploaded');
      await subject.nextInstant();
      const [again] = await scope.reopen(subject).list('listBundles', {});
      const facts = [item.createdAt, item.metadata];
      assert.deepEqual([again?.createdAt, again?.metadata], facts, 'What a list says of a bundle changes each time.');
    },
  },
  {
    name: 'list: an uploaded bundle becomes ready',
    needs: ['listBundles'],
    proves: 'The status of a bundle becomes `ready` or is `unknown`: only that can be deployed.',
    async run(scope) {
      const subject = await scope.open();
      await uploadOne(subject);
      let status: string | undefined;
      const isReady = await subject.eventually(async () => {
        status = (await subject.list('listBundles', {}))[0]?.status;
        return status === 'ready' || status === 'unknown';
      });
      assert.ok(isReady, `The bundle was still "${String(status)}" when the time was up.`);
    },
  },
  {
    name: 'list: its pages are the bundles, newest first',
    needs: ['listBundles'],
    proves: `All pages together, of one item each or as large as the service gives them, are the bundles in order; ${String(manyItems)} are uploaded. Each total is that of all.`,
    async run(scope) {
      const subject = await scope.open();
      const newestFirst = await subject.uploadInOrder(manyItems);
      await assertPages(subject, 'listBundles', {}, (items) => {
        const ids = items.map(({bundleId}) => bundleId);
        assert.deepEqual(ids, newestFirst, 'The list is not the uploaded bundles, newest first.');
      });
    },
  },
  {
    name: 'list: each project has its own',
    needs: ['listBundles'],
    proves: 'The bundles of another project are not listed.',
    async run(scope) {
      const subject = await scope.open();
      for (const one of [subject, scope.reopenElsewhere(subject)]) {
        const bundleIds = await one.uploadInOrder(1);
        const ids = (await one.list('listBundles', {})).map(({bundleId}) => bundleId);
        const advice = 'Use context.projectSlug, in a stand-in for the service, too.';
        assert.deepEqual(ids, bundleIds, `The list is not the bundles of its project. ${advice}`);
      }
    },
  },
  {
    name: 'list: inUseBy names the targets that run the bundle',
    needs: ['listBundles', 'deploy'],
    proves: 'If a list says which targets run a bundle, it is the one that was deployed last, and no other.',
    async run(scope) {
      const subject = await scope.open();
      const [newer, older] = await subject.uploadInOrder(2);
      assert.ok(newer !== undefined && older !== undefined);
      for (const running of [older, newer]) {
        await subject.deploy(running);
        for (const {bundleId, inUseBy} of await subject.list('listBundles', {})) {
          const expected = bundleId === running ? [subject.targetSlug] : [];
          const what = `"${subject.targetSlug}" runs bundle ${inspect(running)}, not ${inspect(bundleId)}.`;
          assert.deepEqual(inUseBy ?? expected, expected, `inUseBy is wrong: ${what}`);
        }
      }
    },
  },
];

/** Cases for the capability `history`. */
export const historyCases: readonly Case[] = [
  {
    name: 'history: its pages are the deployments, newest first',
    needs: ['listDeployments'],
    proves:
      'All pages together are the deployments in order, with references in plain JSON, and `createdAt` is ISO 8601 ' +
      'with a time zone, just now, and the same the next time. Each total is that of all.',
    async run(scope) {
      const subject = await scope.open();
      const newestFirst = await deployMany(subject);
      await assertPages(subject, 'listDeployments', {targetSlug: subject.targetSlug}, (items) => {
        assert.deepEqual(idsOf(items), newestFirst, 'The history is not the deployments, newest first.');
        for (const {deployment, createdAt} of items) {
          assert.equal(plainJsonProblem(deployment, 'deployment'), undefined);
          assertIsNow(createdAt, 'deployed');
        }
      });
    },
  },
  {
    name: 'history: a deployment that is done is listed as finished',
    needs: ['listDeployments'],
    proves: 'The status of each deployment becomes `finished` or is `unknown`.',
    async run(scope) {
      const subject = await scope.open();
      await subject.pushed();
      let statuses: readonly string[] = [];
      const areFinished = await subject.eventually(async () => {
        statuses = (await subject.history()).map(({status}) => status);
        return statuses.every((status) => status === 'finished' || status === 'unknown');
      });
      assert.ok(areFinished, `The history lists deployments that are done as ${statuses.join(', ')}.`);
    },
  },
  {
    name: 'history: a deployment that failed is not listed as finished',
    needs: ['listDeployments'],
    proves: 'A deployment that failed is not `finished`: a rollback would go back to it.',
    async run(scope) {
      const subject = await scope.open();
      await offered(subject.service, 'failDeployments')();
      const {deployment} = await subject.push();
      const hasFailed = async () => (await subject.call('getDeployment', deployment)).status === 'failed';
      if (subject.backend.getDeployment) await subject.eventually(hasFailed);
      await subject.nextInstant();
      assert.notEqual((await subject.history())[0]?.status, 'finished', 'A rollback would go back to it.');
    },
  },
  {
    name: 'history: each project and each target has its own',
    needs: ['listDeployments'],
    proves: 'Deployments to another target, or in another project, are not listed.',
    async run(scope) {
      const subject = await scope.open();
      const {targetSlug, otherTarget} = subject;
      const deployed = new Map<string, BundleId>();
      for (const target of [targetSlug, otherTarget]) {
        deployed.set(target, (await subject.pushed({targetSlug: target})).bundleId);
      }
      for (const [target, bundleId] of deployed) {
        const advice = 'Use the targetSlug of each request.';
        assert.deepEqual(idsOf(await subject.history(target)), [bundleId], `The history mixes targets. ${advice}`);
      }
      if (subject.service.projectSlug !== undefined) return;
      const elsewhere = await historyIfAny(scope.reopenElsewhere(subject));
      assert.deepEqual(elsewhere, [], 'The history lists deployments of another project. Use context.projectSlug.');
    },
  },
  {
    name: 'history: an earlier bundle can be deployed again',
    needs: ['listDeployments', 'deploy'],
    proves: '`deploy` accepts the bundles of the history, as a rollback does.',
    async run(scope) {
      const subject = await scope.open();
      await subject.pushed();
      await subject.pushed();
      const {bundleId = notTried('The history does not report which bundles were deployed.')} =
        (await subject.history())[1] ?? {};
      await subject.deploy(bundleId).catch((error: unknown) => {
        assert.fail(`Bundle ${String(bundleId)} of the history cannot be deployed again: ${String(error)}`);
      });
    },
  },
  {
    name: 'history: its references can be checked',
    needs: ['listDeployments', 'getDeployment'],
    proves: '`getDeployment` accepts the references of the history.',
    async run(scope) {
      const subject = await scope.open();
      await subject.pushed();
      await subject.pushed();
      for (const {deployment} of await subject.history()) {
        await scope
          .reopen(subject)
          .finished(fromJson(deployment))
          .catch((error: unknown) => {
            const what = `getDeployment() does not find ${JSON.stringify(deployment)} of the history finished`;
            assert.fail(`${what}. Return references with everything that it needs. It failed with: ${String(error)}`);
          });
      }
    },
  },
];

/** Cases for the capability `targets`. */
export const targetCases: readonly Case[] = [
  {
    name: 'targets: each target that was deployed to is listed once',
    needs: ['listTargets'],
    proves: 'All pages together list each target once, with an http(s) URL or none. Each total is that of all.',
    async run(scope) {
      const subject = await scope.open();
      const {targetSlug, otherTarget} = subject;
      for (const target of [targetSlug, otherTarget]) await subject.pushed({targetSlug: target});
      await assertPages(subject, 'listTargets', {}, (items) => {
        for (const slug of [targetSlug, otherTarget]) {
          const {length} = items.filter((item) => item.targetSlug === slug);
          assert.equal(length, 1, `The target "${slug}" is listed ${String(length)} times.`);
        }
        const wrong = items.find(({url}) => url !== undefined && shownUrl(url) === undefined);
        assert.equal(wrong, undefined, `The URL of the target "${String(wrong?.targetSlug)}" is no http(s) URL.`);
      });
    },
  },
  {
    name: 'targets: each has a history',
    needs: ['listTargets', 'listDeployments'],
    proves: '`listDeployments` accepts each target that is listed.',
    async run(scope) {
      const subject = await scope.open();
      await subject.pushed();
      for (const {targetSlug} of await subject.list('listTargets', {})) {
        await subject.history(targetSlug).catch((error: unknown) => {
          assert.fail(`The target "${targetSlug}" is listed, but its history cannot be read: ${String(error)}`);
        });
      }
    },
  },
];

/** Uploads a bundle, and waits until lists show it. */
async function uploadOne(subject: Subject) {
  const bundle = await subject.makeBundle();
  await subject.upload(bundle);
  await subject.nextInstant();
  return bundle;
}

/** Deploys many bundles, the last upload first. Returns the bundles, newest deployment first. */
async function deployMany(subject: Subject): Promise<readonly BundleId[]> {
  const deployed: BundleId[] = [];
  if (!subject.backend.deploy) {
    while (deployed.length < manyItems) deployed.unshift((await subject.pushed()).bundleId);
    return deployed;
  }
  for (const bundleId of await subject.uploadInOrder(manyItems)) {
    await subject.deploy(bundleId);
    deployed.unshift(bundleId);
  }
  return deployed;
}

type Lister = 'listBundles' | 'listDeployments' | 'listTargets';
type Page<Name extends Lister> = Awaited<ReturnType<typeof Subject.prototype.pages<Name>>>;

/** Asserts that a list is the same however it is read, and as `assertItems` says, and that its totals are right. */
async function assertPages<Name extends Lister>(
  subject: Subject,
  name: Name,
  request: Omit<RequestOf<Name>, keyof ListRange>,
  assertItems: (items: Page<Name>['items']) => void,
): Promise<void> {
  const whole = await subject.pages(name, request);
  assertItems(whole.items);
  await subject.nextInstant();
  const single = await subject.pages(name, request, 1);
  assert.deepEqual(single.items, whole.items, 'Pages of one item are another list. Follow the limit and the cursor.');
  const count = whole.items.length;
  const totals = [...whole.pages, ...single.pages].map(({total = count}: ListResult<unknown>) => total);
  const wrong = totals.find((total) => total !== count);
  assert.equal(wrong, undefined, `The total of a page is ${String(wrong)}, but the list has ${String(count)} items.`);
}

/** A local time without its zone would be a different time for each reader. */
const isoTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})$/;
/** Clocks differ by less than the zones of the world do. */
const clockMs = 10 * 60 * 1000;

/** Asserts that a time of creation, if there is one, says that it was just now. */
function assertIsNow(time: string | undefined, done: string): void {
  if (time === undefined) return;
  assert.match(time, isoTime, `createdAt must be ISO 8601 with a time zone, such as 2026-01-31T12:00:00Z: ${time}`);
  const away = Math.abs(Date.parse(time) - Date.now());
  assert.ok(away < clockMs, `createdAt is ${time}, but it was ${done} just now.`);
}
