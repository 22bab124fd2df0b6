import assert from 'node:assert/strict';
import type {Bundle, BundleId, DeploymentRef} from '../../backends/contract.js';
import {anyCode, expectAnswer, expectError, notTried, outcomeOf} from '../expectations.js';
import {shown, unknownBundle, withCode} from '../expectations.js';
import {idsOf, notOffered, type MemberCases, type Subject} from '../subject.js';
import {expectUnknown, unknownIdLike} from './bundle-cases.js';
import {fill, seenAt, type Place} from './neighbour-cases.js';

export const deploymentCases = {
  deploy: [
    {
      name: 'deploy: returns the reference of the new deployment',
      proves:
        'With the reference, which is plain JSON, another process sees the deployment finish, and the history lists ' +
        'it first. `finished` is reported once it is live. If bundles are listed with `inUseBy`, only this bundle ' +
        'lists the target, which keeps its settings, redirects, access headers and variables.',
      async run(subject) {
        const kept = await keptBy({subject, targetSlug: subject.targetSlug});
        const [older, newer] = [await subject.uploaded(), await subject.uploaded()];
        for (const bundleId of [older, newer]) {
          const {deployment} = await subject.deployed(bundleId);
          const [newest] = await subject.history();
          const ids = [newest?.deployment.deploymentId ?? deployment.deploymentId, newest?.bundleId ?? bundleId];
          const expected = [deployment.deploymentId ?? ids[0], bundleId];
          expectAnswer('the IDs of the newest deployment in the history', ids, expected);
          for (const item of (await subject.bundles()).filter(({inUseBy}) => inUseBy)) {
            const targets = item.bundleId === bundleId ? [subject.targetSlug] : [];
            expectAnswer(`inUseBy of the bundle ${shown(item.bundleId)}`, item.inUseBy, targets);
          }
        }
        await kept('two deployments');
      },
    },
    {
      name: 'deploy: a busy target is reported as such',
      proves: 'A deployment to a target that is busy is refused with `ERR_TARGET_BUSY`, so that the host can wait.',
      async run(subject) {
        const {occupyTarget = notOffered('occupyTarget')} = subject.service;
        const bundleId = await subject.upload();
        await occupyTarget(subject.targetSlug, subject.parts.projectSlug);
        const work = subject.call('deploy', {bundleId, targetSlug: subject.targetSlug});
        await expectError('a deployment to a busy target', work, withCode('ERR_TARGET_BUSY'));
      },
    },
    {
      name: 'deploy: of two at the same time, one is live',
      needs: ['getDeployment', 'listDeployments'],
      proves:
        'One of them may be refused. `getDeployment` knows each that was accepted, the history lists as finished those ' +
        'that it reports as finished, and the target runs the bundle of the first one in the list.',
      async run(subject) {
        const ids = [await subject.upload(), await subject.upload()];
        const outcomes = await Promise.all(ids.map((id) => outcomeOf(subject.again().deploy(id))));
        const finished: BundleId[] = [];
        for (const {bundleId, deployment} of outcomes.flatMap(({result}) => result ?? [])) {
          if ((await endOf(subject, deployment)) === 'finished') finished.push(bundleId);
        }
        const after = 'after two deployments at the same time';
        assert.ok(finished.length > 0, `Expected one deployment to be finished ${after}. None is.`);
        await subject.nextInstant();
        const rows = await subject.history();
        const listed = idsOf(rows.filter(({status}) => ['finished', 'unknown'].includes(status)));
        expectAnswer(`the bundles in the history ${after}`, listed.toSorted(), finished.toSorted());
        const live = await inUse(subject);
        if (live) expectAnswer(`the bundles that the target runs ${after}`, live, listed.slice(0, 1));
      },
    },
    {
      name: 'delete: a bundle that a target runs is refused, or is gone',
      needs: ['deleteBundle'],
      proves:
        'If the deletion is refused, the bundle stays live, even if the service fails to say what is in use, or another ' +
        'deployment fails. The bundle of that one can be deleted. A deleted bundle cannot be deployed any more.',
      async run(subject) {
        const {targetSlug} = subject;
        const bundle = await subject.makeBundle();
        const {bundleId} = await subject.deployed(await subject.upload(bundle));
        const {relay} = subject.parts;
        relay.arm();
        const deletion = subject.call('deleteBundle', {bundleId});
        const {error} = await outcomeOf(deletion);
        if (error) {
          await expectError('a deletion of a bundle that a target runs', deletion, anyCode);
          const requests = relay.isHttp ? relay.requests : 0;
          for (let at = 0; at <= requests; at += 1) {
            if (at > 0) relay.arm({kind: 500, at, lasts: 'alike'});
            await outcomeOf(subject.call('deleteBundle', {bundleId}));
            relay.arm();
            const after =
              at === 0 ? 'its deletion was refused' : `500 was each answer to request ${at} of its deletion`;
            await subject.assertArrived(bundle, bundleId, after);
            await expectDeployed(subject, bundleId, targetSlug, after, true);
          }
          await expectOthersDeleted(subject, bundle, bundleId);
        } else {
          await subject.assertGone(bundle, bundleId, 'its deletion');
          const work = subject.call('deploy', {bundleId, targetSlug});
          await expectError(`a deployment of ${shown(bundleId)}, which is gone,`, work, unknownBundle);
        }
      },
    },
  ],
  promote: [
    {
      name: 'promote: the bundle of one target runs on the other',
      proves:
        'The bundle runs there, too, and the target keeps what else it has. A bundle that its target no longer runs, or ' +
        'that does not exist, is refused.',
      async run(subject) {
        const {targetSlug, otherTarget} = subject;
        const [older, newer] = [await subject.uploaded(), await subject.uploaded()];
        await subject.deployed(older);
        const promote = (bundleId: BundleId) => subject.call('promote', {bundleId, from: targetSlug, to: otherTarget});
        await subject.finished(await promote(older));
        for (const target of [otherTarget, targetSlug]) {
          await expectDeployed(subject, older, target, `the promotion to "${otherTarget}"`, true);
        }
        await subject.deployed(newer);
        for (const bundleId of [older, unknownIdLike(newer)]) {
          const what = `a promotion of the bundle ${shown(bundleId)}, which the target does not run,`;
          await expectError(what, promote(bundleId), anyCode);
        }
        const kept = await keptBy({subject, targetSlug: otherTarget});
        await subject.finished(await promote(newer));
        await kept('a promotion to it');
      },
    },
  ],
  getDeployment: [
    {
      name: 'wait: each deployment has its own status',
      proves:
        'One that fails is `failed`, and not `finished` in the history. The one before stays `finished` and in use.',
      async run(subject) {
        const {failDeployments = notOffered('failDeployments')} = subject.service;
        const {bundleId, deployment: good} = await subject.deployed();
        await failDeployments();
        const {deployment: bad} = await subject.deploy();
        const advice = 'Report "finished" only when the service says that it is live.';
        expectAnswer('the status of a deployment that fails', await endOf(subject, bad), 'failed', advice);
        expectAnswer('the status of the deployment before one that failed', await statusOf(subject, good), 'finished');
        await subject.nextInstant();
        const listed = (await subject.history())[0]?.status;
        assert.ok(listed !== 'finished', 'A deployment that failed is listed as finished. A rollback would use it.');
        const live = await inUse(subject);
        if (live) expectAnswer('the bundles in use after a deployment that fails', live, [bundleId]);
      },
    },
    {
      name: 'wait: an unknown deployment is refused with a code',
      proves:
        'A `deploymentId` that does not exist is an error, even if it looks like one of the service, and so is one ' +
        'with `?`, `#` or `..` around it.',
      async run(subject) {
        const {deployment} = await subject.deployed();
        const {deploymentId: id = notTried('The references of the backend have no deploymentId.')} = deployment;
        const call = (deploymentId: BundleId) => statusOf(subject, {...deployment, deploymentId});
        await expectUnknown('the status of the unknown deployment', id, call, anyCode);
      },
    },
  ],
} as const satisfies MemberCases;

