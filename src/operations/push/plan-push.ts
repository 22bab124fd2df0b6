import {resolve} from 'node:path';
import {backendTitle, type RuntimeBackend} from '../../backends/names.js';
import {fallbackWarning, type BackendSelection} from '../../backends/select.js';
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
import {chooseBackend} from '../choose-backend.js';
import {checksOf, followUpCapabilities, requireTargetUrl} from '../deploy/check-deployment.js';
import type {DeploymentWatch} from '../deploy/deploy-bundle.js';
import {countFiles, describeArchive, describeFiles} from '../describe-bundle.js';
import {needsCommit} from '../guard/guards.js';
import type {Host} from '../host.js';
import {openBackend, registryOf} from '../open-backend.js';
import {verifyLimits} from './limits.js';
import type {PushRuntimeBundleBackendOptions} from './options.js';
import type {UnchangedBundle} from './unchanged-bundle.js';

type Options = PushRuntimeBundleBackendOptions;

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

/** The backend of a push and the format that it gets. */
export type PushRoute = Pick<PushPreview, 'selection' | 'format' | 'warnings'>;

/** A verified push. Nothing is built or sent yet. */
export interface PushPlan extends Omit<PushPreview, 'unchanged'> {
  readonly options: Options;
  /** Follows its deployment. */
  readonly watch?: DeploymentWatch | undefined;
}

/** One known deployment of the service refuses larger archives. The server decides. */
const largeArchiveBytes = 400 * 1000 * 1000;

export function verifyPushOptions(options: Options, host: Host): void {
  rejectProblems([
    ...checkBundleOptions(contentOptions(options, options.v2 ? 'v2' : 'v1', host)),
    ...optionProblems(options, ['targetSlug', 'pollInterval', 'timeout']),
    ...missingOptions(options),
  ]);
}

/** Options without another one that they require. Only a deployment can be checked or rolled back. */
function missingOptions(options: Options): readonly OptionProblem[] {
  const {ifChanged, pushRecords, rollbackOnFailure, targetSlug} = options;
  const problems: OptionProblem[] = [];
  if (ifChanged && pushRecords === undefined)
    problems.push({option: 'ifChanged', message: 'requires pushRecords to compare with the last push'});
  if (targetSlug !== undefined) return problems;
  if (checksOf(options).length > 0) problems.push({option: 'check', message: 'requires targetSlug'});
  if (rollbackOnFailure) problems.push({option: 'rollbackOnFailure', message: 'requires targetSlug'});
  return problems;
}

/**
 * Chooses the backend of a push. Sends nothing.
 * @param run `previews`: the push is not made, so that missing credentials are only a warning
 */
export async function routePush(
  options: Options,
  host: Host,
  {previews}: {readonly previews: boolean},
): Promise<PushRoute> {
  const {archive, cwd = host.cwd, targetSlug} = options;
  const capabilities = targetSlug === undefined ? [] : (['deploy', ...followUpCapabilities(options)] as const);
  const selection = await chooseBackend(options.preference, options, capabilities, host, {previews});
  const archived = archive === undefined ? undefined : await archiveFormat(resolve(cwd, archive));
  const format = formatFor(selection.backend, options, archived);
  const {fellBack, unconfigured} = selection;
  const warnings = [fellBack && fallbackWarning(fellBack), unconfigured].filter((warning) => warning !== undefined);
  return {selection, format, warnings};
}

/**
 * The format that a backend gets: Api v2, legacy v1 unless `v2`, a plugin's preferred one.
 * @param archived the format of a prebuilt archive, which decides if `v2` is not given
 */
export function formatFor(backend: RuntimeBackend, options: Options, archived?: BundleFormat): BundleFormat {
  const {formats} = registryOf(options).get(backend);
  if (options.v2 === undefined && archived !== undefined && formats.includes(archived)) return archived;
  if (!options.v2) return formats[0] ?? 'v2';
  if (formats.includes('v2')) return 'v2';
  throw createError('ERR_CAPABILITY_UNSUPPORTED', `The ${backendTitle(backend)} backend does not accept v2 bundles.`, {
    suggestions: ['Remove --v2.'],
    details: {backend, formats},
  });
}

function contentOptions(options: Options, format: BundleFormat, host: Host): BundlePlanOptions {
  const {cwd = host.cwd, recordCommit = needsCommit(options.guard), targetSlug} = options;
  // What PWA Kit's own client sets, by which a project picks its configuration.
  const env = targetSlug === undefined ? host.env : {...host.env, DEPLOY_TARGET: targetSlug};
  return {...options, format, cwd, recordCommit, env, refusesForeign: host.refusesForeign, now: () => host.now()};
}

/** Verifies what a push sends: build directory, configuration, prebuilt archive. Sends nothing. */
export async function planPush(options: Options, route: PushRoute, host: Host): Promise<PushPlan> {
  const {format, selection} = route;
  const backend = registryOf(options).get(selection.backend);
  await verifyCheckUrl(options, selection.backend, host);
  if (options.archive === undefined) {
    const {content, warnings} = await planContent(options, format, host);
    const {plan} = content;
    verifyLimits(backend, {files: plan.files, size: format === 'v1' ? await archiveSize(plan) : undefined});
    return {options, ...route, content, warnings: [...route.warnings, ...warnings]};
  }
  const bundle = await openPrebuilt(options.archive, options, format, host);
  verifyLimits(backend, bundle);
  const {ssrOnly: patterns} = bundle.config;
  if (patterns.length > 0) verifyMarks({format, files: bundle.files, patterns});
  const warnings = [
    ...route.warnings,
    ...(await checkSensitiveFiles(bundle.files, {allowed: options.allowSensitiveFiles ?? false})),
    ...(await strictWarnings(bundle, options.signal)),
    ...sizeWarnings(bundle),
  ];
  return {options, ...route, content: {kind: 'archive', bundle}, warnings};
}

export async function planContent(options: Options, format: BundleFormat, host: Host) {
  const plan = await planBundle(contentOptions(options, format, host));
  const warnings = [...plan.warnings, ...unusedOptions(options, format)];
  return {content: {kind: 'build', plan} as const, warnings};
}

/** Warnings about v2-only options, which a v1 bundle ignores. */
function unusedOptions(options: Options, format: BundleFormat): readonly string[] {
  if (format === 'v2') return [];
  const {rootDir, configPath, matchMode, bundleMetadata, compressionLevel} = options;
  const given = {rootDir, configPath, matchMode, ccOverrides: bundleMetadata?.ccOverrides, compressionLevel};
  return Object.entries(given)
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

/** Verifies before anything is packed that there will be a URL to check. */
async function verifyCheckUrl({targetSlug, ...options}: Options, backend: RuntimeBackend, host: Host): Promise<void> {
  if (targetSlug === undefined || checksOf(options).length === 0) return;
  const open = await openBackend(backend, {...options, targetSlug}, host);
  await requireTargetUrl(open, {...options, targetSlug});
}

async function openPrebuilt(archive: string, options: Options, format: BundleFormat, host: Host): Promise<Bundle> {
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
