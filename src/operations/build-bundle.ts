import {isAbsolute, relative, resolve} from 'node:path';
import type {Writable} from 'node:stream';
import {
  manifestPathOf,
  packBundle,
  planBundle,
  writeBundle,
  type BundlePlan,
  type PackOptions,
} from '../bundle/index.js';
import type {Bundle, PackResult} from '../bundle/types.js';
import {createError} from '../errors/index.js';
import {callBackNow} from './callbacks.js';
import type {Host} from './host.js';
import type {BuildBundleOptions, CommonOptions} from './options.js';

/** What `buildBundle` resolves to. */
export interface BuildBundleResult {
  readonly bundle: Bundle;
  /** Path of the manifest. */
  readonly manifest: string;
  readonly warnings: readonly string[];
}

/**
 * Verifies what would be built, and scans the build directory; writes nothing.
 * @throws RuntimeCliError for bad options, an unusable build directory or configuration, or an output inside the build.
 */
export async function planBuild(options: BuildBundleOptions, host: Host): Promise<BundlePlan> {
  const {format = 'v2', cwd = host.cwd, output, ...content} = options;
  const plan = await planBundle({...content, format, cwd, env: host.env, now: () => host.now()});
  // `-` is stdout, of the command line.
  if (output !== '-') verifyOutside(plan.buildDirectory, resolve(cwd, output));
  return plan;
}

/**
 * Builds an archive file and its manifest. Either is complete or not there.
 * @throws RuntimeCliError for bad options, an unusable build directory or configuration, a file that changes while it is
 * read, or an output that cannot be written; `signal.reason` when aborted.
 */
export async function buildBundle(options: BuildBundleOptions, host: Host): Promise<BuildBundleResult> {
  return packPlan(await planBuild(options, host), options, host);
}

/** Packs what was planned into an archive file with its manifest. */
export async function packPlan(plan: BundlePlan, options: BuildBundleOptions, host: Host): Promise<BuildBundleResult> {
  const {cwd = host.cwd, output} = options;
  const path = resolve(cwd, output);
  const bundle = await writeBundle(plan, {path, mode: 0o666, manifest: true, ...packOptions(options)});
  return {bundle, manifest: manifestPathOf(path), warnings: plan.warnings};
}

/** Packs what was planned into a stream, without a manifest. */
export async function streamPlan(plan: BundlePlan, destination: Writable, options: CommonOptions): Promise<PackResult> {
  return packBundle(plan, destination, packOptions(options));
}

/** How an operation's options say to pack. */
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
  throw createError('ERR_OUTPUT', `${output} lies in the build directory: the next bundle would contain it`, {
    suggestions: ['Write it elsewhere with --output FILE.'],
  });
}
