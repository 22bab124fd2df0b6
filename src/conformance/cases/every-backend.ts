import assert from 'node:assert/strict';
import {expectAbort, expectAnswer, outcomeOf} from '../expectations.js';
import {sideEffectsOf} from '../observations.js';
import {bundleOperations, prepare, useEverything} from '../operations.js';
import {declaredSecrets} from '../host.js';
import type {Subject, Cases, CaseTable} from '../subject.js';
import {containsSecret} from '../../http/redact.js';
import {unknownIdLike} from './bundles.js';

/** Cases for every backend. */
export const safetyCases: Cases = {
  'two services do not interfere': {
    proves: 'Two uploads at the same time, with different options, each go to the right service: keep no state.',
    async run(first, open) {
      const second = await open(first.parts.backend);
      const [one, two] = [await first.makeBundle(), await second.makeBundle()];
      const [oneId, twoId] = await Promise.all([first.upload(one), second.upload(two)]);
      await first.assertArrived(one, oneId);
      await second.assertArrived(two, twoId);
    },
  },
  'options, bundles and requests are left as they are': {
    proves: 'What a call is given is the same after it.',
    async run(subject) {
      await useEverything(subject);
      const [change = ''] = subject.changes;
      assert.equal(change, '', `The backend changes ${change}. Other calls use it, too: change a copy instead.`);
    },
  },
  'nothing is printed': {
    proves: 'Nothing is printed to the console, where it would be among the output of commands: use `context.logger`.',
    async run(subject) {
      const {printed} = await sideEffectsOf(() => useEverything(subject));
      assert.ok(!printed, 'The backend prints to the console. Use context.logger.');
    },
  },
  'no error, log or result contains a secret': {
    proves:
      'Options that hold a secret are in `secrets`, variables in `secretEnv`, and what the backend learns is passed to ' +
      '`context.maskSecret`; nothing that it logs, throws or returns (other than `raw`) contains one, not even in base64.',
    async run(subject) {
      const {secrets = []} = subject.service;
      const advice = 'Add them, or name this case in "skip".';
      assert.ok(secrets.length > 0, `The service of the fixtures lists no secrets. ${advice}`);
      assertDeclared(subject, secrets);
      await useEverything(subject);
      for (const operation of bundleOperations.filter(({needs}) => subject.backend[needs])) {
        const prepared = await prepare(subject, operation);
        await outcomeOf(operation.run(subject, {...prepared, bundleId: unknownIdLike(prepared.bundleId)}));
      }
      const areMasked = (await subject.issuedSecrets()).every((secret) => subject.learnedSecrets.has(secret));
      assert.ok(areMasked, 'The backend does not mask every secret that it learns with "context.maskSecret".');
      await subject.assertNoLeak();
    },
  },
  'check: recognizes valid settings without the network': {
    proves: 'With the settings of the fixtures nothing is missing, and no connection is opened to find out.',
    async run(subject) {
      const {connected} = await sideEffectsOf(async () => {
        expectAnswer('what check() misses with the settings of the fixtures', await subject.check(), []);
      });
      assert.ok(!connected, 'check() used the network.');
    },
  },
  'check: lists what is missing': {
    proves: 'Without options, or with those of `unconfigured` in the fixtures, something is missing.',
    async run(subject) {
      const {options = {}, env = {}} = subject.parts.fixtures.unconfigured ?? {};
      const missing = await subject.check({options, env});
      const advice = 'See "unconfigured" in the fixtures.';
      assert.ok(missing.length > 0, `check() reports an unconfigured backend as configured. ${advice}`);
    },
  },
};

/** Cases for how users log in, and whether that works. */
export const loginCases: CaseTable = {
  login: {
    'login: the service accepts what it returns': {
      proves:
        'After a login nothing is missing, and `verify` and an upload work. No log contains what the user enters, what ' +
        'the service issues or what is returned, and it is masked.',
      async run(subject) {
        const stranger = loggedOut(subject);
        const known: string[] = [];
        const {secrets} = await stranger.login(dialogueOf(subject, known));
        known.push(...Object.values(secrets));
        const issued = await subject.issuedSecrets();
        const areMasked = issued.every((secret) => known.includes(secret) || stranger.learnedSecrets.has(secret));
        assert.ok(areMasked, 'login() does not mask every secret that it learns with "context.maskSecret".');
        // The last text is the result.
        const isLogged = stranger.texts.slice(0, -1).some((text) => containsSecret(text, [...known, ...issued]));
        assert.ok(!isLogged, 'login() logs a secret.');
        const user = withSecrets(subject, secrets);
        expectAnswer('what check() misses after a login', await user.check(), []);
        if (user.backend.verify) await user.verify();
        await user.upload();
      },
    },
    'login: an abort ends it within a second': {
      proves: 'A login that is aborted while the user is asked, or is at a web page, ends within a second.',
      async run(service) {
        const subject = loggedOut(service);
        await expectAbort('a login', subject.cleanups, (signal, abort) => {
          // The host's own prompt rejects, and the user never gets to the page.
          const prompt = async () => {
            abort();
            return Promise.reject(signal.reason);
          };
          const openUrl = async () => void setImmediate(abort);
          return subject.login({prompt, openUrl}, {signal});
        });
      },
    },
  },
  verify: {
    'verify: accepts valid credentials and changes nothing': {
      proves: 'Valid credentials are accepted, and the service keeps what it kept before.',
      async run(subject) {
        await subject.verify();
        await subject.assertKept(0, 'verify()');
      },
    },
  },
};

function assertDeclared({backend, service}: Subject, secrets: readonly string[]): void {
  const names = {secrets: Object.keys(Object(service.options) as object), secretEnv: Object.keys(service.env ?? {})};
  const declared = declaredSecrets(backend, service);
  const hidden = declaredSecrets(names, service).filter((text) => secrets.includes(text) && !declared.includes(text));
  const advice = 'List every secret option in "secrets", and every secret variable in "secretEnv".';
  assert.equal(hidden.length, 0, `The backend does not declare ${hidden.length} secrets of the fixtures. ${advice}`);
}

/** A user who does what the fixtures tell. `entered` gets the secrets that are entered. */
function dialogueOf({service: {answer, visit}}: Subject, entered: string[]): Parameters<Subject['login']>[0] {
  const missing = (name: string) =>
    `The service of the fixtures has no ${name}(). Add it, or say in "skip" why this case does not apply.`;
  return {
    async prompt(question) {
      assert.ok(answer, missing('answer'));
      const text = await answer(question);
      if (question.secret === true) entered.push(text);
      return text;
    },
    async openUrl(url) {
      assert.ok(visit, missing('visit'));
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
