import assert from 'node:assert/strict';
import {checkBackendShape} from '../backends/backend-shape.js';
import type {AnyBackend} from '../backends/contract.js';
import {BundleMaker} from './bundles.js';
import {deleteCases, downloadCases, idCases, limitCases, uploadCases} from './cases/bundles.js';
import {deploymentCases, logCases, pushCases} from './cases/deployments.js';
import {faultCases, resumeCases} from './cases/faults.js';
import {historyCases, listCases, targetCases} from './cases/lists.js';
import {safetyCases} from './cases/safety.js';
import type {ConformanceCase, ConformanceFixtures} from './fixtures.js';
import {operations, uploadOperation} from './operations.js';
import {runInScope, type Case} from './scope.js';
import {builtInMembers} from './subject.js';

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
  const cases = [shapeCase(createBackend), ...(shape.ok ? casesFor(shape.backend, fixtures) : [])];
  const {skip = {}} = fixtures;
  const unknown = Object.keys(skip).filter((name) => shape.ok && !cases.some((one) => one.name === name));
  if (unknown.length > 0) {
    throw new TypeError(
      `fixtures.skip has unknown cases: ${unknown.join('; ')}. ` +
        `This backend has: ${cases.map(({name}) => name).join('; ')}.`,
    );
  }
  const maker = new BundleMaker();
  return cases.map(({name, proves, run}) => {
    const reason = Object.hasOwn(skip, name) ? skip[name] : undefined;
    return {
      name,
      proves,
      skip: reason,
      // With a default, its length is 0: some runners pass a callback to functions with parameters.
      run: async (test = {}) => {
        // Running it anyway must not look like a pass.
        assert.ok(reason === undefined, `This case is skipped: ${String(reason)}`);
        const untried = await runInScope(createBackend, fixtures, maker, run);
        if (untried === undefined) return;
        assert.ok(test.skip, `${untried} Change that, or say in "skip" why this case does not apply.`);
        test.skip(untried);
      },
    };
  });
}

/** Needs no service: without the right shape, there is nothing to call. */
function shapeCase(createBackend: () => unknown): Case {
  return {
    name: 'has the shape of a backend',
    proves: 'The name, version and formats are valid, and each member of the contract is of its type.',
    run: async () => {
      const shape = checkBackendShape(createBackend());
      assert.ok(shape.ok, shape.ok ? undefined : shape.problem);
    },
  };
}

/** The table of cases, without those for members that the backend does not have. */
function casesFor(backend: AnyBackend, {resumableBytes}: ConformanceFixtures): readonly Case[] {
  const {formats, limits = {}} = backend;
  const all = {...backend, ...builtInMembers(backend)};
  const uploads = [...formats.map((format) => uploadOperation(format)), uploadOperation('v1', {streamed: true})];
  const table: readonly Case[] = [
    ...safetyCases,
    ...formats.flatMap((format) => [...uploadCases(format), ...pushCases(format)]),
    ...(all.uploadStream ? uploadCases('v1', {streamed: true}) : []),
    ...limitCases(limits),
    ...(resumableBytes === undefined ? [] : resumeCases(resumableBytes)),
    ...deploymentCases,
    ...listCases,
    ...historyCases,
    ...targetCases,
    ...logCases,
    ...downloadCases,
    ...deleteCases,
    ...idCases,
    ...[...uploads, ...operations].flatMap(faultCases),
  ];
  return table.filter(({needs = []}) => needs.every((name) => Reflect.get(all, name) !== undefined));
}
