import assert from 'node:assert/strict';
import {setTimeout as delay} from 'node:timers/promises';
import type {LogEntry} from '../../backends/contract.js';
import {unfitSlugs} from '../../backends/resolve-backend.js';
import {anyCode, anyError, expectAbort, expectAnswer, expectError, outcomeOf} from '../expectations.js';
import {idsOf, type MemberCallOptions, type MemberCases, type Subject} from '../subject.js';
import {emptyAtFirst, expectNoneLost} from './configuration-cases.js';
import {withOtherSecrets} from './every-backend.js';
import {longCase, steadyCase, type GrowingList} from './list-cases.js';
import {fill, isMade, makePrimary, seenAt, strip, type Place, type Seen} from './neighbour-cases.js';

const newSlug = 'conformance-new';
const unknownSlug = 'conformance-none';

const growingVariables: GrowingList<'listVariables'> = {
  what: 'variable',
  name: 'listVariables',
  needs: ['listVariables', 'deploy'],
  async add(subject, {length}) {
    const {targetSlug} = subject;
    if (length === 0) await subject.deployed();
    // A service may publish the target again for each change.
    const names = Array.from({length: 17}, (_, index) => `CONFORMANCE_${999 - length - index}`);
    const set = Object.fromEntries(names.map((name) => [name, 'a value']));
    await subject.ready(targetSlug);
    await subject.call('setVariables', {targetSlug, set, unset: []});
    return names;
  },
  async remove(subject, {name}) {
    await subject.ready(subject.targetSlug);
    await subject.call('setVariables', {targetSlug: subject.targetSlug, set: {}, unset: [name]});
  },
  list: ({targetSlug}) => ({targetSlug}),
  idOf: ({name}) => name,
  isCopied: true,
};

