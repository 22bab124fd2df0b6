import type {AuthStrategy} from '../http/types.js';
import type {TemporaryDirectory} from '../files/temporary-directory.js';
import {withFollowUps} from '../operations/deploy/check-deployment.js';
import {explainUnfinished, watchForRollback} from '../operations/deploy/rollback-on-failure.js';
import {askForTarget, checkPush, describeGuards, isGuarded, watchPush} from '../operations/guard/guards.js';
import {refuseUnsafe} from '../operations/guard/safety.js';
import {callBack} from '../operations/host.js';
import {describeSelection} from '../operations/choose-backend.js';
import {openBackend} from '../operations/open-backend.js';
import type {
  PushResult,
  PushRuntimeBundleBackendOptions,
  PushV2Options,
  PushV2Result,
} from '../operations/push/options.js';
import {deployPush, pushResult, waitForPush, type DeployedPush} from '../operations/push/deploy-push.js';
import {
  describePlan,
  planPush,
  routePush,
  verifyPushOptions,
  type PushPlan,
  type PushPreview,
  type PushRoute,
} from '../operations/push/plan-push.js';
import {buildPush, describeContent, type PushContent} from '../operations/push/push-content.js';
import {askBeforePush, describeUpload, uploadPush, type UploadedPush} from '../operations/push/upload-push.js';
import {checkStep, rollbackStep, type FollowedRun} from './steps.js';
import type {StepReport} from './report.js';
import type {PipelineHost} from './host.js';
import {made, runGuarded, runPipeline, type Step} from './run.js';

interface PushRun extends FollowedRun {
  readonly options: PushRuntimeBundleBackendOptions & {readonly wait: boolean};
  /** The folder of the archive, removed at the end. */
  workspace?: TemporaryDirectory;
  route?: PushRoute;
  plan?: PushPlan;
  content?: PushContent;
  uploaded?: UploadedPush;
  deployed?: DeployedPush;
  result?: PushResult;
  /** Whether the push is only told, not made. */
  readonly previews: boolean;
}

export async function pushRuntimeBundle(
  given: PushRuntimeBundleBackendOptions,
  host: PipelineHost,
): Promise<PushResult> {
  const run = startPush(given, host, {previews: false});
  const {options} = run;
  const {projectSlug, targetSlug = ''} = options;
  const deploys = options.targetSlug !== undefined;
  try {
    await runGuarded<PushRun>(run, {
      finding: [resolveStep],
      guard: isGuarded(options) ? guardStep(targetSlug) : undefined,
      ask: () => askForTarget({operation: 'push', projectSlug, targetSlug}, options),
      changing: () => [
        verifyStep,
        buildStep(options),
        {name: 'upload', title: 'Upload the bundle', task: upload},
        {name: 'deploy', title: `Deploy to ${targetSlug}`, enabled: deploys, task: deploy},
        {name: 'wait', title: 'Wait for the deployment', enabled: deploys && options.wait, task: wait},
        checkStep(options),
        rollbackStep(options),
      ],
    });
  } catch (error) {
    throw explainUnfinished(error, run.watch);
  } finally {
    await run.workspace?.remove();
  }
  return {...made(run, 'result'), ...(run.check && {check: run.check})};
}

export async function previewPush(given: PushRuntimeBundleBackendOptions, host: PipelineHost): Promise<PushPreview> {
  const run = startPush(given, host, {previews: true});
  const {options} = run;
  const {targetSlug = '', ifChanged = false} = options;
  try {
    await runGuarded<PushRun>(run, {
      finding: [resolveStep],
      guard: isGuarded(options) ? guardStep(targetSlug) : undefined,
      ask: () => Promise.resolve(),
      changing: () => [verifyStep],
    });
    const plan = made(run, 'plan');
    const {content, selection} = plan;
    if (ifChanged) await runPipeline<PushRun>(run, [buildStep(options)]);
    const bundle = run.content?.bundle ?? (content.kind === 'build' ? content.plan : content.bundle);
    const unchanged = run.content?.kind === 'unchanged' ? run.content.unchanged : undefined;
    await askBeforePush({backend: selection.backend, bundle, unchanged}, options, host, {dryRun: true});
    return ifChanged ? {...plan, unchanged} : plan;
  } finally {
    await run.workspace?.remove();
  }
}

function startPush(
  given: PushRuntimeBundleBackendOptions,
  host: PipelineHost,
  {previews}: {readonly previews: boolean},
): PushRun {
  const options = withFollowUps(given);
  refuseUnsafe({...options, operation: 'push'}, host);
  options.signal?.throwIfAborted();
  verifyPushOptions(options, host);
  return {host, options, previews, watch: previews ? undefined : watchForRollback(options)};
}

