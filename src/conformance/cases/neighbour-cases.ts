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
  const others = [slug.toUpperCase(), sqlText, ...patterns, ...longer, slug.normalize('NFD')];
  return [...continued(slug), ...others].filter((one) => one !== slug);
}

/** Slugs that begin with this one: a match of a prefix, or a range of keys, may include them. */
const continued = (slug: string): readonly string[] => [`${slug}2`, `${slug}z`, `${slug}-2`];

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

/** Tells the values of one target from those of another. */
type Mark = 'OWN' | 'OTHER';

/** Sets everything that a target can have, and waits until it is shown. */
export async function fill(place: Place, mark: Mark): Promise<Seen> {
  const expected = await change(place, mark);
  const look = async () => JSON.stringify(await seenAt(place));
  await place.subject.becomes(`what ${nameOf(place)} has`, [JSON.stringify(expected)], look);
  return expected;
}

function nameOf({subject, targetSlug}: Place): string {
  return `"${targetSlug}" of the project "${subject.parts.projectSlug}"`;
}

/** Sets everything that a target can have. Resolves to what it has then. */
async function change({subject, targetSlug}: Place, mark: Mark): Promise<Seen> {
  const {deploy, setVariables, changeRedirect, changeAccess, updateTarget} = subject.backend;
  const target = {targetSlug};
  // Without createTarget, a first deployment has made it.
  const earlier = (await outcomeOf(subject.history(targetSlug))).result ?? [];
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
    listDeployments: String([...new Set([bundleId, ...idsOf(earlier)])]),
    listVariables: setVariables ? `CONFORMANCE,${mark}` : '',
    listRedirects: changeRedirect ? `${redirect.from} ${redirect.to}` : '',
    listAccess: changeAccess ? 'a header' : '',
    readTarget: String(isOn),
  };
  return Object.fromEntries(Object.entries(all).filter(([name]) => Reflect.get(subject.backend, name) !== undefined));
}

/** Removes what a target has (its variables, if there is no `other`), and then it, as far as the service lets it. */
export async function strip({subject, targetSlug}: Place, other?: Place): Promise<void> {
  const {setVariables, listRedirects, changeRedirect, listAccess, changeAccess, updateTarget, deleteTarget} =
    subject.backend;
  if (!(setVariables ?? changeRedirect ?? changeAccess ?? updateTarget ?? deleteTarget)) return;
  const target = {targetSlug};
  const all = other === undefined ? [] : [{subject, targetSlug}, other];
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
  const flag = updateTarget && (await other?.subject.flagOf(other.targetSlug));
  if (flag) await outcomeOf(subject.call('updateTarget', {...target, settings: {[flag]: false}}));
  await subject.ready(targetSlug);
  if (deleteTarget) await outcomeOf(subject.call('deleteTarget', target));
  await subject.nextInstant();
}

/** Asserts that two targets have nothing in common, before one is made, while it is there and once it is deleted. */
export async function assertApart(place: Place, other: Place): Promise<void> {
  const before = await seenAt(place);
  const filled = await fill(other, 'OTHER');
  const otherIs = async (after: string) =>
    expectAnswer(`what ${nameOf(other)} has after ${after}`, await seenAt(other), filled, encodeSlugs);
  const name = nameOf(place);
  expectAnswer(`what ${name} has after changes of ${nameOf(other)}`, await seenAt(place), before, encodeSlugs);
  await strip(place, other);
  await otherIs(`changes of ${name}, which is not there`);
  await fill(place, 'OWN');
  await otherIs(`changes of ${name}`);
  await strip(place, other);
  await otherIs(`the deletion of ${name}`);
}

/**
 * Asserts that targets have nothing in common, all of them at once, because each pair would take too many calls.
 * @param made the targets that the service has made; the others are like the first one
 * @param places `refused`: targets whose slugs the service refuses. `kept`: those to delete last, its first one first
 */
async function assertAllApart(
  made: readonly Place[],
  {refused, kept}: {readonly refused: readonly Place[]; readonly kept: readonly Place[]},
): Promise<void> {
  const filled = new Map<Place, Seen>();
  for (const place of made) filled.set(place, await change(place, place === made[0] ? 'OTHER' : 'OWN'));
  const haveAll = async (places: readonly Place[], after: string) => {
    await places[0]?.subject.nextInstant();
    for (const place of places) {
      const what = `what ${nameOf(place)} has after ${after}`;
      expectAnswer(what, await seenAt(place), filled.get(place), encodeSlugs);
    }
  };
  await haveAll(made, 'changes of targets with similar slugs');
  for (const place of refused) {
    const nothing = await seenAt({...place, targetSlug: 'conformance-none'});
    expectAnswer(`what ${nameOf(place)} has, which is not there,`, await seenAt(place), nothing, encodeSlugs);
  }
  for (const place of [...made, ...refused]) if (!kept.includes(place)) await strip(place);
  await haveAll(kept, 'the deletion of targets with similar slugs');
  const [first, ...rest] = kept;
  if (first) await strip(first);
  await haveAll(rest, `the deletion of "${first?.targetSlug}"`);
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

export const neighbourCase: Case = {
  name: 'targets whose slugs differ are different targets',
  needs: ['deploy'],
  proves:
    'As for projects, and for slugs that differ only in how an accent is written. Each target has its own variables, ' +
    'redirects, access headers, settings and history: before the other target exists, while it does, and after its ' +
    'deletion. A slug that is accepted alone is also accepted beside the other one.',
  async run(subject, open) {
    const {backend, targetSlug, otherTarget} = subject;
    const place = (slug: string): Place => ({subject, targetSlug: slug});
    await assertApart(place(targetSlug), place(otherTarget));
    if (backend.targetSlugs === 'assigned') return;
    const fits = (slug: string) => unfitSlugs(backend, {targetSlug: slug}).length === 0;
    const made: Place[] = [];
    const refused: Place[] = [];
    const make = async (slug: string) => {
      const one = place(slug);
      const isThere = await isMade(one);
      (isThere ? made : refused).push(one);
      if (isThere) return true;
      const alone = await isMade({...one, subject: await open()});
      assert.ok(!alone, `The service takes the target "${slug}" alone, but not beside others. ${encodeSlugs}`);
      return false;
    };
    // The accent of the first one can be written in two ways. The longest are those that the service takes.
    const longs = [255, 128, 100, 64].map((length) => 'conformance-'.padEnd(length - 1, 'long-'));
    const alike = [
      ['conformance-é-new', 'conformance-new'].map((slug) => [slug, ...slugsLike(slug)]),
      longs.map((slug) => [`${slug}a`, `${slug}b`]),
    ];
    const kept: string[] = [];
    for (const choices of alike) {
      for (const [slug = '', ...others] of choices) {
        if (!fits(slug) || !(await make(slug))) continue;
        for (const other of others.filter(fits)) await make(other);
        kept.push(slug, ...continued(slug));
        break;
      }
    }
    await assertAllApart(made, {refused, kept: made.filter((one) => kept.includes(one.targetSlug))});
  },
};
