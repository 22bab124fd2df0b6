import assert from 'node:assert/strict';
import {isDeepStrictEqual} from 'node:util';
import type {BundleFormat, DeploymentRef, DeploymentStatus} from '../../backends/contract.js';
import {assertHasCode, assertUnknown, failureOf, NotTried, offered, type Check} from '../check.js';
import {plainJsonProblem} from '../observations.js';
import {
  checkDeployment,
  deploy,
  eventually,
  everything,
  fromJson,
  otherTarget,
  promote,
  pushToTarget,
  readLog,
  requestDeployment,
  unknownIdLike,
  waitUntilFinished,
  deployInOrder,
  listDeployments,
  uploadInOrder,
} from '../steps.js';
import type {Subject} from '../subject.js';
import {idsOf} from './lists.js';

/** Cases for the capability `deploy`. */
export const deployChecks: readonly Check[] = [
  {
    name: 'deploy: returns a reference in plain JSON',
    async run(scope) {
      const subject = await scope.open();
      const bundleId = await subject.upload(await subject.makeBundle());
      assertPlainJson(await deploy(subject, bundleId));
    },
  },
  {
    name: 'deploy: an unknown bundle is refused with a code',
    async run(scope) {
      const subject = await scope.open();
      const unknown = unknownIdLike(await subject.upload(await subject.makeBundle()));
      assertUnknown(await failureOf('Deploying a bundle that does not exist', deploy(subject, unknown)));
    },
  },
  {
    name: 'deploy: a busy target is reported as such',
    async run(scope) {
      const subject = await scope.open();
      const occupy = offered(subject.service, 'occupyTarget');
      const bundleId = await subject.upload(await subject.makeBundle());
      await occupy();
      const {code, message} = await failureOf('Deploying to a busy target', deploy(subject, bundleId));
      assert.equal(
        code,
        'ERR_TARGET_BUSY',
        `Throw a context.error() with the code ERR_TARGET_BUSY, so that the host can wait for the target: ${message}`,
      );
    },
  },
  {
    name: 'deploy: the reference is that of the new deployment',
    async run(scope) {
      const subject = await scope.open();
      const newestFirst = await uploadInOrder(subject, 2);
      const [first, second] = await deployInOrder(subject, newestFirst.toReversed());
      assert.notDeepEqual(second, first, 'Two deployments have the same reference.');
      if (!subject.backend.listDeployments) return;
      const {items} = await listDeployments(subject);
      const ids = items.map((item) => item.deployment.deploymentId);
      const returned = second?.deploymentId;
      if (returned === undefined || ids.every((id) => id === undefined)) return;
      assert.ok(
        ids.includes(returned),
        `The deployment has the ID ${String(returned)}, which its history does not list.`,
      );
      const {bundleId} = items[ids.indexOf(returned)] ?? {};
      assert.ok(
        bundleId === undefined || bundleId === newestFirst[0],
        `The deployment has the ID ${String(returned)}, which is that of another bundle.`,
      );
    },
  },
];

/** Cases for the capability `wait` of backends that have `deploy`, too. */
export const deployStatusChecks: readonly Check[] = [
  {
    name: 'deploy: a deployment that is reported as finished is finished',
    async run(scope) {
      const subject = await scope.open();
      const bundleId = await subject.upload(await subject.makeBundle());
      const {deployment, status} = await requestDeployment(subject, bundleId);
      if (status === 'finished') await assertFinished(subject, deployment, 'deploy');
    },
  },
];

/** Cases for the capability `wait` of backends that have `promote`, too. */
export const promoteStatusChecks: readonly Check[] = [
  {
    name: 'promote: a promotion that is reported as finished is finished',
    async run(scope) {
      const subject = await scope.open();
      const bundleId = await subject.upload(await subject.makeBundle());
      await deployInOrder(subject, [bundleId]);
      const {deployment, status} = await promote(subject, bundleId);
      if (status === 'finished') await assertFinished(subject, deployment, 'promote');
    },
  },
];

async function assertFinished(subject: Subject, deployment: DeploymentRef, member: string): Promise<void> {
  const {status} = await checkDeployment(subject, deployment);
  const rule = `${member}() reports "finished". Until the deployment is live, it is "in_progress".`;
  assert.equal(status, 'finished', rule);
}

