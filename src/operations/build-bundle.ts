import {basename, dirname, join, relative, resolve, sep} from 'node:path';
import type {BuildBundleOptions, BuildBundleResult, PreviewBuildOptions} from './bundle-options.js';
import {
  manifestPathOf,
  planBundle,
  readIgnoreRules,
  verifyReplaceable,
  writeBundle,
  type BundlePlan,
  type FoundPath,
  type PackOptions,
} from '../bundle/index.js';
import {createError} from '../errors/index.js';
import {listPaths} from '../text/entry-names.js';
import {isOutside} from '../text/paths.js';
import {shellLine} from '../text/suggest.js';
import {planningHost, type RunHost, type Outlet} from './host.js';
import type {CommonOptions} from './options.js';

export async function writeBuild(
  plan: BundlePlan,
  options: BuildBundleOptions,
  host: RunHost,
): Promise<BuildBundleResult> {
  const path = resolve(options.cwd ?? host.cwd, options.output);
  const bundle = await writeBundle(plan, {path, mode: 0o666, manifest: true, ...packOptions(options, host.outlet)});
  const warnings = [...plan.warnings, ...(await warnOfLaterFiles(plan, host.outlet))];
  return {bundle, manifest: manifestPathOf(path), warnings};
}

/** Warns of files that appeared in the build while it was packed. Returns the warnings. */
export async function warnOfLaterFiles({laterFiles}: BundlePlan, outlet: Outlet): Promise<readonly string[]> {
  const files = await laterFiles();
  if (files.length === 0) return [];
  const warning =
    `Files appeared in the build folder while it was packed, and are not in the bundle: ${listPaths(files)}. ` +
    'Run the command again once the build has finished.';
  outlet.warn(warning);
  return [warning];
}

export async function planBuild(options: PreviewBuildOptions, host: RunHost): Promise<BundlePlan> {
  const {format = 'v2', cwd = host.cwd, output, force, ...content} = options;
  if (output !== undefined) await verifyReplaceable(resolve(cwd, output), force);
  const plan = await planBundle({...content, ...planningHost(host), format, cwd});
  const project = resolve(cwd, content.projectDirectory ?? '.');
  if (output !== undefined) await verifyOutside(resolve(cwd, output), plan.buildDirectory, project, content.ignore);
  plan.warnings.forEach((warning) => host.outlet.warn(warning));
  return plan;
}

export function packOptions({signal}: Pick<CommonOptions, 'signal'>, outlet: Outlet): PackOptions {
  return {signal, onProgress: (progress) => outlet.progress({phase: 'build', ...progress})};
}

/** Refuses to write an archive into the build, where it would be part of the next one, unless a rule excludes it. */
export async function verifyOutside(output: string, build: string, project: string, ignore: readonly string[] = []) {
  if (isOutside(relative(build, output))) return;
  const rules = await readIgnoreRules([project, build], ignore);
  const written = [output, manifestPathOf(output)].map((path): FoundPath => ({
    path: relative(build, path).replaceAll(sep, '/'),
    isFolder: false,
  }));
  await rules.mark(written);
  if (written.every(({rule}) => rule !== undefined)) return;
  throw createError('ERR_OUTPUT', `${output} is inside the build folder, so the next bundle would contain it.`, {
    suggestions: [
      `Add ${basename(output)}* to .bundleignore, or pass ${shellLine('--output', join(dirname(build), basename(output)))}`,
    ],
  });
}
