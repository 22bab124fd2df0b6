import assert from 'node:assert/strict';
import {setTimeout as delay} from 'node:timers/promises';
import {contextFor} from '../backends/call.js';
import type {BuiltInContext} from '../backends/built-in.js';
import type {
  AnyBackend,
  BackendVerifyContext,
  BundleFormat,
  BundleId,
  BundleItem,
  DeploymentItem,
  DeploymentLog,
  DeploymentRef,
  DeploymentState,
  DeployResult,
  DownloadRequest,
  ListRange,
  ListResult,
  TargetItem,
  VerifyResult,
} from '../backends/contract.js';
import type {CallOptions, Subject} from './subject.js';

const pollIntervalMs = 20;

/** More than the suite uploads. */
export const everything: ListRange = {limit: 100, offset: 0};

/** Uploads bundles one after the other, and returns their IDs, newest first. */
export async function uploadInOrder(subject: Subject, count: number): Promise<readonly BundleId[]> {
  const ids: BundleId[] = [];
  while (ids.length < count) {
    ids.unshift(await subject.upload(await subject.makeBundle()));
    await subject.nextInstant();
  }
  return ids;
}

/** Deploys bundles one after the other, by default to the target, and returns the references in the same order. */
export async function deployInOrder(
  subject: Subject,
  bundleIds: readonly BundleId[],
  options: CallOptions = {},
): Promise<readonly DeploymentRef[]> {
  const deployments: DeploymentRef[] = [];
  for (const bundleId of bundleIds) {
    const deployment = await deploy(subject, bundleId, options);
    if (subject.backend.getDeployment) await waitUntilFinished(subject, deployment);
    await subject.nextInstant();
    deployments.push(deployment);
  }
  return deployments;
}

/** Polls until `isDone`, at most as long as a deployment may take. @returns whether it was done in time. */
export async function eventually(subject: Subject, isDone: () => Promise<boolean>): Promise<boolean> {
  const tooLate = Date.now() + (subject.fixtures.deploymentTimeoutMs ?? 30_000);
  while (!(await isDone())) {
    if (Date.now() > tooLate) return false;
    await delay(pollIntervalMs);
  }
  return true;
}

/** Deploys a bundle, by default to the target. */
export async function deploy(subject: Subject, bundleId: BundleId, options: CallOptions = {}): Promise<DeploymentRef> {
  return (await requestDeployment(subject, bundleId, options)).deployment;
}

/** The same, with the whole answer. */
export async function requestDeployment(
  subject: Subject,
  bundleId: BundleId,
  options: CallOptions = {},
): Promise<DeployResult> {
  const {targetSlug = subject.targetSlug, signal} = options;
  const member = memberOf(subject, 'deploy');
  const request = subject.given({bundleId: typed(subject, bundleId), targetSlug}, 'the request');
  return subject.call('deploying', (context) => member(request, context), {targetSlug, signal});
}

/** The other target, which bundles are promoted to. */
export function otherTarget({service}: Subject): string {
  return service.promotionTargetSlug ?? 'production';
}

/** Promotes a bundle from the target to the other one. */
export async function promote(
  subject: Subject,
  bundleId: BundleId,
  {signal}: Pick<CallOptions, 'signal'> = {},
): Promise<DeployResult> {
  const [from, to] = [subject.targetSlug, otherTarget(subject)];
  const member = memberOf(subject, 'promote');
  const request = subject.given({bundleId: typed(subject, bundleId), from, to}, 'the request');
  const call = (context: BuiltInContext) => member(request, context);
  return subject.call('promoting', call, {targetSlug: to, signal});
}

/**
 * Pushes a bundle, by default to the target, like the host: with an upload that deploys, or an upload and then a
 * deployment.
 */
export async function pushToTarget(
  subject: Subject,
  {format, targetSlug = subject.targetSlug}: Pick<CallOptions, 'targetSlug'> & {readonly format?: BundleFormat} = {},
): Promise<{readonly bundleId: BundleId; readonly deployment: DeploymentRef}> {
  const {backend} = subject;
  const bundle = await subject.makeBundle(format);
  const {bundleId, deployment} = await subject.call('uploading', (context) => backend.upload(bundle, context), {
    targetSlug,
  });
  return {bundleId, deployment: deployment ?? (await deploy(subject, bundleId, {targetSlug}))};
}

/** A deployment as another process would have it, which only has the JSON. */
export function fromJson(deployment: DeploymentRef): DeploymentRef {
  return JSON.parse(JSON.stringify(deployment)) as DeploymentRef;
}

/** Checks a deployment once. */
export async function checkDeployment(
  subject: Subject,
  deployment: DeploymentRef,
  {signal}: Pick<CallOptions, 'signal'> = {},
): Promise<DeploymentState> {
  const member = memberOf(subject, 'getDeployment');
  const given = subject.given(deployment, 'the deployment');
  return subject.call('checking a deployment', (context) => member(given, contextFor('getDeployment', context)), {
    signal,
  });
}

