import assert from 'node:assert/strict';
import {checkBackendShape} from '../backends/backend-shape.js';
import type {AnyBackend} from '../backends/contract.js';
import {deleteChecks, downloadChecks, limitChecks, uploadChecks} from './cases/bundles.js';
import {faultChecks} from './cases/faults.js';
import {configurationChecks, isolationChecks, lentChecks, secretChecks} from './cases/safety.js';
import {operationsOf, uploadOperation} from './operations.js';
import type {HostBackend} from '../backends/built-in.js';
import {loginChecks, verifyChecks} from './cases/credentials.js';
import {
  deployChecks,
  deployStatusChecks,
  logChecks,
  promoteChecks,
  promoteStatusChecks,
  referenceChecks,
  uploadDeployChecks,
  waitChecks,
} from './cases/deployments.js';
import {
  historyChecks,
  historyReferenceChecks,
  listChecks,
  listDeployedChecks,
  targetChecks,
  targetHistoryChecks,
} from './cases/lists.js';
import {resumeChecks} from './cases/resume.js';
import {runInScope, type Check} from './check.js';
import {builtInMembers} from './subject.js';
import type {ConformanceCase, ConformanceFixtures} from './fixtures.js';

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
  const checks = [shapeCheck(createBackend), ...(shape.ok ? checksFor(shape.backend, fixtures) : [])];
  const {skip = {}} = fixtures;
  const unknown = Object.keys(skip).filter((name) => shape.ok && !checks.some((check) => check.name === name));
  if (unknown.length > 0) {
    throw new TypeError(
      `fixtures.skip has unknown cases: ${unknown.join('; ')}. ` +
        `This backend has: ${checks.map(({name}) => name).join('; ')}.`,
    );
  }
  return checks.map(({name, run}) => {
    const reason = Object.hasOwn(skip, name) ? skip[name] : undefined;
    return {
      name,
      skip: reason,
      // With a default, its length is 0: some runners pass a callback to functions with parameters.
      run: async (test = {}) => {
        // Running it anyway must not look like a pass.
        assert.ok(reason === undefined, `This case is skipped: ${String(reason)}`);
        const untried = await runInScope(createBackend, fixtures, run);
        if (untried === undefined) return;
        assert.ok(test.skip, `${untried} Change that, or say in "skip" why this case does not apply.`);
        test.skip(untried);
      },
    };
  });
}

/** Needs no service: without the right shape, there is nothing to call. */
function shapeCheck(createBackend: () => unknown): Check {
  return {
    name: 'has the shape of a backend',
    run: async () => {
      const shape = checkBackendShape(createBackend());
      assert.ok(shape.ok, shape.ok ? undefined : shape.problem);
    },
  };
}

/** Cases for backends that have some members. */
const groups: readonly {readonly needs: readonly (keyof HostBackend)[]; readonly checks: readonly Check[]}[] = [
  {needs: [], checks: [...isolationChecks, ...lentChecks, ...configurationChecks, ...secretChecks]},
  {needs: ['login'], checks: loginChecks},
  {needs: ['verify'], checks: verifyChecks},
  {needs: ['deploy'], checks: deployChecks},
  {needs: ['deploy', 'getDeployment'], checks: deployStatusChecks},
  {needs: ['promote'], checks: promoteChecks},
  {needs: ['promote', 'getDeployment'], checks: promoteStatusChecks},
  {needs: ['getDeployment'], checks: referenceChecks},
  {needs: ['listBundles'], checks: listChecks},
  {needs: ['listBundles', 'deploy'], checks: listDeployedChecks},
  {needs: ['listDeployments'], checks: historyChecks},
  {needs: ['listDeployments', 'getDeployment'], checks: historyReferenceChecks},
  {needs: ['listTargets'], checks: targetChecks},
  {needs: ['listTargets', 'listDeployments'], checks: targetHistoryChecks},
  {needs: ['readLogs'], checks: logChecks},
  {needs: ['download'], checks: downloadChecks},
  {needs: ['deleteBundle'], checks: deleteChecks},
];

function checksFor(backend: AnyBackend, {resumableBytes}: ConformanceFixtures): readonly Check[] {
  const {formats, limits = {}} = backend;
  const {uploadStream} = builtInMembers(backend);
  const uploads = [
    ...formats.map((format) => uploadOperation(format)),
    ...(uploadStream ? [uploadOperation('v1', {streamed: true})] : []),
  ];
  return [
    ...groups
      .filter(({needs}) => needs.every((name) => Reflect.get(backend, name) !== undefined))
      .flatMap((group) => group.checks),
    ...formats.flatMap((format) => [...uploadChecks(format), ...uploadDeployChecks(format)]),
    ...(uploadStream ? uploadChecks('v1', {streamed: true}) : []),
    ...(backend.getDeployment ? formats.flatMap(waitChecks) : []),
    ...limitChecks(limits),
    ...(resumableBytes === undefined ? [] : resumeChecks(resumableBytes)),
    ...[...uploads, ...operationsOf(backend)].flatMap(faultChecks),
  ];
}
