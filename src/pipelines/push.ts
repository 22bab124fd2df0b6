import type {AuthStrategy} from '../http/types.js';
import type {TemporaryDirectory} from '../files/temporary-directory.js';
import {explainUnfinished} from '../operations/deploy/rollback-on-failure.js';
import {buildPush, describeBuilt, type BuiltPush} from '../operations/push/build-push.js';
import {deployPush, pushResult, waitForPush, type DeployedPush} from '../operations/push/deploy-push.js';
import type {
  PushResult,
  PushRuntimeBundleBackendOptions,
  PushV2Options,
  PushV2Result,
} from '../operations/push/options.js';
import {planAhead} from '../operations/push/look-ahead.js';
import {
  describePlan,
  planPush,
  routePush,
  verifyPush,
  type PushPlan,
  type PushPreview,
  type PushRoute,
  type VerifiedPush,
} from '../operations/push/plan-push.js';
import {askBeforePush, describeUpload, uploadPush, type UploadedPush} from '../operations/push/upload-push.js';
import type {PipelineHost} from './host.js';
import type {Served} from './next-steps.js';
import {runGuarded, withFollowUpSteps, withGuardStep} from './steps.js';
import {Pipeline} from './run.js';

export async function pushRuntimeBundle(
  options: PushRuntimeBundleBackendOptions,
  host: PipelineHost,
): Promise<Served<PushResult>> {
  const verified = verifyPush(options, host);
  const {release} = verified;
  const workspaces: TemporaryDirectory[] = [];
  const routing = startPush(verified, host, {previews: false});
  try {
    const push = await runGuarded<PushRoute, UploadedPush | DeployedPush>(routing, release, (routed) => {
      const built = withBuildStep(withVerifyStep(routed, planAhead), options, workspaces);
      const uploaded = built.change('upload', 'Upload the bundle', async (packed, {outlet}) => {
        const push = await uploadPush(packed);
        outlet.title(describeUpload(push));
        return push;
      });
      if (release === undefined) return uploaded;
      const {targetSlug} = release;
      const deployed = uploaded.change('deploy', `Deploy to ${targetSlug}`, async (push, {outlet}) => {
        const accepted = await deployPush(push, release);
        const {deploymentId: id} = accepted.deployment;
        // With its ID, which may be long, it fits a terminal without the target, which has been told.
        outlet.title(`Deployment ${id === undefined ? `to ${targetSlug}` : String(id)} accepted`);
        return accepted;
      });
      return withFollowUpSteps(deployed, release, waitForPush);
    });
    return {open: push.open, result: pushResult(push, routing.warnings)};
  } catch (error) {
    throw explainUnfinished(error, release);
  } finally {
    for (const workspace of workspaces) await workspace.remove();
  }
}

export async function previewPush(options: PushRuntimeBundleBackendOptions, host: PipelineHost): Promise<PushPreview> {
  const push = verifyPush(options, host);
  const {ifChanged = false} = options;
  const workspaces: TemporaryDirectory[] = [];
  const guarded = withGuardStep(startPush(push, host, {previews: true}), push.release);
  const verified = withVerifyStep(guarded, planPush);
  try {
    const plan = await verified.run();
    const {open, selection, format, content} = plan;
    const planned = content.kind === 'build' ? content.plan : content.bundle;
    const built = ifChanged ? (await withBuildStep(verified.after(plan), options, workspaces).run()).built : undefined;
    const unchanged = built?.kind === 'unchanged' ? built.unchanged : undefined;
    const {targetSlug} = options;
    await askBeforePush({open, targetSlug, bundle: built?.bundle ?? planned, unchanged}, {dryRun: true});
    return {selection, format, content, warnings: verified.warnings, unchanged};
  } finally {
    for (const workspace of workspaces) await workspace.remove();
  }
}

function startPush(
  push: VerifiedPush,
  host: PipelineHost,
  {previews}: {readonly previews: boolean},
): Pipeline<PushRoute> {
  return Pipeline.start(host).step('resolve', 'Prepare', (_, run) => routePush(push, previews, run));
}

function withVerifyStep(routed: Pipeline<PushRoute>, makePlan: typeof planPush): Pipeline<PushPlan> {
  return routed.step('verify', 'Verify the build and its configuration', async (route, {outlet}) => {
    const plan = await makePlan(route);
    outlet.title(`Verified: ${describePlan(plan)}`);
    return plan;
  });
}

/** @param workspaces gets the folder of what is packed, to be removed at the end */
function withBuildStep(
  planned: Pipeline<PushPlan>,
  options: PushRuntimeBundleBackendOptions,
  workspaces: TemporaryDirectory[],
): Pipeline<BuiltPush> {
  const title = options.archive === undefined ? 'Build the bundle' : 'Read the prebuilt bundle';
  return planned.step('build', title, async (plan, host) => {
    const workspace = await host.createTemporaryDirectory();
    workspaces.push(workspace);
    const push = await buildPush(plan, workspace);
    host.outlet.title(describeBuilt(push));
    return push;
  });
}

export async function pushBundleV2(
  options: PushV2Options,
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
