import {isAbsolute, relative, resolve} from 'node:path';
import type {Writable} from 'node:stream';
import {
  manifestPathOf,
  packBundle,
  planBundle,
  verifyReplaceable,
  writeBundle,
  type BundlePlan,
  type PackOptions,
} from '../bundle/index.js';
import type {Bundle, PackResult} from '../bundle/types.js';
import {createError} from '../errors/index.js';
import {describeArchive, describeFiles} from './describe-bundle.js';
import {callBackNow, verifyStep, warnAll, watched, type Host, type StepView} from './steps.js';
import type {BuildBundleOptions, CommonOptions} from './options.js';
import {checkBudget, type BudgetReport} from './push/budget.js';

/** What `buildBundle` resolves to. */
export interface BuildBundleResult {
  readonly bundle: Bundle;
  /** Path of the manifest. */
  readonly manifest: string;
  /** The budget, which is kept, if there is one. */
  readonly budget?: BudgetReport | undefined;
  readonly warnings: readonly string[];
}

/** Options of a build whose archive goes to a stream, or nowhere. */
export interface PreviewBuildOptions extends Omit<BuildBundleOptions, 'output'> {
  /** Path of the archive. It is checked, but not written. */
  readonly output?: string | undefined;
}

const packStep = {name: 'build', title: 'Build the bundle'} as const;

/**
 * Verifies the build and scans its directory. Writes nothing.
 * @throws RuntimeCliError for invalid options, an unusable build directory or configuration, or an output inside the
 * build.
 */
export async function previewBuild(
  options: PreviewBuildOptions,
  host: Host,
): Promise<BundlePlan & {readonly budget?: BudgetReport | undefined}> {
  return host.runSteps([verifyStep], (step) => step('verify', (view) => planBuild(options, host, view)));
}

/**
 * Builds an archive file and its manifest. Each is written completely or not at all.
 * @throws RuntimeCliError for invalid options, an unusable build directory or configuration, a file that changes while
 * it is read, or an output that cannot be written or must not be replaced; `signal.reason` when aborted.
 */
export async function buildBundle(options: BuildBundleOptions, host: Host): Promise<BuildBundleResult> {
  return host.runSteps([verifyStep, packStep], async (step) => {
    const plan = await step('verify', (view) => planBuild(options, host, view));
    return step('build', async (view) => {
      const path = resolve(options.cwd ?? host.cwd, options.output);
      const pack = packOptions(watched(options, view));
      // Again, because a file may have appeared since.
      const verify = options.force ? undefined : () => verifyReplaceable(path);
      const bundle = await writeBundle(plan, {path, mode: 0o666, manifest: true, verify, ...pack});
      view.done(`Built ${describeArchive(bundle)}`);
      return {bundle, manifest: manifestPathOf(path), warnings: plan.warnings, budget: plan.budget};
    });
  });
}

/**
 * Builds an archive into a stream, without a manifest, and ends it (stdout stays open).
 * @throws RuntimeCliError as `buildBundle`; the stream's own error; `signal.reason` when aborted.
 */
export async function buildBundleInto(
  destination: Writable,
  options: PreviewBuildOptions,
  host: Host,
): Promise<PackResult> {
  return host.runSteps([verifyStep, packStep], async (step) => {
    const plan = await step('verify', (view) => planBuild(options, host, view));
    return step('build', async (view) => {
      const packed = await packBundle(plan, destination, packOptions(watched(options, view)));
      view.done(`Wrote the archive, sha256 ${packed.sha256.slice(0, 12)}`);
      return packed;
    });
  });
}

async function planBuild(
  options: PreviewBuildOptions,
  host: Host,
  view: StepView,
): Promise<BundlePlan & {readonly budget?: BudgetReport | undefined}> {
  const {format = 'v2', cwd = host.cwd, output, force, budget: allowed, ...content} = options;
  if (output !== undefined && !force) await verifyReplaceable(resolve(cwd, output));
  const plan = await planBundle({...content, format, cwd, env: host.env, now: () => host.now()});
  if (output !== undefined) verifyOutside(plan.buildDirectory, resolve(cwd, output));
  view.done(`Verified: ${describeFiles(plan)}`);
  const budget = allowed && checkBudget(allowed, plan.files, {skipped: 'only a push compares with what a target runs'});
  warnAll(view, plan.warnings);
  return budget === undefined ? plan : {...plan, budget};
}

/** The packing options of an operation. */
export function packOptions({signal, onProgress}: CommonOptions): PackOptions {
  return {
    signal,
    onProgress: onProgress && ((progress) => callBackNow(() => onProgress({phase: 'build', ...progress}))),
  };
}

/** An archive inside the build would be part of the next one. */
function verifyOutside(buildDirectory: string, output: string): void {
  const inside = relative(buildDirectory, output);
  if (inside.startsWith('..') || isAbsolute(inside)) return;
  throw createError('ERR_OUTPUT', `${output} is inside the build directory, so the next bundle would contain it.`, {
    suggestions: ['Pass --output FILE to write it elsewhere.'],
  });
}
