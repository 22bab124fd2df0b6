import type {Writable} from 'node:stream';
import type {BuildBundleOptions, BuildBundleResult, PreviewBuildOptions} from '../operations/bundle-options.js';
import type {Outlet, RunHost} from '../operations/host.js';
import {packBundle, type BundlePlan} from '../bundle/index.js';
import type {PackResult} from '../bundle/types.js';
import {systemCode} from '../errors/system-failure.js';
import {packOptions, planBuild, warnOfLaterFiles, writeBuild} from '../operations/build-bundle.js';
import {describeArchive, describeFiles} from '../operations/describe-bundle.js';
import type {PipelineHost} from './host.js';
import type {Ledger} from './ledger.js';
import {runPipeline, type Step} from './run.js';

interface BuildRequest {
  readonly options: PreviewBuildOptions;
}

const verify: Step<BuildRequest> = {
  name: 'verify',
  title: 'Verify the build and its configuration',
  async run({request}, host) {
    const plan = await planBuild(request.options, host);
    host.outlet.title(`Verified: ${describeFiles(plan)}`);
    return {content: {kind: 'build', plan}};
  },
};

async function build<Result>(
  options: PreviewBuildOptions,
  host: PipelineHost,
  pack: (plan: BundlePlan, host: RunHost) => Promise<Result>,
): Promise<Result> {
  const packing: Step<BuildRequest> = {
    name: 'build',
    title: 'Build the bundle',
    run: async (ledger, running) => ({result: await pack(planOf(ledger), running)}),
  };
  const {result} = await runPipeline([verify, packing], {options}, host);
  return result as Result;
}

function planOf({content}: Ledger): BundlePlan {
  if (content?.kind !== 'build') throw new Error('Nothing was planned.');
  return content.plan;
}

export async function previewBuild(options: PreviewBuildOptions, host: PipelineHost): Promise<BundlePlan> {
  return planOf(await runPipeline([verify], {options}, host));
}

export function buildBundle(options: BuildBundleOptions, host: PipelineHost): Promise<BuildBundleResult> {
  return build(options, host, async (plan, running) => {
    const result = await writeBuild(plan, options, running);
    running.outlet.title(`Built ${describeArchive(result.bundle)}`);
    return result;
  });
}

export function buildBundleInto(
  destination: Writable,
  options: PreviewBuildOptions,
  host: PipelineHost,
): Promise<PackResult> {
  return build(options, host, (plan, {outlet}) => packInto(destination, plan, options, outlet));
}

/** As `buildBundleInto`, for a pipe, whose reader may have read enough: then nothing has failed. */
export async function buildBundleIntoPipe(pipe: Writable, options: PreviewBuildOptions, host: PipelineHost) {
  await build(options, host, (plan, {outlet}) =>
    packInto(pipe, plan, options, outlet).catch((error: unknown) => {
      if (systemCode(error) !== 'EPIPE') throw error;
      outlet.title('Stopped: the reader of the archive has closed the pipe');
    }),
  );
}

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