const resolveStep: Step<PushRun> = {
  name: 'resolve',
  title: 'Prepare',
  task: async (run, report) => {
    const route = await routePush(run.options, run.host, run);
    run.route = route;
    const {selection, format} = route;
    if (selection.unconfigured !== undefined) report.warn([selection.unconfigured]);
    run.host.logger.debug(`Format: ${format}`);
    report.title = describeSelection(selection, run.host);
  },
};

function guardStep(targetSlug: string): Step<PushRun> {
  return {
    name: 'guard',
    title: `Check the guards of ${targetSlug}`,
    task: async ({options, host, ...run}, report) => {
      const watched = report.watch(options);
      const open = await openBackend(made(run, 'route').selection.backend, watched, host);
      await checkPush(open, watched, host);
      report.title = describeGuards(targetSlug, options.guard);
    },
  };
}

const verifyStep: Step<PushRun> = {
  name: 'verify',
  title: 'Verify the build and its configuration',
  task: async (run, report) => {
    const {options, host, watch} = run;
    const route = made(run, 'route');
    await callBack(() => options.onFormat?.(route.format));
    const plan = await planPush(report.watch(options), route, host);
    run.plan = {...plan, options, watch: watchPush(watch, options, host)};
    report.title = `Verified: ${describePlan(plan)}`;
    report.warn(plan.warnings.filter((warning) => !route.warnings.includes(warning)));
  },
};

function buildStep({archive}: PushRuntimeBundleBackendOptions): Step<PushRun> {
  return {
    name: 'build',
    title: archive === undefined ? 'Build the bundle' : 'Read the prebuilt bundle',
    task: async (run, report) => {
      const plan = made(run, 'plan');
      const workspace = await run.host.createTemporaryDirectory();
      run.workspace = workspace;
      const content = await buildPush(watchedPlan(plan, report), plan.selection.backend, workspace, run.host);
      run.content = content;
      report.title = describeContent(content, plan);
      // Warn before spending minutes on the upload.
      report.warn(content.warnings);
    },
  };
}

async function upload(run: PushRun, report: StepReport): Promise<void> {
  const {host, options} = run;
  const plan = made(run, 'plan');
  const content = made(run, 'content');
  const workspace = made(run, 'workspace');
  const uploaded = await uploadPush(watchedPlan(plan, report), content, workspace, host, report.note);
  run.uploaded = {...uploaded, warnings: [...content.warnings, ...uploaded.warnings]};
  report.title = describeUpload(uploaded, options.projectSlug);
  report.warn(uploaded.warnings);
  if (options.targetSlug === undefined) run.result = pushResult(plan, run.uploaded, host);
}

async function deploy(run: PushRun, report: StepReport): Promise<void> {
  const {host, options} = run;
  const {targetSlug = ''} = options;
  const plan = made(run, 'plan');
  const uploaded = made(run, 'uploaded');
  const deployed = await deployPush(watchedPlan(plan, report), uploaded, targetSlug, host);
  run.deployed = deployed;
  const {deploymentId: id} = deployed.deployment;
  // With its ID, which may be long, it fits a terminal without the target, which has been told.
  report.title = `Deployment ${id === undefined ? `to ${targetSlug}` : String(id)} accepted`;
  report.warn(deployed.warnings ?? []);
  if (!options.wait) run.result = pushResult(plan, uploaded, host, deployed);
}

async function wait(run: PushRun, report: StepReport): Promise<void> {
  const {host, options} = run;
  const {targetSlug = ''} = options;
  const plan = made(run, 'plan');
  const uploaded = made(run, 'uploaded');
  const deployed = await waitForPush(watchedPlan(plan, report), uploaded, made(run, 'deployed'), host);
  report.title = `Deployed to ${targetSlug}`;
  run.result = pushResult(plan, uploaded, host, deployed);
}

/** The plan, with its progress and its waits shown in a step. */
function watchedPlan(plan: PushPlan, report: StepReport): PushPlan {
  return {...plan, options: report.watch(plan.options)};
}

export async function pushBundleV2(
  options: PushV2Options,
  auth: AuthStrategy,
  host: PipelineHost,
): Promise<PushV2Result> {
  const result = await pushRuntimeBundle(
    {...options, preference: 'legacy', v2: true, legacyAuth: auth, targetSlug: undefined},
    host,
  );
  const {bundleId, projectSlug, message, warnings, matches, archive, raw} = result;
  return {bundleId, projectSlug, message, warnings, matches, archive, raw: raw.bundle};
}