/** Cases for uploads of backends that can deploy. */
export function uploadDeployChecks(format: BundleFormat): readonly Check[] {
  return [
    {
      name: `upload (${format}): deploys with a target if it says so, and otherwise not`,
      async run(scope) {
        const subject = await scope.open();
        const {backend} = subject;
        const upload = async (targetSlug?: string) => {
          const bundle = await subject.makeBundle(format);
          return subject.call('uploading', (context) => backend.upload(bundle, context), {targetSlug});
        };
        const {deployment: unwanted} = await upload();
        assert.equal(unwanted, undefined, 'An upload without a target was deployed.');
        await subject.nextInstant();
        const assertNothingDeployed = async (which: string) => {
          for (const targetSlug of backend.listDeployments ? [subject.targetSlug, otherTarget(subject)] : []) {
            // There may be no history of a target yet.
            const items = await listDeployments(subject, everything, {targetSlug}).then(
              (list) => list.items,
              () => [],
            );
            assert.deepEqual(items, [], `An upload ${which} was deployed to "${targetSlug}".`);
          }
        };
        await assertNothingDeployed('without a target');
        const {deployment} = await upload(subject.targetSlug);
        const says = backend.deploysOnUpload?.includes(format) === true;
        assert.equal(
          deployment !== undefined,
          says,
          says
            ? `${format} is in "deploysOnUpload", but the result of an upload to a target has no "deployment".`
            : 'An upload to a target was deployed. The host calls deploy() after it.',
        );
        if (!says) await assertNothingDeployed('to a target');
      },
    },
  ];
}

/** Cases for the capability `promote`. */
export const promoteChecks: readonly Check[] = [
  {
    name: 'promote: the bundle of one target runs on the other',
    async run(scope) {
      const subject = await scope.open();
      const {backend} = subject;
      const [newer, older] = await uploadInOrder(subject, 2);
      assert.ok(newer !== undefined && older !== undefined);
      await deployInOrder(subject, [older]);
      const {deployment} = await promote(subject, older);
      assertPlainJson(deployment);
      if (backend.getDeployment) await waitUntilFinished(subject, deployment);
      await subject.nextInstant();
      if (!backend.listDeployments) return;
      const {items} = await listDeployments(subject, everything, {targetSlug: otherTarget(subject)});
      assert.deepEqual(idsOf(items), [older], 'The history of the target is not the promoted bundle.');
      const {deploymentId} = items[0]?.deployment ?? {};
      const returned = deployment.deploymentId;
      assert.ok(
        deploymentId === undefined || returned === undefined || returned === deploymentId,
        `The deployment has the ID ${String(returned)}, which the history of its target does not list.`,
      );
      const {items: left} = await listDeployments(subject);
      assert.deepEqual(idsOf(left), [older], 'The history of the target that it was promoted from has changed.');
    },
  },
  {
    name: 'promote: a bundle that the target no longer runs is refused',
    async run(scope) {
      const subject = await scope.open();
      const [newer, older] = await uploadInOrder(subject, 2);
      assert.ok(newer !== undefined && older !== undefined);
      await deployInOrder(subject, [older, newer]);
      const what = 'Promoting a bundle that has been replaced on its target';
      assertHasCode(await failureOf(what, promote(subject, older)));
    },
  },
  {
    name: 'promote: an unknown bundle is refused with a code',
    async run(scope) {
      const subject = await scope.open();
      const bundleId = await subject.upload(await subject.makeBundle());
      await deployInOrder(subject, [bundleId]);
      const promoting = promote(subject, unknownIdLike(bundleId));
      // The target runs another bundle, which may be what the backend notices first.
      assertHasCode(await failureOf('Promoting a bundle that does not exist', promoting));
    },
  },
];

/** Cases for the capability `wait` in each format. */
export function waitChecks(format: BundleFormat): readonly Check[] {
  return [
    {
      name: `wait (${format}): a push to a target finishes`,
      async run(scope) {
        const subject = await scope.open();
        const {deployment} = await pushToTarget(subject, {format});
        // The waiting process may be a different one that only has the JSON.
        await waitUntilFinished(scope.reopen(subject), fromJson(deployment));
      },
    },
  ];
}

