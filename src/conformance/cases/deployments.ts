import assert from 'node:assert/strict';
import type {BundleId, DeploymentRef, DeployResult} from '../../backends/contract.js';
import {anyCode, expectAnswer, expectError, expectPlainJson, notTried, outcomeOf} from '../expectations.js';
import {shown, withCode} from '../expectations.js';
import {fromJson, notOffered, type Case, type Subject} from '../subject.js';
import {unknownIdLike} from './bundles.js';

export const deploymentCases: readonly Case[] = [
  {
    name: 'deploy: returns the reference of the new deployment',
    needs: ['deploy'],
    proves:
      'The reference is plain JSON, another one each time, and that of the deployment in the history. What `deploy` ' +
      'reports as `finished` is: until it is live, it is `in_progress`. If a list says which targets run a bundle, it is ' +
      'the one that was deployed last, and no other.',
    async run(subject) {
      const [older, newer] = [await subject.uploaded(), await subject.uploaded()];
      const [first, second] = [await deployNext(subject, older), await deployNext(subject, newer)];
      assert.notDeepEqual(second, first, `Two deployments have the same reference, ${shown(first)}.`);
      await assertReference(subject, second, newer, subject.targetSlug);
    },
  },
  {
    name: 'deploy: a busy target is reported as such',
    needs: ['deploy'],
    proves: 'A deployment to a target that is busy is refused with `ERR_TARGET_BUSY`, so that the host can wait.',
    async run(subject) {
      const {occupyTarget = notOffered('occupyTarget')} = subject.service;
      const bundleId = await subject.upload();
      await occupyTarget();
      const work = subject.call('deploy', {bundleId, targetSlug: subject.targetSlug});
      await expectError('a deployment to a busy target', work, withCode('ERR_TARGET_BUSY'));
    },
  },
  {
    name: 'promote: the bundle of one target runs on the other',
    needs: ['promote'],
    proves:
      'The bundle runs on the other target and on no third one, with the reference of that deployment. What `promote` ' +
      'reports as `finished` is.',
    async run(subject) {
      const older = await subject.uploaded();
      await subject.uploaded();
      await subject.deploy(older);
      const promotion = await promote(subject, older);
      await subject.finished(promotion);
      const {targetSlug, otherTarget} = subject;
      await assertReference(subject, promotion.deployment, older, otherTarget);
      for (const target of subject.backend.listDeployments ? [otherTarget, targetSlug] : []) {
        const bundles = (await subject.history(target)).map(({bundleId}) => bundleId);
        expectAnswer(`the bundles in the history of "${target}"`, bundles, [older]);
      }
    },
  },
  {
    name: 'promote: a bundle that the target does not run is refused',
    needs: ['promote'],
    proves: 'A bundle that has been replaced on its target, or does not exist, is refused.',
    async run(subject) {
      const [older, newer] = [await subject.uploaded(), await subject.uploaded()];
      for (const bundleId of [older, newer]) await subject.deploy(bundleId);
      for (const bundleId of [older, unknownIdLike(newer)]) {
        const what = `a promotion of the bundle ${shown(bundleId)}, which the target does not run,`;
        await expectError(what, promote(subject, bundleId), anyCode);
      }
    },
  },
  {
    name: 'wait: each deployment has its own status',
    needs: ['getDeployment'],
    proves:
      'A deployment that fails is `failed`, in the history too: a rollback would go back to one that is `finished`, as ' +
      'the one before it stays.',
    async run(subject) {
      const {failDeployments = notOffered('failDeployments')} = subject.service;
      const {deployment: good} = await subject.pushed();
      await failDeployments();
      const {deployment: bad} = await subject.push();
      expectAnswer('the status of a deployment that fails', await subject.endOf(bad), 'failed');
      const {status} = await subject.call('getDeployment', good);
      expectAnswer('the status of the deployment before one that failed', status, 'finished');
      if (!subject.backend.listDeployments) return;
      await subject.nextInstant();
      const listed = (await subject.history())[0]?.status;
      assert.notEqual(listed, 'finished', 'A deployment that failed is listed as finished. A rollback would use it.');
    },
  },
  {
    name: 'wait: an unknown deployment is refused with a code',
    needs: ['getDeployment'],
    proves: 'The status of a deployment that does not exist, by its `deploymentId`, is an error.',
    async run(subject) {
      const {deployment} = await subject.push();
      const {deploymentId = notTried('The references of the backend have no deploymentId.')} = deployment;
      const unknown = {...fromJson(deployment), deploymentId: unknownIdLike(deploymentId)};
      const what = `the status of the unknown deployment ${shown(unknown.deploymentId)}`;
      await expectError(what, subject.call('getDeployment', unknown), anyCode);
    },
  },
  {
    name: 'logs: each deployment has its own, which ends when it is complete',
    needs: ['readLogs'],
    proves:
      'A log that is read while the deployment runs ends with the same lines as one that is read afterwards, which is ' +
      'the same each time and has no line breaks in its lines. It stays the same after another deployment, unless the ' +
      'service only keeps the newest.',
    async run(subject) {
      const {deployment} = await subject.push();
      const running = await readLog(subject, deployment);
      await subject.finished({deployment});
      const lines = await readLog(subject, deployment);
      const broken = lines.filter((line) => /[\r\n]/.test(line));
      expectAnswer('the lines with a line break in them', broken, []);
      const advice = 'Leave out its cursor only when there will be no more lines.';
      expectAnswer('the log that was read while the deployment ran', running, lines, advice);
      const again = await readLog(subject.again(), fromJson(deployment));
      expectAnswer('the log that another process reads', again, lines);
      await subject.pushed();
      const reading = readLog(subject, deployment);
      const {result, error} = await outcomeOf(reading);
      if (error) await expectError('the log of an earlier deployment', reading, anyCode);
      else expectAnswer('the log of an earlier deployment', result, lines);
    },
  },
];

