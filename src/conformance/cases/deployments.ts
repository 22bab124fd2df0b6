import assert from 'node:assert/strict';
import type {BundleId, DeploymentRef, DeployResult} from '../../backends/contract.js';
import {anyCode, expectAnswer, expectError, notTried, outcomeOf} from '../expectations.js';
import {shown, withCode} from '../expectations.js';
import {fromJson, idsOf, notOffered, type MemberCases, type Subject} from '../subject.js';
import {expectUnknown, unknownIdLike} from './bundles.js';

export const deploymentCases = {
  deploy: [
    {
      name: 'deploy: returns the reference of the new deployment',
      proves:
        'With the reference, which is plain JSON, another process sees the deployment finish, and the history lists it ' +
        'first. `finished` is reported once it is live. If bundles are listed with `inUseBy`, only this one has the target.',
      async run(subject) {
        const [older, newer] = [await subject.uploaded(), await subject.uploaded()];
        for (const bundleId of [older, newer]) {
          await assertNewest(subject, await subject.deployed(bundleId), subject.targetSlug);
          for (const item of (await subject.bundles()).filter(({inUseBy}) => inUseBy)) {
            const targets = item.bundleId === bundleId ? [subject.targetSlug] : [];
            expectAnswer(`inUseBy of the bundle ${shown(item.bundleId)}`, item.inUseBy, targets);
          }
        }
      },
    },
    {
      name: 'deploy: a busy target is reported as such',
      proves: 'A deployment to a target that is busy is refused with `ERR_TARGET_BUSY`, so that the host can wait.',
      async run(subject) {
        const {occupyTarget = notOffered('occupyTarget')} = subject.service;
        const bundleId = await subject.upload();
        await occupyTarget();
        const work = subject.call('deploy', {bundleId, targetSlug: subject.targetSlug});
        await expectError('a deployment to a busy target', work, withCode('ERR_TARGET_BUSY'));
      },
    },
  ],
  promote: [
    {
      name: 'promote: the bundle of one target runs on the other',
      proves:
        'The bundle runs on the other target and nowhere else, with the reference of that deployment. A bundle that has been ' +
        'replaced on its target, or does not exist, is refused.',
      async run(subject) {
        const {targetSlug, otherTarget} = subject;
        const [older, newer] = [await subject.uploaded(), await subject.uploaded()];
        await subject.deployed(older);
        const promotion = await promote(subject, older);
        await subject.finished(promotion);
        await assertNewest(subject, {...promotion, bundleId: older}, otherTarget);
        for (const target of subject.backend.listDeployments ? [otherTarget, targetSlug] : []) {
          expectAnswer(`the history of "${target}"`, idsOf(await subject.history(target)), [older]);
        }
        await subject.deployed(newer);
        for (const bundleId of [older, unknownIdLike(newer)]) {
          const what = `a promotion of the bundle ${shown(bundleId)}, which the target does not run,`;
          await expectError(what, promote(subject, bundleId), anyCode);
        }
      },
    },
  ],
  getDeployment: [
    {
      name: 'wait: each deployment has its own status',
      proves: 'One that fails is `failed`, and not `finished` in the history. The one before it stays `finished`.',
      async run(subject) {
        const {failDeployments = notOffered('failDeployments')} = subject.service;
        const {deployment: good} = await subject.deployed();
        await failDeployments();
        const {deployment: bad} = await subject.deploy();
        const end = await subject.becomes('the deployment', ['finished', 'failed'], () => statusOf(subject, bad));
        const advice = 'Report "finished" only when the service says that it is live.';
        expectAnswer('the status of a deployment that fails', end, 'failed', advice);
        expectAnswer('the status of the deployment before one that failed', await statusOf(subject, good), 'finished');
        await subject.nextInstant();
        const listed = (await subject.history())[0]?.status;
        assert.ok(listed !== 'finished', 'A deployment that failed is listed as finished. A rollback would use it.');
      },
    },
    {
      name: 'wait: an unknown deployment is refused with a code',
      proves: 'A `deploymentId` that does not exist is an error, and so is one with `?`, `#` or `..` around it.',
      async run(subject) {
        const {deployment} = await subject.deployed();
        const {deploymentId: id = notTried('The references of the backend have no deploymentId.')} = deployment;
        const call = (deploymentId: BundleId) => statusOf(subject, {...deployment, deploymentId});
        await expectUnknown('the status of the unknown deployment', id, call, anyCode);
      },
    },
  ],
  readLogs: [
    {
      name: 'logs: each deployment has its own, which ends when it is complete',
      proves:
        'A log that is read while the deployment runs has the same lines as when another process reads it afterwards, ' +
        'without line breaks. It stays the same after another deployment, unless the service only keeps the newest.',
      async run(subject) {
        const {deployment} = await subject.deploy();
        const running = await readLog(subject, deployment);
        await subject.finished({deployment});
        const lines = await readLog(subject.again(), fromJson(deployment));
        const broken = lines.filter((line) => /[\r\n]/.test(line));
        expectAnswer('the lines with a line break in them', broken, []);
        const advice = 'Leave out its cursor only when there will be no more lines.';
        expectAnswer('the log that was read while the deployment ran', running, lines, advice);
        await subject.deployed();
        const reading = readLog(subject, deployment);
        const {result, error} = await outcomeOf(reading);
        if (error) await expectError('the log of an earlier deployment', reading, anyCode);
        else expectAnswer('the log of an earlier deployment', result, lines);
      },
    },
  ],
} as const satisfies MemberCases;

async function statusOf(subject: Subject, deployment: DeploymentRef): Promise<string> {
  return (await subject.call('getDeployment', deployment)).status;
}

function promote(subject: Subject, bundleId: BundleId): Promise<DeployResult> {
  return subject.call('promote', {bundleId, from: subject.targetSlug, to: subject.otherTarget});
}

/** Asserts that a deployment and its bundle are the newest of the history, if that has IDs. */
async function assertNewest(
  subject: Subject,
  {deployment: {deploymentId}, bundleId}: {readonly deployment: DeploymentRef; readonly bundleId: BundleId},
  targetSlug: string,
): Promise<void> {
  const [newest] = await subject.history(targetSlug);
  const listedId = newest?.deployment.deploymentId;
  if (deploymentId === undefined || listedId === undefined) return;
  const listed = {deploymentId: listedId, bundleId: newest?.bundleId ?? bundleId};
  expectAnswer(`the newest deployment in the history of "${targetSlug}"`, listed, {deploymentId, bundleId});
}

/** Reads the log of a deployment until it is complete. */
async function readLog(subject: Subject, deployment: DeploymentRef): Promise<readonly string[]> {
  const lines: string[] = [];
  let cursor: string | undefined;
  await subject.becomes('the cursor of the log', [undefined], async () => {
    const part = await subject.call('readLogs', {deployment, cursor});
    const isRepeated = part.lines.length > 0 && part.cursor !== undefined && part.cursor === cursor;
    assert.ok(!isRepeated, `Expected a new cursor. The backend returned lines and ${shown(cursor)} again.`);
    for (const line of part.lines) lines.push(line);
    return (cursor = part.cursor);
  });
  return lines;
}
