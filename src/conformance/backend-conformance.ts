import assert from 'node:assert/strict';
import {capabilitiesOf} from '../backends/call.js';
import {checkBackendShape} from '../backends/backend-shape.js';
import type {AnyBackend, BackendCapability} from '../backends/contract.js';
import {
  lentChecks,
  requestChecks,
  retryChecks,
  unrepeatableChecks,
  unrepeatableDeployChecks,
} from './cases/requests.js';
import {deleteChecks, downloadChecks, limitChecks, uploadChecks} from './cases/bundles.js';
import {configurationChecks, failureChecks, isolationChecks, secretChecks} from './cases/safety.js';
import {loginChecks, verifyChecks} from './cases/credentials.js';
import {
  deployChecks,
  deployStatusChecks,
  logChecks,
  promoteChecks,
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

function checksFor(backend: AnyBackend, {resumableBytes}: ConformanceFixtures): readonly Check[] {
  const {formats, login, verify, limits = {}} = backend;
  const {uploadStream, deploysOnUpload} = builtInMembers(backend);
  const checksOf: Readonly<Record<BackendCapability, readonly Check[]>> = {
    deploy: deployChecks,
    promote: promoteChecks,
    wait: [...formats.flatMap(waitChecks), ...referenceChecks],
    list: listChecks,
    history: historyChecks,
    targets: targetChecks,
    logs: logChecks,
    download: downloadChecks,
    delete: deleteChecks,
  };
  const {deploy, listBundles, listDeployments, listTargets, getDeployment} = backend;
  return [
    ...isolationChecks,
    ...lentChecks,
    ...configurationChecks,
    ...(login ? loginChecks : []),
    ...(verify ? verifyChecks : []),
    ...formats.flatMap((format) => uploadChecks(format)),
    ...(uploadStream ? uploadChecks('v1', {streamed: true}) : []),
    ...limitChecks(limits),
    ...(resumableBytes === undefined ? [] : resumeChecks(resumableBytes)),
    ...failureChecks,
    ...retryChecks,
    ...unrepeatableChecks,
    ...secretChecks,
    ...capabilitiesOf(backend).flatMap((capability) => checksOf[capability]),
    ...(deploy && listBundles ? listDeployedChecks : []),
    ...(deploy && listDeployments ? unrepeatableDeployChecks : []),
    ...(deploy && getDeployment ? deployStatusChecks : []),
    ...(deploy || listDeployments || deploysOnUpload ? formats.flatMap(uploadDeployChecks) : []),
    ...(getDeployment && listDeployments ? historyReferenceChecks : []),
    ...(listTargets && listDeployments ? targetHistoryChecks : []),
    ...requestChecks(backend),
  ];
}
