import {shownUrl} from '../../backends/answers.js';
import type {DeployResult, DeploymentState} from '../../backends/contract.js';
import type {BundleContent, PackResult} from '../../bundle/types.js';
import {amendError, isRuntimeCliError} from '../../errors/index.js';
import {commandLine, flagValue} from '../../errors/suggest.js';
import type {AuthStrategy} from '../../http/types.js';
import {checkDeployment, checksOf, followUpSteps, withFollowUps} from '../deploy/check-deployment.js';
import {requestDeploy} from '../deploy/request-deploy.js';
import {watchForRollback, orRollBack} from '../deploy/rollback-on-failure.js';
import {waitForDeployment} from '../deploy/wait-for-deployment.js';
import {refuseUnsafe} from '../guard/safety.js';
import {openBackend, registryOf} from '../open-backend.js';
import type {
  ArchiveSummary,
  PushResult,
  PushRuntimeBundleBackendOptions,
  PushV2Options,
  PushV2Result,
} from '../options.js';
import {resolveStep, verifyStep, warnAll, watched, type Host, type RunStep, type StepView} from '../steps.js';
import {mustPackForLimits, planPush, routePush, type PushPlan, type PushPreview} from './plan-push.js';
import {guardPush, watchPush} from './guard-push.js';
import {
  askBeforePush,
  buildPush,
  comparePush,
  uploadPush,
  withView,
  type AskedPush,
  type UploadedPush,
} from './upload-push.js';

/** The accepted deployment of a push, and its outcome if we waited for it. */
type DeployedPush = Pick<DeployResult, 'deployment' | 'status' | 'url' | 'warnings' | 'raw'>;

const buildStep = ({archive}: PushRuntimeBundleBackendOptions) =>
  ({name: 'build', title: archive === undefined ? 'Build the bundle' : 'Read the prebuilt bundle'}) as const;

/**
 * Builds a bundle, uploads it to the backend that `preference` selects, and deploys it if there is a target.
 * @throws RuntimeCliError for everything a user can cause; `signal.reason` when aborted.
 */
export async function pushRuntimeBundle(given: PushRuntimeBundleBackendOptions, host: Host): Promise<PushResult> {
  const options = withFollowUps(given);
  const {targetSlug} = options;
  refuseUnsafe({...options, operation: 'push'}, host);
  const route = await guardPush(options, host);
  const steps = [
    ...(route === undefined ? [resolveStep] : []),
    verifyStep,
    buildStep(options),
    {name: 'upload', title: 'Upload the bundle'},
    ...(targetSlug === undefined
      ? []
      : [{name: 'deploy', title: `Deploy to ${targetSlug}`} as const, ...followUpSteps(options)]),
  ] as const;
  return host.runSteps(steps, async (step) => {
    const chosen = route ?? (await step('resolve', (view) => routePush(options, host, view)));
    const watch = watchForRollback(options);
    const planned = await step('verify', (view) => planPush(options, chosen, host, view));
    const plan = {...planned, watch: watchPush(watch, options, host)};
    const workspace = await host.createTemporaryDirectory();
    try {
      const content = await step('build', (view) => buildPush(plan, chosen.selection.backend, workspace, host, view));
      const uploaded = await step('upload', (view) => uploadPush(plan, content, workspace, host, view));
      if (targetSlug === undefined) return pushResult(plan, uploaded, host);
      return await orRollBack({options, watch, host, step}, async () => {
        const deployed = await step('deploy', (view) => deployPush(plan, uploaded, targetSlug, host, view));
        return settlePush(plan, uploaded, {...deployed, targetSlug}, host, step);
      });
    } finally {
      await workspace.remove();
    }
  });
}

/** Waits for the deployment of a push and checks it, as the options say. */
async function settlePush(
  plan: PushPlan,
  uploaded: UploadedPush,
  {targetSlug, ...deployed}: DeployedPush & {readonly targetSlug: string},
  host: Host,
  step: RunStep<'wait' | 'check'>,
): Promise<PushResult> {
  const {options} = plan;
  const settled = options.wait
    ? await step('wait', (view) => waitForPush(plan, uploaded, deployed, host, view))
    : deployed;
  const url = shownUrl(settled.url) ?? shownUrl(uploaded.result.url);
  const result = pushResult(plan, uploaded, host, {...settled, url});
  const checks = checksOf(options);
  if (checks.length === 0) return result;
  const check = await step('check', (view) => checkDeployment({...options, ...result, targetSlug}, checks, host, view));
  return {...result, check};
}

