import {resolve} from 'node:path';
import type {HostBackend, NotedAhead} from '../../backends/host-backend.js';
import {backendTitle} from '../../backends/names.js';
import type {BackendSelection} from '../../backends/select.js';
import {
  archiveFormat,
  archiveSize,
  checkArchivedScripts,
  checkBundleOptions,
  checkSensitiveFiles,
  checkUnneeded,
  debrisWarnings,
  openBundle,
  planBundle,
  strictWarnings,
  verifyMarks,
  type BundlePlan,
  type BundlePlanOptions,
} from '../../bundle/index.js';
import type {Bundle, BundleFormat} from '../../bundle/types.js';
import {createError} from '../../errors/index.js';
import {flagValue} from '../../text/suggest.js';
import {followUpsOf, optionProblems, rejectProblems} from '../../settings/definitions.js';
import {chooseBackend, type ChosenBackend} from '../choose-backend.js';
import {requireTargetUrl} from '../deploy/check-deployment.js';
import {followUpCapabilities, planRelease, type Release} from '../deploy/release.js';
import {countFiles, describeArchive, describeFiles} from '../describe-bundle.js';
import {needsCommit} from '../guard/guards.js';
import {refuseUnsafe} from '../guard/safety.js';
import {planningHost, type Host, type RunHost} from '../host.js';
import {verifyLimits} from './limits.js';
import type {OpenBackend} from '../open-backend.js';
import type {PushRuntimeBundleBackendOptions} from './options.js';
import type {UnchangedBundle} from './unchanged-bundle.js';

/** A push whose options are valid, before its first step. */
export interface VerifiedPush {
  readonly options: PushRuntimeBundleBackendOptions;
  /** Undefined without a target. */
  readonly release: Release | undefined;
}

/** What a push would do. */
export interface PushPreview {
  /** The selected backend, and why. */
  readonly selection: BackendSelection;
  readonly format: BundleFormat;
  /** What to pack, or the prebuilt archive. */
  readonly content:
    | {readonly kind: 'build'; readonly plan: BundlePlan}
    | {readonly kind: 'archive'; readonly bundle: Bundle};
  readonly warnings: readonly string[];
  /** The bundle of the last push, if `ifChanged` is set and this one is the same. */
  readonly unchanged?: UnchangedBundle | undefined;
}

/** Where a push goes, and the format that its backend gets. */
export interface PushRoute extends VerifiedPush, ChosenBackend {
  readonly format: BundleFormat;
}

/** A push whose content is verified. Nothing is built or sent yet. */
export interface PushPlan extends PushRoute {
  readonly content: PushPreview['content'];
  /** What the backend noted ahead of the upload. */
  readonly noted?: NotedAhead | undefined;
}

/** One known deployment of the service refuses larger archives. The server decides. */
const largeArchiveBytes = 400 * 1000 * 1000;

/** Verifies the options of a push, and whether `MYCLI_SAFETY` allows it. */
export function verifyPush(options: PushRuntimeBundleBackendOptions, host: Host): VerifiedPush {
  const {targetSlug, ifChanged, pushRecords, v2, signal} = options;
  const release = targetSlug === undefined ? undefined : planRelease('push', {...options, targetSlug}, host);
  if (release === undefined) refuseUnsafe({operation: 'push'}, host);
  signal?.throwIfAborted();
  // Only a deployment can be followed by something.
  const followUps = release === undefined ? followUpsOf(options) : [];
  rejectProblems([
    ...checkBundleOptions(contentOptions(options, v2 ? 'v2' : 'v1', host)),
    ...optionProblems(options, ['targetSlug', 'pollInterval', 'timeout']),
    ...(ifChanged && pushRecords === undefined
      ? [{option: 'ifChanged', message: 'requires pushRecords to compare with the last push'}]
      : []),
    ...followUps.map((option) => ({option, message: 'requires targetSlug'})),
  ]);
  return {options, release};
}

/**
 * Chooses the backend of a push. Sends nothing.
 * @param previews whether the push is not made, so that missing credentials are only a warning
 */
export async function routePush(push: VerifiedPush, previews: boolean, host: RunHost): Promise<PushRoute> {
  const {options, release} = push;
  const {archive, cwd = host.cwd} = options;
  const capabilities = release === undefined ? [] : (['deploy', ...followUpCapabilities(release)] as const);
  const chosen = await chooseBackend({...options, wait: release?.wait}, {capabilities, previews}, host);
  const archived = archive === undefined ? undefined : await archiveFormat(resolve(cwd, archive));
  const format = formatFor(chosen.open.backend, options, archived);
  host.logger.debug(`Format: ${format}`);
  return {...push, ...chosen, format};
}

/**
 * The format that a backend gets: Api v2, legacy v1 unless `v2`, a plugin's preferred one.
 * @param archived the format of a prebuilt archive, which decides if `v2` is not given
 */
