import type {HostBackend} from '../../backends/built-in.js';
import {preloadBackendContext} from '../../backends/context.js';
import type {RuntimeBackend} from '../../backends/names.js';
import {contentDigest, streamBundle, writeBundle, type BundleStream} from '../../bundle/index.js';
import type {Bundle, BundleContent, PackResult} from '../../bundle/types.js';
import {count} from '../../text/sentence.js';
import type {TemporaryDirectory} from '../../files/temporary-directory.js';
import {packOptions} from '../build-bundle.js';
import {describeArchive, describeSize} from '../describe-bundle.js';
import type {Host} from '../host.js';
import {registryOf} from '../open-backend.js';
import {verifyLimits} from './limits.js';
import {sizeWarnings, type PushPlan} from './plan-push.js';
import {compareWithLastPush, type UnchangedBundle} from './unchanged-bundle.js';

/** What a push sends: an archive on disk, or one that is packed while it is sent. */
export type SentContent =
  | {readonly kind: 'file'; readonly bundle: Bundle; readonly warnings: readonly string[]}
  | (BundleStream & {
      readonly kind: 'stream';
      readonly warnings: readonly string[];
      readonly upload: NonNullable<HostBackend['uploadStream']>;
    });

/** What a push sends, or with `ifChanged` nothing. */
export type PushContent =
  | SentContent
  | {
      readonly kind: 'unchanged';
      readonly bundle: BundleContent & PackResult;
      readonly unchanged: UnchangedBundle;
      readonly warnings: readonly string[];
    };

/** `Built archive, 12 files, 1.1 MB, sha256 0123456789ab` */
export function describeContent(content: PushContent, plan: PushPlan): string {
  switch (content.kind) {
    case 'file':
      return `${plan.content.kind === 'build' ? 'Built' : 'Read'} ${describeArchive(content.bundle)}`;
    case 'stream':
      return `Prepared ${describeSize(content.bundle)}, packed while it is sent`;
    case 'unchanged':
      return `Compared ${count(content.bundle.files.length, 'file')} with the last push: nothing to pack`;
  }
}

/**
 * Prepares what a push sends to `backend`. With `ifChanged`, a bundle that is unchanged since the last push is neither
 * packed nor sent. A v1 bundle is packed while it is sent if the backend supports that. Any other is packed into
 * `workspace`; a prebuilt archive is used as it is.
 */
export async function buildPush(
  {content, options}: PushPlan,
  backend: RuntimeBackend,
  workspace: TemporaryDirectory,
  host: Host,
): Promise<PushContent> {
  const isPrebuilt = content.kind === 'archive';
  const planned = isPrebuilt ? content.bundle : content.plan;
  const digest = async () => (isPrebuilt ? content.bundle.contentSha256 : contentDigest(content.plan, options.signal));
  const {unchanged, warnings} = await compareWithLastPush(backend, planned, digest, options, host);
  if (unchanged) return {kind: 'unchanged', bundle: {...planned, ...unchanged.archive}, unchanged, warnings};
  if (isPrebuilt) return {kind: 'file', bundle: content.bundle, warnings};
  const {plan} = content;
  const chosen = registryOf(options).get(backend);
  const {uploadStream} = chosen;
  if (plan.format === 'v1' && uploadStream) {
    const stream = await streamBundle(plan);
    verifyLimits(chosen, stream.bundle);
    return {kind: 'stream', ...stream, upload: uploadStream, warnings};
  }
  const path = `${workspace.path}/bundle.${plan.format === 'v1' ? 'tar' : 'tar.gz'}`;
  const bundle = await writeBundle(plan, {path, ...packOptions(options), onRead: preloadBackendContext});
  verifyLimits(chosen, bundle);
  return {kind: 'file', bundle, warnings: [...warnings, ...sizeWarnings(bundle)]};
}
