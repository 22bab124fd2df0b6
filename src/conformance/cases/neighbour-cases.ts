import assert from 'node:assert/strict';
import type {OptionalMember} from '../../backends/members.js';
import {unfitSlugs} from '../../backends/resolve-backend.js';
import {expectAnswer, outcomeOf} from '../expectations.js';
import {sqlText} from './bundle-cases.js';
import {flagIn, idsOf, type Case, type Subject} from '../subject.js';

/** One of two targets that are to have nothing in common. */
export interface Place {
  readonly subject: Subject;
  readonly targetSlug: string;
}

export const encodeSlugs =
  'Encode slugs in URLs, keep them whole and compare all of them, or declare in "slugs" which you take.';

/** Slugs that a service, or a URL or pattern that they are not escaped for, may take for this one or for each other. */
export function slugsLike(slug: string): readonly string[] {
  const patterns = [slug.replace('-', '_'), slug.replace('-', '%'), slug.replace(/-(.*).$/, '*$1[a-z0-9]')];
  const longer = ['?x', '&x', '#x', '%20x', ' x', '-', '.'].map((end) => `${slug}${end}`);
  return [slug.toUpperCase(), sqlText, ...patterns, ...longer, slug.normalize('NFD')].filter((one) => one !== slug);
}

/** What a target has, by the member that shows it. */
export type Seen = Readonly<Record<string, string>>;

/** What the backend shows of a target. What it refuses to show is nothing. */
export async function seenAt({subject, targetSlug}: Place): Promise<Seen> {
  const target = {targetSlug};
  const reads: {readonly [Name in OptionalMember]?: () => Promise<string>} = {
    listTargets: async () =>
      String(
        (await subject.list('listTargets', {})).map((one) => one.targetSlug).filter((slug) => slug === targetSlug),
      ),
    // A change of variables may publish the same bundle again.
    listDeployments: async () => String([...new Set(idsOf(await subject.history(targetSlug)))]),
    listVariables: async () => String((await subject.list('listVariables', target)).map(({name}) => name).toSorted()),
    listRedirects: async () =>
      String((await subject.list('listRedirects', target)).map(({from, to}) => `${from} ${to}`)),
    listAccess: async () => String((await subject.list('listAccess', target)).map(() => 'a header')),
    readTarget: async () => {
      const {settings, unsupported} = await subject.call('readTarget', target);
      const flag = flagIn(unsupported);
      return String((flag && settings[flag]) ?? false);
    },
  };
  const seen: Record<string, string> = {};
  for (const [name, read] of Object.entries(reads)) {
    if (Reflect.get(subject.backend, name) === undefined) continue;
    seen[name] = (await outcomeOf(read())).result ?? '';
  }
  return seen;
}

/** Sets everything that a target can have, and waits until it is shown. `mark`: what tells it from another one. */
export async function fill({subject, targetSlug}: Place, mark: 'OWN' | 'OTHER'): Promise<Seen> {
  const {deploy, setVariables, changeRedirect, changeAccess, updateTarget} = subject.backend;
  const target = {targetSlug};
  // Without createTarget, a first deployment has made it.
  const {listDeployments: earlier = ''} = await seenAt({subject, targetSlug});
  const bundleId = await subject.upload(await subject.makeBundle({contentBytes: 1}));
  if (deploy) await subject.deployed(bundleId, targetSlug);
  const set = {CONFORMANCE: 'a value', [mark]: 'a value'};
  if (setVariables) {
    await subject.call('setVariables', {...target, set, unset: []});
    await subject.ready(targetSlug);
  }
  const redirect = {from: '/conformance', to: `/${mark}`};
  if (changeRedirect) await subject.call('changeRedirect', {...target, change: 'add', redirect});
  if (changeAccess) await subject.call('changeAccess', {...target, add: 'canary-value-of-access'});
  const flag = updateTarget && (await subject.flagOf(targetSlug));
  const isOn = flag !== undefined && mark === 'OTHER';
  if (flag) {
    await subject.call('updateTarget', {...target, settings: {[flag]: isOn}});
    await subject.ready(targetSlug);
  }
  const all = {
    listTargets: targetSlug,
    listDeployments: earlier === '' ? String(bundleId) : `${String(bundleId)},${earlier}`,
    listVariables: setVariables ? `CONFORMANCE,${mark}` : '',
    listRedirects: changeRedirect ? `${redirect.from} ${redirect.to}` : '',
    listAccess: changeAccess ? 'a header' : '',
    readTarget: String(isOn),
  };
  const expected = Object.fromEntries(
    Object.entries(all).filter(([name]) => Reflect.get(subject.backend, name) !== undefined),
  );
  const look = async () => JSON.stringify(await seenAt({subject, targetSlug}));
  await subject.becomes(`what the target "${targetSlug}" has`, [JSON.stringify(expected)], look);
  return expected;
}

