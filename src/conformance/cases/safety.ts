import assert from 'node:assert/strict';
import type {LoginResult} from '../../backends/contract.js';
import {findLeak, sideEffectsOf} from '../observations.js';
import {operations, prepare, useEverything} from '../operations.js';
import {assertAbortEnds, type Case, type Scope} from '../scope.js';
import {declaredSecrets, type Subject} from '../subject.js';
import {unknownIdLike} from './ids.js';

/** Cases for every backend. */
export const safetyCases: readonly Case[] = [
  {
    name: 'two services do not interfere',
    proves: 'Two uploads at the same time, with different options, each go to the right service: keep no state.',
    async run(scope) {
      const first = await scope.open();
      const second = await scope.open(first.parts.backend);
      const [one, two] = [await first.makeBundle(), await second.makeBundle()];
      const [oneId, twoId] = await Promise.all([first.upload(one), second.upload(two)]);
      await first.assertArrived(one, oneId);
      await second.assertArrived(two, twoId);
    },
  },
  {
    name: 'options, bundles and requests are left as they are',
    proves: 'What a call is given is the same after it.',
    async run(scope) {
      const subject = await scope.open();
      await useEverything(subject);
      const [change = ''] = subject.changes;
      assert.equal(change, '', `The backend changes ${change}. Other calls use it, too: change a copy instead.`);
    },
  },
  {
    name: 'nothing is printed',
    proves: 'Nothing is printed to the console, which would break the output of `--json`: use `context.logger`.',
    async run(scope) {
      const subject = await scope.open();
      const {printed} = await sideEffectsOf(() => useEverything(subject));
      assert.ok(!printed, 'The backend prints to the console. Use context.logger.');
    },
  },
  {
    name: 'no error, log or result contains a secret',
    proves:
      'Options that hold a secret are in `secrets`, variables in `secretEnv`, and what the backend learns is passed to ' +
      '`context.maskSecret`; nothing that it logs, throws or returns (other than `raw`) contains one, not even in base64.',
    async run(scope) {
      const subject = await scope.open();
      const {secrets = []} = subject.service;
      const advice = 'Add them, or name this case in "skip".';
      assert.ok(secrets.length > 0, `The service of the fixtures lists no secrets. ${advice}`);
      assertDeclared(subject, secrets);
      await useEverything(subject);
      for (const operation of operations.filter(({needs, on}) => subject.backend[needs] && on === 'bundle')) {
        const prepared = await prepare(subject, operation);
        const unknown = {...prepared, bundleId: unknownIdLike(prepared.bundleId)};
        await operation.run(subject, unknown).catch(() => undefined);
      }
      const issued = (await subject.service.issuedSecrets?.()) ?? [];
      const areMasked = issued.every((secret) => subject.learnedSecrets.has(secret));
      assert.ok(areMasked, 'The backend does not mask every secret that it learns with "context.maskSecret".');
      await subject.assertNoLeak();
    },
  },
  {
    name: 'check: recognizes valid settings without the network',
    proves: 'With the settings of the fixtures nothing is missing, and no connection is opened to find out.',
    async run(scope) {
      const subject = await scope.open();
      let missing: readonly string[] = [];
      const {connected} = await sideEffectsOf(async () => {
        missing = await subject.check();
      });
      assert.deepEqual(missing, [], 'check() reports missing settings, although the fixtures have all of them.');
      assert.ok(!connected, 'check() used the network.');
    },
  },
  {
    name: 'check: lists what is missing',
    proves: 'Without options, or with those of `unconfigured` in the fixtures, something is missing.',
    async run(scope) {
      const subject = await scope.open();
      const {options = {}, env = {}} = subject.parts.fixtures.unconfigured ?? {};
      const missing = await subject.check({options, env});
      const advice = 'See "unconfigured" in the fixtures.';
      assert.ok(missing.length > 0, `check() reports an unconfigured backend as configured. ${advice}`);
    },
  },
  {
    name: 'login: the service accepts what it returns',
    needs: ['login'],
    proves: 'After a login nothing is missing, and `verify` and an upload work.',
    async run(scope) {
      const subject = await scope.open();
      const {secrets} = await loggedOut(scope, subject).login(userOf(subject));
      const user = loggedIn(scope, subject, secrets);
      const missing = await user.check();
      assert.deepEqual(missing, [], `After a login, check() reports that something is missing: ${missing.join(', ')}`);
      if (user.backend.verify) await user.verify();
      await user.upload();
    },
  },
  {
    name: 'login: an abort ends it within a second',
    needs: ['login'],
    proves: 'A login that is aborted while the user is asked, or is at a web page, ends within a second.',
    async run(scope) {
      const subject = loggedOut(scope, await scope.open());
      await assertAbortEnds('A login', subject, (signal, abort) => {
        // The host's own prompt rejects, and the user never gets to the page.
        const prompt = async () => {
          abort();
          return Promise.reject(signal.reason);
        };
        const openUrl = async () => {
          setImmediate(abort);
          return Promise.resolve();
        };
        return subject.login({prompt, openUrl}, {signal});
      });
    },
  },
  {
    name: 'login: no log contains a secret',
    needs: ['login'],
    proves: 'No log contains what the user enters, what the service issues or what is returned, and it is masked.',
    async run(scope) {
      const subject = await scope.open();
      const stranger = loggedOut(scope, subject);
      const {prompt, openUrl} = userOf(subject);
      const known: string[] = [];
      const {secrets} = await stranger.login({
        openUrl,
        async prompt(question) {
          const answer = await prompt(question);
          if (question.secret === true) known.push(answer);
          return answer;
        },
      });
      known.push(...Object.values(secrets));
      const issued = (await subject.service.issuedSecrets?.()) ?? [];
      const areMasked = issued.every((secret) => known.includes(secret) || stranger.learnedSecrets.has(secret));
      assert.ok(areMasked, 'login() does not mask every secret that it learns with "context.maskSecret".');
      // The last text is the result.
      for (const text of stranger.texts.slice(0, -1)) {
        assert.ok(findLeak(text, [...known, ...issued]) === undefined, 'login() logs a secret.');
      }
    },
  },
  {
    name: 'verify: accepts valid credentials and changes nothing',
    needs: ['verify'],
    proves: 'Valid credentials are accepted, and the service keeps what it kept before.',
    async run(scope) {
      const subject = await scope.open();
      await subject.verify();
      await subject.assertKept(0, 'verify()');
    },
  },
];