/**
 * Does everything a push does before it sends anything that writes: verifies the push, and with `ifChanged` builds the
 * bundle and compares it with the last one pushed.
 * @throws RuntimeCliError for everything that would make the push fail before it sends anything.
 */
export async function previewPush(given: PushRuntimeBundleBackendOptions, host: Host): Promise<PushPreview> {
  const options = withFollowUps(given);
  refuseUnsafe({...options, operation: 'push'}, host);
  const guarded = await guardPush(options, host, {asks: false});
  const comparing = [buildStep(options), {name: 'compare', title: 'Compare with the last push'}] as const;
  const steps = [
    ...(guarded === undefined ? [resolveStep] : []),
    verifyStep,
    ...(options.ifChanged ? comparing : []),
  ] as const;
  return host.runSteps(steps, async (step) => {
    const route = guarded ?? (await step('resolve', (view) => routePush(options, host, view)));
    const plan = await step('verify', async (view) => {
      const verified = await planPush(options, route, host, view);
      if (!options.ifChanged && (await mustPackForLimits(verified))) await tryToPack(verified, host, view);
      return verified;
    });
    const {backend} = route.selection;
    const ask = (bundle: AskedPush['bundle'], unchanged?: AskedPush['unchanged']) =>
      askBeforePush({backend, plan, bundle, unchanged}, host, {dryRun: true});
    if (!options.ifChanged) {
      await ask(plan.content.kind === 'build' ? plan.content.plan : plan.content.bundle);
      return plan;
    }
    const workspace = await host.createTemporaryDirectory();
    try {
      const content = await step('build', (view) => buildPush(plan, backend, workspace, host, view));
      const {unchanged} = await step('compare', async (view) => {
        const compared = await comparePush(backend, withView(plan, view), content, host);
        const last = compared.unchanged;
        view.done(last ? `Unchanged since bundle ${String(last.bundleId)}` : 'Changed since the last push');
        warnAll(view, compared.warnings);
        return compared;
      });
      await ask(content.bundle, unchanged);
      return {...plan, unchanged};
    } finally {
      await workspace.remove();
    }
  });
}

/** Packs a bundle to verify that it is within the limits of the backend. */
async function tryToPack(plan: PushPlan, host: Host, view: StepView): Promise<void> {
  const workspace = await host.createTemporaryDirectory();
  try {
    await buildPush(plan, plan.selection.backend, workspace, host, view);
  } finally {
    await workspace.remove();
  }
}

/**
 * Deploys an uploaded bundle, unless the upload already did.
 * @throws RuntimeCliError saying which bundle was uploaded and how to deploy it, with `details.bundleId`.
 */
async function deployPush(
  plan: PushPlan,
  uploaded: UploadedPush,
  targetSlug: string,
  host: Host,
  view: StepView,
): Promise<DeployedPush> {
  const {result} = uploaded;
  const options = watched(plan.options, view);
  const request = async (): Promise<DeployResult> => {
    const open = await openBackend(uploaded.backend, 'deploy', options, host);
    return requestDeploy(open, {bundleId: result.bundleId, targetSlug}, {...options, watch: plan.watch});
  };
  const deployed: DeployedPush = result.deployment
    ? {deployment: result.deployment, status: 'queued', raw: undefined}
    : await afterUpload(plan, uploaded, request, {accepted: false, host});
  plan.watch?.note({bundleId: result.bundleId, deployment: deployed.deployment});
  host.writes?.learn({deployment: deployed.deployment, status: deployed.status});
  const {deploymentId: id} = deployed.deployment;
  // With its ID, which may be long, it fits a terminal without the target, which has been told.
  view.done(`Deployment ${id === undefined ? `to ${targetSlug}` : String(id)} accepted`);
  warnAll(view, deployed.warnings ?? []);
  return deployed;
}

/**
 * Waits for the deployment of a push to end.
 * @throws RuntimeCliError saying which bundle was uploaded, with `details.bundleId`. It only says how to deploy it if
 * the deployment failed, since one that is still running must not be repeated.
 */
async function waitForPush(
  plan: PushPlan,
  uploaded: UploadedPush,
  deployed: DeployedPush,
  host: Host,
  view: StepView,
): Promise<DeployedPush> {
  const options = {...watched(plan.options, view), backend: uploaded.backend, deployment: deployed.deployment};
  const wait = (): Promise<DeploymentState> => waitForDeployment(options, host);
  const state = await afterUpload(plan, uploaded, wait, {accepted: true, host});
  view.done(`Deployed to ${String(plan.options.targetSlug)}`);
  return {...deployed, status: state.status, url: state.url ?? deployed.url};
}

