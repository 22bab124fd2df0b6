import assert from 'node:assert/strict';
import {randomBytes} from 'node:crypto';
import {mkdtemp, rm} from 'node:fs/promises';
import {near} from '../text/suggest.js';

// oxlint-disable-next-line no-restricted-imports -- a case makes and removes the folder of its bundles itself
import {tmpdir} from 'node:os';
import path from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import {checkBackendShape} from '../backends/plugins/checked-backend.js';
import type {AnyBackend} from '../backends/contract.js';
import type {OptionalMember} from '../backends/members.js';
import {createRedactor} from '../http/redact.js';
import {bundleCases, idCases} from './cases/bundle-cases.js';
import {deploymentCases} from './cases/deployment-cases.js';
import {everyBackendCases} from './cases/every-backend.js';
import {configurationCases} from './cases/configuration-cases.js';
import {faultCases} from './cases/fault-cases.js';
import {listCases} from './cases/list-cases.js';
import {targetCases} from './cases/target-cases.js';
import {resumeCase, uploadCases} from './cases/upload-cases.js';
import {NotTried, outcomeOf, redactedError, refusalOfSecrets, shown} from './expectations.js';
import type {ConformanceCase, ConformanceFixtures} from './fixtures.js';
import {triedOperations, uploadOperation} from './operations.js';
import {Relay} from './relay.js';
import {Subject, type Case, type Open} from './subject.js';

/**
 * The cases that a backend must pass, for any test runner. The built-in backends pass the same ones. There are cases
 * for each format that the backend accepts and each capability that it has. A case opens and closes everything it
 * needs, with its own bundles. So cases can run concurrently, unless the backend's module shares what it keeps, such as
 * a token, between different options or credentials. Failures are assertion errors of `node:assert`, and have the
 * secrets of the fixtures masked.
 *
 * A backend that does not have the shape of the contract only gets one case, which says so. So do fixtures whose `skip`
 * names an unknown case.
 * @param createBackend creates the backend. Called at once, to see what it has, and again in every case.
 */
export function backendConformance(
  createBackend: () => AnyBackend,
  fixtures: ConformanceFixtures,
): readonly ConformanceCase[] {
  const shape = checkBackendShape(createBackend());
  const shapeCase = {
    name: 'has the shape of a backend',
    proves: 'The name, version and formats are valid, and each member of the contract is of its type.',
    run: async () => assert.ok(shape.ok, shape.ok ? undefined : shape.problem),
  };
  if (!shape.ok) return [shapeCase];
  const all = [shapeCase, ...casesFor(shape.backend, fixtures)];
  const {skip = {}} = fixtures;
  const names = all.map(({name}) => name);
  const unknown = Object.keys(skip).filter((name) => !names.includes(name));
  if (unknown.length > 0) {
    const similar = unknown.flatMap((name) => near(name, names).slice(0, 1));
    const meant = similar.length === 0 ? '' : ` Did you mean ${similar.join('; ')}?`;
    const message = `fixtures.skip has unknown cases: ${unknown.join('; ')}.${meant}`;
    const proves = 'Each name in "skip" of the fixtures is the name of a case of this backend.';
    // Thrown right here, Node would print the line of the source, which is that of a minified file.
    return [{name: 'fixtures.skip names cases that there are', proves, run: async () => assert.fail(message)}];
  }
  /** Why the service cannot be used; empty if it can. The first case finds out. */
  let problem: string | undefined;
  return all.map(({name, proves, run}) => ({
    name,
    proves,
    skip: skip[name],
    // With a default, its length is 0: some runners pass a callback to functions with parameters.
    run: async (test = {}) => {
      // Running it anyway must not look like a pass.
      assert.ok(skip[name] === undefined, `This case is skipped: ${skip[name]}`);
      if (problem && test.skip) {
        test.skip('The service cannot be used, as the first case says.');
        return;
      }
      const runIfReached: Case['run'] = async (subject, open) => {
        problem ??= await problemOf(subject);
        assert.ok(problem === '', problem);
        await run(subject, open);
      };
      await runCase(runIfReached, createBackend, fixtures).catch((error: unknown) => {
        if (!(error instanceof NotTried)) throw error;
        assert.ok(test.skip, `${error.message} Fix that, or say in "skip" why this case does not apply.`);
        test.skip(error.message);
      });
    },
  }));
}

