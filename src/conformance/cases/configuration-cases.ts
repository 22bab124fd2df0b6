import assert from 'node:assert/strict';
import {isDeepStrictEqual} from 'node:util';
import type {TargetSettings} from '../../backends/contract.js';
import {anyCode, expectAnswer, expectError, notTried, outcomeOf, shown} from '../expectations.js';
import type {Case, MemberCases, Subject} from '../subject.js';
import {unknownIdLike} from './bundle-cases.js';
import {longCase, samePages, steadyCase, type GrowingList} from './list-cases.js';
import {makePrimary} from './neighbour-cases.js';

/** The target of the subject, once something runs on it. */
async function ready(subject: Subject): Promise<{readonly targetSlug: string}> {
  await subject.deployed();
  return {targetSlug: subject.targetSlug};
}

export function emptyAtFirst(name: string, member: 'listRedirects' | 'listAccess' | 'listVariables'): Case {
  return {
    name,
    needs: ['deploy'],
    proves: 'The list is empty. For a target that does not exist, it is an error.',
    async run(subject) {
      expectAnswer('the list of a new target', await subject.list(member, await ready(subject)), []);
      const work = subject.list(member, {targetSlug: 'conformance-none'});
      await expectError('the list of an unknown target', work, anyCode);
    },
  };
}

/**
 * Asserts that simultaneous changes of a target, each by another user, are all kept unless they were refused. Resolves
 * to how many were not refused.
 * @param count how many of them the target has
 */
export async function expectNoneLost<Change>(
  subject: Subject,
  what: string,
  changes: readonly Change[],
  make: (user: Subject, change: Change) => Promise<unknown>,
  count: () => Promise<number>,
): Promise<number> {
  const outcomes = await Promise.all(changes.map((one) => outcomeOf(make(subject.again(), one))));
  const done = outcomes.filter(({error}) => error === undefined).length;
  await subject.nextInstant();
  await subject.ready(subject.targetSlug);
  const found = await count();
  const reported = `Of ${changes.length} ${what} at the same time, the backend reported ${done} as successful.`;
  const advice =
    'Let the service make each change in one request, or write only if nothing has changed since you read.';
  assert.ok(done > 0, `${reported} Expected one of them to be.`);
  assert.ok(found >= done, `${reported} The target has ${found} of them. ${advice}`);
  return done;
}

const redirect = {
  from: '/old%20Page/*',
  to: '/new/*',
  status: 302,
  forwardQuery: true,
  forwardWildcard: true,
} as const;

/** What some settings of a target are changed to, one after the other. */
const settingValues: {readonly [Name in keyof Required<TargetSettings>]: readonly unknown[]} = {
  name: ['Conformance suite: „Größe“ 日本語 🚀'],
  production: [true, false],
  cookies: [true, false],
  proxyUserAgent: [true, false],
  sourceMaps: [true, false],
  tracing: [true, false],
  tracingRate: [0.25],
  logLevel: ['debug'],
  allowedIps: [['203.0.113.0/24'], []],
  proxies: [[{path: '/conformance', host: 'proxy.example'}], []],
  architecture: ['arm64', null],
  region: ['us-east-1'],
  externalDomain: ['conformance.example', null],
  externalHost: ['www.conformance.example', null],
};

const growingProjects: GrowingList<'listProjects'> = {
  what: 'project',
  name: 'listProjects',
  needs: ['deploy'],
  async add(subject, {length}) {
    const project = subject.otherProject(`${subject.parts.projectSlug}-${9 - length}`);
    await project.deployed();
    return project.parts.projectSlug;
  },
  list: () => ({}),
  idOf: ({projectSlug}) => projectSlug,
};

const growingRedirects: GrowingList<'listRedirects'> = {
  what: 'redirect',
  name: 'listRedirects',
  needs: ['listRedirects', 'deploy'],
  async add(subject, {length}) {
    const {targetSlug} = length === 0 ? await ready(subject) : subject;
    const from = `/many/${999 - length}`;
    await subject.call('changeRedirect', {targetSlug, change: 'add', redirect: {from, to: '/new'}});
    return from;
  },
  remove: (subject, listed) =>
    subject.call('changeRedirect', {targetSlug: subject.targetSlug, change: 'remove', redirect: listed}),
  list: ({targetSlug}) => ({targetSlug}),
  idOf: ({from}) => from,
  isCopied: true,
};

