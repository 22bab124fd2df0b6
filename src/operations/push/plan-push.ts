import {resolve} from 'node:path';
import type {HostBackend} from '../../backends/built-in.js';
import {backendTitle} from '../../backends/names.js';
import type {BackendSelection} from '../../backends/select.js';
import {
  archiveFormat,
  archiveSize,
  checkBundleOptions,
  checkSensitiveFiles,
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
import {optionProblems, rejectProblems} from '../../settings/definitions.js';
import type {OptionProblem} from '../../settings/types.js';
import {chooseBackend, type ChosenBackend} from '../choose-backend.js';
import {requireTargetUrl} from '../deploy/check-deployment.js';
import {checksOf, followUpCapabilities, type Release, type Verified} from '../deploy/release.js';
import {countFiles, describeArchive, describeFiles} from '../describe-bundle.js';
import {needsCommit} from '../guard/guards.js';
import {planningHost, type Host, type RunHost} from '../host.js';
import {verifyLimits} from './limits.js';
import type {PushRuntimeBundleBackendOptions} from './options.js';
import type {UnchangedBundle} from './unchanged-bundle.js';

/** The options of a push. What follows its deployment waits for it. */
export type PushOptions = Verified<PushRuntimeBundleBackendOptions>;

/** What a push would do. */
export interface PushPreview {
  /** The selected backend, and why. */
  readonly selection: BackendSelection;
  readonly format: BundleFormat;
  /** What to pack, or the prebuilt archive. */
  readonly content:
    {readonly kind: 'build'; readonly plan: BundlePlan} | {readonly kind: 'archive'; readonly bundle: Bundle};
  readonly warnings: readonly string[];
  /** The bundle of the last push, if `ifChanged` is set and this one is the same. */
  readonly unchanged?: UnchangedBundle | undefined;
}

/** Where a push goes, and the format that its backend gets. */
export interface PushRoute extends ChosenBackend {
  readonly format: BundleFormat;
}

/** A verified push. Nothing is built or sent yet. */
export interface PushPlan extends PushRoute {
  readonly content: PushPreview['content'];
}

/** One known deployment of the service refuses larger archives. The server decides. */
const largeArchiveBytes = 400 * 1000 * 1000;

export function verifyPushOptions(options: PushOptions, host: Host): void {
  rejectProblems([
    ...checkBundleOptions(contentOptions(options, options.v2 ? 'v2' : 'v1', host)),
    ...optionProblems(options, ['targetSlug', 'pollInterval', 'timeout']),
    ...missingOptions(options),
  ]);
}

/** Options without another one that they require. Only a deployment can be followed by something. */
function missingOptions(options: PushOptions): readonly OptionProblem[] {
  const {ifChanged, pushRecords, rollbackOnFailure, invalidate = [], targetSlug} = options;
  const problems: OptionProblem[] = [];
  if (ifChanged && pushRecords === undefined)
    problems.push({option: 'ifChanged', message: 'requires pushRecords to compare with the last push'});
  if (targetSlug !== undefined) return problems;
  if (checksOf(options).length > 0) problems.push({option: 'check', message: 'requires targetSlug'});
  if (rollbackOnFailure) problems.push({option: 'rollbackOnFailure', message: 'requires targetSlug'});
  if (invalidate.length > 0) problems.push({option: 'invalidate', message: 'requires targetSlug'});
  return problems;
}

/**
 * Chooses the backend of a push. Sends nothing.
 * @param previews whether the push is not made, so that missing credentials are only a warning
 */
export async function routePush(options: PushOptions, previews: boolean, host: RunHost): Promise<PushRoute> {
  const {archive, cwd = host.cwd, targetSlug} = options;
  const capabilities = targetSlug === undefined ? [] : (['deploy', ...followUpCapabilities(options)] as const);
  const chosen = await chooseBackend(options, {capabilities, previews}, host);
  const archived = archive === undefined ? undefined : await archiveFormat(resolve(cwd, archive));
  const format = formatFor(chosen.open.backend, options, archived);
  host.logger.debug(`Format: ${format}`);
  return {...chosen, format};
}

/**
 * The format that a backend gets: Api v2, legacy v1 unless `v2`, a plugin's preferred one.
 * @param archived the format of a prebuilt archive, which decides if `v2` is not given
 */
export function formatFor(
  {name, formats}: HostBackend,
  options: Pick<PushOptions, 'v2'>,
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

function contentOptions(options: PushOptions, format: BundleFormat, host: Host): BundlePlanOptions {
  const {cwd = host.cwd, recordCommit = needsCommit(options), targetSlug} = options;
  // What PWA Kit's own client sets, by which a project picks its configuration.
  const env = targetSlug === undefined ? host.env : {...host.env, DEPLOY_TARGET: targetSlug};
  return {...options, ...planningHost(host), format, cwd, recordCommit, env};
}

/** Verifies what a push sends: build directory, configuration, prebuilt archive. Sends nothing. */
export async function planPush(
  options: PushOptions,
  release: Release | undefined,
  route: PushRoute,
): Promise<PushPlan> {
  const {format, open} = route;
  const {host} = open;
  // Before anything is packed: there will be a URL to check.
  if (release) await requireTargetUrl(open, release);
  if (options.archive === undefined) {
    const plan = await planContent(options, format, host);
    verifyLimits(open.backend, {files: plan.files, size: format === 'v1' ? await archiveSize(plan) : undefined});
    return {...route, content: {kind: 'build', plan}};
  }
  const bundle = await openPrebuilt(options.archive, options, format, host);
  verifyLimits(open.backend, bundle);
  const {ssrOnly: patterns} = bundle.config;
  if (patterns.length > 0) verifyMarks({format, files: bundle.files, patterns});
  const warnings = [
    ...(await checkSensitiveFiles(bundle.files, {allowed: options.allowSensitiveFiles ?? false})),
    ...(await strictWarnings(bundle, options.signal)),
    ...sizeWarnings(bundle),
  ];
  warnings.forEach((warning) => host.outlet.warn(warning));
  return {...route, content: {kind: 'archive', bundle}};
}

export async function planContent(options: PushOptions, format: BundleFormat, host: RunHost): Promise<BundlePlan> {
  const plan = await planBundle(contentOptions(options, format, host));
  for (const warning of [...plan.warnings, ...unusedOptions(options, format)]) host.outlet.warn(warning);
  return plan;
}

/** Warnings about v2-only options, which a v1 bundle ignores. */
function unusedOptions(options: PushOptions, format: BundleFormat): readonly string[] {
  if (format === 'v2') return [];
  const {rootDir, configPath, matchMode, bundleMetadata, compressionLevel} = options;
  const v2Only = {rootDir, configPath, matchMode, ccOverrides: bundleMetadata?.ccOverrides, compressionLevel};
  return Object.entries(v2Only)
    .filter(([, value]) => value !== undefined)
    .map(([option]) => `${option} has no effect on a v1 upload.`);
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

async function openPrebuilt(archive: string, options: PushOptions, format: BundleFormat, host: Host): Promise<Bundle> {
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
