import assert from 'node:assert/strict';
import {randomBytes} from 'node:crypto';
import {mkdtemp, rm} from 'node:fs/promises';
// eslint-disable-next-line no-restricted-imports -- a case makes and removes the folder of its bundles itself
import {tmpdir} from 'node:os';
import path from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import {checkBackendShape} from '../backends/backend-shape.js';
import type {AnyBackend} from '../backends/contract.js';
import {createBundleMaker, type MakeBundle} from './bundles.js';
import {bundleCases} from './cases/bundles.js';
import {deploymentCases} from './cases/deployments.js';
import {everyBackendCases} from './cases/every-backend.js';
import {faultCases} from './cases/faults.js';
import {listCases} from './cases/lists.js';
import {resumeCases, uploadCases} from './cases/uploads.js';
import {NotTried} from './expectations.js';
import type {ConformanceCase, ConformanceFixtures} from './fixtures.js';
import {operations, uploadOperation} from './operations.js';
import {Relay} from './relay.js';
import {Subject, type Case} from './subject.js';

/**
 * The cases that a backend must pass, for any test runner. The built-in backends pass the same ones. There are cases
 * for each format that the backend accepts and each capability that it has. A case opens and closes everything it
 * needs, with its own bundles, so cases can run concurrently. Failures are assertion errors of `node:assert`.
 *
 * A backend that does not have the shape of the contract only gets one case, which says so.
 * @param createBackend creates the backend. Called at once, to see what it has, and again in every case.
 * @throws TypeError when `fixtures.skip` names an unknown case.
 */
export function backendConformance(
  createBackend: () => AnyBackend,
  fixtures: ConformanceFixtures,
): readonly ConformanceCase[] {
  const shape = checkBackendShape(createBackend());
  const makeBundle = createBundleMaker();
  const cases = (shape.ok ? casesFor(shape.backend, fixtures) : []).map(({name, proves, run}) => {
    return {name, proves, run: () => runCase(run, createBackend, fixtures, makeBundle)};
  });
  const all = [{...shapeCase, run: async () => assertShape(createBackend())}, ...cases];
  const {skip = {}} = fixtures;
  const unknown = Object.keys(skip).filter((name) => shape.ok && !all.some((one) => one.name === name));
  if (unknown.length > 0) {
    throw new TypeError(
      `fixtures.skip has unknown cases: ${unknown.join('; ')}. ` +
        `This backend has: ${all.map(({name}) => name).join('; ')}.`,
    );
  }
  return all.map(({name, proves, run}) => {
    const reason = Object.hasOwn(skip, name) ? skip[name] : undefined;
    return {
      name,
      proves,
      skip: reason,
      // With a default, its length is 0: some runners pass a callback to functions with parameters.
      run: async (test = {}) => {
        // Running it anyway must not look like a pass.
        assert.ok(reason === undefined, `This case is skipped: ${String(reason)}`);
        const untried = await run();
        if (untried === undefined) return;
        assert.ok(test.skip, `${untried} Change that, or say in "skip" why this case does not apply.`);
        test.skip(untried);
      },
    };
  });
}

/** Needs no service: without the right shape, there is nothing to call. */
const shapeCase = {
  name: 'has the shape of a backend',
  proves: 'The name, version and formats are valid, and each member of the contract is of its type.',
};

function assertShape(backend: unknown): undefined {
  const shape = checkBackendShape(backend);
  assert.ok(shape.ok, shape.ok ? undefined : shape.problem);
}

/** All cases, without those for members that the backend does not have. */
function casesFor(backend: AnyBackend, {resumableBytes}: ConformanceFixtures): readonly Case[] {
  const {formats} = backend;
  const uploads = formats.map((format) => uploadOperation(format));
  const cases = [
    ...everyBackendCases,
    ...formats.flatMap((format) => uploadCases(format)),
    ...(resumableBytes === undefined ? [] : resumeCases(resumableBytes)),
    ...deploymentCases,
    ...listCases,
    ...bundleCases,
    ...[...uploads, ...operations].flatMap((operation) => faultCases(operation)),
  ];
  return cases.filter(({needs = []}) => needs.every((member) => Reflect.get(backend, member) !== undefined));
}

/**
 * Runs a case, and closes everything that was opened in it.
 * @returns why it could not try anything; undefined if it did.
 */
async function runCase(
  run: Case['run'],
  createBackend: () => AnyBackend,
  fixtures: ConformanceFixtures,
  make: MakeBundle,
): Promise<string | undefined> {
  const directory = await mkdtemp(path.join(tmpdir(), 'mycli-conformance-'));
  const closings: (() => void | Promise<void>)[] = [];
  let number = 0;
  const open = async (backend = createBackend()) => {
    const {formats, limits = {}} = backend;
    const relay = new Relay();
    closings.push(() => relay.close());
    const service = await fixtures.openService({through: (origin) => relay.through(origin)});
    closings.push(() => service.close?.());
    const projectSlug = service.projectSlug ?? `conformance-${randomBytes(3).toString('hex')}`;
    const build: Subject['parts']['build'] = (wish, project) => {
      number += 1;
      const {format = formats[0] ?? 'v2'} = wish;
      return make({...wish, format}, {directory, projectSlug: project, limits, number});
    };
    return new Subject({backend, createBackend, service, fixtures, relay, projectSlug, build, states: new Map()});
  };
  const limitMs = fixtures.caseTimeoutMs ?? 60_000;
  const over = new AbortController();
  const tooLong = delay(limitMs, undefined, {signal: over.signal}).then(
    () => assert.fail(`This case took longer than ${limitMs / 1000} s: something never ends.`),
    () => undefined,
  );
  try {
    await Promise.race([open().then((subject) => run(subject, open)), tooLong]);
    return undefined;
  } catch (error) {
    if (error instanceof NotTried) return error.message;
    throw error;
  } finally {
    over.abort();
    for (const close of closings) await close();
    await rm(directory, {recursive: true, force: true, maxRetries: 5});
  }
}
