import type {Outlet} from '../operations/host.js';
import type {Writable} from 'node:stream';
import {packBundle, type BundlePlan} from '../bundle/index.js';
import type {PackResult} from '../bundle/types.js';
import {systemCode} from '../errors/system-failure.js';
import {
  packOptions,
  planBuild,
  warnOfLaterFiles,
  writeBuild,
  type BuildBundleResult,
  type PreviewBuildOptions,
} from '../operations/build-bundle.js';
import {describeArchive, describeFiles} from '../operations/describe-bundle.js';
import type {BuildBundleOptions} from '../operations/options.js';
import type {PipelineHost} from './host.js';
import {Pipeline} from './run.js';

export function previewBuild(options: PreviewBuildOptions, host: PipelineHost): Promise<BundlePlan> {
  return verified(options, host).run();
}

export function buildBundle(options: BuildBundleOptions, host: PipelineHost): Promise<BuildBundleResult> {
  return verified(options, host)
    .step('build', buildTitle, async (plan, run) => {
      const result = await writeBuild(plan, options, run);
      run.outlet.title(`Built ${describeArchive(result.bundle)}`);
      return result;
    })
    .run();
}

export function buildBundleInto(
  destination: Writable,
  options: PreviewBuildOptions,
  host: PipelineHost,
): Promise<PackResult> {
  return verified(options, host)
    .step('build', buildTitle, (plan, {outlet}) => packInto(destination, plan, options, outlet))
    .run();
}

/** As `buildBundleInto`, for a pipe, whose reader may have read enough: then nothing has failed. */
export function buildBundleIntoPipe(
  pipe: Writable,
  options: PreviewBuildOptions,
  host: PipelineHost,
): Promise<PackResult | undefined> {
  return verified(options, host)
    .step('build', buildTitle, (plan, {outlet}) =>
      packInto(pipe, plan, options, outlet).catch((error: unknown) => {
        if (systemCode(error) !== 'EPIPE') throw error;
        outlet.title('Stopped: the reader of the archive has closed the pipe');
        return undefined;
      }),
    )
    .run();
}

const buildTitle = 'Build the bundle';

async function packInto(
  destination: Writable,
  plan: BundlePlan,
  options: PreviewBuildOptions,
  outlet: Outlet,
): Promise<PackResult> {
  const packed = await packBundle(plan, destination, packOptions(options, outlet));
  await warnOfLaterFiles(plan, outlet);
  outlet.title(`Wrote the archive, sha256 ${packed.sha256.slice(0, 12)}`);
  return packed;
}

function verified(options: PreviewBuildOptions, host: PipelineHost): Pipeline<BundlePlan> {
  return Pipeline.start(host).step('verify', 'Verify the build and its configuration', async (_, run) => {
    const plan = await planBuild(options, run);
    run.outlet.title(`Verified: ${describeFiles(plan)}`);
    return plan;
  });
}