export const targetCases = {
  createTarget: [
    {
      name: 'create-target: a new target becomes ready, and is listed once',
      proves:
        'Lists show it with the slug of the answer, and its name. Unless slugs are assigned, the name may be missing, ' +
        'and a second target of the same slug is refused. If the service has primary targets, it can become one.',
      async run(subject) {
        const name = 'Conformance suite';
        const create = () => subject.call('createTarget', {targetSlug: newSlug, name});
        const {targetSlug} = await create();
        const isAssigned = subject.backend.targetSlugs === 'assigned';
        if (!isAssigned) expectAnswer('the slug of the new target', targetSlug, newSlug);
        if (subject.backend.listTargets) {
          await subject.ready(targetSlug, {isNew: true});
          const items = await subject.list('listTargets', {});
          // A service that makes the slugs is asked for its targets by their names.
          const unnamed = isAssigned ? undefined : name;
          const names = items.filter((one) => one.targetSlug === targetSlug).map((item) => item.name ?? unnamed);
          expectAnswer('the names in the list of the new target', names, [name]);
        }
        if (!isAssigned) await expectError('a second target of the same slug', create(), anyCode);
        await makePrimary({subject, targetSlug});
      },
    },
    {
      name: 'create-target: a copy starts with what its source has, which must be there',
      isFor: ({copiesTargets}) => copiesTargets !== false,
      proves:
        'Variables, redirects and settings are copied, `production` or not. The source keeps them and its access ' +
        'headers, even if the copy loses its own and is deleted. A source that is unknown or belongs to another project ' +
        'is an error. A backend that ignores `copyFrom` sets `copiesTargets` to false.',
      async run(subject) {
        const create = async (wanted: string, copyFrom?: string): Promise<Place> => {
          const {targetSlug} = await subject.call('createTarget', {targetSlug: wanted, name: wanted, copyFrom});
          await subject.ready(targetSlug, {isNew: true});
          return {subject, targetSlug};
        };
        const source = await create('conformance-source');
        const belongsToOne = (await subject.flagOf(source.targetSlug)) === 'production';
        const copied = ({listVariables, listRedirects, readTarget}: Seen) =>
          JSON.stringify({listVariables, listRedirects, readTarget: belongsToOne || readTarget});
        const kept = (seen: Seen) => `${copied(seen)} ${seen['listAccess']}`;
        const filled = await fill(source, 'OTHER');
        const copy = await create(newSlug, source.targetSlug);
        await subject.becomes('what the copy has', [copied(filled)], async () => copied(await seenAt(copy)));
        if (subject.backend.setVariables) await expectVariable(copy, 'CONFORMANCE', 'a value');
        expectAnswer('what its source has after the copy', kept(await seenAt(source)), kept(filled));
        await strip(copy, source);
        expectAnswer('what its source has after the deletion of the copy', kept(await seenAt(source)), kept(filled));
        const work = subject.call('createTarget', {targetSlug: 'conformance-other', copyFrom: unknownSlug});
        await expectError('a copy of an unknown target', work, anyError);
        if (subject.service.projectSlug !== undefined) return;
        const other = subject.otherProject();
        // A service may have no project without bundles.
        await other.upload();
        const foreign = other.call('createTarget', {targetSlug: newSlug, copyFrom: source.targetSlug});
        await expectError('a copy of a target of another project', foreign, anyError);
      },
    },
  ],
  deleteTarget: [
    {
      name: 'delete-target: only the deleted target is gone',
      needs: ['listTargets', 'deploy'],
      proves:
        'It disappears from the list, where it may be `deleting` for a while. The other targets stay. A target that ' +
        'is made again has nothing of the deleted one. An unknown target is an error.',
      async run(subject) {
        const {targetSlug, otherTarget} = subject;
        const {createTarget, readTarget, targetSlugs} = subject.backend;
        for (const slug of [targetSlug, otherTarget]) await subject.deployed(undefined, slug);
        const unknown = subject.call('deleteTarget', {targetSlug: unknownSlug});
        await expectError('the deletion of an unknown target', unknown, anyError);
        const slugs = async () => (await subject.list('listTargets', {})).map((one) => one.targetSlug);
        const remove = async (slug: string) => {
          await subject.call('deleteTarget', {targetSlug: slug});
          await subject.becomes(`whether "${slug}" is listed`, [false], async () => (await slugs()).includes(slug));
        };
        await remove(targetSlug);
        expectAnswer(`whether "${otherTarget}" is listed, too,`, (await slugs()).includes(otherTarget), true);
        const {result} = await outcomeOf(subject.deployed(undefined, targetSlug));
        if (result && subject.backend.listDeployments) {
          const what = 'the bundles in the history of a target that is made again by a deployment';
          expectAnswer(what, idsOf(await subject.history()), [result.bundleId]);
        }
        const again: Place = {subject, targetSlug: newSlug};
        if (createTarget === undefined || targetSlugs === 'assigned' || !(await isMade(again))) return;
        const primary = async () => readTarget && (await subject.call('readTarget', {targetSlug: newSlug})).primary;
        const look = async () => JSON.stringify({...(await seenAt(again)), primary: await primary()});
        const blank = await look();
        await fill(again, 'OTHER');
        await makePrimary(again);
        const {error} = await outcomeOf(remove(newSlug));
        // A service may refuse to be without a primary target.
        if (error) await makePrimary({subject, targetSlug: otherTarget});
        if (error) await remove(newSlug);
        if (await isMade(again)) await subject.becomes('what a target has that is made again', [blank], look);
      },
    },
  ],
  listVariables: [emptyAtFirst('variables: a target without any has none', 'listVariables')],
  setVariables: [
    {
      name: 'set-variables: what is not named stays, and values are not listed',
      needs: ['listVariables', 'deploy'],
      proves:
        'Variables are set, replaced and removed by name, at the same time as others, too. No list, log or error has a ' +
        'value, and with `readVariable` of the service, every character of it has arrived: what is too long for the ' +
        'service is refused, not cut.',
      async run(subject) {
        const {targetSlug} = subject;
        await subject.deployed();
        // With blanks around it, and longer than a line.
        const value = ` ${canary} ${'and=more 🚀\r\n'.repeat(80)}`;
        const change = async (set: Readonly<Record<string, string>>, unset: readonly string[]) => {
          await subject.nextInstant();
          await subject.ready(targetSlug);
          await subject.call('setVariables', {targetSlug, set, unset});
        };
        const place = {subject, targetSlug};
        const assignment = `=a='b' "c" \\\nd==`;
        await change({SECOND: value, FIRST: 'a value', SECOND_2: assignment}, []);
        const names = async () => String(await namesOf(subject));
        await subject.becomes('the first variables', ['FIRST,SECOND,SECOND_2'], names);
        const listed = JSON.stringify(await subject.call('listVariables', {targetSlug, limit: 100}));
        await expectVariable(place, 'SECOND', value);
        // For LIKE of SQL, `_` is any character.
        await change({FIRST: 'replaced', THIRD: ''}, ['SECOND', 'SECOND__']);
        await subject.becomes('the variables', ['FIRST,SECOND_2,THIRD'], names);
        const expected = {FIRST: 'replaced', SECOND: undefined, SECOND_2: assignment, THIRD: ''};
        for (const [name, content] of Object.entries(expected)) await expectVariable(place, name, content);
        await change({FIRS_: 'a value'}, []);
        await subject.becomes('the variables after a change of one', ['FIRST,FIRS_,SECOND_2,THIRD'], names);
        await expectVariable(place, 'FIRST', 'replaced');
        // It may be refused.
        const {error: refused} = await outcomeOf(change({first: 'another'}, []));
        const all = `FIRST,FIRS_,SECOND_2,THIRD${refused ? '' : ',first'}`;
        await subject.becomes('the variables after a change of "first"', [all], names);
        await expectVariable(place, 'FIRST', 'replaced');
        const isShown = [listed, ...subject.parts.texts].some((text) => text.includes(canary));
        assert.ok(!isShown, 'Expected no list, log or error to have a value. One has.');
        const long = value.repeat(70);
        const {error} = await outcomeOf(change({FIRST: long}, []));
        await expectVariable(place, 'FIRST', error ? 'replaced' : long);
        const several = Array.from({length: 8}, (_, index) => `AT_ONCE_${index}`);
        await subject.ready(targetSlug);
        await expectNoneLost(
          subject,
          'new variables',
          several,
          (user, name) => user.call('setVariables', {targetSlug, set: {[name]: 'a value'}, unset: []}),
          async () => (await namesOf(subject)).filter((name) => several.includes(name)).length,
        );
      },
    },
    steadyCase(growingVariables),
    longCase(growingVariables),
  ],
  invalidate: [
    {
      name: 'invalidate: paths of a target are accepted',
      needs: ['deploy'],
      proves: 'It resolves when the service has accepted the pattern. An unknown target is an error.',
      async run(subject) {
        await subject.deployed();
        for (const pattern of ['/*', '/images/a b.png'])
          await subject.call('invalidate', {targetSlug: subject.targetSlug, pattern});
        const work = subject.call('invalidate', {targetSlug: unknownSlug, pattern: '/*'});
        await expectError('an invalidation of an unknown target', work, anyCode);
      },
    },
  ],
  tailLogs: [
    {
      name: 'tail-logs: entries arrive until an abort, which ends them within a second',
      needs: ['deploy'],
      proves:
        'With `writeLog`, each line that the app logs arrives once and whole, however long it is and however fast the ' +
        'next hundred follow. No line of another target or project arrives, and following again yields no earlier line. ' +
        'Iterating rejects with the reason of the abort. An unknown target, such as `*`, `>` or `%`, and refused ' +
        'credentials are errors, before or during the iteration.',
      async run(subject) {
        const {targetSlug} = subject;
        await subject.deployed(undefined, subject.otherTarget);
        await subject.deployed();
        if (subject.service.projectSlug === undefined) await subject.otherProject().deployed();
        const follow = async (user: Subject, options?: MemberCallOptions, slug = targetSlug) =>
          (await user.call('tailLogs', {targetSlug: slug}, options))[Symbol.asyncIterator]();
        const {relay} = subject.parts;
        relay.arm();
        for (const line of ['a line\twith a tab', 'a line for who follows again']) {
          await subject.nextInstant();
          await expectAbort('following the logs', async (signal, abort) => {
            const entries = await follow(subject, {signal});
            const first = entries.next();
            const arrived = await arrives(subject, line, first);
            if (arrived !== undefined) {
              expectAnswer('the logged line', arrived, line);
              await expectLines(subject, line, entries);
            }
            abort();
            await first;
            // The same line may have been logged several times until it arrived.
            for (let next = await entries.next(); !next.done;) next = await entries.next();
          });
        }
        const patterns = ['*', '>', '%'].filter((one) => unfitSlugs(subject.backend, {targetSlug: one}).length === 0);
        for (const slug of [unknownSlug, ...patterns]) {
          await expectRefused(`of the target "${slug}", which is not there,`, follow(subject, {}, slug));
        }
        // Where the suite cannot answer 401 itself, the service is to refuse other secrets.
        const refused = relay.requests > 0 && relay.isHttp ? subject : withOtherSecrets(subject);
        relay.arm({kind: 401, at: 1, lasts: true});
        if (refused === undefined) return;
        await expectRefused('with refused credentials', follow(refused));
      },
    },
  ],
} as const satisfies MemberCases;

