import {backendCalls, callInContext} from '../../backends/call.js';
import type {BuiltInContext, BuiltInUploadResult, HostBackend} from '../../backends/built-in.js';
import type {BundleId, UploadState} from '../../backends/contract.js';
import {
  failedTwice,
  fallbackWarning,
  isBuiltIn,
  projectTitle,
  uploadFallbackReason,
  type RuntimeBackend,
} from '../../backends/select.js';
import {uploadStateOf} from '../../backends/upload-state.js';
import {strictWarnings} from '../../bundle/index.js';
import type {BundleContent, PackResult} from '../../bundle/types.js';
import {amendError, createError, isRuntimeCliError, type RuntimeCliError} from '../../errors/index.js';
import {placeFlags} from '../../errors/suggest.js';
import type {TemporaryDirectory} from '../../files/temporary-directory.js';
import {inTargetSlot} from '../deploy/target-slot.js';
import {openBackend, type OpenBackend} from '../open-backend.js';
import {callBack, callBackSafely, type Host} from '../host.js';
import {placeOf} from '../place.js';
import {guardFallback} from './guard-push.js';
import type {PushPlan} from './plan-push.js';
import {formatFor, unusedOptions} from './content-options.js';
import {askBeforePush} from './ask-push.js';
import {compareAgain, rebuildPush, type PushContent, type SentContent} from './push-content.js';
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
  const uploaded = await uploadOrFallBack(plan, content, workspace, host, note);
  host.writes?.learn({bundleIds: [uploaded.result.bundleId]});
  return uploaded;
}

/** `Uploaded bundle 42 to shop` */
export function describeUpload({backend, result, unchanged}: UploadedPush, projectSlug: string): string {
  const id = String(result.bundleId);
  const place = projectTitle(projectSlug, backend);
  return unchanged
    ? `Nothing to upload to ${place}: unchanged since bundle ${id}`
    : `Uploaded bundle ${id} to ${place}`;
}

async function uploadOrFallBack(
  plan: PushPlan,
  content: PushContent,
  workspace: TemporaryDirectory,
  host: Host,
  note: (line: string) => void,
): Promise<UploadedPush> {
  const {selection, options} = plan;
  const {fellBack} = selection;
  if (fellBack !== undefined) await callBack(() => options.onFallback?.(fellBack));
  await callBack(() => options.onResolve?.(selection.backend));
  try {
    return await pushTo(selection.backend, plan, content, host);
  } catch (error) {
    const {fallback} = selection;
    const reason = uploadFallbackReason(error);
    if (fallback === undefined || reason === undefined) throw error;
    const format = formatFor(fallback, options);
    const reusable = format === content.bundle.format;
    if (plan.content.kind === 'archive' && !reusable)
      throw withSuggestion(error, 'Pass --v2 to push a prebuilt v2 archive to the legacy backend.');
    note(`Falling back to the legacy backend: ${reason}`);
    callBackSafely(() => options.onFallback?.(reason));
    callBackSafely(() => options.onResolve?.(fallback));
    await guardFallback(fallback, options, host);
    // The archive is built once per format.
    const replacement = reusable
      ? await compareAgain(fallback, plan, {...content, warnings: []}, host)
      : await rebuildPush(plan, fallback, format, workspace, host);
    const uploaded = await pushTo(fallback, plan, replacement, host).catch((second: unknown) => {
      throw failedTwice(error, second);
    });
    const warnings = [...(reusable ? [] : unusedOptions(options, format)), ...replacement.warnings];
    return {...uploaded, warnings: [fallbackWarning(reason), ...warnings, ...uploaded.warnings]};
  }
}

/** Uploads the bundle unless it is unchanged since the last push to this backend, and records the upload. */
async function pushTo(name: RuntimeBackend, plan: PushPlan, content: PushContent, host: Host): Promise<UploadedPush> {
  if (content.kind === 'unchanged') return skipUpload(name, plan, content, host);
  await askBeforePush({backend: name, plan, bundle: content.bundle}, host);
  const uploaded = await uploadTo(name, plan, content, host);
  const more = await recordPush(name, uploaded.bundle, uploaded.result.bundleId, plan.options, host);
  return {...uploaded, warnings: [...uploaded.warnings, ...more]};
}

/** The result of a push without an upload. */
async function skipUpload(
  backend: RuntimeBackend,
  plan: PushPlan,
  {bundle, unchanged}: {readonly bundle: BundleContent; readonly unchanged: UnchangedBundle},
  host: Host,
): Promise<UploadedPush> {
  const result = {bundleId: unchanged.bundleId, raw: undefined};
  const there = {...bundle, ...unchanged.archive};
  await askBeforePush({backend, plan, bundle: there, unchanged}, host);
  return {backend, bundle: there, result, unchanged, warnings: []};
}