/** Sets everything that a target can have. Resolves to what asserts that it has kept that, but for its history. */
async function keptBy(place: Place): Promise<(after: string) => Promise<void>> {
  const {listDeployments: _, ...filled} = await fill(place, 'OTHER');
  return async (after) => {
    const {listDeployments: __, ...left} = await seenAt(place);
    const advice = 'Change only what the target runs.';
    expectAnswer(`what the target "${place.targetSlug}" has after ${after}`, left, filled, advice);
  };
}

/** Asserts that a bundle whose deployment fails can be deleted, and the live one still cannot. */
async function expectOthersDeleted(subject: Subject, live: Bundle, liveId: BundleId): Promise<void> {
  if (!subject.service.failDeployments || !subject.backend.getDeployment) return;
  await subject.service.failDeployments();
  const failed = await subject.makeBundle();
  const {bundleId, deployment} = await subject.deploy(await subject.upload(failed));
  await endOf(subject, deployment);
  const work = subject.call('deleteBundle', {bundleId: liveId});
  await expectError('a deletion of the live bundle after a deployment that failed', work, anyCode);
  await subject.assertArrived(live, liveId, 'its deletion was refused');
  await subject.call('deleteBundle', {bundleId});
  await subject.assertGone(failed, bundleId, 'its deletion, as its deployment had failed,');
}

