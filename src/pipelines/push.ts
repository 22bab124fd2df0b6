import type {AuthStrategy} from '../http/types.js';
import type {TemporaryDirectory} from '../files/temporary-directory.js';
import {releaseOf, verifyRelease, type Release} from '../operations/deploy/release.js';
import {explainUnfinished} from '../operations/deploy/rollback-on-failure.js';
import {callBack} from '../operations/host.js';
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
import {runGuarded, withFollowUpSteps, withGuardStep} from './steps.js';
import {Pipeline} from './run.js';

export async function pushRuntimeBundle(
  input: PushRuntimeBundleBackendOptions,
  host: PipelineHost,
): Promise<Served<PushResult>> {
  const {options, release} = verifyPush(input, host);
  const workspaces: TemporaryDirectory[] = [];
  const routing = startPush(options, host, {previews: false});
  try {
    const push = await runGuarded<PushRoute, UploadedPush | DeployedPush>(routing, release, (routed) => {
      const built = withBuildStep(withVerifyStep(routed, options, release), options, workspaces);
      const uploaded = built.step('upload', 'Upload the bundle', async (packed, {outlet}) => {
        const push = await uploadPush(packed, options, release);
        outlet.title(describeUpload(push));
        return push;
      });
      if (release === undefined) return uploaded;
      const {targetSlug} = release;
      const deployed = uploaded.step('deploy', `Deploy to ${targetSlug}`, async (push, {outlet}) => {
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

export async function previewPush(input: PushRuntimeBundleBackendOptions, host: PipelineHost): Promise<PushPreview> {
  const {options, release} = verifyPush(input, host);
  const {ifChanged = false} = options;
  const workspaces: TemporaryDirectory[] = [];
  const guarded = withGuardStep(startPush(options, host, {previews: true}), release);
  const verified = withVerifyStep(guarded, options, release);
  try {
    const plan = await verified.run();
    const {open, selection, format, content} = plan;
    const preview = {selection, format, content};
    if (!ifChanged) {
      const bundle = content.kind === 'build' ? content.plan : content.bundle;
      await askBeforePush({open, bundle}, options, {dryRun: true});
      return {...preview, warnings: verified.warnings};
    }
    const {built} = await withBuildStep(verified.after(plan), options, workspaces).run();
    const unchanged = built.kind === 'unchanged' ? built.unchanged : undefined;
    await askBeforePush({open, bundle: built.bundle, unchanged}, options, {dryRun: true});
    return {...preview, warnings: verified.warnings, unchanged};
  } finally {
    for (const workspace of workspaces) await workspace.remove();
  }
}

/** Verifies a push before its first step. Without a target, there is no release. */
function verifyPush(
  input: PushRuntimeBundleBackendOptions,
  host: PipelineHost,
): {readonly options: PushOptions; readonly release: Release | undefined} {
  const options = verifyRelease('push', input, host);
  options.signal?.throwIfAborted();
  verifyPushOptions(options, host);
  const {targetSlug} = options;
  return {options, release: targetSlug === undefined ? undefined : releaseOf('push', {...options, targetSlug})};
}

function startPush(
  options: PushOptions,
  host: PipelineHost,
  {previews}: {readonly previews: boolean},
): Pipeline<PushRoute> {
  return Pipeline.start(host).step('resolve', 'Prepare', (_, run) => routePush(options, previews, run));
}

function withVerifyStep(
  routed: Pipeline<PushRoute>,
  options: PushOptions,
  release: Release | undefined,
): Pipeline<PushPlan> {
  return routed.step('verify', 'Verify the build and its configuration', async (route, {outlet}) => {
    await callBack(() => options.onFormat?.(route.format));
    const plan = await planPush(options, release, route);
    outlet.title(`Verified: ${describePlan(plan)}`);
    return plan;
  });
}

/** @param workspaces gets the folder of what is packed, to be removed at the end */
function withBuildStep(
  planned: Pipeline<PushPlan>,
  options: PushOptions,
  workspaces: TemporaryDirectory[],
): Pipeline<BuiltPush> {
  const title = options.archive === undefined ? 'Build the bundle' : 'Read the prebuilt bundle';
  return planned.step('build', title, async (plan, host) => {
    const workspace = await host.createTemporaryDirectory();
    workspaces.push(workspace);
    const push = {...plan, workspace, built: await buildPush(plan, workspace, options)};
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
