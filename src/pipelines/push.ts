import type {AuthStrategy} from '../http/types.js';
import type {TemporaryDirectory} from '../files/temporary-directory.js';
import {withFollowUps} from '../operations/deploy/check-deployment.js';
import {explainUnfinished, watchForRollback} from '../operations/deploy/rollback-on-failure.js';
import {askForTarget, checkPush, describeGuards, isGuarded, watchPush} from '../operations/guard/guards.js';
import {refuseUnsafe} from '../operations/guard/safety.js';
import {callBack} from '../operations/host.js';
import type {WithoutCallbacks} from '../operations/outlet.js';
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
import {resolveStep, withCheck, withRollback} from './steps.js';
import {Pipeline, runGuarded, type Step} from './run.js';

export async function pushRuntimeBundle(
  given: WithoutCallbacks<PushRuntimeBundleBackendOptions>,
  host: PipelineHost,
): Promise<PushResult> {
  return (await servePush(given, host)).result;
}

/** Makes a push, and says which backend has served it. */
export async function servePush(
  given: WithoutCallbacks<PushRuntimeBundleBackendOptions>,
  host: PipelineHost,
): Promise<Served<PushResult>> {
  const options = startPush(given, host);
  const {projectSlug, targetSlug} = options;
  const rollback = watchForRollback(options);
  const watch = watchPush(rollback, options, host);
  const workspaces: TemporaryDirectory[] = [];
  const start = Pipeline.start(host);
  const uploading = (routed: Pipeline<PushRoute>) =>
    routed
      .step(verifyStep(options, host))
      .step(buildStep(options, host, workspaces))
      .step({
        name: 'upload',
        title: 'Upload the bundle',
        async task(built, outlet) {
          const uploaded = await uploadPush(built, options, watch, host, outlet);
          outlet.title(describeUpload(uploaded));
          return uploaded;
        },
      });
  const deploying = (uploaded: Pipeline<UploadedPush>, target: string): Pipeline<DeployedPush> => {
    const deployed = uploaded.step({
      name: 'deploy',
      title: `Deploy to ${target}`,
      async task(push, outlet) {
        const accepted = await deployPush(push, target, options, watch, host, outlet);
        const {deploymentId: id} = accepted.deployment;
        // With its ID, which may be long, it fits a terminal without the target, which has been told.
        outlet.title(`Deployment ${id === undefined ? `to ${target}` : String(id)} accepted`);
        return accepted;
      },
    });
    const waited = !options.wait
      ? deployed
      : deployed.step({
          name: 'wait',
          title: 'Wait for the deployment',
          async task(push, outlet) {
            const finished = await waitForPush(push, options, host, outlet);
            outlet.title(`Deployed to ${target}`);
            return finished;
          },
        });
    return withRollback(withCheck(waited, options, host), rollback, options, host);
  };
  try {
    const push = await runGuarded<PushRoute, UploadedPush | DeployedPush>({
      finding: start.step(resolveStep((outlet) => routePush(options, false, host, outlet))),
      guard: guardStep(options, host),
      ask: async () => {
        if (targetSlug !== undefined) await askForTarget({operation: 'push', projectSlug, targetSlug}, options);
      },
      changing: (routed) => (targetSlug === undefined ? uploading(routed) : deploying(uploading(routed), targetSlug)),
    });
    return {open: push.open, result: pushResult(push, start.warnings)};
  } catch (error) {
    throw explainUnfinished(error, rollback);
  } finally {
    for (const workspace of workspaces) await workspace.remove();
  }
}

export async function previewPush(
  given: WithoutCallbacks<PushRuntimeBundleBackendOptions>,
  host: PipelineHost,
): Promise<PushPreview> {
  const options = startPush(given, host);
  const {ifChanged = false} = options;
  const workspaces: TemporaryDirectory[] = [];
  const start = Pipeline.start(host);
  try {
    const plan = await runGuarded<PushRoute, PushPlan>({
      finding: start.step(resolveStep((outlet) => routePush(options, true, host, outlet))),
      guard: guardStep(options, host),
      ask: () => Promise.resolve(),
      changing: (routed) => routed.step(verifyStep(options, host)),
    });
    const {open, selection, format, content} = plan;
    const planned = content.kind === 'build' ? content.plan : content.bundle;
    const preview = {selection, format, content};
    if (!ifChanged) {
      await askBeforePush({open, bundle: planned}, options, host, {dryRun: true});
      return {...preview, warnings: start.warnings};
    }
    const {built} = await start
      .after(plan)
      .step(buildStep(options, host, workspaces))
      .run();
    const unchanged = built.kind === 'unchanged' ? built.unchanged : undefined;
    await askBeforePush({open, bundle: built.bundle, unchanged}, options, host, {dryRun: true});
    return {...preview, warnings: start.warnings, unchanged};
  } finally {
    for (const workspace of workspaces) await workspace.remove();
  }
}

/** Verifies a push before its first step. */
function startPush(given: WithoutCallbacks<PushRuntimeBundleBackendOptions>, host: PipelineHost): PushOptions {
  const options = withFollowUps(given);
  refuseUnsafe({...options, operation: 'push'}, host);
  options.signal?.throwIfAborted();
  verifyPushOptions(options, host);
  return options;
}

function guardStep(options: PushOptions, host: PipelineHost): Step<PushRoute, PushRoute> | undefined {
  const {targetSlug, guard} = options;
  if (targetSlug === undefined || !isGuarded(options)) return undefined;
  return {
    name: 'guard',
    title: `Check the guards of ${targetSlug}`,
    async task(route, outlet) {
      await checkPush(route.open, options, host);
      outlet.title(describeGuards(targetSlug, guard));
      return route;
    },
  };
}

function verifyStep(options: PushOptions, host: PipelineHost): Step<PushRoute, PushPlan> {
  return {
    name: 'verify',
    title: 'Verify the build and its configuration',
    async task(route, outlet) {
      await callBack(() => options.onFormat?.(route.format));
      const plan = await planPush(options, route, host, outlet);
      outlet.title(`Verified: ${describePlan(plan)}`);
      return plan;
    },
  };
}

/** @param workspaces gets the folder of what is packed, to be removed at the end */
function buildStep(
  options: PushOptions,
  host: PipelineHost,
  workspaces: TemporaryDirectory[],
): Step<PushPlan, BuiltPush> {
  return {
    name: 'build',
    title: options.archive === undefined ? 'Build the bundle' : 'Read the prebuilt bundle',
    async task(plan, outlet) {
      const workspace = await host.createTemporaryDirectory();
      workspaces.push(workspace);
      const built = await buildPush(plan.open, plan.content, workspace, options, host, outlet);
      const push = {...plan, workspace, built};
      outlet.title(describeBuilt(push));
      return push;
    },
  };
}

export async function pushBundleV2(
  options: WithoutCallbacks<PushV2Options>,
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