/** The bundles that the target runs; undefined if the backend does not list which. */
async function inUse(subject: Subject): Promise<readonly unknown[] | undefined> {
  const bundles = await subject.bundles();
  if (bundles.every(({inUseBy}) => inUseBy === undefined)) return undefined;
  return idsOf(bundles.filter(({inUseBy}) => inUseBy?.includes(subject.targetSlug)));
}

async function statusOf(subject: Subject, deployment: DeploymentRef): Promise<string> {
  return (await subject.call('getDeployment', deployment)).status;
}

/**
 * Asserts that everything says the same of the newest deployment to a target: history, status and `inUseBy`.
 * @param isLive what the caller was answered. Undefined: nothing, so that either will do.
 * @param earlier the bundles that have run there before, newest first
 */
export async function expectDeployed(
  subject: Subject,
  bundleId: BundleId,
  targetSlug: string,
  after: string,
  isLive?: boolean,
  earlier: readonly BundleId[] = [],
): Promise<void> {
  const {listDeployments, getDeployment} = subject.backend;
  await subject.nextInstant();
  // A target without deployments may be an unknown one.
  const rows = async () => (await outcomeOf(subject.history(targetSlug))).result ?? [];
  const own = async () => (await rows()).slice(0, -earlier.length || undefined);
  if (isLive !== false && listDeployments) {
    const ends = isLive === true ? [] : (['failed', undefined] as const);
    const newest = `the newest deployment in the history after ${after}`;
    await subject.becomes(newest, ['finished', 'unknown', ...ends], async () => (await own())[0]?.status);
  }
  const [newest] = await own();
  const others = idsOf((await rows()).slice(newest ? 1 : 0));
  expectAnswer(`the other bundles in the history after ${after}`, others, listDeployments ? earlier : []);
  const {status, deployment = {}} = newest ?? {};
  const isFinished = status === 'finished';
  const bundles = await subject.bundles();
  const runs = (id?: BundleId) => bundles.find((one) => one.bundleId === id)?.inUseBy?.includes(targetSlug);
  const runsEarlier = runs(earlier[0]);
  const said = {
    history: listDeployments && status !== 'unknown' ? isFinished : undefined,
    status:
      getDeployment && isFinished ? (await outcomeOf(endOf(subject, deployment))).result === 'finished' : undefined,
    inUseBy: runs(bundleId),
    'no inUseBy of the bundle before': runsEarlier === undefined ? undefined : !runsEarlier,
  };
  const answers = Object.entries(said).filter(([, isSaid]) => isSaid !== undefined);
  const expected = answers.map(([name]) => [name, isLive ?? answers[0]?.[1]]);
  const what = `what says that the bundle is live after ${after}`;
  const advice = 'What makes a deployment live should be its only record, or be written last.';
  expectAnswer(what, Object.fromEntries(answers), Object.fromEntries(expected), advice);
}

/** The status of a deployment once it has ended. */
function endOf(subject: Subject, deployment: DeploymentRef): Promise<string> {
  return subject.becomes('the deployment', ['finished', 'failed'], () => statusOf(subject, deployment));
}
