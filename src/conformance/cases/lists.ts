import assert from 'node:assert/strict';
import {shownUrl} from '../../backends/answers.js';
import type {BundleId, ListRange} from '../../backends/contract.js';
import {expectAnswer, expectPlainJson} from '../expectations.js';
import {fromJson, notOffered, type Case, type ItemOf, type Lister, type RequestOf, type Subject} from '../subject.js';

/** More than some services return at a time. */
const manyItems = 6;

export const listCases: readonly Case[] = [
  {
    name: 'list: a bundle is listed as it was uploaded',
    needs: ['listBundles'],
    proves:
      'The message and a digest are those of the bundle, `createdAt` is ISO 8601 with a time zone and just now, ' +
      '`metadata` is plain JSON, and all of it is the same the next time. Its status becomes `ready` or is `unknown`: ' +
      'only that can be deployed.',
    async run(subject) {
      const bundle = await subject.makeBundle();
      const {message, sha256} = bundle;
      await subject.uploaded(bundle);
      const [item] = await subject.list('listBundles', {});
      assert.ok(item, 'The uploaded bundle is not listed.');
      const own = {message: item.message ?? message, sha256: item.sha256 ?? sha256};
      expectAnswer('the bundle in the list', own, {message, sha256});
      expectPlainJson('metadata', item.metadata ?? {});
      assertIsNow(item.createdAt);
      await subject.nextInstant();
      const [again] = await subject.again().list('listBundles', {});
      const facts = [item.createdAt, item.metadata];
      expectAnswer('createdAt and metadata of the bundle', [again?.createdAt, again?.metadata], facts);
      await subject.becomes('the bundle in the list', ['ready', 'unknown'], async () => {
        return (await subject.list('listBundles', {}))[0]?.status;
      });
    },
  },
  {
    name: 'list: its pages are the bundles, newest first',
    needs: ['listBundles'],
    proves:
      'All pages together, of one item each or as large as the service gives them, are the bundles in order; ' +
      `${manyItems} are uploaded. Each total is that of all.`,
    async run(subject) {
      const newestFirst = await uploadMany(subject);
      const items = await samePages(subject, 'listBundles', {});
      expectAnswer('the bundles in the list, newest first', idsOf(items), newestFirst);
    },
  },
  {
    name: 'list: each project has its own',
    needs: ['listBundles'],
    proves: 'The bundles of another project are not listed.',
    async run(subject) {
      for (const one of [subject, subject.elsewhere()]) {
        const bundleId = await one.uploaded();
        const ids = idsOf(await one.list('listBundles', {}));
        const advice = 'Use context.projectSlug, in a stand-in for the service, too.';
        expectAnswer('the bundles in the list of a project', ids, [bundleId], advice);
      }
    },
  },
  {
    name: 'list: inUseBy names the targets that run the bundle',
    needs: ['listBundles', 'deploy'],
    proves: 'If a list says which targets run a bundle, it is the one that was deployed last, and no other.',
    async run(subject) {
      const [older, newer] = [await subject.uploaded(), await subject.uploaded()];
      for (const running of [older, newer]) {
        await subject.deploy(running);
        const items = await subject.list('listBundles', {});
        const found = items.map(({bundleId, inUseBy}) => ({bundleId, inUseBy}));
        const expected = found.map(({bundleId, inUseBy}) => {
          return {bundleId, inUseBy: inUseBy && (bundleId === running ? [subject.targetSlug] : [])};
        });
        expectAnswer('inUseBy of the bundles', found, expected);
      }
    },
  },
  {
    name: 'history: its pages are the deployments, newest first',
    needs: ['listDeployments'],
    proves:
      'All pages together are the deployments in order, with references in plain JSON, and `createdAt` is ISO 8601 ' +
      'with a time zone, just now, and the same the next time. Each total is that of all. The status of what is done ' +
      'becomes `finished` or is `unknown`.',
    async run(subject) {
      const newestFirst = await deployMany(subject);
      const items = await samePages(subject, 'listDeployments', {targetSlug: subject.targetSlug});
      expectAnswer('the bundles in the history, newest deployment first', idsOf(items), newestFirst);
      for (const {deployment, createdAt} of items) {
        expectPlainJson('deployment', deployment);
        assertIsNow(createdAt);
      }
      await subject.becomes('the newest deployment in the history', ['finished', 'unknown'], async () => {
        return (await subject.history())[0]?.status;
      });
    },
  },
  {
    name: 'history: a deployment that failed is not listed as finished',
    needs: ['listDeployments'],
    proves: 'A deployment that failed is not `finished`: a rollback would go back to it.',
    async run(subject) {
      const {failDeployments = notOffered('failDeployments')} = subject.service;
      await failDeployments();
      const {deployment} = await subject.push();
      if (subject.backend.getDeployment) await subject.endOf(deployment);
      await subject.nextInstant();
      const status = (await subject.history())[0]?.status;
      assert.notEqual(status, 'finished', 'A deployment that failed is listed as finished. A rollback would use it.');
    },
  },
  {
    name: 'history: each project and each target has its own',
    needs: ['listDeployments'],
    proves: 'Deployments to another target, or in another project, are not listed.',
    async run(subject) {
      const {targetSlug: own, otherTarget: other} = subject;
      const first = await subject.pushed({targetSlug: own});
      const second = await subject.pushed({targetSlug: other});
      for (const [target, {bundleId}] of [[own, first] as const, [other, second] as const]) {
        const advice = 'Use the targetSlug of each request.';
        expectAnswer(`the history of "${target}"`, idsOf(await subject.history(target)), [bundleId], advice);
      }
      if (subject.service.projectSlug !== undefined) return;
      const advice = 'Use context.projectSlug.';
      expectAnswer('the history of another project', await subject.elsewhere().historyIfAny(), [], advice);
    },
  },
  {
    name: 'history: what it lists can be checked and deployed again',
    needs: ['listDeployments'],
    proves: '`getDeployment` accepts the references of the history, and `deploy` its bundles, as a rollback does.',
    async run(subject) {
      await subject.pushed();
      await subject.pushed();
      const items = await subject.history();
      for (const {deployment} of items) await subject.again().finished({deployment: fromJson(deployment)});
      const earlier = items[1]?.bundleId;
      if (subject.backend.deploy && earlier !== undefined) await subject.deploy(earlier);
    },
  },
  {
    name: 'targets: each target that was deployed to is listed once',
    needs: ['listTargets'],
    proves:
      'All pages together list each target once, with an http(s) URL or none. Each total is that of all. ' +
      '`listDeployments` accepts each target that is listed.',
    async run(subject) {
      const deployedTo = [subject.targetSlug, subject.otherTarget];
      for (const targetSlug of deployedTo) await subject.pushed({targetSlug});
      const items = await samePages(subject, 'listTargets', {});
      const slugs = items.map(({targetSlug}) => targetSlug).filter((slug) => deployedTo.includes(slug));
      expectAnswer('the targets that were deployed to', slugs.toSorted(), deployedTo.toSorted());
      const wrong = items.filter(({url}) => url !== undefined && shownUrl(url) === undefined);
      expectAnswer('the targets whose URL is no http(s) URL', wrong, []);
      for (const {targetSlug} of subject.backend.listDeployments ? items : []) await subject.history(targetSlug);
    },
  },
];

