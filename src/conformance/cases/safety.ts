import assert from 'node:assert/strict';
import {capabilitiesOf} from '../../backends/call.js';
import {createRedactor} from '../../http/index.js';
import {assertHasCode, assertNotOfNetwork, failureOf, requireFault, type Check, type CaseScope} from '../check.js';
import type {ConformanceService} from '../fixtures.js';
import {verify} from './credentials.js';
import {watchNetwork, findLeak, printableOf} from '../observations.js';
import {unknownIdLike} from '../steps.js';
import {uses} from './requests.js';
import {validateOptions, declaredSecrets, optionTexts, type Subject} from '../subject.js';

/** Cases for `check`. */
export const configurationChecks: readonly Check[] = [
  {
    name: 'check: recognizes valid settings without the network',
    async run(scope) {
      const subject = await scope.open();
      const {result: missing, reached} = await watchNetwork(() => subject.check());
      assert.deepEqual(missing, [], 'check() reports missing settings, although the fixtures have all of them.');
      assert.ok(!reached, 'check() used the network.');
    },
  },
  {
    name: 'check: lists what is missing',
    async run(scope) {
      const {backend, fixtures, configDirectory, recording} = await scope.open();
      const {options: given = {}, env = {}} = fixtures.unconfigured ?? {};
      const {value: options, problems} = await validateOptions(backend, given);
      if (problems.length > 0) return;
      const {configured, missing = []} = await backend.check({options, configDirectory, env, logger: recording.logger});
      assert.ok(
        !configured,
        'check() reports an unconfigured backend as configured. See "unconfigured" in the fixtures.',
      );
      assert.ok(
        missing.length > 0 && missing.every((name) => name.trim() !== ''),
        'check() does not say what is missing.',
      );
    },
  },
];

/** Cases for failures of the service. */
export const failureChecks: readonly Check[] = [
  {
    name: 'upload: a persistent rate limit is reported as such',
    async run(scope) {
      const subject = await scope.open();
      const bundle = await subject.makeBundle();
      await requireFault(subject.service, 'limitUploads')(Infinity);
      const {code, message} = await failureOf('An upload that was always rate-limited', subject.upload(bundle));
      assert.equal(code, 'ERR_RATE_LIMITED', message);
    },
  },
  {
    name: 'upload: refused credentials are reported as such',
    async run(scope) {
      const subject = await scope.open();
      const bundle = await subject.makeBundle();
      await requireFault(subject.service, 'refuseCredentials')();
      const {code, message} = await failureOf('An upload with refused credentials', subject.upload(bundle));
      assert.ok(['ERR_UNAUTHORIZED', 'ERR_FORBIDDEN', 'ERR_OAUTH'].includes(code), `${code}: ${message}`);
    },
  },
  {
    name: 'upload: a failure of the service is reported with a code',
    async run(scope) {
      const subject = await scope.open();
      const bundle = await subject.makeBundle();
      await requireFault(subject.service, 'failUploads')();
      const error = await failureOf('An upload that failed on the server', subject.upload(bundle));
      assertHasCode(error);
      assertNotOfNetwork(error);
    },
  },
];

/** Cases for shared state. */
export const isolationChecks: readonly Check[] = [
  {
    name: 'two services do not interfere',
    async run(scope) {
      const first = await scope.open();
      const second = await scope.open(first.backend);
      const [one, two] = [await first.makeBundle(), await second.makeBundle()];
      const [oneId, twoId] = await Promise.all([first.upload(one), second.upload(two)]);
      await first.assertArrived(one, oneId);
      await second.assertArrived(two, twoId);
    },
  },
];

const faults: readonly ((service: ConformanceService) => void | Promise<void>)[] = [
  (service) => service.limitUploads?.(Infinity),
  (service) => service.refuseCredentials?.(),
  (service) => service.failUploads?.(),
];

/** Cases for secrets. */
export const secretChecks: readonly Check[] = [
  {
    name: 'no error or log contains a secret',
    async run(scope) {
      const subject = await scope.open();
      const {secrets = [], options, env = {}} = subject.service;
      assert.ok(
        secrets.length > 0,
        'The service of the fixtures lists no secrets. Add them, or name this case in "skip".',
      );
      const declared = declaredSecrets(subject.backend, subject.service);
      const isUndeclared = (text: string | undefined) =>
        text !== undefined && secrets.includes(text) && !declared.includes(text);
      assert.ok(
        !optionTexts(options).some(isUndeclared),
        'The backend does not list every secret option in "secrets".',
      );
      const variables = Object.keys(env).filter((name) => isUndeclared(env[name]));
      assert.deepEqual(variables, [], 'The backend does not list every secret variable in "secretEnv".');

      const texts = [...(await textsOfUses(subject)), ...(await textsOfFaults(scope))];
      const issued = (await subject.service.issuedSecrets?.()) ?? [];
      assert.ok(
        issued.every((secret) => subject.learnedSecrets.has(secret)),
        'The backend does not mask every secret that it learns with "context.maskSecret".',
      );
      const all = [...secrets, ...issued];
      const redact = createRedactor(all);
      for (const text of texts) {
        assert.ok(findLeak(text, all) === undefined, `An error, a log or a result contains a secret: ${redact(text)}`);
      }
    },
  },
];

/** Everything printed about an existing bundle, and about a missing one. */
async function textsOfUses(subject: Subject): Promise<readonly string[]> {
  const bundleId = await subject.upload(await subject.makeBundle());
  const texts: string[] = [];
  for (const id of [unknownIdLike(bundleId), bundleId]) {
    for (const capability of ['list', 'deploy', 'history', 'download', 'delete'] as const) {
      if (!capabilitiesOf(subject.backend).includes(capability)) continue;
      texts.push(...(await textsOf(uses[capability](subject, {bundleId: id}))));
    }
  }
  if (subject.backend.verify) texts.push(...(await textsOf(verify(subject))));
  return [...texts, ...subject.recording.messages];
}

/** Everything printed about uploads that fail, in every way the service supports. */
async function textsOfFaults(scope: CaseScope): Promise<readonly string[]> {
  const texts: string[] = [];
  for (const inject of faults) {
    const subject = await scope.open();
    const bundle = await subject.makeBundle();
    await inject(subject.service);
    if (subject.backend.verify) texts.push(...(await textsOf(verify(subject))));
    texts.push(...(await textsOf(subject.upload(bundle))), ...subject.recording.messages);
  }
  return texts;
}

/** A result as JSON, without the service's own answer. */
function resultText(result: unknown): string {
  const {raw: _, ...rest} = Object(result) as Readonly<Record<string, unknown>>;
  return JSON.stringify(rest);
}

async function textsOf(work: Promise<unknown>): Promise<readonly string[]> {
  return work.then(
    (result) => [resultText(result)],
    (error: unknown) => [printableOf(error)],
  );
}
