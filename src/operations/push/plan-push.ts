import {resolve} from 'node:path';
import {fallbackWarning, type BackendSelection, type RuntimeBackend} from '../../backends/select.js';
import {
  archiveFormat,
  archiveSize,
  checkBundleOptions,
  openBundle,
  checkSensitiveFiles,
  planBundle,
  strictWarnings,
  type BundlePlan,
} from '../../bundle/index.js';
import {optionProblems, rejectProblems} from '../../settings/option-problems.js';
import type {OptionProblem} from '../../settings/types.js';
import type {Bundle, BundleFormat} from '../../bundle/types.js';
import {createError} from '../../errors/index.js';
import {flagValue} from '../../errors/suggest.js';
import {checksOf, followUpCapabilities, requireTargetUrl, type FollowUps} from '../deploy/check-deployment.js';
import type {DeploymentWatch} from '../deploy/request-deploy.js';
import {openBackend, registryOf} from '../open-backend.js';
import {chooseBackend} from '../choose-backend.js';
import type {PushRuntimeBundleBackendOptions} from './options.js';
import type {UnchangedBundle} from './unchanged-bundle.js';
import {contentOptions, formatFor, unusedOptions} from './content-options.js';
import {verifyLimits} from './limits.js';
import {countFiles, describeArchive, describeFiles} from '../describe-bundle.js';
import type {Host} from '../host.js';

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

/** A verified push. Nothing is built or sent yet. */
export interface PushPlan extends Omit<PushPreview, 'unchanged'> {
  readonly options: PushRuntimeBundleBackendOptions;
  /** Follows its deployment. */
  readonly watch?: DeploymentWatch | undefined;
}

/** One known deployment of the service refuses larger archives. The server decides. */
const largeArchiveBytes = 400 * 1000 * 1000;

/**
 * Whether only packing a bundle tells whether it is within the limits of the backend: a compressed archive is hardly
 * ever larger than its tar.
 */
export async function mustPackForLimits({options, selection, content, format}: PushPlan): Promise<boolean> {
  const {maxBundleBytes} = registryOf(options).get(selection.backend).limits ?? {};
  if (maxBundleBytes === undefined || content.kind === 'archive' || format === 'v1') return false;
  return (await archiveSize(content.plan)) > maxBundleBytes;
}

/** The backend of a push and the format that it gets. */
export type PushRoute = Pick<PushPlan, 'selection' | 'format' | 'warnings'>;

/** @throws RuntimeCliError reporting all invalid options at once. */
export function verifyPushOptions(options: PushRuntimeBundleBackendOptions, host: Host): void {
  rejectProblems([
    ...checkBundleOptions(contentOptions(options, options.v2 ? 'v2' : 'v1', host)),
    ...optionProblems(options, ['targetSlug', 'pollInterval', 'timeout']),
    ...recordProblems(options),
    ...followUpProblems(options),
  ]);
}

/**
 * Chooses the backend of a push. Sends nothing.
 * @param run `previews`: the push is not made, so that missing credentials are only a warning
 * @throws RuntimeCliError for a backend that is not configured or lacks a capability.
 */
export async function routePush(
  options: PushRuntimeBundleBackendOptions,
  host: Host,
  {previews}: {readonly previews: boolean},
): Promise<PushRoute> {
  const deploys = options.targetSlug !== undefined;
  const capabilities = deploys ? (['deploy', ...followUpCapabilities(options)] as const) : [];
  const selection = await chooseBackend(options.preference, options, capabilities, host, {previews});
  const format = await formatOf(selection.backend, options, host);
  // `chooseBackend` has already reported it.
  const warnings = selection.fellBack === undefined ? [] : [fallbackWarning(selection.fellBack)];
  const {unconfigured} = selection;
  return {selection, format, warnings: unconfigured === undefined ? warnings : [...warnings, unconfigured]};
}

/**
 * Verifies what a push sends: build directory, configuration, prebuilt archive. Sends nothing.
 * @throws RuntimeCliError for everything that would make the push fail later.
 */
