import assert from 'node:assert/strict';
import {shownUrl} from '../../backends/answers.js';
import type {BundleId, ListRange, ListResult} from '../../backends/contract.js';
import {backendMembers, type RequestOf} from '../../backends/members.js';
import {expectAnswer, outcomeOf, shown} from '../expectations.js';
import {idsOf, type Case, type MemberCases, type ItemOf, type Lister, type Subject} from '../subject.js';

const growingBundles: GrowingList<'listBundles'> = {
  what: 'bundle',
  name: 'listBundles',
  // Packing one takes as long as ten requests.
  count: 60,
  add: async (subject) => subject.uploaded(await subject.makeBundle({contentBytes: 1})),
  remove: async (subject, {bundleId}) => subject.backend.deleteBundle && subject.call('deleteBundle', {bundleId}),
  list: () => ({}),
  idOf: ({bundleId}) => bundleId,
};

const growingHistory: GrowingList<'listDeployments'> = {
  what: 'deployment',
  name: 'listDeployments',
  needs: ['deploy'],
  async add(subject, added) {
    // Of many deployments, some are of the same bundle.
    const bundleId = added.at(-9) ?? (await subject.upload(await subject.makeBundle({contentBytes: 1})));
    await subject.deployed(bundleId as BundleId);
    return bundleId;
  },
  list: ({targetSlug}) => ({targetSlug}),
  idOf: ({bundleId}) => bundleId,
};

const growingTargets: GrowingList<'listTargets'> = {
  what: 'target',
  name: 'listTargets',
  needs: ['createTarget'],
  async add(subject, {length}) {
    // The last one is the first of those in alphabetical order.
    const name = `conformance-${999 - length}`;
    const {targetSlug} = await subject.call('createTarget', {targetSlug: name, name});
    // Of many, each look takes long.
    if (length < 4) await subject.ready(targetSlug, {isNew: true});
    return targetSlug;
  },
  list: () => ({}),
  idOf: ({targetSlug}) => targetSlug,
};

export const listCases = {
  listBundles: [
    {
      name: 'list: its pages are the bundles as they were uploaded, newest first',
      proves:
        'Pages of any size add up to all bundles in order, and a total counts them all. The digest and a message of ' +
        '2,048 characters are right, `createdAt` is just now, in ISO 8601 with a time zone, and the status becomes ' +
        '`ready` or is `unknown`.',
      async run(subject) {
        const older = await uploadMany(subject);
        const bundle = await subject.makeBundle({message: longestMessage});
        const newest = {bundleId: await subject.uploaded(bundle), message: longestMessage};
        const items = await samePages(subject, 'listBundles', {});
        expectListed('the list', items, [newest, ...older]);
        expectAnswer('the digest of the newest bundle', items[0]?.sha256 ?? bundle.sha256, bundle.sha256);
        const status = async () => (await subject.bundles())[0]?.status;
        await subject.becomes('the newest bundle in the list', ['ready', 'unknown'], status);
      },
    },
    steadyCase(growingBundles),
    longCase(growingBundles),
  ],
  listDeployments: [
    {
      name: 'history: its pages are the deployments, newest first',
      needs: ['deploy'],
      proves:
        'Pages are the deployments to the target in order, as for bundles. If messages are listed, each is that of ' +
        'the bundle. The status becomes `finished` or is `unknown`. `getDeployment` accepts the listed references, and ' +
        '`deploy` the listed bundles, which rollbacks need.',
      async run(subject) {
        const {otherTarget} = subject;
        const {bundleId} = await subject.deployed(undefined, otherTarget);
        const uploads = await uploadMany(subject);
        for (const one of uploads) await subject.deployed(one.bundleId);
        const items = await samePages(subject, 'listDeployments', {targetSlug: subject.targetSlug});
        expectListed('the history', items, uploads.toReversed());
        expectAnswer(`the history of "${otherTarget}"`, idsOf(await subject.history(otherTarget)), [bundleId]);
        const status = async () => (await subject.history())[0]?.status;
        await subject.becomes('the newest deployment in the history', ['finished', 'unknown'], status);
        for (const {deployment} of items.slice(0, 2)) await subject.finished({deployment});
        const earlier = items[1]?.bundleId;
        if (earlier !== undefined) await subject.deployed(earlier);
      },
    },
    steadyCase(growingHistory),
    longCase(growingHistory),
  ],
  listTargets: [
    {
      name: 'targets: each target that was deployed to is listed once',
      needs: ['deploy'],
      proves:
        'Its URL is http(s), or there is none, and `listDeployments` accepts each target that is listed. A target ' +
        'with the setting `production` is listed with `production: true`.',
      async run(subject) {
        const deployedTo = [subject.targetSlug, subject.otherTarget];
        for (const targetSlug of deployedTo) await subject.deployed(undefined, targetSlug);
        const items = await samePages(subject, 'listTargets', {});
        const slugs = items.map(({targetSlug}) => targetSlug).filter((slug) => deployedTo.includes(slug));
        expectAnswer('the targets that were deployed to', slugs.toSorted(), deployedTo.toSorted());
        const wrong = items.filter(({url}) => url !== undefined && shownUrl(url) === undefined);
        expectAnswer('the targets whose URL is no http(s) URL', wrong, []);
        for (const {targetSlug} of items) await subject.history(targetSlug);
        const {readTarget, updateTarget} = subject.backend;
        const [targetSlug = ''] = slugs;
        const {unsupported = []} = readTarget ? await subject.call('readTarget', {targetSlug}) : {};
        if (!updateTarget || unsupported.includes('production')) return;
        await subject.call('updateTarget', {targetSlug, settings: {production: true}});
        await subject.becomes('whether the list says that customers see the target', [true, undefined], async () => {
          return (await subject.list('listTargets', {})).find((one) => one.targetSlug === targetSlug)?.production;
        });
      },
    },
    steadyCase(growingTargets),
    longCase(growingTargets),
  ],
} as const satisfies MemberCases;

