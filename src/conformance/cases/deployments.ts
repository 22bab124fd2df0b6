import assert from 'node:assert/strict';
import {isDeepStrictEqual} from 'node:util';
import type {BundleFormat, DeploymentRef, DeployResult} from '../../backends/contract.js';
import {plainJsonProblem} from '../observations.js';
import {promote} from '../operations.js';
import {assertHasCode, failureOf, notTried, offered, type Case} from '../scope.js';
import {fromJson, type ItemOf, type Subject} from '../subject.js';
import {unknownIdLike} from './ids.js';

/** Cases for pushes in a format to a target. */
export function pushCases(format: BundleFormat): readonly Case[] {
  return [
    {
      name: `upload (${format}): deploys nothing unless it says so`,
      proves: 'An upload without a target deploys nothing, and one to a target only if the backend says so.',
      async run(scope) {
        const subject = await scope.open();
        const upload = async (targetSlug?: string) => {
          const {deployment} = await subject.uploadResult(await subject.makeBundle({format}), {targetSlug});
          await subject.nextInstant();
          return deployment;
        };
        assert.equal(await upload(), undefined, 'An upload without a target was deployed.');
        await assertNothingDeployed(subject);
        const says = subject.backend.deploysOnUpload?.includes(format) === true;
        assert.equal(
          (await upload(subject.targetSlug)) !== undefined,
          says,
          'The host calls deploy() after an upload.',
        );
        if (!says) await assertNothingDeployed(subject);
      },
    },
    {
      name: `wait (${format}): a push to a target finishes`,
      needs: ['getDeployment'],
      proves: 'A push to a target reaches `finished`, polled by another process that has only the JSON reference.',
      async run(scope) {
        const subject = await scope.open();
        const {deployment} = await subject.push({format});
        await scope.reopen(subject).finished(fromJson(deployment));
      },
    },
  ];
}

async function assertNothingDeployed(subject: Subject): Promise<void> {
  for (const target of subject.backend.listDeployments ? [subject.targetSlug, subject.otherTarget] : []) {
    assert.deepEqual(await historyIfAny(subject, target), [], `An upload was deployed to "${target}".`);
  }
}

/** The deployments to a target, of which there may be no history yet. */
export async function historyIfAny(subject: Subject, targetSlug?: string): Promise<readonly unknown[]> {
  return subject.history(targetSlug).catch(() => []);
}