/** Removes everything from a target, and then the target, as far as the service lets it. */
async function strip({subject, targetSlug}: Place, other: Place): Promise<void> {
  const {setVariables, listRedirects, changeRedirect, listAccess, changeAccess, updateTarget, deleteTarget} =
    subject.backend;
  if (!(setVariables ?? changeRedirect ?? changeAccess ?? updateTarget ?? deleteTarget)) return;
  const target = {targetSlug};
  const all: readonly Place[] = [{subject, targetSlug}, other];
  if (setVariables) await outcomeOf(subject.call('setVariables', {...target, set: {}, unset: ['CONFORMANCE']}));
  await subject.ready(targetSlug);
  for (const place of all) {
    const where = {targetSlug: place.targetSlug};
    const redirects =
      listRedirects && changeRedirect ? await outcomeOf(place.subject.list('listRedirects', where)) : {};
    for (const redirect of redirects.result ?? []) {
      await outcomeOf(subject.call('changeRedirect', {...target, change: 'remove', redirect}));
    }
    const headers = listAccess && changeAccess ? await outcomeOf(place.subject.list('listAccess', where)) : {};
    for (const {accessId: remove} of headers.result ?? []) {
      await outcomeOf(subject.call('changeAccess', {...target, remove}));
    }
  }
  const flag = updateTarget && (await other.subject.flagOf(other.targetSlug));
  if (flag) await outcomeOf(subject.call('updateTarget', {...target, settings: {[flag]: false}}));
  await subject.ready(targetSlug);
  if (deleteTarget) await outcomeOf(subject.call('deleteTarget', target));
  await subject.nextInstant();
}

/**
 * Asserts that each of some targets has nothing in common with another one, before it is made, while it is there and
 * once it has been deleted.
 * @param make makes one of them, and resolves to whether there is one
 */
export async function assertApart(
  places: readonly Place[],
  other: Place,
  make: (place: Place) => Promise<boolean> = async () => true,
): Promise<void> {
  const before: Seen[] = [];
  for (const place of places) before.push(await seenAt(place));
  const filled = await fill(other, 'OTHER');
  const nameOf = ({subject, targetSlug}: Place) => `"${targetSlug}" of the project "${subject.parts.projectSlug}"`;
  const otherIs = async (after: string) =>
    expectAnswer(`what ${nameOf(other)} has after ${after}`, await seenAt(other), filled, encodeSlugs);
  for (const [index, place] of places.entries()) {
    const name = nameOf(place);
    const seen = await seenAt(place);
    expectAnswer(`what ${name} has after changes of ${nameOf(other)}`, seen, before[index], encodeSlugs);
    await strip(place, other);
    await otherIs(`changes of ${name}, which is not there`);
    if (!(await make(place))) continue;
    await fill(place, 'OWN');
    await otherIs(`changes of ${name}`);
    await strip(place, other);
    await otherIs(`the deletion of ${name}`);
  }
}

/** Makes a target. Resolves to whether the service takes its slug. */
export async function isMade({subject, targetSlug}: Place): Promise<boolean> {
  const {createTarget} = subject.backend;
  const work = createTarget
    ? subject.call('createTarget', {targetSlug, name: targetSlug})
    : subject.deployed(undefined, targetSlug);
  const {error} = await outcomeOf<unknown>(work);
  if (error === undefined) await subject.ready(targetSlug, {isNew: true});
  return error === undefined;
}

/** Makes a target the primary one of its project. Resolves to whether the service has such targets. */
export async function makePrimary({subject, targetSlug}: Place): Promise<boolean> {
  const {readTarget, updateTarget} = subject.backend;
  if (!readTarget || !updateTarget) return false;
  const read = () => subject.call('readTarget', {targetSlug});
  if ((await read()).unsupported?.includes('primary')) return false;
  await subject.call('updateTarget', {targetSlug, settings: {}, primary: true});
  const isPrimary = async () => (await read()).primary;
  await subject.becomes(`whether the target "${targetSlug}" is the primary one`, [true, undefined], isPrimary);
  return true;
}

/** The case of slugs of targets. */
export const neighbourCase: Case = {
  name: 'targets whose slugs differ are different targets',
  needs: ['deploy'],
  proves:
    'As for projects, and if they differ only in how an accent is written: each has its own variables, redirects, ' +
    'access, settings and history, before the other is made, while it is there and after its deletion. A slug that ' +
    'is accepted alone is accepted beside another one, too.',
  async run(subject, open) {
    const {backend, targetSlug, otherTarget} = subject;
    const place = (slug: string): Place => ({subject, targetSlug: slug});
    await assertApart([place(targetSlug)], place(otherTarget));
    if (backend.targetSlugs === 'assigned') return;
    const fits = (slug: string) => unfitSlugs(backend, {targetSlug: slug}).length === 0;
    const make = async (one: Place) => {
      if (await isMade(one)) return true;
      const alone = await isMade({...one, subject: await open()});
      assert.ok(
        !alone,
        `The service takes the target "${one.targetSlug}" alone, but not beside others. ${encodeSlugs}`,
      );
      return false;
    };
    // Its accent can be written in two ways.
    for (const base of ['conformance-é-new', 'conformance-new']) {
      if (!fits(base) || !(await make(place(base)))) continue;
      await assertApart(slugsLike(base).filter(fits).map(place), place(base), make);
      break;
    }
    // The longest that the service takes.
    for (const length of [255, 128, 100, 64]) {
      const long = 'conformance-'.padEnd(length - 1, 'long-');
      if (!fits(`${long}a`) || !(await make(place(`${long}a`)))) continue;
      await assertApart([place(`${long}b`)], place(`${long}a`), make);
      break;
    }
  },
};
