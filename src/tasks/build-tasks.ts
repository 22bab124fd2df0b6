import type {BundlePlan} from '../bundle/index.js';
import type {Writable} from 'node:stream';
import {packPlan, planBuild, streamPlan, type BuildBundleResult} from '../operations/build-bundle.js';
import type {Host} from '../operations/host.js';
import type {BuildBundleOptions} from '../operations/options.js';
import {describeArchive, describeFiles} from './describe.js';
import {showIn} from './progress.js';
import {reached, runPipeline, type PipelineStep, type PipelineTerminal} from './run-pipeline.js';

/** A build as a pipeline of tasks. */
export interface BuildTasksOptions {
  readonly build: BuildBundleOptions;
  readonly host: Host;
  readonly terminal: PipelineTerminal;
  /** Lists and matches, writes nothing. */
  readonly dryRun: boolean;
  /** Takes the archive instead of a file, without a manifest. */
  readonly stdout?: Writable | undefined;
}

/** What a pipeline of a build has come to. */
export interface BuildOutcome {
  readonly plan: BundlePlan;
  /** Nothing in a dry run, or when the archive went to a stream. */
  readonly result?: BuildBundleResult | undefined;
  /** Whether the archive went to a stream. */
  readonly streamed: boolean;
}

interface BuildContext {
  plan?: BundlePlan;
  result?: BuildBundleResult;
}

/** Runs a build step by step: verify, build. */
export async function runBuildTasks(options: BuildTasksOptions): Promise<BuildOutcome> {
  const context: BuildContext = {};
  await runPipeline([verifyStep(options), ...(options.dryRun ? [] : [packStep(options)])], context, options.terminal);
  return {
    plan: reached(context.plan),
    result: context.result,
    streamed: !options.dryRun && options.stdout !== undefined,
  };
}

function verifyStep({build, host}: BuildTasksOptions): PipelineStep<BuildContext> {
  return {
    title: 'Verify the build and its configuration',
    async run(context, view) {
      context.plan = await planBuild(build, host);
      view.done(`Verified: ${describeFiles(context.plan)}`);
      for (const warning of context.plan.warnings) host.logger.warn(warning);
    },
  };
}

function packStep({build, host, stdout}: BuildTasksOptions): PipelineStep<BuildContext> {
  return {
    title: 'Build the bundle',
    async run(context, view) {
      if (stdout) {
        const {sha256} = await streamPlan(reached(context.plan), stdout, {...build, ...showIn(view)});
        view.done(`Wrote the archive to stdout, sha256 ${sha256.slice(0, 12)}`);
        return;
      }
      context.result = await packPlan(reached(context.plan), {...build, ...showIn(view)}, host);
      view.done(`Built ${describeArchive(context.result.bundle)}`);
    },
  };
}
