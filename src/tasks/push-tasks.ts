import type {BundleFormat} from '../bundle/types.js';
import type {TemporaryDirectory} from '../bundle/index.js';
import type {Host} from '../operations/host.js';
import type {PushResult, PushRuntimeBundleBackendOptions} from '../operations/options.js';
import {planPush, sizeWarnings, type PushPlan} from '../operations/plan-push.js';
import {deployPush, pushResult, waitForPush, type DeployedPush} from '../operations/push-runtime-bundle.js';
import type {UnchangedBundle} from '../operations/unchanged-bundle.js';
import {buildPush, comparePush, uploadPush, type PushContent, type UploadedPush} from '../operations/upload-push.js';
import {describeArchive, describeFiles, describeSize} from './describe.js';
import {showIn} from './progress.js';
import {reached, runPipeline, type PipelineStep, type PipelineTerminal, type StepView} from './run-pipeline.js';

/** A push as a pipeline of tasks. */
export interface PushTasksOptions {
  readonly push: PushRuntimeBundleBackendOptions;
  readonly host: Host;
  readonly terminal: PipelineTerminal;
  /** Stops before the first request that writes. */
  readonly dryRun: boolean;
  /** Lines that tell what was resolved from where, shown before anything is sent. */
  readonly resolved: readonly string[];
  /** Called with the format as soon as it is known; throws when flags do not go with it. */
  onFormat(format: BundleFormat): void;
}

/** What a pipeline of a push has come to. */
export interface PushOutcome {
  readonly plan: PushPlan;
  /** Nothing in a dry run. */
  readonly result?: PushResult | undefined;
  /** The bundle of the last push, when a dry run has found the same one. */
  readonly unchanged?: UnchangedBundle | undefined;
  /** How long it took, in words. */
  readonly took: string;
}

interface PushContext {
  plan?: PushPlan;
  workspace?: TemporaryDirectory;
  content?: PushContent;
  unchanged?: UnchangedBundle | undefined;
  uploaded?: UploadedPush;
  deployed?: DeployedPush | undefined;
}

/** Runs a push step by step: verify, build, resolve, upload, deploy, wait. */
export async function runPushTasks(options: PushTasksOptions): Promise<PushOutcome> {
  const context: PushContext = {};
  let took: string;
  try {
    took = await runPipeline(pushSteps(options), context, options.terminal);
  } finally {
    await context.workspace?.remove();
  }
  const {plan, unchanged, uploaded, deployed} = context;
  return {plan: reached(plan), took, unchanged, result: uploaded && pushResult(reached(plan), uploaded, deployed)};
}

function pushSteps(options: PushTasksOptions): readonly PipelineStep<PushContext>[] {
  const {push, dryRun} = options;
  if (dryRun) {
    return push.ifChanged
      ? [verifyStep(options), buildStep(options), resolveStep(options), compareStep(options)]
      : [verifyStep(options), resolveStep(options)];
  }
  const deploys = push.targetSlug !== undefined;
  return [
    verifyStep(options),
    buildStep(options),
    resolveStep(options),
    uploadStep(options),
    ...(deploys ? [deployStep(options)] : []),
    ...(deploys && push.wait ? [waitStep(options)] : []),
  ];
}

function verifyStep({push, host, onFormat}: PushTasksOptions): PipelineStep<PushContext> {
  return {
    title: 'Verify the build and its configuration',
    async run(context, view) {
      const plan = await planPush(push, host);
      onFormat(plan.format);
      context.plan = plan;
      const {content} = plan;
      view.done(
        content.kind === 'build'
          ? `Verified: ${describeFiles(content.plan)}`
          : `Verified: ${describeArchive(content.bundle)}`,
      );
      for (const warning of plan.warnings) host.logger.warn(warning);
    },
  };
}

function resolveStep({resolved}: PushTasksOptions): PipelineStep<PushContext> {
  return {
    title: 'Resolve the backend',
    run({plan}, view) {
      const {selection, format} = reached(plan);
      view.done(`Backend: ${selection.backend} (${selection.reason}), format ${format}`);
      for (const line of resolved) view.detail(line);
      return Promise.resolve();
    },
  };
}

function buildStep({push, host}: PushTasksOptions): PipelineStep<PushContext> {
  return {
    title: push.archive === undefined ? 'Build the bundle' : 'Take the prebuilt bundle',
    async run(context, view) {
      context.workspace = await host.createTemporaryDirectory();
      const plan = withView(reached(context.plan), view);
      const content = await buildPush(plan, plan.selection.backend, context.workspace);
      context.content = content;
      view.done(describeBuilt(content, push.archive === undefined ? 'Built' : 'Took'));
      // Known before minutes are spent on sending it.
      for (const warning of sizeWarnings(content.bundle)) host.logger.warn(warning);
    },
  };
}

function compareStep({host}: PushTasksOptions): PipelineStep<PushContext> {
  return {
    title: 'Compare with the last push',
    async run(context, view) {
      const plan = withView(reached(context.plan), view);
      const {unchanged, warnings} = await comparePush(plan.selection.backend, plan, reached(context.content), host);
      context.unchanged = unchanged;
      view.done(unchanged ? `Unchanged since bundle ${String(unchanged.bundleId)}` : 'Not that of the last push');
      for (const warning of warnings) host.logger.warn(warning);
    },
  };
}

function uploadStep({push, host}: PushTasksOptions): PipelineStep<PushContext> {
  return {
    title: 'Upload the bundle',
    async run(context, view) {
      const plan = withView(reached(context.plan), view);
      const onFallback = (reason: string) => {
        view.detail(`falling back to legacy: ${reason}`);
        push.onFallback?.(reason);
      };
      const options = {...plan.options, onFallback};
      context.uploaded = await uploadPush(
        {...plan, options},
        reached(context.content),
        reached(context.workspace),
        host,
      );
      const {backend, result, unchanged, warnings} = context.uploaded;
      const id = String(result.bundleId);
      view.done(
        unchanged
          ? `Unchanged since bundle ${id}: nothing to upload to ${push.projectSlug} (${backend})`
          : `Uploaded bundle ${id} to ${push.projectSlug} (${backend})`,
      );
      for (const warning of warnings) host.logger.warn(warning);
    },
  };
}

function deployStep({push, host}: PushTasksOptions): PipelineStep<PushContext> {
  return {
    title: `Deploy to ${String(push.targetSlug)}`,
    async run(context, view) {
      const plan = withView(reached(context.plan), view);
      context.deployed = await deployPush(plan, reached(context.uploaded), host);
      const id = context.deployed?.deployment.deploymentId;
      view.done(`Deployment${id === undefined ? '' : ` ${String(id)}`} to ${String(push.targetSlug)} was accepted`);
      for (const warning of context.deployed?.warnings ?? []) host.logger.warn(warning);
    },
  };
}

function waitStep({push, host}: PushTasksOptions): PipelineStep<PushContext> {
  return {
    title: 'Wait for the deployment',
    async run(context, view) {
      const plan = withView(reached(context.plan), view);
      context.deployed = await waitForPush(plan, reached(context.uploaded), reached(context.deployed), host);
      view.done(`Deployed to ${String(push.targetSlug)}`);
    },
  };
}

function describeBuilt(content: PushContent, done: string): string {
  return content.kind === 'file'
    ? `${done} ${describeArchive(content.bundle)}`
    : `Prepared a ${describeSize(content.bundle)}, packed while it is sent`;
}

/** The plan, with progress and retries shown in `view`. */
function withView(plan: PushPlan, view: StepView): PushPlan {
  return {...plan, options: {...plan.options, ...showIn(view)}};
}