/** Each function that a backend can have is tried by at least one case. */
const memberCases: {readonly [Name in OptionalMember]: readonly Case[]} = {
  ...deploymentCases,
  ...listCases,
  ...bundleCases,
  ...targetCases,
  ...configurationCases,
};

/** Why no case can pass: the service cannot be reached, or refuses the credentials. Empty if it does neither. */
async function problemOf(subject: Subject): Promise<string> {
  const {verify, listBundles} = subject.backend;
  if (!verify && !listBundles) return '';
  const asking = verify ? subject.call('verify', undefined) : subject.call('listBundles', {limit: 1});
  const {error} = await outcomeOf<unknown>(asking);
  const isHopeless = error && (error.code === 'ERR_NETWORK' || refusalOfSecrets.fits(error));
  return isHopeless ? `${shown(error)} Every case would fail. Check what openService() returns.` : '';
}

/** All cases, without those for members that the backend does not have. */
function casesFor(backend: AnyBackend, {resumableBytes}: ConformanceFixtures): readonly Case[] {
  const {formats} = backend;
  const ofMembers = Object.entries(memberCases).flatMap(([member, cases]) =>
    cases.map((one) => ({...one, needs: [member as OptionalMember, ...(one.needs ?? [])]})),
  );
  const cases = [
    ...everyBackendCases,
    ...formats.flatMap(uploadCases),
    ...(resumableBytes === undefined ? [] : [resumeCase(resumableBytes)]),
    ...ofMembers,
    ...idCases,
    ...[...formats.map(uploadOperation), ...triedOperations].flatMap(faultCases),
  ];
  return cases.filter(
    ({needs = [], isFor}) =>
      needs.every((member) => Reflect.get(backend, member) !== undefined) && isFor?.(backend) !== false,
  );
}

/**
 * Runs a case within its time, and closes everything that was opened in it.
 * @throws NotTried; any other error without secrets, because runners print it whole.
 */
async function runCase(
  run: Case['run'],
  createBackend: () => AnyBackend,
  fixtures: ConformanceFixtures,
): Promise<void> {
  const directory = await mkdtemp(path.join(tmpdir(), 'mycli-conformance-'));
  const opened: Subject[] = [];
  const calls = {made: 0, pending: [] as string[]};
  const end = new AbortController();
  const open: Open = async () => {
    const relay = new Relay();
    const service = await fixtures.openService({through: (origin) => relay.through(origin)});
    const subject = new Subject({
      createBackend,
      service,
      fixtures,
      relay,
      projectSlug: service.projectSlug ?? `conformance-${randomBytes(3).toString('hex')}`,
      saved: {},
      masked: [],
      texts: [],
      calls,
      directory,
      ended: end.signal,
    });
    opened.push(subject);
    return subject;
  };
  const limitMs = fixtures.caseTimeoutMs ?? 60_000;
  const tooLong = delay(limitMs, undefined, {signal: end.signal}).then(() => {
    const problem = `This case took longer than ${limitMs / 1000} s, and has called the backend ${calls.made} times.`;
    const silent = [...new Set(calls.pending)].map((name) => ` ${name}() has not answered.`).join('');
    const causes = 'If these calls are only slow, set a longer caseTimeoutMs. Otherwise, something never ends';
    assert.fail(`${problem}${silent} ${causes}, such as the retries of an SDK.`);
  });
  try {
    await Promise.race([open().then((subject) => run(subject, open)), tooLong]);
  } catch (error) {
    if (error instanceof NotTried) throw error;
    const secrets = await Promise.all(opened.map((subject) => subject.secrets()));
    throw redactedError(error, createRedactor(secrets.flat()));
  } finally {
    // What still runs must not keep the process from ending.
    end.abort();
    for (const {parts} of opened) {
      await parts.relay.close();
      await parts.service.close?.();
    }
    await rm(directory, {recursive: true, force: true, maxRetries: 5});
  }
}