const canary = 'canary-value-of-a-variable';
const moreLogged = [
  '  indented: „Größe“ 日本語 🚀',
  `${'a long line '.repeat(6000)}.`,
  ...Array.from({length: 120}, (_, index) => `line ${index}`),
];

/** Asserts what the app reads, if the fixtures can tell. */
async function expectVariable({subject, targetSlug}: Place, name: string, expected: string | undefined): Promise<void> {
  const {readVariable} = subject.service;
  if (readVariable === undefined) return;
  const read = async () => (await readVariable(targetSlug, name, subject.parts.projectSlug)) === expected;
  const what = expected === undefined ? 'no value' : `a value of ${expected.length} characters, all of them right,`;
  await subject.becomes(`whether the app reads ${what} in the variable ${name}`, [true], read);
}

async function namesOf(subject: Subject): Promise<readonly string[]> {
  const items = await subject.list('listVariables', {targetSlug: subject.targetSlug});
  return items.map(({name}) => name).toSorted();
}

/** Asserts that following the logs fails before the first line. */
async function expectRefused(what: string, following: Promise<AsyncIterator<unknown>>) {
  const first = following.then((entries) => entries.next());
  const tooLate = delay(10_000, undefined, {ref: false});
  const [{status}] = await Promise.allSettled([Promise.race([first, tooLate])]);
  expectAnswer(`the outcome of following the logs ${what}`, status, 'rejected');
}