/** Polls a deployment until it has finished. */
export async function waitUntilFinished(subject: Subject, deployment: DeploymentRef): Promise<void> {
  const tooLate = Date.now() + (subject.fixtures.deploymentTimeoutMs ?? 30_000);
  for (;;) {
    const {status, description, percentage = 0} = await checkDeployment(subject, deployment);
    assert.ok(percentage >= 0 && percentage <= 100, `The deployment reports a progress of ${String(percentage)} %.`);
    assert.notEqual(status, 'failed', `The deployment failed: ${description ?? 'no description'}`);
    if (status === 'finished') return;
    assert.ok(Date.now() < tooLate, `The deployment was still ${status} when the time was up.`);
    await delay(pollIntervalMs);
  }
}

/** One page of the list of bundles. */
export async function listBundles(
  subject: Subject,
  range: ListRange = everything,
  {signal}: Pick<CallOptions, 'signal'> = {},
): Promise<ListResult<BundleItem>> {
  const member = memberOf(subject, 'listBundles');
  const given = subject.given(range, 'the request');
  return subject.call('listing bundles', (context) => member(given, contextFor('listBundles', context)), {signal});
}

/** One page of the list of a target's deployments, by default of the target. */
export async function listDeployments(
  subject: Subject,
  range: ListRange = everything,
  options: CallOptions = {},
): Promise<ListResult<DeploymentItem>> {
  const {targetSlug = subject.targetSlug, signal} = options;
  const member = memberOf(subject, 'listDeployments');
  const given = subject.given({...range, targetSlug}, 'the request');
  const call = (context: BuiltInContext) => member(given, contextFor('listDeployments', context));
  return subject.call('listing deployments', call, {targetSlug, signal});
}

/** A part of the list of targets. */
export async function listTargets(
  subject: Subject,
  range: ListRange = everything,
  {signal}: Pick<CallOptions, 'signal'> = {},
): Promise<ListResult<TargetItem>> {
  const member = memberOf(subject, 'listTargets');
  const given = subject.given(range, 'the request');
  return subject.call('listing targets', (context) => member(given, contextFor('listTargets', context)), {signal});
}

/** Reads one part of the log of a deployment. */
export async function readLogPart(
  subject: Subject,
  request: {readonly deployment: DeploymentRef; readonly cursor?: string | undefined},
  {signal}: Pick<CallOptions, 'signal'> = {},
): Promise<DeploymentLog> {
  const member = memberOf(subject, 'readLogs');
  const given = subject.given(request, 'the request');
  return subject.call('reading a log', (context) => member(given, contextFor('readLogs', context)), {signal});
}

/** Reads the log of a deployment from `cursor`, or from its start, until it is complete. */
export async function readLog(
  subject: Subject,
  deployment: DeploymentRef,
  start?: string,
): Promise<{readonly lines: readonly string[]; readonly cursors: readonly string[]}> {
  const tooLate = Date.now() + (subject.fixtures.deploymentTimeoutMs ?? 30_000);
  const lines: string[] = [];
  const cursors: string[] = [];
  for (let cursor = start; ; cursor = cursors.at(-1)) {
    const part = await readLogPart(subject, {deployment, cursor});
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
  const given = subject.given({...request, bundleId: typed(subject, request.bundleId)}, 'the request');
  await subject.call('downloading', (context) => member(given, context), {signal});
}

/** An ID as the host passes it on: users type text. */
function typed({backend}: Subject, bundleId: BundleId): BundleId {
  return backend.bundleIds === 'number' ? bundleId : String(bundleId);
}

/** Deletes a bundle. */
export async function deleteBundle(
  subject: Subject,
  bundleId: BundleId,
  {signal}: Pick<CallOptions, 'signal'> = {},
): Promise<void> {
  const member = memberOf(subject, 'deleteBundle');
  const given = subject.given({bundleId: typed(subject, bundleId)}, 'the request');
  await subject.call('deleting', (context) => member(given, context), {signal});
}

/** An ID that no bundle has, of the same form as `bundleId`: a service may refuse any other before it looks. */
export function unknownIdLike(bundleId: BundleId): BundleId {
  if (typeof bundleId === 'number') return 999_999_999;
  if (/^\d{1,9}$/.test(bundleId)) return '999999999';
  // A UUID, a digest or the like.
  const isHex = /^[0-9a-f-]{20,}$/i.test(bundleId);
  return isHex ? bundleId.replaceAll(/[0-9a-f]/gi, '0').replace(/^(0{8}-0{4}-)0(0{3}-)0/, '$14$28') : 'no-such-bundle';
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
  | 'deleteBundle'
  | 'verify';

function memberOf<Name extends Member>({backend}: Subject, name: Name): NonNullable<AnyBackend[Name]> {
  const member = backend[name];
  assert.ok(member, `This case requires ${name}(), which the backend does not have.`);
  return member;
}

/** Asks the backend to verify the credentials, like the host. */
export async function verify(subject: Subject, {signal}: Pick<CallOptions, 'signal'> = {}): Promise<VerifyResult> {
  const member = memberOf(subject, 'verify');
  const call = (context: BuiltInContext) =>
    member({...servicePart(context), http: context.http.extend({repeatable: true})});
  return subject.call('verifying', call, {signal});
}

/** The part of a context that is not about a project. */
export function servicePart(context: BackendVerifyContext): BackendVerifyContext {
  const {options, configDirectory, env, logger, http, error, waitToRetry, signal, maskSecret} = context;
  return {options, configDirectory, env, logger, http, error, waitToRetry, signal, maskSecret};
}
