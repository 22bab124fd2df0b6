import type {UnchangedBundle} from './options.js';
import type {HostBackend} from '../../backends/host-backend.js';
import {contentDigest, streamBundle, writeBundle, type BundlePlan, type BundleStream} from '../../bundle/index.js';
import type {Bundle, BundleContent, PackResult} from '../../bundle/types.js';
import {count} from '../../text/sentence.js';
import type {TemporaryDirectory} from '../../files/temporary-directory.js';
import {packOptions, warnOfLaterFiles} from '../build-bundle.js';
import {describeArchive, describeSize} from '../describe-bundle.js';
import type {OpenBackend} from '../open-backend.js';
import {verifyLimits} from './limits.js';
import {sizeWarnings, type PushContent} from './plan-push.js';
import {compareWithLastPush, type LastPush} from './unchanged-bundle.js';

/** What a push sends: an archive on disk, or one that is packed while it is sent. */
export type SentContent =
  | {readonly kind: 'file'; readonly bundle: Bundle}
  | (BundleStream & {
      readonly kind: 'stream';
      readonly plan: BundlePlan;
      readonly upload: NonNullable<HostBackend['uploadStream']>;
    });

/** What a push sends, or with `ifChanged` nothing. */
export type BuiltContent =
  | SentContent
  | {
      readonly kind: 'unchanged';
      readonly bundle: BundleContent & PackResult;
      readonly unchanged: UnchangedBundle;
    };

/** `Built archive, 12 files, 1.1 MB, sha256 0123456789ab` */
export function describeBuilt(built: BuiltContent, content: PushContent): string {
  switch (built.kind) {
    case 'file':
      return `${content.kind === 'build' ? 'Built' : 'Read'} ${describeArchive(built.bundle)}`;
    case 'stream':
      return `Archive: ${describeSize(built.bundle)}`;
    case 'unchanged':
      return `Compared ${count(built.bundle.files.length, 'file')} with the last push: nothing to pack`;
  }
}

/** Prepares what a push sends: nothing if it is unchanged, a v1 bundle packed while sent, or an archive on disk. */
export async function buildPush(
  open: OpenBackend,
  content: PushContent,
  workspace: TemporaryDirectory,
  lastPush: LastPush,
): Promise<BuiltContent> {
  const {signal, host} = open;
  const {outlet} = host;
  const isPrebuilt = content.kind === 'archive';
  const planned = isPrebuilt ? content.bundle : content.plan;
  const digest = async () => (isPrebuilt ? content.bundle.contentSha256 : contentDigest(content.plan, signal));
  const unchanged = await compareWithLastPush(open, planned, digest, lastPush);
  if (unchanged) return {kind: 'unchanged', bundle: {...planned, ...unchanged.archive}, unchanged};
  if (isPrebuilt) return {kind: 'file', bundle: content.bundle};
  const {plan} = content;
  const {uploadStream} = open.backend;
  if (plan.format === 'v1' && uploadStream) {
    const stream = await streamBundle(plan);
    verifyLimits(open.backend, stream.bundle);
    return {kind: 'stream', ...stream, plan, upload: uploadStream};
  }
  const path = `${workspace.path}/bundle.${plan.format === 'v1' ? 'tar' : 'tar.gz'}`;
  const bundle = await writeBundle(plan, {path, ...packOptions({signal}, outlet)});
  await warnOfLaterFiles(plan, outlet);
  verifyLimits(open.backend, bundle);
  sizeWarnings(bundle).forEach((warning) => outlet.warn(warning));
  return {kind: 'file', bundle};
}