/** Cases for the capabilities `deploy`, `promote` and `wait`. */
export const deploymentCases: readonly Case[] = [
  {
    name: 'deploy: returns the reference of the new deployment',
    needs: ['deploy'],
    proves: 'The reference is plain JSON, another one each time, and that of the deployment in the history.',
    async run(scope) {
      const subject = await scope.open();
      const [newer, older] = await subject.uploadInOrder(2);
      assert.ok(newer !== undefined && older !== undefined);
      const [first, second] = [await subject.deploy(older), await subject.deploy(newer)];
      assertPlainJson(second);
      assert.notDeepEqual(second, first, 'Two deployments have the same reference.');
      if (subject.backend.listDeployments) assertListed(await subject.history(), second, newer);
    },
  },
  {
    name: 'deploy: a busy target is reported as such',
    needs: ['deploy'],
    proves: 'A deployment to a target that is busy is refused with `ERR_TARGET_BUSY`, so that the host can wait.',
    async run(scope) {
      const subject = await scope.open();
      const occupy = offered(subject.service, 'occupyTarget');
      const bundleId = await subject.upload();
      await occupy();
      const {code, message} = await failureOf(
        'Deploying to a busy target',
        subject.call('deploy', {bundleId, targetSlug: subject.targetSlug}),
      );
      assert.equal(code, 'ERR_TARGET_BUSY', `Throw a context.error() with the code ERR_TARGET_BUSY: ${message}`);
    },
  },
  {
    name: 'deploy: what is reported as finished is finished',
    needs: ['deploy', 'getDeployment'],
    proves: 'A deployment that `deploy` reports as `finished` is. Until it is live, it is `in_progress`.',
    async run(scope) {
      const subject = await scope.open();
      const {targetSlug} = subject;
      await assertFinished(subject, await subject.call('deploy', {bundleId: await subject.upload(), targetSlug}));
    },
  },
  {
    name: 'promote: the bundle of one target runs on the other',
    needs: ['promote'],
    proves: 'The bundle runs on the other target and on no third one, with the reference of that deployment.',
    async run(scope) {
      const subject = await scope.open();
      const [, older] = await subject.uploadInOrder(2);
      assert.ok(older !== undefined);
      await subject.deploy(older);
      const {deployment} = await promote(subject, older);
      assertPlainJson(deployment);
      await subject.finished(deployment);
      await subject.nextInstant();
      if (!subject.backend.listDeployments) return;
      const promoted = await subject.history(subject.otherTarget);
      assert.deepEqual(idsOf(promoted), [older], 'The history of the target is not the promoted bundle.');
      assertListed(promoted, deployment, older);
      const left = idsOf(await subject.history());
      assert.deepEqual(left, [older], 'The history of the target that it was promoted from has changed.');
    },
  },
  {
    name: 'promote: a bundle that the target does not run is refused',
    needs: ['promote'],
    proves: 'A bundle that has been replaced on its target, or does not exist, is refused.',
    async run(scope) {
      const subject = await scope.open();
      const [newer, older] = await subject.uploadInOrder(2);
      assert.ok(newer !== undefined && older !== undefined);
      for (const bundleId of [older, newer]) await subject.deploy(bundleId);
      assertHasCode(await failureOf('Promoting a bundle that has been replaced', promote(subject, older)));
      const unknown = promote(subject, unknownIdLike(newer));
      assertHasCode(await failureOf('Promoting a bundle that does not exist', unknown));
    },
  },
  {
    name: 'promote: what is reported as finished is finished',
    needs: ['promote', 'getDeployment'],
    proves: 'A promotion that `promote` reports as `finished` is.',
    async run(scope) {
      const subject = await scope.open();
      const {bundleId} = await subject.pushed();
      await assertFinished(subject, await promote(subject, bundleId));
    },
  },
  {
    name: 'wait: each deployment has its own status',
    needs: ['getDeployment'],
    proves: 'A deployment that fails is `failed`, and the one before it stays `finished`.',
    async run(scope) {
      const subject = await scope.open();
      const fail = offered(subject.service, 'failDeployments');
      const {deployment: good} = await subject.pushed();
      await fail();
      const {deployment: bad} = await subject.push();
      let status = 'unknown';
      await subject.eventually(async () => {
        ({status} = await subject.call('getDeployment', bad));
        return status === 'finished' || status === 'failed';
      });
      assert.equal(status, 'failed', `The deployment has failed, but getDeployment() reports "${status}".`);
      ({status} = await subject.call('getDeployment', good));
      assert.equal(status, 'finished', `A later deployment failed, and now the earlier one is "${status}".`);
    },
  },
  {
    name: 'wait: an unknown deployment is refused with a code',
    needs: ['getDeployment'],
    proves: 'The status of a deployment that does not exist, by its `deploymentId`, is an error.',
    async run(scope) {
      const subject = await scope.open();
      const {deployment} = await subject.push();
      const {deploymentId = notTried('The references of the backend have no deploymentId.')} = deployment;
      const unknown = {...fromJson(deployment), deploymentId: unknownIdLike(deploymentId)};
      const what = 'Checking a deployment that does not exist';
      assertHasCode(await failureOf(what, subject.call('getDeployment', unknown)));
    },
  },
];

async function assertFinished(subject: Subject, {deployment, status}: DeployResult): Promise<void> {
  if (status !== 'finished') return;
  const state = await subject.call('getDeployment', deployment);
  assert.equal(state.status, 'finished', 'It reports "finished". Until the deployment is live, it is "in_progress".');
}

