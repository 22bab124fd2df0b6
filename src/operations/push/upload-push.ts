import type {BuiltInContext, BuiltInUploadResult} from '../../backends/built-in.js';
import {callInContext} from '../../backends/call.js';
import {backendMembers} from '../../backends/members.js';
import type {UploadState} from '../../backends/contract.js';
import {backendTitle, isBuiltIn, projectTitle, type RuntimeBackend} from '../../backends/names.js';
import {failedTwice, fallbackWarning, uploadFallbackReason} from '../../backends/select.js';
import {uploadStateOf} from '../../backends/upload-state.js';
import {strictWarnings} from '../../bundle/index.js';
import type {BundleContent, PackResult} from '../../bundle/types.js';
import {amendError, createError, isRuntimeCliError} from '../../errors/index.js';
import {reasonOf} from '../../errors/system-failure.js';
import {asSentence} from '../../text/sentence.js';
import {placeFlags} from '../../text/suggest.js';
import type {TemporaryDirectory} from '../../files/temporary-directory.js';
import {inTargetSlot} from '../deploy/target-slot.js';
import {callBack, callBackSafely, type Host} from '../host.js';
import {openBackend, placeOf, type OpenBackend} from '../open-backend.js';
import {watchPush} from '../guard/guards.js';
import {formatFor, planContent, type PushPlan} from './plan-push.js';
import {buildPush, type PushContent, type SentContent} from './push-content.js';
import type {UploadStates} from './records.js';
import {recordPush, type UnchangedBundle} from './unchanged-bundle.js';

/** An upload that succeeded or was not needed. From here on, nothing falls back. */
export interface UploadedPush {
  readonly backend: RuntimeBackend;
  readonly bundle: BundleContent & PackResult;
  /** Only the ID if nothing was uploaded. */
  readonly result: BuiltInUploadResult;
  /** Set if nothing was uploaded. */
  readonly unchanged?: UnchangedBundle | undefined;
  readonly warnings: readonly string[];
}

/** A push that is about to be made, or previewed. */
interface AskedPush {
  readonly backend: RuntimeBackend;
  readonly bundle: Pick<BundleContent, 'format' | 'message'> & Partial<PackResult>;
  readonly unchanged?: UnchangedBundle | undefined;
}

/** Asks whether a push may be made, unless there is nothing to upload or deploy. */
export async function askBeforePush(
  {backend, bundle, unchanged}: AskedPush,
  {projectSlug, targetSlug}: PushPlan['options'],
  host: Host,
  asked?: {readonly dryRun: boolean},
): Promise<void> {
  if (unchanged && targetSlug === undefined) return;
  const {format, message, size, sha256} = bundle;
  const content = unchanged
    ? {bundleIds: [unchanged.bundleId]}
    : {bundleIds: [], bundle: {format, message, size, sha256}};
  await host.writes?.before({operation: 'push', backend, projectSlug, targetSlug, ...content}, asked);
}

/** `Uploaded bundle 42 to shop` */
export function describeUpload({backend, result, unchanged}: UploadedPush, projectSlug: string): string {
  const id = String(result.bundleId);
  const place = projectTitle(projectSlug, backend);
  return unchanged
    ? `Nothing to upload to ${place}: unchanged since bundle ${id}`
    : `Uploaded bundle ${id} to ${place}`;
}

/**
 * Uploads the bundle to the chosen backend. With `auto`, falls back from Api to legacy after a definite rejection.
 * Calls `onResolve` before each attempt; if it throws, the push only fails while nothing has been sent.
 * @param note shows a line to users
 */
export async function uploadPush(
  plan: PushPlan,
  content: PushContent,
  workspace: TemporaryDirectory,
  host: Host,
  note: (line: string) => void,
): Promise<UploadedPush> {
  const {selection, options} = plan;
  const {backend, fallback, fellBack} = selection;
  if (fellBack !== undefined) await callBack(() => options.onFallback?.(fellBack));
  await callBack(() => options.onResolve?.(backend));
  try {
    return await pushTo(backend, plan, content, host);
  } catch (error) {
    const reason = uploadFallbackReason(error);
    if (fallback === undefined || reason === undefined) throw error;
    const format = formatFor(fallback, options);
    // The archive is built once per format.
    const isReusable = content.kind === 'file' && content.bundle.format === format;
    if (plan.content.kind === 'archive' && !isReusable && isRuntimeCliError(error))
      throw amendError(error, {suggestions: ['Pass --v2 to push a prebuilt v2 archive to Runtime (API key).']});
    note(`Falling back to the Runtime (API key) backend: ${reason}`);
    callBackSafely(() => options.onFallback?.(reason));
    callBackSafely(() => options.onResolve?.(fallback));
    // Its target may run something else.
    const guard = options.targetSlug === undefined ? undefined : watchPush(undefined, options, host);
    await guard?.look(await openBackend(fallback, options, host));
    const planned = isReusable
      ? {content: {kind: 'archive', bundle: content.bundle} as const, warnings: []}
      : await planContent(options, format, host);
    const replacement = await buildPush({...plan, format, content: planned.content}, fallback, workspace, host);
    const uploaded = await pushTo(fallback, plan, replacement, host).catch((second: unknown) => {
      throw failedTwice(error, second);
    });
    const more = planned.warnings.filter((warning) => !plan.warnings.includes(warning));
    const warnings = [fallbackWarning(reason), ...more, ...replacement.warnings, ...uploaded.warnings];
    return {...uploaded, warnings};
  }
}

