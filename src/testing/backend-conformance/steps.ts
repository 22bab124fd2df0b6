import assert from 'node:assert/strict';
import {setTimeout as delay} from 'node:timers/promises';
import {contextFor} from '../../backends/call.js';
import type {
  Backend,
  BundleFormat,
  BundleId,
  BundleItem,
  DeploymentItem,
  DeploymentRef,
  DownloadRequest,
  ListRange,
  ListResult,
  TargetItem,
} from '../../backends/contract.js';
import type {Subject} from './subject.js';

const pollIntervalMs = 20;

/** Uploads bundles one after the other, and returns their IDs, newest first. */
export async function uploadInOrder(subject: Subject, count: number): Promise<readonly BundleId[]> {
  const ids: BundleId[] = [];
  while (ids.length < count) {
    ids.unshift(await subject.upload(await subject.makeBundle()));
    await subject.nextInstant();
  }
  return ids;
}

/** Deploys bundles to the target one after the other. */
export async function deployInOrder(subject: Subject, bundleIds: readonly BundleId[]): Promise<void> {
  for (const bundleId of bundleIds) {
    const deployment = await deploy(subject, bundleId);
    if (subject.backend.getDeployment) await waitUntilFinished(subject, deployment);
    await subject.nextInstant();
  }
}

/** Deploys a bundle to the target. */
export async function deploy(subject: Subject, bundleId: BundleId): Promise<DeploymentRef> {
  const {targetSlug} = subject;
  const member = memberOf(subject, 'deploy');
  const {deployment} = await subject.call('deploying', (context) => member({bundleId, targetSlug}, context), {
    targetSlug,
  });
  return deployment;
}

/** The target that bundles are promoted to. */
export function promotionTarget({service}: Subject): string {
  return service.promotionTargetSlug ?? 'production';
}

/** Promotes a bundle from the target to the other one. */
export async function promote(subject: Subject, bundleId: BundleId): Promise<DeploymentRef> {
  const [from, to] = [subject.targetSlug, promotionTarget(subject)];
  const member = memberOf(subject, 'promote');
  const {deployment} = await subject.call('promoting', (context) => member({bundleId, from, to}, context), {
    targetSlug: to,
  });
  return deployment;
}

/** Pushes a bundle to the target like the host: with an upload that deploys, or an upload and then a deployment. */
export async function pushToTarget(subject: Subject, format: BundleFormat): Promise<DeploymentRef> {
  const {backend, targetSlug} = subject;
  const bundle = await subject.makeBundle(format);
  const {bundleId, deployment} = await subject.call('uploading', (context) => backend.upload(bundle, context), {
    targetSlug,
  });
  return deployment ?? deploy(subject, bundleId);
}

/** Polls a deployment until it has finished. */
export async function waitUntilFinished(subject: Subject, deployment: DeploymentRef): Promise<void> {
  const member = memberOf(subject, 'getDeployment');
  const tooLate = Date.now() + (subject.fixtures.deploymentTimeoutMs ?? 10_000);
  for (;;) {
    const {
      status,
      description,
      percentage = 0,
    } = await subject.call('checking a deployment', (context) =>
      member(deployment, contextFor('getDeployment', context)),
    );
    assert.ok(percentage >= 0 && percentage <= 100, `The deployment reports a progress of ${String(percentage)} %.`);
    assert.notEqual(status, 'failed', `The deployment failed: ${description ?? 'no description'}`);
    if (status === 'finished') return;
    assert.ok(Date.now() < tooLate, `The deployment was still ${status} when the time was up.`);
    await delay(pollIntervalMs);
  }
}

/** One page of the list of bundles. */
export async function listBundles(subject: Subject, range: ListRange): Promise<ListResult<BundleItem>> {
  const member = memberOf(subject, 'listBundles');
  return subject.call('listing bundles', (context) => member(range, contextFor('listBundles', context)));
}

/** One page of the list of the target's deployments. */
export async function listDeployments(
  subject: Subject,
  range: ListRange,
  targetSlug = subject.targetSlug,
): Promise<ListResult<DeploymentItem>> {
  const member = memberOf(subject, 'listDeployments');
  return subject.call(
    'listing deployments',
    (context) => member({...range, targetSlug}, contextFor('listDeployments', context)),
    {targetSlug},
  );
}

/** A part of the list of targets. */
export async function listTargets(subject: Subject, range: ListRange): Promise<ListResult<TargetItem>> {
  const member = memberOf(subject, 'listTargets');
  return subject.call('listing targets', (context) => member(range, contextFor('listTargets', context)));
}

/** Reads the log of a deployment from `cursor`, or from its start, until it is complete. */
export async function readLog(
  subject: Subject,
  deployment: DeploymentRef,
  start?: string,
): Promise<{readonly lines: readonly string[]; readonly cursors: readonly string[]}> {
  const member = memberOf(subject, 'readLogs');
  const tooLate = Date.now() + (subject.fixtures.deploymentTimeoutMs ?? 10_000);
  const lines: string[] = [];
  const cursors: string[] = [];
  for (let cursor = start; ; cursor = cursors.at(-1)) {
    const part = await subject.call('reading a log', (context) =>
      member({deployment, cursor}, contextFor('readLogs', context)),
    );
    lines.push(...part.lines);
    if (part.cursor !== undefined) cursors.push(part.cursor);
    if (part.done === true || part.cursor === undefined) return {lines, cursors};
    assert.ok(part.lines.length === 0 || part.cursor !== cursor, 'The log is repeated: its cursor does not change.');
    assert.ok(Date.now() < tooLate, 'The log of a finished deployment is not complete when the time is up.');
    await delay(pollIntervalMs);
  }
}

/** Downloads a bundle into `writeTo`. */
export async function download(subject: Subject, request: DownloadRequest, signal?: AbortSignal): Promise<void> {
  const member = memberOf(subject, 'download');
  await subject.call('downloading', (context) => member(request, context), {signal});
}

/** Deletes a bundle. */
export async function deleteBundle(subject: Subject, bundleId: BundleId): Promise<void> {
  const member = memberOf(subject, 'deleteBundle');
  await subject.call('deleting', (context) => member({bundleId}, context));
}

/** An ID that no bundle has, of the same type as `bundleId`. */
export function unknownIdLike(bundleId: BundleId): BundleId {
  return typeof bundleId === 'number' ? 999_999_999 : 'no-such-bundle';
}

type Member =
  | 'deploy'
  | 'promote'
  | 'getDeployment'
  | 'listBundles'
  | 'listDeployments'
  | 'listTargets'
  | 'readLogs'
  | 'download'
  | 'deleteBundle';

function memberOf<Name extends Member>({backend}: Subject, name: Name): NonNullable<Backend[Name]> {
  const member = backend[name];
  assert.ok(member, `This case requires ${name}(), which the backend does not have.`);
  return member;
}