/** Cases for the capability `wait` that depend on no format. */
export const referenceChecks: readonly Check[] = [
  {
    name: 'wait: a deployment that fails is reported as such',
    async run(scope) {
      const subject = await scope.open();
      await offered(subject.service, 'failDeployments')();
      const {deployment} = await pushToTarget(subject);
      let status: DeploymentStatus | undefined;
      await eventually(subject, async () => {
        ({status} = await checkDeployment(subject, deployment));
        return status === 'finished' || status === 'failed';
      });
      assert.equal(status, 'failed', `The deployment has failed, but getDeployment() reports "${String(status)}".`);
    },
  },
  {
    name: 'wait: each deployment has its own status',
    async run(scope) {
      const subject = await scope.open();
      const fail = offered(subject.service, 'failDeployments');
      const {deployment: good} = await pushToTarget(subject);
      await waitUntilFinished(subject, good);
      await fail();
      await subject.nextInstant();
      const {deployment: bad} = await pushToTarget(subject);
      await eventually(subject, async () => (await checkDeployment(subject, bad)).status === 'failed');
      const {status} = await checkDeployment(subject, good);
      assert.equal(status, 'finished', `A later deployment failed, and now the earlier one is "${status}".`);
    },
  },
  {
    name: 'wait: an unknown deployment is refused with a code',
    async run(scope) {
      const subject = await scope.open();
      const {deployment} = await pushToTarget(subject);
      const {deploymentId} = deployment;
      if (deploymentId === undefined) throw new NotTried('The references of the backend have no deploymentId.');
      const unknown = {...fromJson(deployment), deploymentId: unknownIdLike(deploymentId)};
      const what = 'Checking a deployment that does not exist';
      assertHasCode(await failureOf(what, checkDeployment(subject, unknown)));
    },
  },
];

function assertPlainJson(deployment: DeploymentRef): void {
  assert.equal(plainJsonProblem(deployment, 'deployment'), undefined);
}

/** Characters of an ID that does not appear in a log by chance. */
const shortestMark = 6;

/** Cases for the capability `logs`. */
export const logChecks: readonly Check[] = [
  {
    name: 'logs: the log of a finished deployment is complete, the same each time, and continued by its cursors',
    async run(scope) {
      const subject = await scope.open();
      const {deployment} = await pushToTarget(subject);
      if (subject.backend.getDeployment) await waitUntilFinished(subject, deployment);
      const {lines, cursors} = await readLog(subject, deployment);
      assert.ok(
        lines.every((line) => !/[\r\n]/.test(line)),
        'A line of the log contains a line break.',
      );
      const again = await readLog(scope.reopen(subject), fromJson(deployment));
      assert.deepEqual(again.lines, lines, 'The log is different when it is read again.');
      const last = cursors.at(-1);
      if (last === undefined) return;
      assert.deepEqual(
        (await readLog(subject, deployment, last)).lines,
        [],
        'The last cursor is followed by old lines.',
      );
    },
  },
  {
    name: 'logs: each deployment has its own',
    async run(scope) {
      const subject = await scope.open();
      const pushed = async () => {
        const {deployment} = await pushToTarget(subject);
        if (subject.backend.getDeployment) await waitUntilFinished(subject, deployment);
        return {deployment, lines: (await readLog(subject, deployment)).lines};
      };
      const first = await pushed();
      await subject.nextInstant();
      const second = await pushed();
      const mark = String(first.deployment.deploymentId);
      // Logs that name nothing may well be the same.
      const namesFirst = mark.length >= shortestMark && first.lines.some((line) => line.includes(mark));
      assert.ok(
        !namesFirst || !isDeepStrictEqual(second.lines, first.lines),
        'The log of a deployment is that of an earlier one.',
      );
      const again = await readLog(subject, first.deployment).catch(async (error: unknown) => {
        // A service may only keep the newest.
        assertHasCode(await failureOf('Reading an older log', Promise.reject(error)));
        return first;
      });
      assert.deepEqual(again.lines, first.lines, 'After another deployment, the log of the first is different.');
    },
  },
];
