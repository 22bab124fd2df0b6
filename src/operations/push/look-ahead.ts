import type {NotedAhead} from '../../backends/host-backend.js';
import {callInContext} from '../../backends/call.js';
import {backendMembers, isUnderWay} from '../../backends/members.js';
import {failsEveryRequest} from '../../backends/answers.js';
import type {DeploymentItem} from '../../backends/contract.js';
import {invoke, unlessUnreadable} from '../call-backend.js';
import type {BundleFormat} from '../../bundle/types.js';
import type {Release} from '../deploy/release.js';
import {targetBusy} from '../deploy/start-deployment.js';
import {readHistory} from '../list-bundles.js';
import type {OpenBackend} from '../open-backend.js';
import type {PushContent} from './plan-push.js';

/** From this size on, an upload is worth a request that tells whether it can succeed, in bytes. */
const largeBytes = 20_000_000;

interface ComingUpload {
  readonly format: BundleFormat;
  readonly release: Release | undefined;
  /** Whether there may be nothing to upload. */
  readonly ifChanged: boolean;
  /** Whether a refusal of the upload decides which backend serves. */
  readonly mayFallBack: boolean;
}

/** Plans a push while requests are made that tell early whether its upload can succeed. */
export async function planAhead(
  open: OpenBackend,
  upload: ComingUpload,
  planning: () => Promise<PushContent>,
): Promise<{readonly content: PushContent; readonly noted: NotedAhead | undefined}> {
  const ended = new AbortController();
  const own = open.with({signal: ended.signal});
  const looking = lookAhead(own, upload);
  // It is awaited later.
  looking.catch(() => undefined);
  try {
    const content = await planning();
    const noted = await looking;
    if (noted === undefined) await lookBeforeLargeUpload(own, upload, content);
    return {content, noted};
  } finally {
    ended.abort();
  }
}

async function lookAhead(
  open: OpenBackend,
  {format, release, ifChanged, mayFallBack}: ComingUpload,
): Promise<NotedAhead | undefined> {
  const {backend, secrets} = open;
  if (backend.ahead === undefined || mayFallBack) return undefined;
  // Others may deploy an unchanged bundle meanwhile, so the target is read later.
  const ask = backend.ahead.bind(backend, {format, targetSlug: ifChanged ? undefined : release?.targetSlug});
  const asking = callInContext(backend, backendMembers.upload, await open.context(), ask, secrets);
  const noted = await unlessUnreadable(open, asking, failsEveryRequest);
  refuseBusy(release, noted?.underWay);
  return noted;
}

async function lookBeforeLargeUpload(
  open: OpenBackend,
  {release, ifChanged, mayFallBack}: ComingUpload,
  content: PushContent,
): Promise<void> {
  const size = content.kind === 'build' ? content.plan.totalBytes : content.bundle.size;
  // With `ifChanged`, the list is read anyway.
  if (size <= largeBytes || mayFallBack || ifChanged) return;
  // What a plugin's backend does about a target that is busy, its deployment tells.
  if (release === undefined || open.backend.plugin !== undefined) {
    await unlessUnreadable(open, invoke(open, 'listBundles', {limit: 1}), failsEveryRequest);
    return;
  }
  const history = await unlessUnreadable(open, readHistory(open, release.targetSlug, 2), failsEveryRequest);
  refuseBusy(release, history?.[0]);
}

/** @throws RuntimeCliError `ERR_TARGET_BUSY` if the newest deployment is under way and the push does not wait for it */
function refuseBusy(release: Release | undefined, newest: DeploymentItem | undefined): void {
  if (release === undefined || release.waitForSlot || newest === undefined || !isUnderWay(newest.status)) return;
  throw targetBusy(release, newest);
}