export async function planPush(
  options: PushRuntimeBundleBackendOptions,
  route: PushRoute,
  host: Host,
): Promise<PushPlan> {
  const {format, selection} = route;
  const backend = registryOf(options).get(selection.backend);
  await verifyCheckUrl(options, selection.backend, host);
  if (options.archive !== undefined) {
    const bundle = await openPrebuilt(options.archive, format, options, host);
    verifyLimits(backend, bundle);
    const warnings = await archiveWarnings(bundle, options);
    return {options, ...route, content: {kind: 'archive', bundle}, warnings: [...route.warnings, ...warnings]};
  }
  const plan = await planBundle(contentOptions(options, format, host));
  verifyLimits(backend, {files: plan.files, size: format === 'v1' ? await archiveSize(plan) : undefined});
  const warnings = [...plan.warnings, ...unusedOptions(options, format)];
  return {options, ...route, content: {kind: 'build', plan}, warnings: [...route.warnings, ...warnings]};
}

/** `12 files (2 server-only, 9 shared, 1 other), 3.2 MB` */
export function describePlan({content}: PushPlan): string {
  if (content.kind === 'build') return describeFiles(content.plan);
  return describeArchive(content.bundle, countFiles(content.bundle.files));
}

/** Verifies before anything is packed that there will be a URL to check. */
async function verifyCheckUrl(
  {targetSlug, ...options}: PushRuntimeBundleBackendOptions,
  backend: RuntimeBackend,
  host: Host,
): Promise<void> {
  if (targetSlug === undefined || checksOf(options).length === 0) return;
  const open = await openBackend(backend, {...options, targetSlug}, host);
  await requireTargetUrl(open, {...options, targetSlug});
}

/** Only a deployment can be checked or rolled back. */
function followUpProblems(
  options: FollowUps & Pick<PushRuntimeBundleBackendOptions, 'targetSlug'>,
): readonly OptionProblem[] {
  if (options.targetSlug !== undefined) return [];
  const given = [
    ...(checksOf(options).length > 0 ? ['check'] : []),
    ...(options.rollbackOnFailure ? ['rollbackOnFailure'] : []),
  ];
  return given.map((option) => ({option, message: 'requires targetSlug'}));
}

function recordProblems({ifChanged, pushRecords}: PushRuntimeBundleBackendOptions): readonly OptionProblem[] {
  if (!ifChanged || pushRecords !== undefined) return [];
  return [{option: 'ifChanged', message: 'requires pushRecords to compare with the last push'}];
}

async function formatOf(
  backend: RuntimeBackend,
  options: PushRuntimeBundleBackendOptions,
  host: Host,
): Promise<BundleFormat> {
  const {archive, cwd = host.cwd} = options;
  const found = archive === undefined ? undefined : await archiveFormat(resolve(cwd, archive));
  return formatFor(backend, options, found);
}

/** Warnings about an archive that a server may refuse for its size. */
export function sizeWarnings({format, size}: Pick<Bundle, 'format' | 'size'>): readonly string[] {
  if (format !== 'v2' || size <= largeArchiveBytes) return [];
  return [`The archive is ${String(Math.round(size / 1e6))} MB. Some servers refuse more than 400 MB.`];
}

/**
 * Warnings about what a strict server would refuse in a prebuilt archive, and about server-only files that may contain
 * secrets.
 */
async function archiveWarnings(
  bundle: Bundle,
  {allowSensitiveFiles: allowed = false, signal}: PushRuntimeBundleBackendOptions,
): Promise<readonly string[]> {
  return [...(await checkSensitiveFiles(bundle.files, {allowed})), ...(await strictWarnings(bundle, signal))];
}

async function openPrebuilt(
  archive: string,
  format: BundleFormat,
  options: PushRuntimeBundleBackendOptions,
  host: Host,
): Promise<Bundle> {
  const path = resolve(options.cwd ?? host.cwd, archive);
  const bundle = await openBundle(path, contentOptions(options, format, host));
  if (bundle.format !== format) {
    throw createError(
      'ERR_ARCHIVE_INVALID',
      `${archive} is a ${bundle.format} archive, but this push requires ${format}.`,
      {
        suggestions:
          bundle.format === 'v2'
            ? ['Remove --no-v2, or push it to a backend that takes v2.']
            : [
                [
                  'Push it to the legacy backend without --v2, or build it again with ',
                  {run: ['bundle:build', '--format', 'v2']},
                  '.',
                ],
              ],
      },
    );
  }
  if (bundle.format === 'v1' && bundle.projectSlug !== options.projectSlug) {
    throw createError(
      'ERR_ARCHIVE_INVALID',
      `${archive} was built for the project "${String(bundle.projectSlug)}", not "${options.projectSlug}".`,
      {
        suggestions: [
          [
            'Build it again with ',
            {run: ['bundle:build', '--format', 'v1', ...flagValue('--project', options.projectSlug)]},
            '.',
          ],
        ],
      },
    );
  }
  return bundle;
}
