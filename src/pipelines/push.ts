import type {AuthStrategy} from '../http/types.js';
import type {TemporaryDirectory} from '../files/temporary-directory.js';
import {withFollowUps} from '../operations/deploy/check-deployment.js';
import type {DeploymentWatch} from '../operations/deploy/deploy-bundle.js';
import {explainUnfinished, watchForRollback} from '../operations/deploy/rollback-on-failure.js';
import {askForTarget, checkPush, describeGuards, isGuarded, watchPush} from '../operations/guard/guards.js';
import {refuseUnsafe} from '../operations/guard/safety.js';
import {callBack} from '../operations/host.js';
import type {DataOf} from '../operations/outlet.js';
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
  type PushOptions,
  type PushPlan,
  type PushPreview,
  type PushRoute,
} from '../operations/push/plan-push.js';
import {buildPush, describeBuilt, type BuiltPush} from '../operations/push/push-content.js';
import {askBeforePush, describeUpload, uploadPush, type UploadedPush} from '../operations/push/upload-push.js';
import type {PipelineHost} from './host.js';
import type {Served} from './next-steps.js';
import {resolveStep, withFollowUpSteps} from './steps.js';
import {Pipeline, runGuarded, type Step} from './run.js';

export async function pushRuntimeBundle(
  given: DataOf<PushRuntimeBundleBackendOptions>,
  host: PipelineHost,
): Promise<Served<PushResult>> {
  const options = startPush(given, host);
  const {projectSlug, targetSlug} = options;
  const rollback = watchForRollback(options);
  const watch = watchPush(rollback, options, host);
  const workspaces: TemporaryDirectory[] = [];
  const start = Pipeline.start(host);
  const uploading = (routed: Pipeline<PushRoute>) =>
    routed.step(verifyStep(options)).step(buildStep(options, workspaces)).step(uploadStep(options, watch));
  try {
    const push = await runGuarded<PushRoute, UploadedPush | DeployedPush>({
      finding: start.step(resolveStep((run) => routePush(options, false, run))),
      guard: guardStep(options),
      async ask() {
        if (targetSlug !== undefined) await askForTarget({operation: 'push', projectSlug, targetSlug}, options);
      },
      changing(routed) {
        const uploaded = uploading(routed);
        if (targetSlug === undefined) return uploaded;
        const deployed = uploaded.step(deployStep(targetSlug, options, watch));
        return withFollowUpSteps(deployed, options, rollback, (one, run) => waitForPush(one, options, run));
      },
    });
    return {open: push.open, result: pushResult(push, start.warnings)};
  } catch (error) {
    throw explainUnfinished(error, rollback);
  } finally {
    for (const workspace of workspaces) await workspace.remove();
  }
}

export async function previewPush(
  given: DataOf<PushRuntimeBundleBackendOptions>,
  host: PipelineHost,
): Promise<PushPreview> {
  const options = startPush(given, host);
  const {ifChanged = false} = options;
  const workspaces: TemporaryDirectory[] = [];
  const start = Pipeline.start(host);
  try {
    const plan = await runGuarded<PushRoute, PushPlan>({
      finding: start.step(resolveStep((run) => routePush(options, true, run))),
      guard: guardStep(options),
      ask: () => Promise.resolve(),
      changing: (routed) => routed.step(verifyStep(options)),
    });
    const {open, selection, format, content} = plan;
    const planned = content.kind === 'build' ? content.plan : content.bundle;
    const preview = {selection, format, content};
    if (!ifChanged) {
      await askBeforePush({open, bundle: planned}, options, host, {dryRun: true});
      return {...preview, warnings: start.warnings};
    }
    const {built} = await start.after(plan).step(buildStep(options, workspaces)).run();
    const unchanged = built.kind === 'unchanged' ? built.unchanged : undefined;
    await askBeforePush({open, bundle: built.bundle, unchanged}, options, host, {dryRun: true});
    return {...preview, warnings: start.warnings, unchanged};
  } finally {
    for (const workspace of workspaces) await workspace.remove();
  }
}

/** Verifies a push before its first step. */
function startPush(given: DataOf<PushRuntimeBundleBackendOptions>, host: PipelineHost): PushOptions {
  const options = withFollowUps(given);
  refuseUnsafe({...options, operation: 'push'}, host);
  options.signal?.throwIfAborted();
  verifyPushOptions(options, host);
  return options;
}

function guardStep(options: PushOptions): Step<PushRoute, PushRoute> | undefined {
  const {targetSlug, guard} = options;
  if (targetSlug === undefined || !isGuarded(options)) return undefined;
  return {
    name: 'guard',
    title: `Check the guards of ${targetSlug}`,
    async task(route, host) {
      await checkPush(route.open, options, host);
      host.outlet.title(describeGuards(targetSlug, guard));
      return route;
    },
  };
}

function verifyStep(options: PushOptions): Step<PushRoute, PushPlan> {
  return {
    name: 'verify',
    title: 'Verify the build and its configuration',
    async task(route, host) {
      await callBack(() => options.onFormat?.(route.format));
      const plan = await planPush(options, route, host);
      host.outlet.title(`Verified: ${describePlan(plan)}`);
      return plan;
    },
  };
}

/** @param workspaces gets the folder of what is packed, to be removed at the end */
function buildStep(options: PushOptions, workspaces: TemporaryDirectory[]): Step<PushPlan, BuiltPush> {
  return {
    name: 'build',
    title: options.archive === undefined ? 'Build the bundle' : 'Read the prebuilt bundle',
    async task(plan, host) {
      const workspace = await host.createTemporaryDirectory();
      workspaces.push(workspace);
      const built = await buildPush(plan.open, plan.content, workspace, options, host);
      const push = {...plan, workspace, built};
      host.outlet.title(describeBuilt(push));
      return push;
    },
  };
}

function uploadStep(options: PushOptions, watch: DeploymentWatch | undefined): Step<BuiltPush, UploadedPush> {
  return {
    name: 'upload',
    title: 'Upload the bundle',
    async task(built, host) {
      const uploaded = await uploadPush(built, options, watch, host);
      host.outlet.title(describeUpload(uploaded));
      return uploaded;
    },
  };
}

function deployStep(
  targetSlug: string,
  options: PushOptions,
  watch: DeploymentWatch | undefined,
): Step<UploadedPush, DeployedPush> {
  return {
    name: 'deploy',
    title: `Deploy to ${targetSlug}`,
    async task(uploaded, host) {
      const deployed = await deployPush(uploaded, targetSlug, options, watch, host);
      const {deploymentId: id} = deployed.deployment;
      // With its ID, which may be long, it fits a terminal without the target, which has been told.
      host.outlet.title(`Deployment ${id === undefined ? `to ${targetSlug}` : String(id)} accepted`);
      return deployed;
    },
  };
}

export async function pushBundleV2(
  options: DataOf<PushV2Options>,
  auth: AuthStrategy,
  host: PipelineHost,
): Promise<PushV2Result> {
  const {result} = await pushRuntimeBundle(
    {...options, preference: 'legacy', v2: true, legacyAuth: auth, targetSlug: undefined},
    host,
  );
  const {bundleId, projectSlug, message, warnings, matches, archive, raw} = result;
  return {bundleId, projectSlug, message, warnings, matches, archive, raw: raw.bundle};
}
