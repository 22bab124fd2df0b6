import type {RuntimeBackend} from '../../backends/select.js';
import type {BundlePlanOptions} from '../../bundle/index.js';
import type {BundleFormat} from '../../bundle/types.js';
import {createError} from '../../errors/index.js';
import {needsCommit} from '../guard/guards.js';
import type {Host} from '../host.js';
import {registryOf} from '../open-backend.js';
import type {PushRuntimeBundleBackendOptions} from './options.js';

/**
 * The format that a backend gets: Api v2, legacy v1 unless `v2`, a plugin's preferred one.
 * @param archived the format of a prebuilt archive, which decides if `v2` is not given
 * @throws RuntimeCliError `ERR_CAPABILITY_UNSUPPORTED` for `v2` with a backend that does not accept it.
 */
export function formatFor(
  backend: RuntimeBackend,
  options: Pick<PushRuntimeBundleBackendOptions, 'v2' | 'backends'>,
  archived?: BundleFormat,
): BundleFormat {
  const {formats} = registryOf(options).get(backend);
  if (options.v2 === undefined && archived !== undefined && formats.includes(archived)) return archived;
  if (!options.v2) return formats[0] ?? 'v2';
  if (formats.includes('v2')) return 'v2';
  throw createError('ERR_CAPABILITY_UNSUPPORTED', `The ${backend} backend does not accept v2 bundles.`, {
    suggestions: ['Remove --v2.'],
    details: {backend, formats},
  });
}

/** Options for planning the bundle of a push in `format`. */
export function contentOptions(
  options: PushRuntimeBundleBackendOptions,
  format: BundleFormat,
  host: Host,
): BundlePlanOptions {
  const {projectSlug, buildDirectory, projectDirectory, message, ssrOnly, ssrShared, ssrParameters} = options;
  const {bundleMetadata, rootDir, configPath, matchMode, ignore, compressionLevel, allowSensitiveFiles, signal} =
    options;
  const recordCommit = options.recordCommit ?? needsCommit(options.guard);
  // What PWA Kit's own client sets, by which a project picks its configuration.
  const env = options.targetSlug === undefined ? host.env : {...host.env, DEPLOY_TARGET: options.targetSlug};
  return {
    ...{format, cwd: options.cwd ?? host.cwd, env, now: () => host.now(), signal, projectSlug},
    ...{buildDirectory, projectDirectory, message, recordCommit, ssrOnly, ssrShared, ssrParameters, bundleMetadata},
    ...{rootDir, configPath, matchMode, ignore, compressionLevel, allowSensitiveFiles, static: options.static},
  };
}

/** Warnings about v2-only options, which a v1 bundle ignores. */
export function unusedOptions(options: PushRuntimeBundleBackendOptions, format: BundleFormat): readonly string[] {
  if (format === 'v2') return [];
  const given = {
    rootDir: options.rootDir,
    configPath: options.configPath,
    matchMode: options.matchMode,
    ccOverrides: options.bundleMetadata?.ccOverrides,
    compressionLevel: options.compressionLevel,
  };
  return Object.entries(given)
    .filter(([, value]) => value !== undefined)
    .map(([option]) => `${option} has no effect on a v1 upload.`);
}
