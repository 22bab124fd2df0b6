import assert from 'node:assert/strict';
import {Writable} from 'node:stream';
import {capabilitiesOf} from '../../../backends/call.js';
import type {BackendCapability, BundleId} from '../../../backends/contract.js';
import {createRedactor} from '../../../http/index.js';
import {assertHasCode, failureOf, requireFault, type Check, type CaseScope} from '../check.js';
import type {ConformanceService} from '../fixtures.js';
import {verify} from './credentials.js';
import {watchNetwork, findLeak, printableOf} from '../observations.js';
import {deleteBundle, deploy, download, listBundles, listDeployments, unknownIdLike} from '../steps.js';
import {usableOptions, validateOptions, declaredSecrets, optionTexts, type Subject} from '../subject.js';

/** Cases for `check`. */
export const configurationChecks: readonly Check[] = [
  {
    name: 'check: recognizes valid settings without the network',
    async run(scope) {
      const {backend, service, projectSlug, targetSlug, configDirectory, recording} = await scope.open();
      const {env = {}} = service;
      const options = await usableOptions(backend, service.options);
      const {result, reached} = await watchNetwork(() =>
        backend.check({...{options, configDirectory, projectSlug, targetSlug}, env, logger: recording.logger}),
      );
      assert.deepEqual(
        result.missing ?? [],
        [],
        'check() reports missing settings, although the fixtures have all of them.',
      );
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
      // It tells users that nothing was carried out, and pipelines to try again.
      assert.notEqual(error.code, 'ERR_NETWORK', `The service answered, so this is no network error: ${error.message}`);
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

const uses: readonly (readonly [BackendCapability, (subject: Subject, bundleId: BundleId) => Promise<unknown>])[] = [
  ['list', (subject) => listBundles(subject, {limit: 10, offset: 0})],
  ['deploy', deploy],
  ['history', (subject) => listDeployments(subject, {limit: 10, offset: 0})],
  ['download', (subject, bundleId) => download(subject, {bundleId, writeTo: new Writable({write: discard})})],
  ['delete', deleteBundle],
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
        assert.ok(findLeak(text, all) === undefined, `An error or a log contains a secret: ${redact(text)}`);
      }
    },
  },
];

/** Everything printed about an existing bundle, and about a missing one. */
async function textsOfUses(subject: Subject): Promise<readonly string[]> {
  const bundleId = await subject.upload(await subject.makeBundle());
  const errors: string[] = [];
  for (const id of [unknownIdLike(bundleId), bundleId]) {
    for (const [capability, use] of uses) {
      if (capabilitiesOf(subject.backend).includes(capability)) errors.push(...(await errorTexts(use(subject, id))));
    }
  }
  if (subject.backend.verify) errors.push(...(await errorTexts(verify(subject))));
  return [...errors, ...subject.recording.messages];
}

/** Everything printed about uploads that fail, in every way the service supports. */
async function textsOfFaults(scope: CaseScope): Promise<readonly string[]> {
  const texts: string[] = [];
  for (const inject of faults) {
    const subject = await scope.open();
    const bundle = await subject.makeBundle();
    await inject(subject.service);
    if (subject.backend.verify) texts.push(...(await errorTexts(verify(subject))));
    texts.push(...(await errorTexts(subject.upload(bundle))), ...subject.recording.messages);
  }
  return texts;
}

async function errorTexts(work: Promise<unknown>): Promise<readonly string[]> {
  return work.then(
    () => [],
    (error: unknown) => [printableOf(error)],
  );
}

function discard(_piece: unknown, _encoding: unknown, done: () => void): void {
  done();
}