/** Asserts that the backend declares all secrets of the fixtures. */
function assertDeclared({backend, service}: Subject, secrets: readonly string[]): void {
  const declared = declaredSecrets(backend, service);
  const all = {options: Object(service.options) as object, env: service.env ?? {}};
  const everywhere = declaredSecrets(
    {...backend, secrets: Object.keys(all.options), secretEnv: Object.keys(all.env)},
    service,
  );
  const undeclared = everywhere.some((text) => secrets.includes(text) && !declared.includes(text));
  assert.ok(!undeclared, 'The backend does not list every secret option in "secrets", and variable in "secretEnv".');
}

/** A user who does what the fixtures tell. */
function userOf({service: {answer, visit}}: Subject): Parameters<Subject['login']>[0] {
  const missing = (name: string) =>
    `The service of the fixtures has no ${name}(). Add it, or say in "skip" why this case does not apply.`;
  return {
    async prompt(question) {
      assert.ok(answer, missing('answer'));
      return answer(question);
    },
    async openUrl(url) {
      assert.ok(visit, missing('visit'));
      await visit(String(url));
    },
  };
}

/** The same service, for a user without credentials. */
function loggedOut(scope: Scope, subject: Subject): Subject {
  const {service, backend} = subject;
  const {secrets = [], secretEnv = []} = backend;
  const without = (values: object, names: readonly string[]) =>
    Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name)));
  const options = without(Object(service.options) as object, secrets);
  return scope.reopen(subject, {service: {...service, options, env: without(service.env ?? {}, secretEnv)}});
}

/** The same service, for a user with the secrets of a login. */
function loggedIn(scope: Scope, subject: Subject, secrets: LoginResult['secrets']): Subject {
  const {service, backend} = subject;
  const {secretEnv = []} = backend;
  const of = (isVariable: boolean) =>
    Object.fromEntries(Object.entries(secrets).filter(([name]) => secretEnv.includes(name) === isVariable));
  const options = {...(Object(service.options) as object), ...of(false)};
  return scope.reopen(subject, {service: {...service, options, env: {...service.env, ...of(true)}}});
}