async function uploadTo(name: RuntimeBackend, plan: PushPlan, content: SentContent, host: Host): Promise<UploadedPush> {
  let isPartlySent = false;
  const open = await openBackend(name, plan.options, host, (progress) => {
    isPartlySent = progress.total !== undefined && progress.transferred < progress.total;
    plan.options.onProgress?.({phase: 'upload', ...progress});
  });
  const {backend, context, secrets} = open;
  const {signal} = context;
  const {targetSlug} = plan.options;
  const deploys = backend.deploysOnUpload?.includes(content.bundle.format) === true;
  const result = await resumable(open, plan, content, host, async (state) => {
    const stateful = {...context, state};
    const upload = () =>
      callInContext(backend, backendCalls.upload, stateful, (own) => send(content, backend, own), secrets).catch(
        async (error: unknown) => {
          throw isRuntimeCliError(error) && error.code === 'ERR_INTERRUPTED'
            ? withInterruptionAdvice(error, {
                isPartlySent,
                flags: [...projectFlags(name, plan), ...(host.commandFlags ?? [])],
              })
            : await withPatternAdvice(error, content.bundle, signal);
        },
      );
    if (!deploys || targetSlug === undefined) return upload();
    return inTargetSlot(open, targetSlug, plan.options, async () => {
      await plan.watch?.look(open);
      return upload();
    });
  });
  const {bundleId} = result;
  if (typeof bundleId !== 'number' && (typeof bundleId !== 'string' || bundleId === '')) {
    throw createError('ERR_BACKEND_FAILED', `The ${name} backend returned no bundle ID.`);
  }
  const bundle = await packedBundle(content, bundleId, signal);
  return {backend: name, bundle, result, warnings: result.warnings ?? []};
}

/** Says of an interrupted upload whether it may have created a bundle. */
function withInterruptionAdvice(
  error: RuntimeCliError,
  {isPartlySent, flags}: {readonly isPartlySent: boolean; readonly flags: readonly string[]},
): RuntimeCliError {
  if (isPartlySent) {
    return amendError(error, {message: `${error.message} The upload was incomplete, so it created no bundle.`});
  }
  return amendError(error, {
    message: `${error.message} The bundle may have been uploaded.`,
    suggestions: ['Check before you push again:', [{run: ['bundle:list', ...flags]}]],
  });
}

function projectFlags(backend: RuntimeBackend, {options}: PushPlan): readonly string[] {
  return placeFlags({projectSlug: options.projectSlug, backend});
}

/**
 * Uploads with the state of an earlier push of the same archive to the same place, which is dropped after a success.
 * The built-in backends resume nothing, and an archive that is packed while it is sent has no digest to know it by.
 */
async function resumable(
  {backend, context, secrets}: OpenBackend,
  {options}: PushPlan,
  content: SentContent,
  host: Host,
  upload: (state: UploadState | undefined) => Promise<BuiltInUploadResult>,
): Promise<BuiltInUploadResult> {
  const {uploadStates} = options;
  if (uploadStates === undefined || content.kind === 'stream' || isBuiltIn(backend.name)) return upload(undefined);
  const place = {...placeOf(backend.name, options, host), sha256: content.bundle.sha256};
  const kept: UploadState = {
    read: () => uploadStates.read(place),
    write: (saved) => uploadStates.write(place, saved),
    remove: () => uploadStates.remove(place),
  };
  const state = uploadStateOf(backend, kept, {secrets, logger: context.logger});
  const result = await upload(state);
  await state.remove();
  return result;
}

/** A strict server refuses patterns without a match. We warned about them, so the error explains the connection. */
async function withPatternAdvice(error: unknown, bundle: BundleContent, signal: AbortSignal): Promise<unknown> {
  if (!isRuntimeCliError(error) || (error.status !== 400 && error.status !== 422)) return error;
  return amendError(error, {suggestions: await strictWarnings(bundle, signal)});
}

/** The uploaded bundle, with its digests. */
async function packedBundle(
  content: SentContent,
  bundleId: BundleId,
  signal: AbortSignal,
): Promise<UploadedPush['bundle']> {
  if (content.kind === 'file') return content.bundle;
  try {
    return {...content.bundle, ...(await content.packed(signal))};
  } catch (error) {
    // Only reached if the server responded before reading everything. Pack the archive again for its digest.
    if (!isRuntimeCliError(error)) throw error;
    throw amendError(error, {
      message: `Bundle ${String(bundleId)} was uploaded, but its content is uncertain: ${error.message}`,
      details: {bundleId},
    });
  }
}

function send(content: SentContent, backend: HostBackend, context: BuiltInContext): Promise<BuiltInUploadResult> {
  return content.kind === 'file'
    ? backend.upload(content.bundle, context)
    : content.upload.call(backend, content.bundle, context);
}

function withSuggestion(error: unknown, suggestion: string): unknown {
  return isRuntimeCliError(error) ? amendError(error, {suggestions: [suggestion]}) : error;
}
