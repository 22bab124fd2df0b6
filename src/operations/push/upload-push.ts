import type {UnchangedBundle} from './options.js';
import prettyBytes from 'pretty-bytes';
import {shownUrl} from '../../backends/answers.js';
import type {BuiltInContext, BuiltInUploadResult} from '../../backends/host-backend.js';
import {callInContext} from '../../backends/call.js';
import type {BundleId, BundleItem, DeploymentItem, UploadState} from '../../backends/contract.js';
import {backendMembers} from '../../backends/members.js';
import {isBuiltIn, projectTitle} from '../../backends/names.js';
import {withUploadState, type UploadStates} from '../../backends/upload-state.js';
import {strictWarnings} from '../../bundle/index.js';
import type {BundleContent, PackResult} from '../../bundle/types.js';
import {amendError, isRuntimeCliError} from '../../errors/index.js';
import {allowChange, sendChange} from '../call-backend.js';
import {warnOfLaterFiles} from '../build-bundle.js';
import {pause} from '../deploy/poll.js';
import {inTargetSlot} from '../deploy/start-deployment.js';
import {readBundles} from '../list-bundles.js';
import type {OpenBackend} from '../open-backend.js';
import {createdTime} from '../pages.js';
import type {DryRunOptions, OperationProgress} from '../options.js';
import type {BuiltContent, SentContent} from './build-push.js';
import type {PushRequest} from './request.js';
import {recordPush} from './unchanged-bundle.js';

export interface UploadedBundle {
  readonly bundleId: BundleId;
  readonly bundle: BundleContent & PackResult;
  readonly uploaded?: BuiltInUploadResult | undefined;
  /** For an upload that deploys: the deployments of the target right before it. */
  readonly before?: readonly DeploymentItem[] | undefined;
}

/** Allows a push, unless there is nothing to upload or deploy. @param bundle what is packed, or is to be */
export async function allowPush(
  open: OpenBackend,
  {
    targetSlug,
    bundle,
    unchanged,
    dryRun,
  }: DryRunOptions & {
    readonly targetSlug: string | undefined;
    readonly bundle: Pick<BundleContent, 'format' | 'message'> & Partial<PackResult>;
    readonly unchanged: UnchangedBundle | undefined;
  },
): Promise<void> {
  if (unchanged && targetSlug === undefined) return;
  const {format, message, size, sha256} = bundle;
  const content = unchanged ? {bundleIds: [unchanged.bundleId]} : {bundle: {format, message, size, sha256}};
  await allowChange(open, {operation: 'push', targetSlug, ...content, dryRun});
}

/** `Uploaded bundle 42 to shop, of which 12 MB earlier` */
export function describeUpload(open: OpenBackend, {bundleId, uploaded}: UploadedBundle): string {
  const id = String(bundleId);
  const place = projectTitle(open.projectSlug, open.project.backend);
  if (uploaded === undefined) return `Nothing to upload to ${place}: unchanged since bundle ${id}`;
  const {resumedBytes = 0} = uploaded;
  const rest = resumedBytes === 0 ? '' : `, of which ${prettyBytes(resumedBytes)} earlier`;
  return `Uploaded bundle ${id} to ${place}${rest}`;
}

/** Uploads a bundle unless it is unchanged since the last push to this backend, and records the upload. */
export async function uploadTo(
  open: OpenBackend,
  built: BuiltContent,
  {release, lastPush, uploadStates}: Pick<PushRequest, 'release' | 'lastPush' | 'uploadStates'>,
): Promise<UploadedBundle> {
  const {backend, host} = open;
  const {bundle} = built;
  const unchanged = built.kind === 'unchanged' ? built.unchanged : undefined;
  await allowPush(open, {targetSlug: release?.targetSlug, bundle, unchanged});
  if (built.kind === 'unchanged') return {bundleId: built.unchanged.bundleId, bundle: built.bundle};
  const upload = () => sendBundle(open, built, uploadStates);
  const deploys = backend.deploysOnUpload?.includes(bundle.format) === true;
  const {answer, before} =
    release && deploys
      ? await inTargetSlot(open, release, undefined, upload)
      : {answer: await upload(), before: undefined};
  const {bundleId, warnings = []} = answer;
  const packed = built.kind === 'file' ? built.bundle : {...built.bundle, ...built.packed()};
  warnings.forEach((warning) => host.outlet.warn(warning));
  if (built.kind === 'stream') await warnOfLaterFiles(built.plan, host.outlet);
  await recordPush(open, packed, bundleId, lastPush);
  return {bundleId, bundle: packed, uploaded: {...answer, url: shownUrl(answer.url)}, before};
}

