import assert from 'node:assert/strict';
import {createRedactor} from '../../http/index.js';
import type {Check} from '../check.js';
import {operationsOf, prepare} from '../operations.js';
import {watchConsole, watchNetwork, findLeak, printableOf} from '../observations.js';
import {unknownIdLike} from '../steps.js';
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

      const texts = await textsOfUses(subject);
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
  const texts: string[] = [];
  for (const operation of operationsOf(subject.backend).filter(({on}) => on !== 'deployment')) {
    const prepared = await prepare(subject, operation);
    for (const bundleId of [unknownIdLike(prepared.bundleId), prepared.bundleId]) {
      texts.push(...(await textsOf(operation.run(subject, {...prepared, bundleId}))));
    }
  }
  return [...texts, ...subject.recording.messages];
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

/** Cases for what a backend is lent. */
export const lentChecks: readonly Check[] = [
  {
    name: 'options, bundles and requests are left as they are',
    async run(scope) {
      const subject = await scope.open();
      subject.protectLent();
      try {
        await useEverything(subject);
      } catch (error) {
        // Whatever fails after a change was refused, the change is why.
        if (subject.changes.length === 0) throw error;
      }
      const [change = ''] = subject.changes;
      assert.equal(
        subject.changes.length,
        0,
        `The backend changes ${change}, which other calls use, too. Change a copy instead.`,
      );
    },
  },
  {
    name: 'nothing is printed',
    async run(scope) {
      const subject = await scope.open();
      const prints = await watchConsole(() => useEverything(subject));
      assert.ok(
        !prints,
        'The backend prints to the console, which breaks the output of --json and shows secrets. Use context.logger.',
      );
    },
  },
];

/** Uses everything that a backend can do, once. */
async function useEverything(subject: Subject): Promise<void> {
  await subject.check();
  const all = operationsOf(subject.backend);
  const [first, ...others] = all.filter(({on}) => on === 'deployment');
  if (first) {
    const deployed = await prepare(subject, first);
    for (const operation of [first, ...others]) await operation.run(subject, deployed);
  }
  // Nothing waits for a deployment of these: what follows is not sent to its target.
  for (const operation of all.filter(({on}) => on !== 'deployment')) {
    await operation.run(subject, await prepare(subject, operation));
  }
}
