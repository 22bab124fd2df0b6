import assert from 'node:assert/strict';
import {shownUrl} from '../../backends/answers.js';
import type {BundleId, ListRange} from '../../backends/contract.js';
import {expectAnswer, expectPlainJson} from '../expectations.js';
import {fromJson, type Case, type ItemOf, type Lister, type RequestOf, type Subject} from '../subject.js';

export const listCases: readonly Case[] = [
  {
    name: 'list: its pages are the bundles as they were uploaded, newest first',
    needs: ['listBundles'],
    proves:
      'All pages together, of one item each or as large as the service gives them, are the bundles in order. Each total ' +
      'is that of all. The message and a digest are those of the bundle, `createdAt` is ISO 8601 with a time zone, just ' +
      'now, and the same the next time, and `metadata` is plain JSON. The status becomes `ready` or is `unknown`: only ' +
      'that can be deployed.',
    async run(subject) {
      const older = await uploadMany(subject);
      const bundle = await subject.makeBundle();
      const newest = await subject.uploaded(bundle);
      const items = await samePages(subject, 'listBundles', {});
      expectAnswer('the bundles in the list, newest first', idsOf(items), [newest, ...older]);
      const {message, sha256} = bundle;
      const listed = {message: items[0]?.message ?? message, sha256: items[0]?.sha256 ?? sha256};
      expectAnswer('the newest bundle in the list', listed, {message, sha256});
      for (const {metadata = {}} of items) expectPlainJson('metadata', metadata);
      await subject.becomes('the newest bundle in the list', ['ready', 'unknown'], async () => {
        return (await subject.list('listBundles', {}))[0]?.status;
      });
    },
  },
  {
    name: 'history: its pages are the deployments, newest first',
    needs: ['listDeployments'],
    proves:
      'All pages together are the deployments in order, with references in plain JSON, and `createdAt` is ISO 8601 ' +
      'with a time zone, just now, and the same the next time. Each total is that of all. The status of what is done ' +
      'becomes `finished` or is `unknown`. Deployments to another target are not listed.',
    async run(subject) {
      const {otherTarget} = subject;
      const {bundleId} = await subject.pushed({targetSlug: otherTarget});
      const newestFirst = await deployMany(subject);
      const items = await samePages(subject, 'listDeployments', {targetSlug: subject.targetSlug});
      expectAnswer('the bundles in the history, newest deployment first', idsOf(items), newestFirst);
      for (const {deployment} of items) expectPlainJson('deployment', deployment);
      expectAnswer(`the history of "${otherTarget}"`, idsOf(await subject.history(otherTarget)), [bundleId]);
      await subject.becomes('the newest deployment in the history', ['finished', 'unknown'], async () => {
        return (await subject.history())[0]?.status;
      });
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

export function idsOf(items: readonly {readonly bundleId?: BundleId | undefined}[]): readonly (BundleId | undefined)[] {
  return items.map(({bundleId}) => bundleId);
}

/** Uploads more bundles than some services list at a time. Returns them, newest first. */
async function uploadMany(subject: Subject): Promise<readonly BundleId[]> {
  const ids: BundleId[] = [];
  while (ids.length < 6) ids.unshift(await subject.uploaded());
  return ids;
}

/** Deploys many bundles, the last upload first if it can. Returns the bundles, newest deployment first. */
async function deployMany(subject: Subject): Promise<readonly BundleId[]> {
  if (subject.backend.deploy) {
    const uploaded = await uploadMany(subject);
    for (const bundleId of uploaded) await subject.deploy(bundleId);
    return uploaded.toReversed();
  }
  const deployed: BundleId[] = [];
  while (deployed.length < 6) deployed.unshift((await subject.pushed()).bundleId);
  return deployed;
}

/** Clocks differ by less than the zones of the world do. */
const clockMs = 10 * 60 * 1000;

/** Asserts that a list is the same in pages of one item, and that what has a time of creation was created just now. */
async function samePages<Name extends Lister>(
  subject: Subject,
  name: Name,
  request: Omit<RequestOf<Name>, keyof ListRange>,
): Promise<readonly ItemOf<Name>[]> {
  const items = await subject.list(name, request);
  await subject.nextInstant();
  const single = await subject.again().list(name, request, 1);
  expectAnswer('the list in pages of one item', single, items, 'Follow the limit and the cursor.');
  for (const {createdAt} of items as readonly {readonly createdAt?: string}[]) {
    if (createdAt === undefined) continue;
    const isZoned = /T.*(?:Z|[+-]\d{2}:?\d{2})$/.test(createdAt);
    const expected = 'Expected createdAt to be just now, like 2026-01-31T12:00:00Z.';
    const isNow = isZoned && Math.abs(Date.parse(createdAt) - Date.now()) < clockMs;
    assert.ok(isNow, `${expected} The backend answered ${createdAt}.`);
  }
  return items;
}
