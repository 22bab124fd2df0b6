import {resolve} from 'node:path';
import type {Writable} from 'node:stream';
import {packBundle, planBundle, writeBundle, writeManifest, type BundlePlan, type PackResult} from '../bundle/index.js';
import type {Bundle} from '../bundle/types.js';
import type {Host} from './host.js';
import type {BuildBundleOptions} from './options.js';

/** What `buildBundle` resolves to. */
export interface BuildBundleResult {
  readonly bundle: Bundle;
  /** Path of the manifest. */
  readonly manifest: string;
  readonly warnings: readonly string[];
}

/**
 * Verifies what would be built, and scans the build directory; writes nothing.
 * @throws RuntimeCliError for bad options, an unusable build directory or configuration.
 */
export async function planBuild(options: Omit<BuildBundleOptions, 'output'>, host: Host): Promise<BundlePlan> {
  const {format = 'v2', cwd = host.cwd, ...content} = options;
  return planBundle({...content, format, cwd, env: host.env, now: () => host.now()});
}

/**
 * Builds an archive file and its manifest. Either is complete or not there.
 * @throws RuntimeCliError for bad options, an unusable build directory, a file that changes while it is read, or an
 * output that cannot be written; `signal.reason` when aborted.
 */
export async function buildBundle(options: BuildBundleOptions, host: Host): Promise<BuildBundleResult> {
  return packPlan(await planBuild(options, host), options, host);
}

/** Packs what was planned into an archive file with its manifest. */
export async function packPlan(plan: BundlePlan, options: BuildBundleOptions, host: Host): Promise<BuildBundleResult> {
  const {cwd = host.cwd, output, signal, onProgress} = options;
  const bundle = await writeBundle(plan, {
    path: resolve(cwd, output),
    mode: 0o666,
    signal,
    onProgress:
      onProgress &&
      ((progress) => {
        onProgress({phase: 'build', ...progress});
      }),
  });
  return {bundle, manifest: await writeManifest(bundle), warnings: plan.warnings};
}

/** Packs what was planned into a stream, without a manifest. */
export async function streamPlan(
  plan: BundlePlan,
  destination: Writable,
  {signal, onProgress}: Pick<BuildBundleOptions, 'signal' | 'onProgress'>,
): Promise<PackResult> {
  return packBundle(plan, destination, {
    signal,
    onProgress:
      onProgress &&
      ((progress) => {
        onProgress({phase: 'build', ...progress});
      }),
  });
}