/** The result of a push. */
function pushResult(plan: PushPlan, uploaded: UploadedPush, host: Host, deployed?: DeployedPush): PushResult {
  const {projectSlug, targetSlug} = plan.options;
  const {backend, bundle, result, unchanged} = uploaded;
  const url = deployed === undefined ? shownUrl(result.url) : deployed.url;
  host.writes?.learn({status: deployed?.status, url});
  return {
    backend,
    bundleId: result.bundleId,
    projectSlug,
    targetSlug,
    message: unchanged?.message ?? bundle.message,
    unchanged: unchanged !== undefined,
    pushedAt: unchanged?.pushedAt,
    deployed: deployed !== undefined,
    deploymentId: deployed?.deployment.deploymentId,
    url,
    deployment: deployed?.deployment,
    status: deployed?.status,
    warnings: [...plan.warnings, ...uploaded.warnings, ...(deployed?.warnings ?? [])],
    matches: result.matches ?? {},
    archive: summarizeArchive(bundle),
    provenance: bundle.provenance,
    raw: {bundle: result.raw, ...(deployed?.raw === undefined ? {} : {deployment: deployed.raw})},
  };
}

/** Format, digests and size of an archive. */
function summarizeArchive(bundle: BundleContent & PackResult): ArchiveSummary {
  const {format, sha256, contentSha256, size, files} = bundle;
  return {format, sha256, contentSha256, size, files: files.length};
}

/**
 * Runs what follows an upload. Its failure or interruption must not hide that the bundle was uploaded.
 * @param accepted Whether the deployment has been accepted.
 */
async function afterUpload<Result>(
  plan: PushPlan,
  uploaded: UploadedPush,
  run: () => Promise<Result>,
  {accepted, host}: {readonly accepted: boolean; readonly host: Host},
): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    const interrupted = isRuntimeCliError(error) && error.code === 'ERR_INTERRUPTED';
    // A caller's own reason for an abort is passed on unchanged.
    if (!isRuntimeCliError(error) || (plan.options.signal?.aborted && !interrupted)) throw error;
    const {projectSlug, targetSlug = ''} = plan.options;
    const id = String(uploaded.result.bundleId);
    const bundle = uploaded.unchanged ? `Bundle ${id} is unchanged` : `Bundle ${id} was uploaded`;
    const details = {bundleId: uploaded.result.bundleId};
    if (accepted && error.code !== 'ERR_DEPLOYMENT_FAILED') {
      const message = interrupted ? `${error.message} ${bundle}.` : `${bundle}. ${error.message}`;
      throw amendError(error, {message, details});
    }
    const where = [
      ...flagValue('--project', projectSlug),
      ...flagValue('--target', targetSlug),
      ...flagValue('--runtime-backend', uploaded.backend),
    ];
    const command = (...args: readonly string[]) => commandLine(...args, ...where, ...(host.commandFlags ?? []));
    const requested = error.details?.['deploymentRequested'] !== false;
    const unclear = (interrupted && requested) || error.code === 'ERR_OUTCOME_UNKNOWN';
    const mayHaveStarted = `${bundle}, and its deployment to ${targetSlug} may have started`;
    const message = interrupted
      ? `${error.message} ${requested ? mayHaveStarted : bundle}.`
      : unclear
        ? `${mayHaveStarted}: ${error.message}`
        : `${bundle}, but deploying it to ${targetSlug} failed: ${error.message}`;
    const hasHistory = registryOf(plan.options).get(uploaded.backend).listDeployments !== undefined;
    const mustLook = unclear || error.code === 'ERR_SERVER' || error.code === 'ERR_RESPONSE_INVALID';
    const history = command('bundle:history');
    throw amendError(error, {
      message,
      suggestions: [
        ...(mustLook && hasHistory && !error.suggestions.includes(history)
          ? ['Check before you deploy it again:', history]
          : []),
        ...(unclear ? [] : ['To deploy it without another upload, run:', command('bundle:deploy', id)]),
      ],
      details,
    });
  }
}

/**
 * Builds a v2 bundle and uploads it to the legacy origin, without deploying it.
 * @throws RuntimeCliError for everything a user can cause; `signal.reason` when aborted.
 */
export async function pushBundleV2(options: PushV2Options, auth: AuthStrategy, host: Host): Promise<PushV2Result> {
  const result = await pushRuntimeBundle(
    {...options, preference: 'legacy', v2: true, legacyAuth: auth, targetSlug: undefined},
    host,
  );
  const {bundleId, projectSlug, message, warnings, matches, archive, raw} = result;
  return {bundleId, projectSlug, message, warnings, matches, archive, raw: raw.bundle};
}
