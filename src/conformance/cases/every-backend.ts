import assert from 'node:assert/strict';
import {AsyncLocalStorage} from 'node:async_hooks';
import {subscribe, unsubscribe} from 'node:diagnostics_channel';
import type {BackendLoginContext} from '../../backends/contract.js';
import {unfitSlugs} from '../../backends/resolve-backend.js';
import {anyError, expectAbort, expectAnswer, expectError, outcomeOf, refusalOfSecrets} from '../expectations.js';
import {bundleOperations, triedOperations, prepare} from '../operations.js';
import {idsOf, notOffered, type Case, type Subject} from '../subject.js';
import {unknownIdLike} from './bundle-cases.js';
import {assertApart, encodeSlugs, makePrimary, neighbourCase, slugsLike} from './neighbour-cases.js';

export const everyBackendCases: readonly Case[] = [
  {
    name: 'each project has its own bundles and deployments',
    proves:
      "Through another project, its bundles, deployments and targets can't be listed, deployed, downloaded, changed or " +
      'deleted, and its primary target stays.',
    async run(subject) {
      const {backend} = subject;
      const other = subject.otherProject().again({createBackend: () => backend});
      // A service may number the bundles of each project: this one has more.
      await subject.upload();
      const bundle = await subject.makeBundle();
      const bundleId = await subject.upload(bundle);
      const own = await other.uploaded();
      for (const {name, run} of bundleOperations.filter(({needs}) => subject.backend[needs])) {
        await expectError(`${name} of a bundle of another project`, run(other, {bundle, bundleId}), anyError);
      }
      await subject.assertArrived(bundle, bundleId);
      const advice = 'Use context.projectSlug, in a stand-in for the service, too.';
      const ids = idsOf(await other.bundles());
      expectAnswer('the bundles in the list of a project', ids, backend.listBundles ? [own] : [], advice);
      if (!backend.deploy) return;
      const {targetSlug, otherTarget} = subject;
      await subject.deployed(bundleId);
      await assertApart({subject: other, targetSlug}, {subject, targetSlug});
      await subject.deployed(bundleId, otherTarget);
      if (!(await makePrimary({subject, targetSlug}))) return;
      const isPrimary = async (slug: string) => (await subject.call('readTarget', {targetSlug: slug})).primary;
      const primaries = () => Promise.all([targetSlug, otherTarget].map(isPrimary));
      const before = await primaries();
      await other.deployed(own, otherTarget);
      await makePrimary({subject: other, targetSlug: otherTarget});
      const what = 'whether the targets of a project are primary, after a change of another project,';
      expectAnswer(what, await primaries(), before, advice);
    },
  },
  {
    name: 'projects whose slugs differ are different projects',
    proves:
      'Slugs may differ only in case, after 60 characters, after a `?`, `&`, `#`, `%` or blank, or in a `-`, `.`, ' +
      'letter or digit at the end. One may look like SQL, or like a pattern with `_`, `%`, `*` or brackets. Slugs that ' +
      '`slugs` excludes are not tried, and one that the service cannot take is an error.',
    async run(subject) {
      const {backend, parts} = subject;
      const bundle = await subject.makeBundle();
      const own = await subject.uploaded(bundle);
      const fits = (projectSlug: string) => unfitSlugs(backend, {projectSlug}).length === 0;
      const longs = [255, 200, 128, 100, 64].map((length) => `${parts.projectSlug}-`.padEnd(length - 1, 'long-'));
      const pairs = longs.filter((long) => fits(`${long}a`)).flatMap((long) => [`${long}a`, `${long}b`]);
      // The longest two that are accepted, and the shortest, which a service with a limit takes.
      for (const projectSlug of [
        ...slugsLike(parts.projectSlug).filter(fits),
        ...pairs.slice(0, 2),
        ...pairs.slice(-2),
      ]) {
        const other = subject.otherProject(projectSlug);
        for (const {name, run} of bundleOperations.filter(({needs}) => backend[needs])) {
          const what = `${name} of a bundle of another project`;
          await expectError(what, run(other, {bundle, bundleId: own}), anyError, encodeSlugs);
        }
        const {result: id} = await outcomeOf(other.uploaded());
        if (id === undefined || backend.listBundles === undefined) continue;
        const lists = {
          [parts.projectSlug]: idsOf(await subject.bundles()),
          [projectSlug]: idsOf(await other.bundles()),
        };
        const expected = {[parts.projectSlug]: [own], [projectSlug]: [id]};
        expectAnswer('the bundles of two projects', lists, expected, encodeSlugs);
      }
      await subject.assertArrived(bundle, own, 'uploads to projects with similar slugs');
    },
  },
  neighbourCase,
  {
    name: 'no error or log contains a secret',
    proves: 'Secrets are declared or passed to `context.maskSecret`. Nothing logged or thrown has one, even in base64.',
    async run(subject) {
      const {secrets = [], options, env = {}} = subject.service;
      const {masked: declared} = subject.parts;
      const advice = 'Add them, or name this case in "skip".';
      assert.ok(secrets.length > 0, `The service of the fixtures lists no secrets. ${advice}`);
      const settings: readonly unknown[] = [...Object.values({...(options as object)}), ...Object.values(env)];
      const {length} = secrets.filter((text) => settings.includes(text) && !declared.includes(text));
      const lists = 'List every secret option in "secrets", and every secret variable in "secretEnv".';
      assert.ok(length === 0, `The backend does not declare ${length} secrets of the fixtures. ${lists}`);
      await subject.upload();
      // Asks for bundles that the backend does not know, too.
      for (const operation of triedOperations.filter(({needs}) => subject.backend[needs])) {
        const prepared = await prepare(subject, operation);
        await operation.run(subject, prepared);
        await outcomeOf(operation.run(subject, {...prepared, bundleId: unknownIdLike(prepared.bundleId)}));
      }
      await subject.assertMasked();
      await subject.assertNoLeak();
    },
  },
  {
    name: 'check: recognizes valid settings without the network, and what is missing',
    proves: 'With valid settings nothing is missing, and no connection is opened. With `unconfigured`, something is.',
    async run(subject) {
      const checking = new AsyncLocalStorage<true>();
      const used = new Set<unknown>();
      const onSocket = () => used.add(checking.getStore());
      subscribe('net.client.socket', onSocket);
      const missing = await checking
        .run(true, () => subject.check())
        .finally(() => unsubscribe('net.client.socket', onSocket));
      expectAnswer('what check() reports missing with the settings of the fixtures', missing, []);
      assert.ok(!used.has(true), 'check() used the network.');
      const {options = {}, env = {}} = subject.parts.fixtures.unconfigured ?? {};
      const {length} = await subject.check({options, env});
      assert.ok(length > 0, 'check() reports nothing missing without settings. See "unconfigured" in the fixtures.');
    },
  },
  {
    name: 'login: the service accepts what it returns',
    needs: ['login'],
    proves:
      'After a login nothing is missing, and `verify` and an upload work. What is entered without echo, issued or ' +
      'returned is masked. A login that is aborted while the user is asked, or at a web page, ends within a second.',
    async run(subject) {
      const {secrets: names = [], secretEnv = []} = subject.backend;
      const nothing = Object.fromEntries([...names, ...secretEnv].map((name) => [name, undefined]));
      const stranger = withSecrets(subject, nothing);
      await expectAbort('a login', (signal, abort) => {
        // The host's own prompt rejects, and the user never gets to the page.
        const prompt = async () => {
          abort();
          return Promise.reject(signal.reason);
        };
        const openUrl = async () => void setImmediate(abort);
        return stranger.call('login', undefined, {prompt, openUrl, signal});
      });
      const {secrets} = await stranger.call('login', undefined, dialogueOf(stranger));
      const user = withSecrets(subject, secrets);
      await user.assertMasked();
      await user.assertNoLeak();
      expectAnswer('what check() reports missing after a login', await user.check(), []);
      if (user.backend.verify) await user.call('verify', undefined);
      await user.upload();
    },
  },
  {
    name: 'verify: accepts valid credentials and changes nothing',
    needs: ['verify'],
    proves:
      'The service is asked: it accepts valid credentials and no others, in a later upload too, and keeps what it kept ' +
      'before.',
    async run(subject) {
      const {relay} = subject.parts;
      relay.arm();
      await subject.call('verify', undefined);
      const asked = relay.requests > 0;
      await subject.assertKept(0, 'verify()');
      const stranger = withOtherSecrets(subject);
      if (stranger !== undefined) {
        await expectError('verify() with other secrets', stranger.call('verify', undefined), refusalOfSecrets);
        await subject.upload();
        await expectError('an upload with other secrets', stranger.upload(), refusalOfSecrets);
        return;
      }
      // An upload tells whether the suite sees requests.
      await subject.upload();
      assert.ok(asked || relay.requests === 0, 'verify() sends no request. Without a service, it must fail.');
    },
  },
];

