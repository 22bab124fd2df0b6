import assert from 'node:assert/strict';
import {AsyncLocalStorage} from 'node:async_hooks';
import {subscribe, unsubscribe} from 'node:diagnostics_channel';
import type {BackendLoginContext} from '../../backends/contract.js';
import {containsSecret} from '../../http/redact.js';
import {anyError, expectAbort, expectAnswer, expectError, outcomeOf} from '../expectations.js';
import {bundleOperations, operations, prepare, type Operation} from '../operations.js';
import {notOffered, type Case, type Subject} from '../subject.js';
import {unknownIdLike} from './bundles.js';
import {idsOf} from './lists.js';

/** Cases for every backend, and for how users log in. */
export const everyBackendCases: readonly Case[] = [
  {
    name: 'two services do not interfere',
    proves: 'Two uploads at the same time, with different options, each go to the right service: keep no state.',
    async run(first, open) {
      const second = await open(first.parts.backend);
      const [one, two] = [await first.makeBundle(), await second.makeBundle()];
      const [oneId, twoId] = await Promise.all([first.upload(one), second.upload(two)]);
      await first.assertArrived(one, oneId);
      await second.assertArrived(two, twoId);
    },
  },
  {
    name: 'each project has its own bundles and deployments',
    proves: 'What one project has is not listed in another one, and not deployed, downloaded or deleted from there.',
    async run(subject) {
      const other = subject.elsewhere();
      // A service may number the bundles of each project: this one has more.
      await subject.upload();
      const bundle = await subject.makeBundle();
      const bundleId = await subject.upload(bundle);
      const own = await other.uploaded();
      for (const {name, run} of able(subject, bundleOperations)) {
        await expectError(`${name} of a bundle of another project`, run(other, {bundle, bundleId}), anyError);
      }
      await subject.assertArrived(bundle, bundleId);
      const {listBundles, listDeployments, deploy} = subject.backend;
      const advice = 'Use context.projectSlug, in a stand-in for the service, too.';
      const ids = listBundles ? idsOf(await other.list('listBundles', {})) : [own];
      expectAnswer('the bundles in the list of a project', ids, [own], advice);
      if (!listDeployments) return;
      if (deploy) await subject.deploy(bundleId);
      expectAnswer('the history of another project', await other.historyIfAny(), [], advice);
    },
  },
  {
    name: 'no error or log contains a secret',
    proves:
      'Options that hold a secret are in `secrets`, variables in `secretEnv`, and what the backend learns is passed to ' +
      '`context.maskSecret`; nothing that it logs or throws contains one, not even in base64.',
    async run(subject) {
      const {secrets = [], options, env = {}} = subject.service;
      const advice = 'Add them, or name this case in "skip".';
      assert.ok(secrets.length > 0, `The service of the fixtures lists no secrets. ${advice}`);
      const settings: readonly unknown[] = [...Object.values({...(options as object)}), ...Object.values(env)];
      const declared = subject.declaredSecrets();
      const {length} = secrets.filter((text) => settings.includes(text) && !declared.includes(text));
      const lists = 'List every secret option in "secrets", and every secret variable in "secretEnv".';
      assert.equal(length, 0, `The backend does not declare ${length} secrets of the fixtures. ${lists}`);
      await useEverything(subject);
      const areMasked = (await subject.issuedSecrets()).every((secret) => subject.learnedSecrets.has(secret));
      assert.ok(areMasked, 'The backend does not mask every secret that it learns with "context.maskSecret".');
      await subject.assertNoLeak();
    },
  },
  {
    name: 'check: recognizes valid settings without the network',
    proves: 'With the settings of the fixtures nothing is missing, and no connection is opened to find out.',
    async run(subject) {
      const checking = new AsyncLocalStorage<true>();
      const used = new Set<unknown>();
      const onSocket = () => used.add(checking.getStore());
      subscribe('net.client.socket', onSocket);
      const missing = await checking
        .run(true, () => subject.check())
        .finally(() => unsubscribe('net.client.socket', onSocket));
      expectAnswer('what check() misses with the settings of the fixtures', missing, []);
      assert.ok(!used.has(true), 'check() used the network.');
    },
  },
  {
    name: 'check: lists what is missing',
    proves: 'Without options, or with those of `unconfigured` in the fixtures, something is missing.',
    async run(subject) {
      const {options = {}, env = {}} = subject.parts.fixtures.unconfigured ?? {};
      const missing = await subject.check({options, env});
      const advice = 'See "unconfigured" in the fixtures.';
      assert.ok(missing.length > 0, `check() reports an unconfigured backend as configured. ${advice}`);
    },
  },
  {
    name: 'login: the service accepts what it returns',
    needs: ['login'],
    proves:
      'After a login nothing is missing, and `verify` and an upload work. A secret is entered without echo. No log ' +
      'contains what the user enters, what the service issues or what is returned, and it is masked.',
    async run(subject) {
      const stranger = loggedOut(subject);
      const known: string[] = [];
      const {secrets} = await stranger.call('login', undefined, dialogueOf(subject, known));
      known.push(...Object.values(secrets));
      const issued = await subject.issuedSecrets();
      const areMasked = issued.every((secret) => known.includes(secret) || stranger.learnedSecrets.has(secret));
      assert.ok(areMasked, 'login() does not mask every secret that it learns with "context.maskSecret".');
      const isLogged = stranger.texts.some((text) => containsSecret(text, [...known, ...issued]));
      assert.ok(!isLogged, 'login() logs a secret.');
      const user = withSecrets(subject, secrets);
      expectAnswer('what check() misses after a login', await user.check(), []);
      if (user.backend.verify) await user.call('verify', undefined);
      await user.upload();
    },
  },
  {
    name: 'login: an abort ends it within a second',
    needs: ['login'],
    proves: 'A login that is aborted while the user is asked, or is at a web page, ends within a second.',
    async run(subject) {
      const stranger = loggedOut(subject);
      await expectAbort('a login', stranger.cleanups, (signal, abort) => {
        // The host's own prompt rejects, and the user never gets to the page.
        const prompt = async () => {
          abort();
          return Promise.reject(signal.reason);
        };
        const openUrl = async () => void setImmediate(abort);
        return stranger.call('login', undefined, {prompt, openUrl, signal});
      });
    },
  },
  {
    name: 'verify: accepts valid credentials and changes nothing',
    needs: ['verify'],
    proves: 'Valid credentials are accepted, and the service keeps what it kept before.',
    async run(subject) {
      await subject.call('verify', undefined);
      await subject.assertKept(0, 'verify()');
    },
  },
];