/** Uploads the bundle unless it is unchanged since the last push to this backend, and records the upload. */
async function pushTo(
  backend: RuntimeBackend,
  plan: PushPlan,
  content: PushContent,
  host: Host,
): Promise<UploadedPush> {
  const {options} = plan;
  const {bundle} = content;
  if (content.kind === 'unchanged') {
    const {unchanged} = content;
    await askBeforePush({backend, bundle, unchanged}, options, host);
    host.writes?.learn({bundleIds: [unchanged.bundleId]});
    const result = {bundleId: unchanged.bundleId, raw: undefined};
    return {backend, bundle: content.bundle, result, unchanged, warnings: []};
  }
  await askBeforePush({backend, bundle}, options, host);
  const uploaded = await uploadTo(backend, plan, content, host);
  const {bundleId} = uploaded.result;
  host.writes?.learn({bundleIds: [bundleId]});
  const warnings = await recordPush(backend, uploaded.bundle, bundleId, options, host);
  return {...uploaded, warnings: [...uploaded.warnings, ...warnings]};
}

async function uploadTo(name: RuntimeBackend, plan: PushPlan, content: SentContent, host: Host): Promise<UploadedPush> {
  const {options, watch} = plan;
  const {targetSlug} = options;
  let isPartlySent = false;
  const open = await openBackend(name, options, host, (progress) => {
    isPartlySent = progress.total !== undefined && progress.transferred < progress.total;
    options.onProgress?.({phase: 'upload', ...progress});
  });
  const {backend, context, secrets} = open;
  const send = (own: BuiltInContext) =>
    content.kind === 'file' ? backend.upload(content.bundle, own) : content.upload.call(backend, content.bundle, own);
  const upload = () =>
    withKeptState(open, plan, content, host, (state) =>
      callInContext(backend, backendMembers.upload, {...context, state}, send, secrets),
    ).catch(async (error: unknown) => {
      throw await explainFailure(error, content.bundle, open, {options, isPartlySent, host});
    });
  const deploys = targetSlug !== undefined && backend.deploysOnUpload?.includes(content.bundle.format) === true;
  const result = deploys
    ? await inTargetSlot(open, targetSlug, options, async () => {
        await watch?.look(open);
        return upload();
      })
    : await upload();
  const {bundleId} = result;
  if (typeof bundleId !== 'number' && (typeof bundleId !== 'string' || bundleId === '')) {
    throw createError('ERR_BACKEND_FAILED', `The ${backendTitle(name)} backend returned no bundle ID.`);
  }
  const bundle = content.kind === 'file' ? content.bundle : {...content.bundle, ...content.packed()};
  return {backend: name, bundle, result, warnings: result.warnings ?? []};
}

/** The places whose state an upload of this process uses. */
const placesInUse = new WeakMap<UploadStates, Set<string>>();

/**
 * Calls `upload` with the state of an earlier push of the same archive to the same place, unless another upload has it.
 * The built-in backends resume nothing, and an archive that is packed while it is sent has no digest to know it by.
 */
async function withKeptState<Result>(
  {backend, context, secrets}: OpenBackend,
  {options}: PushPlan,
  content: SentContent,
  host: Host,
  upload: (state: UploadState | undefined) => Promise<Result>,
): Promise<Result> {
  const {uploadStates} = options;
  if (uploadStates === undefined || content.kind === 'stream' || isBuiltIn(backend.name)) return upload(undefined);
  const place = {...placeOf(backend.name, options, host), sha256: content.bundle.sha256};
  const inUse = placesInUse.get(uploadStates) ?? new Set();
  const key = JSON.stringify(place);
  if (inUse.has(key)) return upload(undefined);
  placesInUse.set(uploadStates, inUse.add(key));
  const kept: UploadState = {
    read: () => uploadStates.read(place),
    write: (saved) => uploadStates.write(place, saved),
    remove: () => uploadStates.remove(place),
  };
  const state = uploadStateOf(backend, kept, {secrets, logger: context.logger});
  try {
    const result = await upload(state);
    await state.remove();
    return result;
  } finally {
    await uploadStates.putBack?.(place).catch((error: unknown) => {
      context.logger.warn(asSentence(`The state of the upload cannot be put back: ${reasonOf(error)}`));
    });
    inUse.delete(key);
  }
}

interface FailedUpload {
  readonly options: PushPlan['options'];
  readonly isPartlySent: boolean;
  readonly host: Host;
}

/** Says whether an interrupted upload may have created a bundle, and which patterns a strict server refuses. */
async function explainFailure(
  error: unknown,
  bundle: BundleContent,
  {backend, context}: OpenBackend,
  {options, isPartlySent, host}: FailedUpload,
): Promise<unknown> {
  if (!isRuntimeCliError(error)) return error;
  const {code, message, status} = error;
  if (status === 400 || status === 422)
    return amendError(error, {suggestions: await strictWarnings(bundle, context.signal)});
  if (code !== 'ERR_INTERRUPTED') return error;
  // A service may accept it before all of it was sent.
  if (isPartlySent && context.countWrites() === 0)
    return amendError(error, {message: `${message} The upload was incomplete, so it created no bundle.`});
  const where = placeFlags({projectSlug: options.projectSlug, backend: backend.name}, host.commandFlags);
  return amendError(error, {
    message: `${message} The bundle may have been uploaded.`,
    suggestions: ['Check before you push again:', [{run: ['bundle:list', ...where]}]],
  });
}