/** A list that cases add to. */
export interface GrowingList<Name extends Lister> {
  readonly what: string;
  readonly name: Name;
  readonly needs?: Case['needs'];
  /** How many are made. @default 101, more than the host reads in one page */
  readonly count?: number;
  /** Adds an item or several to those that the case has added, and resolves to what `idOf` returns for them. */
  readonly add: (subject: Subject, added: readonly unknown[]) => Promise<unknown>;
  /** Removes one that was added, if the backend can. */
  readonly remove?: (subject: Subject, item: ItemOf<Name>) => Promise<unknown>;
  readonly list: (place: Pick<Subject, 'targetSlug'>) => Omit<RequestOf<Name>, keyof ListRange>;
  readonly idOf: (item: ItemOf<Name>) => unknown;
  /** Whether a copy of a target has them, too. @default false */
  readonly isCopied?: boolean;
}

/** The case that a list has everything, however long it is, and all others once one is removed. */
export function longCase<Name extends Lister>(row: GrowingList<Name>): Case {
  const {name, what, count = 101, needs, remove} = row;
  return {
    name: `${backendMembers[name].capability}: each of ${count} ${what}s is listed`,
    needs,
    proves:
      `The list does not end early, such as after 50, and has all others after the removal of one. A service that ` +
      `takes fewer ${what}s lists those that it took.` +
      (row.isCopied === true ? ' A copy of the target has them all.' : ''),
    async run(subject) {
      const added: unknown[] = [];
      while (added.length < count) {
        const {result, error} = await outcomeOf(row.add(subject, added));
        if (error) break;
        added.push(...[result].flat());
      }
      const listed = async (place: Pick<Subject, 'targetSlug'> = subject) => {
        const items = await subject.list(name, row.list(place));
        return items.filter((item) => added.includes(row.idOf(item)));
      };
      const all = `how many of ${added.length} ${what}s`;
      await subject.becomes(`${all} are listed`, [added.length], async () => (await listed()).length);
      const {createTarget, copiesTargets} = subject.backend;
      if (row.isCopied && createTarget && copiesTargets !== false) {
        await subject.ready(subject.targetSlug);
        const request = {targetSlug: 'conformance-copy', name: 'conformance-copy', copyFrom: subject.targetSlug};
        const copy = await subject.call('createTarget', request);
        await subject.ready(copy.targetSlug, {isNew: true});
        await subject.becomes(`${all} a copy has`, [added.length], async () => (await listed(copy)).length);
      }
      const first = (await listed()).find((item) => row.idOf(item) === added[0]);
      if (!remove || !first) return;
      await outcomeOf(remove(subject, first));
      const others = (await listed()).filter((item) => row.idOf(item) !== added[0]);
      expectAnswer(`how many others are listed once ${shown(added[0])} is removed`, others.length, added.length - 1);
    },
  };
}