async function sendBundle(
  open: OpenBackend,
  content: SentContent,
  uploadStates: UploadStates | undefined,
): Promise<BuiltInUploadResult> {
  const {backend, secrets, signal, host} = open;
  // A service may accept it before all of it was sent. The built-in backends report each byte, so none was sent before.
  let isPartlySent = isBuiltIn(backend.name);
  let hasSent = false;
  const onProgress = (progress: Pick<OperationProgress, 'transferred' | 'total' | 'attempt'>) => {
    hasSent ||= progress.transferred > 0;
    isPartlySent = progress.total !== undefined && progress.transferred < progress.total;
    host.outlet.progress({phase: 'upload', ...progress, idleMs: context.timeouts.idleMs});
  };
  const context = await open.with({onProgress}).context();
  const send = (own: BuiltInContext) =>
    content.kind === 'file' ? backend.upload(content.bundle, own) : content.upload.call(backend, content.bundle, own);
  // The built-in backends resume nothing, and an archive that is packed while it is sent has no digest to know it by.
  const resumable =
    content.kind === 'stream' || isBuiltIn(backend.name)
      ? undefined
      : uploadStates && {states: uploadStates, place: {...open.place(), sha256: content.bundle.sha256}};
  const upload = (state: UploadState | undefined) =>
    callInContext(backend, {...backendMembers.upload, name: 'upload'}, {...context, state}, send, secrets);
  try {
    return await sendChange(open, 'upload', () =>
      withUploadState(resumable, {backend, secrets, logger: context.logger, hasSent: () => hasSent}, upload),
    );
  } catch (error) {
    // Part of an archive creates no bundle.
    if (signal.aborted && isPartlySent && context.countWrites() === 0) host.outlet.settles(false);
    if (!isRuntimeCliError(error) || (error.status !== 400 && error.status !== 422)) throw error;
    throw amendError(error, {suggestions: await strictWarnings(content.bundle, signal)});
  }
}

/** How long to look for a bundle whose upload was not answered: the network may be away. In milliseconds. */
const longestSearchMs = 30_000;

const betweenLooksMs = 2000;

/** How much earlier than the request a bundle may seem to be, in milliseconds: services tell the time in seconds. */
const toleranceMs = 5000;

/** Enough to see it, though others push at the same time. */
const newest = {limit: 20, offset: 0};

export interface FoundUpload {
  /** Of a new bundle with the same message: somebody else may have pushed it. Undefined if there is none. */
  readonly bundleId: BundleId | undefined;
}

/** Looks for the bundle of an upload whose answer was lost. Undefined if nothing could be read. */
export async function findLostUpload(
  error: unknown,
  open: OpenBackend,
  sent: {readonly message: string; readonly at: Date},
): Promise<FoundUpload | undefined> {
  const isLost = isRuntimeCliError(error) && error.code === 'ERR_OUTCOME_UNKNOWN';
  if (!isLost || !open.host.findsLostUploads || !open.backend.listBundles) return undefined;
  open.host.outlet.note(`Looking for the bundle, for at most ${String(longestSearchMs / 1000)} s.`);
  const once = open.with({once: true, signal: AbortSignal.timeout(longestSearchMs)});
  const items = await listOnceReached(once);
  const since = sent.at.getTime() + open.clockAheadMs() - toleranceMs;
  const found = items?.find((item) => item.message === sent.message && createdTime(item) >= since);
  return items && {bundleId: found?.bundleId};
}

/** The newest bundles, as soon as the service answers. Undefined if it refuses, or the time is up. */
async function listOnceReached(open: OpenBackend): Promise<readonly BundleItem[] | undefined> {
  for (;;) {
    try {
      return (await readBundles(open, newest)).items;
    } catch (error) {
      if (open.signal.aborted || !isRuntimeCliError(error) || error.status !== undefined) return undefined;
    }
    await pause(betweenLooksMs, open.signal).catch(() => undefined);
  }
}