export function formatFor(
  {name, formats}: HostBackend,
  options: Pick<PushRuntimeBundleBackendOptions, 'v2'>,
  archived?: BundleFormat,
): BundleFormat {
  if (options.v2 === undefined && archived !== undefined && formats.includes(archived)) return archived;
  if (!options.v2) return formats[0] ?? 'v2';
  if (formats.includes('v2')) return 'v2';
  throw createError('ERR_CAPABILITY_UNSUPPORTED', `The ${backendTitle(name)} backend does not accept v2 bundles.`, {
    suggestions: ['Remove --v2.'],
    details: {backend: name, formats},
  });
}

function contentOptions(options: PushRuntimeBundleBackendOptions, format: BundleFormat, host: Host): BundlePlanOptions {
  const {cwd = host.cwd, recordCommit = needsCommit(options), targetSlug} = options;
  // What PWA Kit's own client sets, by which a project picks its configuration.
  const env = targetSlug === undefined ? host.env : {...host.env, DEPLOY_TARGET: targetSlug};
  return {...options, ...planningHost(host), format, cwd, recordCommit, env};
}

/** Verifies what a push sends: build directory, configuration, prebuilt archive. Sends nothing. */
export async function planPush(route: PushRoute): Promise<PushPlan> {
  const {options, release, format, open} = route;
  const {host} = open;
  // Before anything is packed: there will be a URL to check.
  if (release) await requireTargetUrl(open, release);
  if (options.archive === undefined) {
    const plan = await planContent(route);
    verifyLimits(open.backend, {files: plan.files, size: format === 'v1' ? await archiveSize(plan) : undefined});
    return {...route, content: {kind: 'build', plan}};
  }
  const bundle = await openPrebuilt(options.archive, route);
  verifyLimits(open.backend, bundle);
  const {ssrOnly: patterns} = bundle.config;
  if (patterns.length > 0) verifyMarks({format, files: bundle.files, patterns});
  const {allowSensitiveFiles = false, signal} = options;
  const warnings = [
    ...(allowSensitiveFiles ? [] : await checkArchivedScripts(bundle, signal)),
    ...(await checkSensitiveFiles(bundle.files, {allowed: allowSensitiveFiles})),
    ...checkUnneeded(bundle.files, options),
    ...debrisWarnings(bundle.files.map(({path}) => path)),
    ...(await strictWarnings(bundle, signal)),
    ...sizeWarnings(bundle),
  ];
  warnings.forEach((warning) => host.outlet.warn(warning));
  return {...route, content: {kind: 'archive', bundle}};
}

async function planContent({options, format, open: {host}}: PushRoute): Promise<BundlePlan> {
  const plan = await planBundle(contentOptions(options, format, host));
  for (const warning of plan.warnings) host.outlet.warn(warning);
  return plan;
}

/**
 * Plans a push again for another backend, with what has been packed already if that fits: an archive is built once per
 * format.
 */
export async function replan(push: PushPlan, open: OpenBackend, packed: Bundle | undefined): Promise<PushPlan> {
  const route = {...push, open, format: formatFor(open.backend, push.options), noted: undefined};
  if (packed?.format === route.format) return {...route, content: {kind: 'archive', bundle: packed}};
  return {...route, content: {kind: 'build', plan: await planContent(route)}};
}

/** Warnings about an archive that a server may refuse for its size. */
export function sizeWarnings({format, size}: Pick<Bundle, 'format' | 'size'>): readonly string[] {
  if (format !== 'v2' || size <= largeArchiveBytes) return [];
  return [`The archive is ${String(Math.round(size / 1e6))} MB. Some servers refuse more than 400 MB.`];
}

/** `12 files (2 server-only, 9 shared, 1 other), 3.2 MB` */
export function describePlan({content}: PushPlan): string {
  if (content.kind === 'build') return describeFiles(content.plan);
  return describeArchive(content.bundle, countFiles(content.bundle.files));
}

async function openPrebuilt(archive: string, {options, format, open: {host}}: PushRoute): Promise<Bundle> {
  const {cwd = host.cwd, projectSlug} = options;
  const bundle = await openBundle(resolve(cwd, archive), contentOptions(options, format, host));
  if (bundle.format !== format) {
    const build = {run: ['bundle:build', '--format', 'v2']};
    throw createError(
      'ERR_ARCHIVE_INVALID',
      `${archive} is a ${bundle.format} archive, but this push requires ${format}.`,
      {
        suggestions:
          bundle.format === 'v2'
            ? ['Remove --no-v2, or push it to a backend that takes v2.']
            : [['Push it to Runtime (API key) without --v2, or build it again with ', build, '.']],
      },
    );
  }
  if (bundle.format === 'v1' && bundle.projectSlug !== projectSlug) {
    const build = {run: ['bundle:build', '--format', 'v1', ...flagValue('--project', projectSlug)]};
    throw createError(
      'ERR_ARCHIVE_INVALID',
      `${archive} was built for the project "${String(bundle.projectSlug)}", not "${projectSlug}".`,
      {suggestions: [['Build it again with ', build, '.']]},
    );
  }
  return bundle;
}
