import type {Writable} from 'node:stream';
import {packBundle, type BundlePlan} from '../bundle/index.js';
import type {PackResult} from '../bundle/types.js';
import {systemCode} from '../errors/system-failure.js';
import {
  packOptions,
  planBuild,
  writeBuild,
  type BuildBundleResult,
  type PreviewBuildOptions,
} from '../operations/build-bundle.js';
import type {RunHost} from '../operations/host.js';
import {describeArchive, describeFiles} from '../operations/describe-bundle.js';
import type {BuildBundleOptions} from '../operations/options.js';
import type {DataOf} from '../operations/outlet.js';
import type {PipelineHost} from './host.js';
import {Pipeline} from './run.js';

const packStep = {name: 'build', title: 'Build the bundle'} as const;

export function previewBuild(options: DataOf<PreviewBuildOptions>, host: PipelineHost): Promise<BundlePlan> {
  return verified(options, host).run();
}

export function buildBundle(options: DataOf<BuildBundleOptions>, host: PipelineHost): Promise<BuildBundleResult> {
  return verified(options, host)
    .step({
      ...packStep,
      async task(plan, host) {
        const result = await writeBuild(plan, options, host);
        host.outlet.title(`Built ${describeArchive(result.bundle)}`);
        return result;
      },
    })
    .run();
}

export function buildBundleInto(
  destination: Writable,
  options: DataOf<PreviewBuildOptions>,
  host: PipelineHost,
): Promise<PackResult> {
  return verified(options, host)
    .step({...packStep, task: (plan, host) => packInto(destination, plan, options, host)})
    .run();
}

/** As `buildBundleInto`, for a pipe, whose reader may have read enough: then nothing has failed. */
export function buildBundleIntoPipe(
  pipe: Writable,
  options: DataOf<PreviewBuildOptions>,
  host: PipelineHost,
): Promise<PackResult | undefined> {
  return verified(options, host)
    .step({
      ...packStep,
      task: (plan, host) =>
        packInto(pipe, plan, options, host).catch((error: unknown) => {
          if (systemCode(error) !== 'EPIPE') throw error;
          host.outlet.title('Stopped: the reader of the archive has closed the pipe');
          return undefined;
        }),
    })
    .run();
}

async function packInto(
  destination: Writable,
  plan: BundlePlan,
  options: DataOf<PreviewBuildOptions>,
  {outlet}: RunHost,
): Promise<PackResult> {
  const packed = await packBundle(plan, destination, packOptions(options, outlet));
  outlet.title(`Wrote the archive, sha256 ${packed.sha256.slice(0, 12)}`);
  return packed;
}

function verified(options: DataOf<PreviewBuildOptions>, host: PipelineHost): Pipeline<BundlePlan> {
  return Pipeline.start(host).step({
    name: 'verify',
    title: 'Verify the build and its configuration',
    async task(_, host) {
      const plan = await planBuild(options, host);
      host.outlet.title(`Verified: ${describeFiles(plan)}`);
      return plan;
    },
  });
}