/** Deploys a bundle, after which a list that says what targets run says that they run this one. */
async function deployNext(subject: Subject, running: BundleId): Promise<DeploymentRef> {
  const deployment = await subject.deploy(running);
  const items = subject.backend.listBundles ? await subject.list('listBundles', {}) : [];
  for (const {bundleId, inUseBy} of items.filter((item) => item.inUseBy)) {
    const targets = bundleId === running ? [subject.targetSlug] : [];
    expectAnswer(`inUseBy of the bundle ${shown(bundleId)}`, inUseBy, targets);
  }
  return deployment;
}

function promote(subject: Subject, bundleId: BundleId): Promise<DeployResult> {
  return subject.call('promote', {bundleId, from: subject.targetSlug, to: subject.otherTarget});
}

/** Asserts that a reference is plain JSON, and that the history lists it with its bundle, if they have IDs. */
async function assertReference(
  subject: Subject,
  deployment: DeploymentRef,
  bundleId: BundleId,
  targetSlug: string,
): Promise<void> {
  expectPlainJson('deployment', deployment);
  const {deploymentId} = deployment;
  const items = subject.backend.listDeployments ? await subject.history(targetSlug) : [];
  if (deploymentId === undefined || items.every((item) => item.deployment.deploymentId === undefined)) return;
  const found = items.find((item) => item.deployment.deploymentId === deploymentId);
  assert.ok(found, `Expected the history to list the deployment ${shown(deploymentId)}. It lists ${shown(items)}`);
  expectAnswer(`the bundle of the deployment ${shown(deploymentId)}`, found.bundleId ?? bundleId, bundleId);
}

/** Reads the log of a deployment until it is complete. */
async function readLog(subject: Subject, deployment: DeploymentRef): Promise<readonly string[]> {
  const lines: string[] = [];
  let cursor: string | undefined;
  await subject.becomes('the cursor of the log', [undefined], async () => {
    const part = await subject.call('readLogs', {deployment, cursor});
    const isRepeated = part.lines.length > 0 && part.cursor !== undefined && part.cursor === cursor;
    assert.ok(!isRepeated, `Expected a new cursor. The backend returned lines and ${shown(cursor)} again.`);
    lines.push(...part.lines);
    return (cursor = part.cursor);
  });
  return lines;
}
