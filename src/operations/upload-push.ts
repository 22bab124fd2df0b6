import {callBackend} from '../backends/call.js';
import type {UploadResult} from '../backends/contract.js';
import {uploadFallbackReason, type RuntimeBackend} from '../backends/select.js';
import {planBundle, writeBundle, type TemporaryDirectory} from '../bundle/index.js';
import type {Bundle, BundleFormat} from '../bundle/types.js';
import {amendError, createError, isRuntimeCliError} from '../errors/index.js';
import {packOptions} from './build-bundle.js';
import {callBack, callBackSafely} from './callbacks.js';
import type {Host} from './host.js';
import {openBackend, signalOf} from './open-backend.js';
import {contentOptions, formatFor, sizeWarnings, unusedOptions, type PushPlan} from './plan-push.js';

/** An upload that succeeded. From here on nothing falls back. */
export interface UploadedPush {
  readonly backend: RuntimeBackend;
  readonly bundle: Bundle;
  readonly result: UploadResult;
  readonly warnings: readonly string[];
}

/** Packs the bundle of a push into `workspace`; a prebuilt archive is taken as it is. */
export async function buildPush({content, options}: PushPlan, workspace: TemporaryDirectory): Promise<Bundle> {
  if (content.kind === 'archive') return content.bundle;
  return writeBundle(content.plan, {
    path: `${workspace.path}/bundle.${content.plan.format === 'v1' ? 'tar' : 'tar.gz'}`,
    ...packOptions(options),
  });
}

/**
 * Uploads the bundle to the backend that was chosen, and after a definite rejection of `auto`'s Api upload to legacy.
 * `onResolve` is called before each; what it throws fails the push only while nothing was sent.
 */
export async function uploadPush(
  plan: PushPlan,
  bundle: Bundle,
  workspace: TemporaryDirectory,
  host: Host,
): Promise<UploadedPush> {
  const {selection, options} = plan;
  await callBack(() => options.onResolve?.(selection.backend));
  try {
    return await uploadTo(selection.backend, plan, bundle, host);
  } catch (error) {
    const {fallback} = selection;
    const reason = uploadFallbackReason(error);
    if (fallback === undefined || reason === undefined) throw error;
    const format = formatFor(fallback, options);
    if (plan.content.kind === 'archive' && format !== bundle.format)
      throw withSuggestion(error, 'Add --v2: a prebuilt v2 archive goes to the legacy backend with it only.');
    callBackSafely(() => options.onFallback?.(reason));
    callBackSafely(() => options.onResolve?.(fallback));
    const {bundle: replacement, warnings} = await bundleFor(format, plan, bundle, workspace, host);
    const uploaded = await uploadTo(fallback, plan, replacement, host);
    return {...uploaded, warnings: [`fell back to legacy: ${reason}`, ...warnings, ...uploaded.warnings]};
  }
}

async function uploadTo(name: RuntimeBackend, plan: PushPlan, bundle: Bundle, host: Host): Promise<UploadedPush> {
  const {backend, context} = await openBackend(name, 'upload', plan.options, host);
  const result = await callBackend(backend, 'uploading the bundle', context.signal, () =>
    backend.upload(bundle, context),
  );
  const {bundleId} = result;
  if (typeof bundleId !== 'number' && (typeof bundleId !== 'string' || bundleId === '')) {
    throw createError('ERR_BACKEND_FAILED', `the ${name} backend returned no bundle id`);
  }
  return {backend: name, bundle, result, warnings: [...sizeWarnings(bundle), ...(result.warnings ?? [])]};
}

/** The archive is built once per format: a fallback to v1 builds another, one with `v2` takes the first. */
async function bundleFor(
  format: BundleFormat,
  push: PushPlan,
  bundle: Bundle,
  workspace: TemporaryDirectory,
  host: Host,
): Promise<{readonly bundle: Bundle; readonly warnings: readonly string[]}> {
  if (format === bundle.format) return {bundle, warnings: []};
  const {options} = push;
  signalOf(options).throwIfAborted();
  const plan = await planBundle(contentOptions(options, format, host));
  const replacement = await buildPush({...push, format, content: {kind: 'build', plan}}, workspace);
  return {bundle: replacement, warnings: unusedOptions(options, format)};
}

function withSuggestion(error: unknown, suggestion: string): unknown {
  return isRuntimeCliError(error) ? amendError(error, {suggestions: [suggestion]}) : error;
}
