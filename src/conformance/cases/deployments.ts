import assert from 'node:assert/strict';
import {isDeepStrictEqual} from 'node:util';
import type {BundleFormat, BundleId, DeploymentRef, DeployResult} from '../../backends/contract.js';
import {jsonProblem} from '../../errors/json.js';
import {anyCode, expectAnswer, expectError, notTried, outcomeOf, shown, withCode} from '../expectations.js';
import {fromJson, type ItemOf, type Subject, type CaseTable} from '../subject.js';
import {unknownIdLike} from './bundles.js';

/** Cases for pushes in a format to a target. */
export function pushCases(format: BundleFormat): CaseTable {
  return {
    upload: {
      [`upload (${format}): deploys nothing unless it says so`]: {
        proves: 'An upload without a target deploys nothing, and one to a target only if the backend says so.',
        async run(subject) {
          const {deploysOnUpload = [], listDeployments} = subject.backend;
          const {targetSlug, otherTarget} = subject;
          const isDeployed = {[String(undefined)]: false, [targetSlug]: deploysOnUpload.includes(format)};
          for (const target of [undefined, targetSlug]) {
            const {deployment} = await subject.uploadResult(await subject.makeBundle({format}), {targetSlug: target});
            await subject.nextInstant();
            const says = isDeployed[String(target)];
            expectAnswer(`whether an upload to the target ${shown(target)} deploys`, deployment !== undefined, says);
            for (const slug of says === true || !listDeployments ? [] : [targetSlug, otherTarget]) {
              expectAnswer(`the history of "${slug}" after an upload`, await historyIfAny(subject, slug), []);
            }
          }
        },
      },
    },
    getDeployment: {
      [`wait (${format}): a push to a target finishes`]: {
        proves: 'A push to a target reaches `finished`, polled by another process that has only the JSON reference.',
        async run(subject) {
          const {deployment} = await subject.push({format});
          await subject.again().finished({deployment: fromJson(deployment)});
        },
      },
    },
  };
}

/** The deployments to a target, of which there may be no history yet. */
export async function historyIfAny(subject: Subject, targetSlug?: string): Promise<readonly unknown[]> {
  return (await outcomeOf(subject.history(targetSlug))).result ?? [];
}

export const deploymentCases: CaseTable = {
  deploy: {
    'deploy: returns the reference of the new deployment': {
      proves:
        'The reference is plain JSON, another one each time, and that of the deployment in the history. What `deploy` ' +
        'reports as `finished` is: until it is live, it is `in_progress`.',
      async run(subject) {
        const [older, newer] = [await subject.uploaded(), await subject.uploaded()];
        const [first, second] = [await subject.deploy(older), await subject.deploy(newer)];
        assert.notDeepEqual(second, first, `Two deployments have the same reference, ${shown(first)}.`);
        await assertReference(subject, second, newer, subject.targetSlug);
      },
    },
    'deploy: a busy target is reported as such': {
      proves: 'A deployment to a target that is busy is refused with `ERR_TARGET_BUSY`, so that the host can wait.',
      async run(subject) {
        const {occupyTarget = notOffered('occupyTarget')} = subject.service;
        const bundleId = await subject.upload();
        await occupyTarget();
        const work = subject.call('deploy', {bundleId, targetSlug: subject.targetSlug});
        await expectError('a deployment to a busy target', work, withCode('ERR_TARGET_BUSY'));
      },
    },
  },
  promote: {
    'promote: the bundle of one target runs on the other': {
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
          expectAnswer(`the bundles in the history of "${target}"`, idsOf(await subject.history(target)), [older]);
        }
      },
    },
    'promote: a bundle that the target does not run is refused': {
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
  },
  getDeployment: {
    'wait: each deployment has its own status': {
      proves: 'A deployment that fails is `failed`, and the one before it stays `finished`.',
      async run(subject) {
        const {failDeployments = notOffered('failDeployments')} = subject.service;
        const {deployment: good} = await subject.pushed();
        await failDeployments();
        const {deployment: bad} = await subject.push();
        const what = 'the status of a deployment that fails';
        expectAnswer(what, await endOf(subject, bad), 'failed');
        const {status} = await subject.call('getDeployment', good);
        expectAnswer('the status of the deployment before one that failed', status, 'finished');
      },
    },
    'wait: an unknown deployment is refused with a code': {
      proves: 'The status of a deployment that does not exist, by its `deploymentId`, is an error.',
      async run(subject) {
        const {deployment} = await subject.push();
        const {deploymentId = notTried('The references of the backend have no deploymentId.')} = deployment;
        const unknown = {...fromJson(deployment), deploymentId: unknownIdLike(deploymentId)};
        const what = `the status of the unknown deployment ${shown(unknown.deploymentId)}`;
        await expectError(what, subject.call('getDeployment', unknown), anyCode);
      },
    },
  },
  readLogs: {
    'logs: a log ends when it is complete': {
      proves:
        'A log that is read while the deployment runs ends with the same lines as one that is read afterwards, which is ' +
        'the same each time and has no line breaks in its lines.',
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
      },
    },
    'logs: each deployment has its own': {
      proves: 'The log is that of the deployment, and stays so after another one.',
      async run(subject) {
        const {deployment: first} = await subject.pushed();
        const lines = await readLog(subject, first);
        const {deployment: second} = await subject.pushed();
        const mark = String(first.deploymentId);
        // Logs that name nothing may well be the same.
        const namesFirst = mark.length >= shortestMark && lines.some((line) => line.includes(mark));
        const isSame = isDeepStrictEqual(await readLog(subject, second), lines);
        assert.ok(!namesFirst || !isSame, `The log of the deployment ${shown(second)} is that of ${shown(first)}.`);
        const {result, error} = await outcomeOf(readLog(subject, first));
        // A service may only keep the newest.
        if (error) await expectError('the log of an earlier deployment', readLog(subject, first), anyCode);
        else expectAnswer('the log of an earlier deployment', result, lines);
      },
    },
  },
};

/** Without an optional function of the service, the case cannot try anything. */
export function notOffered(name: 'occupyTarget' | 'failDeployments'): never {
  return notTried(`The service of the fixtures has no ${name}(), which this case needs.`);
}

/** Promotes a bundle from the target to the other one. */
function promote(subject: Subject, bundleId: BundleId): Promise<DeployResult> {
  return subject.call('promote', {bundleId, from: subject.targetSlug, to: subject.otherTarget});
}

/** Waits for the end of a deployment, and resolves to its status. */
export function endOf(subject: Subject, deployment: DeploymentRef): Promise<string> {
  return subject.becomes('the deployment', ['finished', 'failed'], async () => {
    return (await subject.call('getDeployment', deployment)).status;
  });
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

/** Asserts that another process can be given a value as JSON. */
export function expectPlainJson(what: string, value: unknown): void {
  const problem = jsonProblem(value);
  assert.equal(problem, undefined, `Expected "${what}" to be plain JSON. It ${problem ?? ''}: ${shown(value)}`);
}

/** The bundles that were deployed. */
export function idsOf(items: readonly Pick<ItemOf<'listDeployments'>, 'bundleId'>[]) {
  return items.map(({bundleId}) => bundleId);
}

/** Characters of an ID that does not appear in a log by chance. */
const shortestMark = 6;

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