function idsOf(items: readonly {readonly bundleId?: BundleId | undefined}[]): readonly (BundleId | undefined)[] {
  return items.map(({bundleId}) => bundleId);
}

async function uploadMany(subject: Subject): Promise<readonly BundleId[]> {
  const ids: BundleId[] = [];
  while (ids.length < manyItems) ids.unshift(await subject.uploaded());
  return ids;
}

/** Deploys many bundles, the last upload first. Returns the bundles, newest deployment first. */
async function deployMany(subject: Subject): Promise<readonly BundleId[]> {
  const deployed: BundleId[] = [];
  if (!subject.backend.deploy) {
    while (deployed.length < manyItems) deployed.unshift((await subject.pushed()).bundleId);
    return deployed;
  }
  const uploaded = await uploadMany(subject);
  for (const bundleId of uploaded) await subject.deploy(bundleId);
  return uploaded.toReversed();
}

/** Asserts that a list is the same in pages of one item. Returns its items. */
async function samePages<Name extends Lister>(
  subject: Subject,
  name: Name,
  request: Omit<RequestOf<Name>, keyof ListRange>,
): Promise<readonly ItemOf<Name>[]> {
  const items = await subject.list(name, request);
  await subject.nextInstant();
  const single = await subject.list(name, request, 1);
  expectAnswer('the list in pages of one item', single, items, 'Follow the limit and the cursor.');
  return items;
}

/** Clocks differ by less than the zones of the world do. */
const clockMs = 10 * 60 * 1000;

/** Asserts that a time of creation, if there is one, says that it was just now, with its zone. */
function assertIsNow(time: string | undefined): void {
  if (time === undefined) return;
  const isNow = /T.*(?:Z|[+-]\d{2}:?\d{2})$/.test(time) && Math.abs(Date.parse(time) - Date.now()) < clockMs;
  const expected = 'Expected createdAt to be just now, like 2026-01-31T12:00:00Z.';
  assert.ok(isNow, `${expected} The backend answered ${time}.`);
}