function assertPlainJson(deployment: DeploymentRef): void {
  assert.equal(plainJsonProblem(deployment, 'deployment'), undefined);
}

/** Asserts that a history lists a deployment with its bundle, if they have IDs. */
function assertListed(
  items: readonly ItemOf<'listDeployments'>[],
  {deploymentId}: DeploymentRef,
  bundleId: string | number,
): void {
  if (deploymentId === undefined || items.every((item) => item.deployment.deploymentId === undefined)) return;
  const found = items.find((item) => item.deployment.deploymentId === deploymentId);
  assert.ok(found, `The deployment has the ID ${String(deploymentId)}, which its history does not list.`);
  const {bundleId: listed = bundleId} = found;
  assert.equal(listed, bundleId, `The deployment has the ID ${String(deploymentId)}, which is that of another bundle.`);
}

/** The bundles that were deployed. */
export function idsOf(items: readonly Pick<ItemOf<'listDeployments'>, 'bundleId'>[]) {
  return items.map(({bundleId}) => bundleId);
}

/** Characters of an ID that does not appear in a log by chance. */
const shortestMark = 6;

/** Cases for the capability `logs`. */
export const logCases: readonly Case[] = [
  {
    name: 'logs: a log ends when it is complete',
    needs: ['readLogs'],
    proves:
      'A log that is read while the deployment runs ends with the same lines as one that is read afterwards, which is ' +
      'the same each time and has no line breaks in its lines.',
    async run(scope) {
      const subject = await scope.open();
      const {deployment} = await subject.push();
      const running = await readLog(subject, deployment);
      await subject.finished(deployment);
      const lines = await readLog(subject, deployment);
      const hasBreak = lines.some((line) => /[\r\n]/.test(line));
      assert.ok(!hasBreak, 'A line of the log contains a line break.');
      const advice = 'Leave out its cursor only when there will be no more lines.';
      assert.deepEqual(
        running,
        lines,
        `The log of a running deployment ended too early, or has other lines. ${advice}`,
      );
      const again = await readLog(scope.reopen(subject), fromJson(deployment));
      assert.deepEqual(again, lines, 'The log is different when it is read again.');
    },
  },
  {
    name: 'logs: each deployment has its own',
    needs: ['readLogs'],
    proves: 'The log is that of the deployment, and stays so after another one.',
    async run(scope) {
      const subject = await scope.open();
      const {deployment: first} = await subject.pushed();
      const lines = await readLog(subject, first);
      const {deployment: second} = await subject.pushed();
      const mark = String(first.deploymentId);
      // Logs that name nothing may well be the same.
      const namesFirst = mark.length >= shortestMark && lines.some((line) => line.includes(mark));
      const isSame = isDeepStrictEqual(await readLog(subject, second), lines);
      assert.ok(!namesFirst || !isSame, 'The log of a deployment is that of an earlier one.');
      const again = await readLog(subject, first).catch(async (error: unknown) => {
        // A service may only keep the newest.
        assertHasCode(await failureOf('Reading an older log', Promise.reject(error)));
        return lines;
      });
      assert.deepEqual(again, lines, 'After another deployment, the log of the first is different.');
    },
  },
];

/** Reads the log of a deployment until it is complete. */
async function readLog(subject: Subject, deployment: DeploymentRef): Promise<readonly string[]> {
  const lines: string[] = [];
  let cursor: string | undefined;
  const isOver = await subject.eventually(async () => {
    for (;;) {
      const part = await subject.call('readLogs', {deployment, cursor});
      const isRepeated = part.lines.length > 0 && part.cursor !== undefined && part.cursor === cursor;
      assert.ok(!isRepeated, 'The log is repeated: its cursor does not change.');
      lines.push(...part.lines);
      ({cursor} = part);
      if (part.lines.length === 0 || cursor === undefined) return cursor === undefined;
    }
  });
  assert.ok(isOver, 'The log of a deployment is not complete when the time is up.');
  return lines;
}
