import prettyBytes from 'pretty-bytes';
import {shownUrl} from '../../backends/answers.js';
import type {BuiltInContext, BuiltInUploadResult} from '../../backends/host-backend.js';
import {callInContext} from '../../backends/call.js';
import type {BundleId, UploadState} from '../../backends/contract.js';
import {backendMembers} from '../../backends/members.js';
import {backendTitle, isBuiltIn, projectTitle} from '../../backends/names.js';
import {uploadFallbackReason} from '../../backends/select.js';
import {uploadStateOf} from '../../backends/upload-state.js';
import {strictWarnings} from '../../bundle/index.js';
import type {BundleContent, PackResult} from '../../bundle/types.js';
import {amendError, createError, isRuntimeCliError} from '../../errors/index.js';
import {reasonOf} from '../../errors/system-failure.js';
import {asSentence} from '../../text/sentence.js';
import {allowChange} from '../call-backend.js';
import {warnOfLaterFiles} from '../build-bundle.js';
import {withFallback} from '../choose-backend.js';
import {inTargetSlot} from '../deploy/start-deployment.js';
import {checkNotOlder} from '../guard/guards.js';
import type {OpenBackend} from '../open-backend.js';
import type {OperationProgress} from '../options.js';
import type {UploadStates} from './records.js';
import {explainLostUpload} from './find-uploaded.js';
import {buildPush, type BuiltPush, type SentContent} from './build-push.js';
import type {PushRuntimeBundleBackendOptions} from './options.js';
import {formatFor, replan} from './plan-push.js';
import {recordPush, type UnchangedBundle} from './unchanged-bundle.js';

/** A push whose bundle is on the service. From here on, nothing falls back. */
export interface UploadedPush extends BuiltPush {
  readonly bundleId: BundleId;
  readonly bundle: BundleContent & PackResult;
  /** Undefined if nothing was uploaded. */
  readonly uploaded?: BuiltInUploadResult | undefined;
}

/** A push that is about to be made, or previewed. */
interface PlannedPush {
  readonly open: OpenBackend;
  readonly targetSlug: string | undefined;
  readonly bundle: Pick<BundleContent, 'format' | 'message'> & Partial<PackResult>;
  readonly unchanged?: UnchangedBundle | undefined;
}

/** Asks whether a push may be made, unless there is nothing to upload or deploy. */
export async function askBeforePush(
  {open, targetSlug, bundle, unchanged}: PlannedPush,
  {dryRun}: {readonly dryRun: boolean} = {dryRun: false},
): Promise<void> {
  if (unchanged && targetSlug === undefined) return;
  const {format, message, size, sha256} = bundle;
  const content = unchanged ? {bundleIds: [unchanged.bundleId]} : {bundle: {format, message, size, sha256}};
  await allowChange(open, {operation: 'push', targetSlug, ...content, dryRun});
}

/** `Uploaded bundle 42 to shop, of which 12 MB earlier` */
export function describeUpload({open, bundleId, uploaded}: UploadedPush): string {
  const id = String(bundleId);
  const place = projectTitle(open.projectSlug, open.project.backend);
  if (uploaded === undefined) return `Nothing to upload to ${place}: unchanged since bundle ${id}`;
  const {resumedBytes = 0} = uploaded;
  const rest = resumedBytes === 0 ? '' : `, of which ${prettyBytes(resumedBytes)} earlier`;
  return `Uploaded bundle ${id} to ${place}${rest}`;
}

/** Uploads the bundle to the chosen backend. With `auto`, falls back from Api to legacy after a definite rejection. */
export async function uploadPush(push: BuiltPush): Promise<UploadedPush> {
  const {options, release, built, content, workspace, fallback} = push;
  return withFallback(push, {
    reasonFor(error) {
      const reason = uploadFallbackReason(error);
      const isFit = content.kind === 'build' || fallback?.backend === undefined;
      if (reason === undefined || isFit || content.bundle.format === formatFor(fallback.backend, options))
        return reason;
      const suggestions = ['Pass --v2 to push a prebuilt v2 archive to Runtime (API key).'];
      throw isRuntimeCliError(error) ? amendError(error, {suggestions}) : error;
    },
    first: () => pushTo(push),
    async second(open) {
      // The target of the other backend may run another commit.
      if (release) await checkNotOlder(release, open);
      const planned = await replan(push, open, built.kind === 'file' ? built.bundle : undefined);
      return pushTo(await buildPush(planned, workspace));
    },
  });
}

/** Uploads the bundle unless it is unchanged since the last push to this backend, and records the upload. */
async function pushTo(push: BuiltPush): Promise<UploadedPush> {
  const {options, open, built} = push;
  const {outlet, writes} = open.host;
  const {targetSlug} = options;
  const {bundle} = built;
  if (built.kind === 'unchanged') {
    const {unchanged} = built;
    const {bundleId} = unchanged;
    await askBeforePush({open, targetSlug, bundle, unchanged});
    writes?.learn({bundleIds: [bundleId]});
    return {...push, bundleId, bundle: built.bundle};
  }
  await askBeforePush({open, targetSlug, bundle});
  const uploaded = await uploadTo(push, built);
  const {bundleId, warnings = []} = uploaded;
  const packed = built.kind === 'file' ? built.bundle : {...built.bundle, ...built.packed()};
  warnings.forEach((warning) => outlet.warn(warning));
  if (built.kind === 'stream' && push.content.kind === 'build') await warnOfLaterFiles(push.content.plan, outlet);
  writes?.learn({
    bundleIds: [bundleId],
    ...(targetSlug === undefined && {url: shownUrl(uploaded.url)}),
  });
  await recordPush(open, packed, bundleId, options);
  return {...push, bundleId, bundle: packed, uploaded};
}