/** Lets the app log several lines at once, and asserts that only they arrive after those that are under way. */
async function expectLines(subject: Subject, first: string, entries: AsyncIterator<LogEntry>) {
  const write = async (line: string, {parts}: Subject, slug = subject.targetSlug) =>
    subject.service.writeLog?.(slug, line, parts.projectSlug);
  await write('a line of another target', subject, subject.otherTarget);
  if (subject.service.projectSlug === undefined) await write('a line of another project', subject.otherProject());
  // The last line shows whether those before it come again.
  for (const lines of [moreLogged, ['the last line']]) {
    for (const line of lines) await write(line, subject);
    const arrived: string[] = [];
    while (arrived.length < lines.length) {
      const next = await Promise.race([entries.next(), delay(10_000, undefined, {ref: false})]);
      if (next === undefined || next.done) break;
      if (next.value.message !== first) arrived.push(next.value.message);
    }
    expectAnswer('the lines that were logged at once', arrived, lines);
  }
}

/** Lets the app log until the line arrives, if the service can. A connection may not be there at first. */
async function arrives({service, targetSlug, parts}: Subject, line: string, first: Promise<IteratorResult<LogEntry>>) {
  const message = first.then(({value}) => (value as LogEntry | undefined)?.message);
  message.catch(() => undefined);
  for (let tries = 0; tries < 100; tries += 1) {
    await service.writeLog?.(targetSlug, line, parts.projectSlug);
    const found = await Promise.race([message, delay(100, undefined, {ref: false})]);
    if (service.writeLog === undefined) return undefined;
    if (found !== undefined) return found;
  }
  return assert.fail('Expected a line that the app has logged to arrive. It did not within ten seconds.');
}