/** The case that a list loses nothing and has nothing twice if it grows or shrinks while its pages are read. */
export function steadyCase<Name extends Lister>(row: GrowingList<Name>): Case {
  const {name, what, needs, remove} = row;
  return {
    name: `${backendMembers[name].capability}: a ${what} that is added while its pages are read moves no other`,
    needs,
    proves:
      'Items from before are listed once, even if the first one is removed meanwhile. With `offsetCursors`, they may be ' +
      'listed twice, and the case removes none.',
    async run(subject) {
      const there: unknown[] = [];
      while (there.length < 3) there.push(...[await row.add(subject, there)].flat());
      const request = row.list(subject);
      const idsIn = (items: readonly ItemOf<Name>[]) => items.map(row.idOf).filter((id) => there.includes(id));
      const order = idsIn(await subject.list(name, request));
      const {offsetCursors} = subject.backend;
      const between = async (pages: readonly ListResult<ItemOf<Name>>[]) => {
        if (pages.length === 1) await row.add(subject, there);
        // The cursor names another one by then.
        const first = pages[0]?.items.find((item) => there.includes(row.idOf(item)));
        if (pages.length === 2 && remove && first && !offsetCursors) await outcomeOf(remove(subject, first));
      };
      const ids = idsIn(await subject.list(name, request, {limit: 1}, between));
      const found = offsetCursors ? [...new Set(ids)] : ids;
      const advice = `Let the cursor name the last ${what} of its page, or set offsetCursors.`;
      expectAnswer(`the ${what}s in the list`, found, order, advice);
    },
  };
}

/** 2,048 characters, as long as messages may be, and no Latin-1, which is all that HTTP headers take. */
const longestMessage = `Conformance: „Größe“ 日本語 🚀. ${'It is longer than a line. '.repeat(100)}`
  .slice(0, 2047)
  .concat('.');

type Listed = Pick<ItemOf<'listDeployments'>, 'bundleId' | 'message'>;

/** Uploads more bundles than some services list at a time, and returns them, newest first. */
async function uploadMany(subject: Subject): Promise<readonly Listed[]> {
  const uploads: Listed[] = [];
  while (uploads.length < 6) {
    const bundle = await subject.makeBundle();
    uploads.unshift({bundleId: await subject.uploaded(bundle), message: bundle.message});
  }
  return uploads;
}

/** Asserts which bundles a list has, each with its message, or none with one. */
function expectListed(what: string, items: readonly Listed[], uploads: readonly Listed[]): void {
  const hasMessages = items.some(({message}) => message !== undefined);
  const facts = (all: readonly Listed[]) => all.map(({bundleId, message}) => [bundleId, hasMessages && message]);
  expectAnswer(`the bundles and messages in ${what}, newest first,`, facts(items), facts(uploads));
}

/** Asserts that a list is the same in pages of one item, and that what has a time of creation was created just now. */
export async function samePages<Name extends Lister>(
  subject: Subject,
  name: Name,
  request: Omit<RequestOf<Name>, keyof ListRange>,
): Promise<readonly ItemOf<Name>[]> {
  const items = await subject.list(name, request);
  await subject.nextInstant();
  const single = await subject.again().list(name, request, {limit: 1});
  const advice = 'Nothing has changed since the list was read in one page: apply the limit and the cursor.';
  expectAnswer('the length of the list in pages of one item', single.length, items.length, advice);
  for (const [index, item] of items.entries()) {
    expectAnswer(`item ${index + 1} of the list in pages of one item`, single[index], item, advice);
  }
  for (const {createdAt} of items as readonly {readonly createdAt?: string}[]) {
    if (createdAt === undefined) continue;
    const isZoned = /^[^T]*T.*(?:Z|[+-]\d{2}:?\d{2})$/.test(createdAt);
    // Clocks differ by minutes at most, and time zones by more.
    const isNow = Math.abs(Date.parse(createdAt) - Date.now()) < 600_000;
    const expected = 'Expected createdAt to be just now, like 2026-01-31T12:00:00Z.';
    assert.ok(isZoned && isNow, `${expected} The backend answered ${createdAt}.`);
  }
  return items;
}