async function uploadTo({open, options, release}: BuiltPush, content: SentContent): Promise<BuiltInUploadResult> {
  const {backend, secrets, host} = open;
  // A service may accept it before all of it was sent. The built-in backends report each byte, so none was sent before.
  let isPartlySent = isBuiltIn(open.backend.name);
  const onProgress = (progress: Pick<OperationProgress, 'transferred' | 'total' | 'attempt'>) => {
    isPartlySent = progress.total !== undefined && progress.transferred < progress.total;
    host.outlet.progress({phase: 'upload', ...progress, idleMs: context.timeouts.idleMs});
  };
  const context = await open.with({onProgress}).context();
  const send = (own: BuiltInContext) =>
    content.kind === 'file' ? backend.upload(content.bundle, own) : content.upload.call(backend, content.bundle, own);
  const at = host.now();
  const upload = () =>
    withUploadState(open, content, options, (state) =>
      callInContext(backend, backendMembers.upload, {...context, state}, send, secrets),
    ).catch(async (error: unknown) => {
      const explained = await explainFailure(error, content.bundle, open, isPartlySent && context.countWrites() === 0);
      const sent = {message: content.bundle.message, at, targetSlug: options.targetSlug};
      throw isRuntimeCliError(explained) ? await explainLostUpload(explained, open, sent) : explained;
    });
  const deploys = backend.deploysOnUpload?.includes(content.bundle.format) === true;
  const result = release && deploys ? await inTargetSlot(open, release, undefined, upload) : await upload();
  const {bundleId} = result;
  if (typeof bundleId !== 'number' && (typeof bundleId !== 'string' || bundleId === '')) {
    throw createError('ERR_BACKEND_FAILED', `The ${backendTitle(backend.name)} backend returned no bundle ID.`);
  }
  return result;
}

/** The places whose state an upload of this process uses. */
const placesInUse = new WeakMap<UploadStates, Set<string>>();

/**
 * Calls `upload` with the state of an earlier push of the same archive to the same place, unless another upload has it.
 * The built-in backends resume nothing, and an archive that is packed while it is sent has no digest to know it by.
 */
async function withUploadState<Result>(
  open: OpenBackend,
  content: SentContent,
  {uploadStates}: Pick<PushRuntimeBundleBackendOptions, 'uploadStates'>,
  upload: (state: UploadState | undefined) => Promise<Result>,
): Promise<Result> {
  const {backend, secrets} = open;
  if (uploadStates === undefined || content.kind === 'stream' || isBuiltIn(backend.name)) return upload(undefined);
  const place = {...open.place(), sha256: content.bundle.sha256};
  const inUse = placesInUse.get(uploadStates) ?? new Set();
  const key = JSON.stringify(place);
  if (inUse.has(key)) return upload(undefined);
  placesInUse.set(uploadStates, inUse.add(key));
  let savedState: unknown;
  const stored: UploadState = {
    async read() {
      savedState = await uploadStates.read(place);
      return savedState;
    },
    async write(saved) {
      await uploadStates.write(place, saved);
      savedState = saved;
    },
    async remove() {
      savedState = undefined;
      await uploadStates.remove(place);
    },
  };
  const {logger} = await open.context();
  const state = uploadStateOf(backend, stored, {secrets, logger});
  try {
    const result = await upload(state);
    await state.remove();
    return result;
  } catch (error) {
    if (savedState === undefined || !isRuntimeCliError(error)) throw error;
    throw amendError(error, {suggestions: ['The next push of the same build goes on where this one has stopped.']});
  } finally {
    await uploadStates.putBack?.(place).catch((error: unknown) => {
      logger.warn(asSentence(`The state of the upload cannot be put back: ${reasonOf(error)}`));
    });
    inUse.delete(key);
  }
}

/** Says whether an interrupted upload may have created a bundle, and which patterns a strict server refuses. */
async function explainFailure(
  error: unknown,
  bundle: BundleContent,
  {signal, flags}: OpenBackend,
  isIncomplete: boolean,
): Promise<unknown> {
  if (!isRuntimeCliError(error)) return error;
  const {code, message, status} = error;
  if (status === 400 || status === 422) return amendError(error, {suggestions: await strictWarnings(bundle, signal)});
  if (code !== 'ERR_INTERRUPTED') return error;
  if (isIncomplete)
    return amendError(error, {message: `${message} The upload was incomplete, so it created no bundle.`});
  return amendError(error, {
    message: `${message} The bundle may have been uploaded.`,
    suggestions: ['Check before you push again:', [{run: ['bundle:list', ...flags()]}]],
  });
}
