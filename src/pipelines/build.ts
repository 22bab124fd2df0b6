import type {Writable} from 'node:stream';
import {packBundle, type BundlePlan} from '../bundle/index.js';
import type {PackResult} from '../bundle/types.js';
import {
  packOptions,
  planBuild,
  writeBuild,
  type BuildBundleResult,
  type PreviewBuildOptions,
} from '../operations/build-bundle.js';
import {describeArchive, describeFiles} from '../operations/describe-bundle.js';
import type {BuildBundleOptions} from '../operations/options.js';
import type {PipelineHost} from './host.js';
import {made, runPipeline, type PipelineRun, type Step} from './run.js';

interface BuildRun extends PipelineRun {
  readonly options: PreviewBuildOptions;
  plan?: BundlePlan;
}

const verifyStep: Step<BuildRun> = {
  name: 'verify',
  title: 'Verify the build and its configuration',
  task: async (run, report) => {
    run.plan = await planBuild(run.options, run.host);
    report.title = `Verified: ${describeFiles(run.plan)}`;
    report.warn(run.plan.warnings);
  },
};

const packStep = {name: 'build', title: 'Build the bundle'} as const;

export async function previewBuild(options: PreviewBuildOptions, host: PipelineHost): Promise<BundlePlan> {
  const run: BuildRun = {host, options};
  await runPipeline(run, [verifyStep]);
  return made(run, 'plan');
}

export async function buildBundle(options: BuildBundleOptions, host: PipelineHost): Promise<BuildBundleResult> {
  const run: BuildRun & {result?: BuildBundleResult} = {host, options};
  await runPipeline(run, [
    verifyStep,
    {
      ...packStep,
      task: async (_, report) => {
        run.result = await writeBuild(made(run, 'plan'), report.watch(options), host);
        report.title = `Built ${describeArchive(run.result.bundle)}`;
      },
    },
  ]);
  return made(run, 'result');
}

export async function buildBundleInto(
  destination: Writable,
  options: PreviewBuildOptions,
  host: PipelineHost,
): Promise<PackResult> {
  const run: BuildRun & {packed?: PackResult} = {host, options};
  await runPipeline(run, [
    verifyStep,
    {
      ...packStep,
      task: async (_, report) => {
        run.packed = await packBundle(made(run, 'plan'), destination, packOptions(report.watch(options)));
        report.title = `Wrote the archive, sha256 ${run.packed.sha256.slice(0, 12)}`;
      },
    },
  ]);
  return made(run, 'packed');
}