/** A user who does what the fixtures tell. The host masks what is entered as a secret. */
function dialogueOf({service, parts}: Subject): Pick<BackendLoginContext, 'prompt' | 'openUrl'> {
  return {
    async prompt(question) {
      const {answer = notOffered('answer')} = service;
      const text = await answer(question);
      if (question.secret === true) parts.masked.push(text);
      else assert.ok(!service.secrets?.includes(text), 'login() asks for a secret without "secret: true".');
      return text;
    },
    async openUrl(url) {
      const {visit = notOffered('visit')} = service;
      await visit(String(url));
    },
  };
}

/** The names and values of the declared secrets that are set. */
function declaredSecrets({backend, service}: Subject): readonly (readonly [name: string, secret: string])[] {
  const {secrets = [], secretEnv = []} = backend;
  const options = Object(service.options) as Readonly<Record<string, unknown>>;
  const values = [
    ...secrets.map((name) => [name, options[name]]),
    ...secretEnv.map((name) => [name, service.env?.[name]]),
  ];
  return values.filter((pair): pair is [string, string] => typeof pair[1] === 'string');
}

/** A secret of the same form. In a URL, only the password changes. */
function otherThan(secret: string): string {
  const other = (text: string) => text.replaceAll(/[a-z0-9]/gi, (letter) => (letter === 'x' ? 'y' : 'x'));
  const url = URL.canParse(secret) ? new URL(secret) : undefined;
  if (!url?.password) return other(secret);
  url.password = other(decodeURIComponent(url.password));
  return url.href;
}

/** The same service, for a user whose secrets are wrong; undefined if the backend declares none that are set. */
export function withOtherSecrets(subject: Subject): Subject | undefined {
  const wrong = declaredSecrets(subject).map(([name, secret]) => [name, otherThan(secret)] as const);
  return wrong.length === 0 ? undefined : withSecrets(subject, Object.fromEntries(wrong));
}

/** The same service, for a user with these secrets. */
function withSecrets(subject: Subject, secrets: Readonly<Record<string, string | undefined>>): Subject {
  const {service, backend} = subject;
  const [options, env] = [{...(Object(service.options) as object)}, {...service.env}];
  for (const [name, value] of Object.entries(secrets)) {
    Reflect.set(backend.secretEnv?.includes(name) ? env : options, name, value);
  }
  return subject.again({service: {...service, options, env}});
}
