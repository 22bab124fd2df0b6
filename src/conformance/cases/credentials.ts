import assert from 'node:assert/strict';
import type {BackendLoginContext} from '../../backends/contract.js';
import {assertAbortEnds, type Check, type CaseScope} from '../check.js';
import type {ConformanceService} from '../fixtures.js';
import {findLeak} from '../observations.js';
import {servicePart, verify} from '../steps.js';
import type {Subject} from '../subject.js';

type Secrets = Readonly<Record<string, string>>;
type Dialogue = Pick<BackendLoginContext, 'prompt' | 'openUrl'>;

/** Cases for `login`. */
export const loginChecks: readonly Check[] = [
  {
    name: 'login: the service accepts what it returns',
    async run(scope) {
      const subject = await scope.open();
      const secrets = await logIn(loggedOut(scope, subject), userOf(subject.service));
      const user = loggedIn(scope, subject, secrets);
      const {backend, configDirectory, projectSlug, recording, service} = user;
      const context = {options: service.options, configDirectory, env: service.env ?? {}, logger: recording.logger};
      const {missing = []} = await backend.check({...context, projectSlug});
      assert.deepEqual(missing, [], `After a login, check() reports that something is missing: ${missing.join(', ')}`);
      if (backend.verify) await verify(user);
      await user.upload(await user.makeBundle());
    },
  },
  {
    name: 'login: an abort ends it within a second',
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
        return logIn(subject, {prompt, openUrl}, signal);
      });
    },
  },
  {
    name: 'login: no log contains a secret',
    async run(scope) {
      const subject = await scope.open();
      const stranger = loggedOut(scope, subject);
      const {prompt, openUrl} = userOf(subject.service);
      const entered: string[] = [];
      const returned = await logIn(stranger, {
        openUrl,
        async prompt(question) {
          const answer = await prompt(question);
          if (question.secret === true) entered.push(answer);
          return answer;
        },
      });
      const known = [...Object.values(returned), ...entered];
      const issued = (await subject.service.issuedSecrets?.()) ?? [];
      assert.ok(
        issued.every((secret) => known.includes(secret) || stranger.learnedSecrets.has(secret)),
        'login() does not mask every secret that it learns with "context.maskSecret".',
      );
      for (const message of stranger.recording.messages) {
        assert.ok(findLeak(message, [...known, ...issued]) === undefined, 'login() logs a secret.');
      }
    },
  },
];

/** Cases for `verify`. */
export const verifyChecks: readonly Check[] = [
  {
    name: 'verify: accepts valid credentials and changes nothing',
    async run(scope) {
      const subject = await scope.open();
      const before = await subject.service.countUploads?.();
      await verify(subject);
      assert.equal(await subject.service.countUploads?.(), before, 'verify() changes what the service keeps.');
    },
  },
];

async function logIn(subject: Subject, dialogue: Dialogue, signal?: AbortSignal): Promise<Secrets> {
  const member = subject.backend.login;
  assert.ok(member, 'This case requires login(), which the backend does not have.');
  const {secrets} = await subject.call('logging in', (context) => member({...servicePart(context), ...dialogue}), {
    signal,
  });
  return secrets;
}

/** A user who does what the fixtures tell. */
function userOf({answer, visit}: ConformanceService): Dialogue {
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
function loggedOut(scope: CaseScope, {backend, service, relay, projectSlug, states}: Subject): Subject {
  const {secrets = [], secretEnv = []} = backend;
  const without = (values: object, names: readonly string[]) =>
    Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name)));
  const options = without(Object(service.options) as object, secrets);
  return scope.reopen({
    relay,
    projectSlug,
    states,
    service: {...service, options, env: without(service.env ?? {}, secretEnv)},
  });
}

/** The same service, for a user with the secrets of a login. */
function loggedIn(
  scope: CaseScope,
  {backend, service, relay, projectSlug, states}: Subject,
  secrets: Secrets,
): Subject {
  const {secretEnv = []} = backend;
  const of = (isVariable: boolean) =>
    Object.fromEntries(Object.entries(secrets).filter(([name]) => secretEnv.includes(name) === isVariable));
  const options = {...(Object(service.options) as object), ...of(false)};
  return scope.reopen({relay, projectSlug, states, service: {...service, options, env: {...service.env, ...of(true)}}});
}
