import {resolve} from 'node:path';
import type {PushPreview} from './options.js';
import type {HostBackend} from '../../backends/host-backend.js';
import {backendTitle} from '../../backends/names.js';
import {uploadFallbackReason} from '../../backends/select.js';
import {
  archiveFormat,
  archiveSize,
  checkArchivedScripts,
  checkFileKinds,
  debrisWarnings,
  openBundle,
  planBundle,
  strictWarnings,
  verifyMarks,
} from '../../bundle/index.js';
import type {Bundle, BundleFormat} from '../../bundle/types.js';
import {amendError, createError, isRuntimeCliError, type Suggestion} from '../../errors/index.js';
import {flagValue} from '../../text/suggest.js';
import {countFiles, describeArchive, describeFiles} from '../describe-bundle.js';
import {verifyLimits} from './limits.js';
import type {OpenBackend} from '../open-backend.js';
import type {PushSource} from './request.js';

export type PushContent = PushPreview['content'];

/** One known deployment of the service refuses larger archives. The server decides. */
const largeArchiveBytes = 400 * 1000 * 1000;

export async function archivedFormat({archive, cwd}: PushSource): Promise<BundleFormat | undefined> {
  return archive === undefined ? undefined : archiveFormat(resolve(cwd, archive));
}

/** The format that a backend gets: that of a prebuilt archive unless `v2` says otherwise, or its preferred one. */
export function formatFor(
  {name, formats}: HostBackend,
  {v2}: Pick<PushSource, 'v2'>,
  archived?: BundleFormat,
): BundleFormat {
  if (v2 === undefined && archived !== undefined && formats.includes(archived)) return archived;
  if (!v2) return formats[0] ?? 'v2';
  if (formats.includes('v2')) return 'v2';
  throw createError('ERR_CAPABILITY_UNSUPPORTED', `The ${backendTitle(name)} backend does not accept v2 bundles.`, {
    suggestions: ['Remove --v2.'],
    details: {backend: name, formats},
  });
}

/** Why a refused upload may fall back. @throws RuntimeCliError if only the format of an archive keeps it from that */
export function uploadFallback(
  error: unknown,
  content: PushContent,
  fallback: OpenBackend | undefined,
  source: PushSource,
): string | undefined {
  const reason = uploadFallbackReason(error);
  const isFit = content.kind === 'build' || fallback === undefined;
  if (reason === undefined || isFit || content.bundle.format === formatFor(fallback.backend, source)) return reason;
  const suggestions = ['Pass --v2 to push a prebuilt v2 archive to Runtime (API key).'];
  throw isRuntimeCliError(error) ? amendError(error, {suggestions}) : error;
}

export async function planPush(open: OpenBackend, source: PushSource, format: BundleFormat): Promise<PushContent> {
  const {archive, allowSensitiveFiles = false, signal} = source;
  if (archive === undefined) return planBuilt(open, source, format);
  const bundle = await openPrebuilt(archive, source, format);
  verifyLimits(open.backend, bundle);
  const {ssrOnly: patterns} = bundle.config;
  if (patterns.length > 0) verifyMarks({format, files: bundle.files, patterns});
  const warnings = [
    ...(allowSensitiveFiles ? [] : await checkArchivedScripts(bundle, signal)),
    ...(await checkFileKinds(bundle.files, source)),
    ...debrisWarnings(bundle.files.map(({path}) => path)),
    ...(await strictWarnings(bundle, signal)),
    ...sizeWarnings(bundle),
  ];
  warnings.forEach((warning) => open.host.outlet.warn(warning));
  return {kind: 'archive', bundle};
}

export async function planBuilt(open: OpenBackend, source: PushSource, format: BundleFormat): Promise<PushContent> {
  const plan = await planBundle({...source, format});
  plan.warnings.forEach((warning) => open.host.outlet.warn(warning));
  verifyLimits(open.backend, {files: plan.files, size: format === 'v1' ? await archiveSize(plan) : undefined});
  return {kind: 'build', plan};
}

export function sizeWarnings({format, size}: Pick<Bundle, 'format' | 'size'>): readonly string[] {
  if (format !== 'v2' || size <= largeArchiveBytes) return [];
  return [`The archive is ${String(Math.round(size / 1e6))} MB. Some servers refuse more than 400 MB.`];
}

/** `12 files (2 server-only, 9 shared, 1 other), 3.2 MB` */
export function describePlan(content: PushContent): string {
  if (content.kind === 'build') return describeFiles(content.plan);
  return describeArchive(content.bundle, countFiles(content.bundle.files));
}

async function openPrebuilt(archive: string, source: PushSource, format: BundleFormat): Promise<Bundle> {
  const {cwd, projectSlug} = source;
  const bundle = await openBundle(resolve(cwd, archive), {...source, format});
  if (bundle.format !== format) {
    const build = {run: ['bundle:build', '--format', 'v2']};
    const message = `${archive} is a ${bundle.format} archive, but this push requires ${format}.`;
    const suggestion: Suggestion =
      bundle.format === 'v2'
        ? 'Remove --no-v2, or push it to a backend that takes v2.'
        : ['Push it to Runtime (API key) without --v2, or build it again with ', build];
    throw createError('ERR_ARCHIVE_INVALID', message, {suggestions: [suggestion]});
  }
  if (bundle.format === 'v1' && bundle.projectSlug !== projectSlug) {
    const build = {run: ['bundle:build', '--format', 'v1', ...flagValue('--project', projectSlug)]};
    const message = `${archive} was built for the project "${String(bundle.projectSlug)}", not "${projectSlug}".`;
    throw createError('ERR_ARCHIVE_INVALID', message, {suggestions: [['Build it again with ', build]]});
  }
  return bundle;
}