/** The operations that the backend has. */
function able({backend}: Subject, all: readonly Operation[]): readonly Operation[] {
  return all.filter(({needs}) => backend[needs] !== undefined);
}

/** Uses everything that a backend can do, and asks for bundles that it does not know. */
async function useEverything(subject: Subject): Promise<void> {
  await subject.upload();
  for (const one of able(subject, operations)) {
    const prepared = await prepare(subject, one);
    await one.run(subject, prepared);
    await outcomeOf(one.run(subject, {...prepared, bundleId: unknownIdLike(prepared.bundleId)}));
  }
}

/** A user who does what the fixtures tell. `entered` gets the secrets that are entered. */
function dialogueOf({service}: Subject, entered: string[]): Pick<BackendLoginContext, 'prompt' | 'openUrl'> {
  return {
    async prompt(question) {
      const {answer = notOffered('answer')} = service;
      const text = await answer(question);
      if (question.secret === true) entered.push(text);
      else assert.ok(!service.secrets?.includes(text), 'login() asks for a secret without "secret: true".');
      return text;
    },
    async openUrl(url) {
      const {visit = notOffered('visit')} = service;
      await visit(String(url));
    },
  };
}

/** The same service, for a user without credentials. */
function loggedOut(subject: Subject): Subject {
  const {secrets = [], secretEnv = []} = subject.backend;
  return withSecrets(subject, Object.fromEntries([...secrets, ...secretEnv].map((name) => [name, undefined])));
}

/** The same service, for a user with the secrets of a login. */
function withSecrets(subject: Subject, secrets: Readonly<Record<string, string | undefined>>): Subject {
  const {service, backend} = subject;
  const [options, env] = [{...(Object(service.options) as object)}, {...service.env}];
  for (const [name, value] of Object.entries(secrets)) {
    Reflect.set(backend.secretEnv?.includes(name) ? env : options, name, value);
  }
  return subject.again({service: {...service, options, env}});
}