export const configurationCases = {
  listProjects: [
    {
      name: 'projects: the one that was pushed to is listed, once',
      needs: ['deploy'],
      proves: 'Lists have each project that the credentials reach, by its slug, in pages of any size.',
      async run(subject) {
        const {projectSlug} = subject.parts;
        const pushed = [subject];
        await subject.deployed();
        if (subject.service.projectSlug === undefined) {
          const other = subject.otherProject();
          const dotted = subject.otherProject(`${projectSlug}.eu`);
          await other.deployed();
          // Not every service takes the dot.
          const {error} = await outcomeOf(dotted.deployed());
          pushed.push(other, ...(error === undefined ? [dotted] : []));
        }
        const listed = (await samePages(subject, 'listProjects', {})).map((item) => item.projectSlug);
        const slugs = pushed.map((one) => one.parts.projectSlug);
        const found = listed.filter((slug) => slugs.includes(slug));
        expectAnswer('the projects in the list', found.toSorted(), slugs.toSorted());
      },
    },
    steadyCase(growingProjects),
  ],
  readTarget: [
    {
      name: 'target-settings: those of an unknown target are an error',
      proves: 'Reading the settings of a target that does not exist is an error.',
      async run(subject) {
        const work = subject.call('readTarget', {targetSlug: 'conformance-none'});
        await expectError('the settings of an unknown target', work, anyCode);
      },
    },
  ],
  updateTarget: [
    {
      name: 'update-target: what is not named stays',
      needs: ['readTarget', 'deploy'],
      proves:
        'Reading returns what was just set, even empty values, what was set before, and what others set at the same ' +
        'time. `null` resets a setting. A project has one primary target. Settings that `readTarget` reports as ' +
        '`unsupported` are not tried, and a region may be refused.',
      async run(subject) {
        const target = await ready(subject);
        const {unsupported = []} = await subject.call('readTarget', target);
        const known = Object.entries(settingValues).filter(([name]) => !unsupported.includes(name));
        if (known.length === 0) notTried('The targets of the service have no setting that the suite knows.');
        const firsts = known.map(([name, [value]]) => ({[name]: value}));
        await expectNoneLost(
          subject,
          'changes of settings',
          firsts,
          (user, settings) => user.call('updateTarget', {...target, settings}),
          async () => {
            const {settings: read} = await subject.call('readTarget', target);
            return firsts.filter((one) => isDeepStrictEqual({...read, ...one}, {...read})).length;
          },
        );
        let expected = {};
        for (const settings of known.flatMap(([name, values]) => values.map((value) => ({[name]: value})))) {
          await subject.ready(target.targetSlug);
          const changing = subject.call('updateTarget', {...target, settings});
          // Services differ in their regions.
          if ('region' in settings && (await outcomeOf<unknown>(changing)).error) continue;
          await changing;
          expected = {...expected, ...settings};
          const what = `the settings after a change of ${shown(settings)}`;
          await subject.becomes(what, [JSON.stringify(expected)], async () => {
            const {settings: read} = await subject.call('readTarget', target);
            // What is reset may be left out.
            const values = Object.keys(expected).map((name) => [name, Reflect.get(read, name) ?? null] as const);
            return JSON.stringify(Object.fromEntries(values));
          });
        }
        if (!(await makePrimary({subject, ...target}))) return;
        await subject.deployed(undefined, subject.otherTarget);
        await makePrimary({subject, targetSlug: subject.otherTarget});
        const isPrimary = async () => (await subject.call('readTarget', target)).primary;
        await subject.becomes('whether the former primary target is one', [false, undefined], isPrimary);
      },
    },
  ],
  listRedirects: [emptyAtFirst('redirects: a new target has none', 'listRedirects')],
  changeRedirect: [
    {
      name: 'change-redirects: a redirect is added, replaced and removed',
      needs: ['listRedirects', 'deploy'],
      proves:
        'Each change affects one redirect, whatever its path contains or begins with, and lists show all five of its ' +
        'settings. Four changes at the same time, as the host makes them, all succeed.',
      async run(subject) {
        const target = await ready(subject);
        const items = () => subject.list('listRedirects', target);
        const lines = async () => {
          const rows = (await items()).map(({from, to, status, forwardQuery, forwardWildcard}) => {
            return [from, to, status, forwardQuery, forwardWildcard].join(' ');
          });
          return rows.toSorted();
        };
        const idOf = async (path: string) => (await items()).find(({from}) => from === path)?.redirectId;
        const change = async (name: 'add' | 'replace' | 'remove', changed: {from: string; to: string}) =>
          subject.call('changeRedirect', {
            ...target,
            change: name,
            redirect: {...redirect, ...changed, redirectId: await idOf(changed.from)},
          });
        const first = {from: redirect.from, to: "/newer's"};
        const other = {from: '/other', to: '/new/*'};
        const rest = '302 true true';
        await change('add', redirect);
        await change('add', other);
        await change('replace', first);
        const both = [`/old%20Page/* ${first.to} ${rest}`, `/other /new/* ${rest}`];
        expectAnswer('the redirects', await lines(), both);
        const within = {from: '/old%20Page', to: '/bare'};
        // For LIKE of SQL, `_` is any character. Of a path that differs in case, both changes may be refused.
        for (const from of [within.from, '/othe_', '/OTHER']) {
          await outcomeOf(change('add', {from, to: '/bare'}));
          await outcomeOf(change('remove', {from, to: '/bare'}));
          expectAnswer(`the redirects after the removal of ${from}`, await lines(), both);
        }
        await change('add', within);
        await change('remove', first);
        const left = [`/old%20Page /bare ${rest}`, both[1]];
        expectAnswer('the redirects after a removal', await lines(), left);
        const long = {from: '/long', to: `/${'long/'.repeat(80)}`};
        const withLong = [`/long ${long.to} ${rest}`, ...left].toSorted();
        if (!(await outcomeOf(change('add', long))).error)
          expectAnswer('the redirects with a long one', await lines(), withLong);
        const paths = ['/at-once', '/at-once/1', '/at-once/2', '/at-once/3'];
        const done = await expectNoneLost(
          subject,
          'new redirects',
          paths,
          (user, from) => user.call('changeRedirect', {...target, change: 'add', redirect: {...redirect, from}}),
          async () => (await items()).filter(({from}) => paths.includes(from)).length,
        );
        expectAnswer('how many of four redirects can be added at the same time', done, paths.length);
      },
    },
    steadyCase(growingRedirects),
    longCase(growingRedirects),
  ],
  listAccess: [emptyAtFirst('access: a new target has none', 'listAccess')],
  changeAccess: [
    {
      name: 'change-access: a header is added and removed, and its value is not listed',
      needs: ['listAccess', 'deploy'],
      proves:
        'Lists contain its ID, and the others stay, even if an unknown one is removed, or several are added at the ' +
        'same time. No list, log or error contains its value.',
      async run(subject) {
        const target = await ready(subject);
        const value = 'canary-value-of-access';
        const headers = async (count: number, after: string) => {
          const found = await subject.list('listAccess', target);
          expectAnswer(`how many headers there are after ${after}`, found.length, count);
          return found;
        };
        await subject.call('changeAccess', {...target, add: value});
        const items = await headers(1, 'the first one');
        const isShown = [JSON.stringify(items), ...subject.parts.texts].some((text) => text.includes(value));
        assert.ok(!isShown, 'Expected no list, log or error to have the value. One has.');
        await subject.call('changeAccess', {...target, add: `${value}-2`});
        const both = await headers(2, 'a second one');
        const {accessId = ''} = both[0] ?? {};
        const remove = String(unknownIdLike(accessId));
        const removal = subject.call('changeAccess', {...target, remove});
        if ((await outcomeOf(removal)).error) await expectError('the removal of an unknown header', removal, anyCode);
        await outcomeOf(subject.call('changeAccess', {...target, remove: '_'.repeat(accessId.length)}));
        await headers(2, 'the removal of an unknown one');
        for (const {accessId} of items) await subject.call('changeAccess', {...target, remove: accessId});
        const rest = await headers(1, 'the removal of the first one');
        for (const {accessId} of rest) await subject.call('changeAccess', {...target, remove: accessId});
        await headers(0, 'the removal of both');
        await expectNoneLost(
          subject,
          'new access headers',
          Array.from({length: 8}, (_, index) => `${value}-${index}`),
          (user, add) => user.call('changeAccess', {...target, add}),
          async () => (await subject.list('listAccess', target)).length,
        );
      },
    },
  ],
} as const satisfies MemberCases;
