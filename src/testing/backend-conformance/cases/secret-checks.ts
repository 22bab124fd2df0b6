import assert from 'node:assert/strict';
import {Writable} from 'node:stream';
import type {BackendCapability, BundleId} from '../../../backends/contract.js';
import {createRedactor} from '../../../http/index.js';
import type {CaseScope} from '../case-scope.js';
import type {Check} from '../check.js';
import {findLeak, printableOf} from '../find-leak.js';
import type {ConformanceService} from '../fixtures.js';
import {declaredSecrets, optionTexts} from '../settings.js';
import {deleteBundle, deploy, download, listBundles, listDeployments, unknownIdLike} from '../steps.js';
import type {Subject} from '../subject.js';

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

/** Whether a backend keeps its secrets. */
export const secretChecks: readonly Check[] = [
  {
    name: 'no secret is in any error or log',
    async run(scope) {
      const subject = await scope.open();
      const {secrets = [], options} = subject.service;
      assert.ok(
        secrets.length > 0,
        'the service of the fixtures has no secrets: list them, or name this case in "skip"',
      );
      const declared = declaredSecrets(subject.backend, options);
      const undeclared = optionTexts(options).filter((text) => secrets.includes(text) && !declared.includes(text));
      assert.equal(undeclared.length, 0, 'an option that holds a secret is not among the "secrets" of the backend');

      const redact = createRedactor(secrets);
      for (const text of [...(await textsOfUses(subject)), ...(await textsOfFaults(scope))]) {
        assert.ok(findLeak(text, secrets) === undefined, `a secret is in an error or a log: ${redact(text)}`);
      }
    },
  },
];

/** What is said about a bundle that there is, and about one that there is not. */
async function textsOfUses(subject: Subject): Promise<readonly string[]> {
  const bundleId = await subject.upload(await subject.makeBundle());
  const errors: string[] = [];
  for (const id of [unknownIdLike(bundleId), bundleId]) {
    for (const [capability, use] of uses) {
      if (subject.backend.capabilities.includes(capability)) errors.push(...(await errorTexts(use(subject, id))));
    }
  }
  return [...errors, ...subject.recording.messages];
}

/** What is said about uploads that fail, in every way that the service knows. */
async function textsOfFaults(scope: CaseScope): Promise<readonly string[]> {
  const texts: string[] = [];
  for (const inject of faults) {
    const subject = await scope.open();
    const bundle = await subject.makeBundle();
    await inject(subject.service);
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
