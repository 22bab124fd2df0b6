import type {
  PushPreview,
  PushResult,
  PushRuntimeBundleBackendOptions,
  PushV2Options,
  PushV2Result,
} from '../operations/push/options.js';
import type {AuthStrategy} from '../http/types.js';
import {chooseBackend, withFallback} from '../operations/choose-backend.js';
import {requireTargetUrl} from '../operations/deploy/check-deployment.js';
import {followUpCapabilities} from '../operations/deploy/release.js';
import {lookForPlace} from '../operations/deploy/new-place.js';
import {requestDeploy} from '../operations/deploy/start-deployment.js';
import {checkNotOlder} from '../operations/guard/guards.js';
import type {OpenBackend} from '../operations/open-backend.js';
import {buildPush, describeBuilt, type BuiltContent} from '../operations/push/build-push.js';
import {allowPush, describeUpload, findLostUpload, uploadTo} from '../operations/push/upload-push.js';
import {planAhead} from '../operations/push/look-ahead.js';
import {
  archivedFormat,
  describePlan,
  formatFor,
  planBuilt,
  planPush,
  uploadFallback,
} from '../operations/push/plan-push.js';
import {requestPush, type PushRequest} from '../operations/push/request.js';
import type {PipelineHost} from './host.js';
import {known, urlOf, type Facts, type Ledger} from './ledger.js';
import {accept, check, confirmNew, confirmTarget, guard, invalidateAfter, rollback, wait} from './release-steps.js';
import {runPipeline, type Rows, type Step} from './run.js';

type PushLedger = Ledger<PushRequest>;

const resolve: Step<PushRequest> = {
  name: 'resolve',
  title: 'Prepare',
  async run({request}, host) {
    const {connection, source, release, dryRun} = request;
    const capabilities = release === undefined ? [] : (['deploy', ...followUpCapabilities(release)] as const);
    const chosen = await chooseBackend(connection, {capabilities, dryRun}, host);
    const format = formatFor(chosen.open.backend, source, await archivedFormat(source));
    host.logger.debug(`Format: ${format}`);
    return {...chosen, format};
  },
};

const verify: Step<PushRequest> = {
  name: 'verify',
  title: 'Check that the push can succeed',
  async run(ledger, {outlet}) {
    const {request, open, selection, format, fallback} = known(ledger, 'open', 'selection', 'format');
    const {connection, source, release, lastPush, dryRun} = request;
    // Before anything is packed: there will be a URL to check.
    if (release) await requireTargetUrl(open, release);
    const planning = () => planPush(open, source, format);
    const mayFallBack = fallback !== undefined;
    const coming = {format, release, ifChanged: lastPush.ifChanged, mayFallBack};
    const plan = async () => (dryRun ? {content: await planning()} : planAhead(open, coming, planning));
    // A dry run of an upload sends nothing: nobody has confirmed its address.
    const isSilent = selection.unconfigured !== undefined || (dryRun && release === undefined);
    const look = async () => (isSilent ? {} : lookForPlace(open, {...connection, dryRun, mayFallBack}));
    const [planned, listed] = await Promise.all([plan(), look()]);
    outlet.title(`Verified: ${describePlan(planned.content)}`);
    return {...planned, ...listed};
  },
};

const build: Step<PushRequest> = {
  name: 'build',
  title: ({request}) => (request.source.archive === undefined ? 'Build the bundle' : 'Read the prebuilt bundle'),
  due: ({request}) => !request.dryRun || request.lastPush.ifChanged,
  async run(ledger, host) {
    const {request, open, content} = known(ledger, 'open', 'content');
    ledger.workspace = await host.createTemporaryDirectory();
    const built = await buildPush(open, content, ledger.workspace, request.lastPush);
    host.outlet.title(describeBuilt(built, content));
    return {built};
  },
};

/** With `auto`, falls back from Api to legacy after a definite rejection. After an upload, nothing falls back. */
const upload: Step<PushRequest> = {
  name: 'upload',
  title: 'Upload the bundle',
  async run(ledger, {outlet}) {
    const {request, selection, open, fallback, content, built} = known(ledger, 'selection', 'open', 'content', 'built');
    try {
      const uploaded = await withFallback(
        {selection, open, fallback},
        {
          reasonFor: (error) => uploadFallback(error, content, fallback, request.source),
          first: () => uploadTo(open, built, request),
          second: async (other) => uploadTo(other, await buildAgain(ledger, other), request),
        },
      );
      outlet.title(describeUpload(known(ledger, 'open').open, uploaded));
      return uploaded;
    } catch (error) {
      const {message} = built.bundle;
      const {open: asked, sent} = ledger;
      if (asked && sent) ledger.lost = await findLostUpload(error, asked, {message, at: sent.at});
      throw error;
    }
  },
};

/** Builds for another backend: again, unless what is packed fits. */
async function buildAgain(ledger: PushLedger, open: OpenBackend): Promise<BuiltContent> {
  const {request, built, workspace} = known(ledger, 'built', 'workspace');
  const {connection, source, release, lastPush} = request;
  const format = formatFor(open.backend, source);
  Object.assign(ledger, {open, format, noted: undefined});
  // The target of the other backend may run another commit.
  if (release) await checkNotOlder(release, open);
  await lookForPlace(open, {...connection, confirmNew: undefined});
  const isFit = built.kind === 'file' && built.bundle.format === format;
  const content = isFit ? {kind: 'archive' as const, bundle: built.bundle} : await planBuilt(open, source, format);
  ledger.built = await buildPush(open, content, workspace, lastPush);
  return ledger.built;
}

const deploy: Step<PushRequest> = {
  name: 'deploy',
  title: ({release}) => `Deploy to ${String(release?.targetSlug)}`,
  due: ({release}) => release !== undefined,
  async run(ledger, {outlet}) {
    const {open, release, bundleId, uploaded, before, noted} = known(ledger, 'open', 'release', 'bundleId');
    const isDone = uploaded?.deployment !== undefined;
    const accepted = isDone
      ? {answer: {deployment: uploaded.deployment, status: 'queued' as const}, before}
      : // Others may have deployed a bundle that was there before.
        await requestDeploy(open, release, {bundleId, noted: uploaded && noted});
    await accept(ledger, accepted);
    outlet.title(`Deployment to ${release.targetSlug} accepted`);
    return {};
  },
};

/** The steps after `upload` need a target. If a step fails, only `rollback` still runs. */
const pushRows: Rows<PushRequest> = [
  resolve,
  guard, // if a guard is active
  confirmTarget, // asks for the name of the target, if its guards want that
  verify,
  confirmNew, // asks, if the target or the project is new and may be mistyped
  build,
  upload, // changes the service
  deploy, // changes the service, unless the upload has deployed it
  wait, // with `wait`, or if something below needs it
  check, // with checks
  invalidateAfter, // with patterns; changes the service
  rollback, // with `rollbackOnFailure`, if the deployment or a check failed for certain; changes the service
];

/** Does everything that a push does before it sends anything that writes. */
const previewRows: Rows<PushRequest> = [resolve, guard, verify, confirmNew, build];

export async function pushRuntimeBundle(
  options: PushRuntimeBundleBackendOptions,
  host: PipelineHost,
  facts?: Facts,
): Promise<PushLedger> {
  return runPipeline(pushRows, requestPush(options, host), host, facts);
}

export async function previewPush(options: PushRuntimeBundleBackendOptions, host: PipelineHost): Promise<PushPreview> {
  const request = {...requestPush(options, host), dryRun: true};
  const ledger = await runPipeline(previewRows, request, host);
  const {open, selection, format, content, built, warnings} = known(ledger, 'open', 'selection', 'format', 'content');
  const planned = content.kind === 'build' ? content.plan : content.bundle;
  const unchanged = built?.kind === 'unchanged' ? built.unchanged : undefined;
  const {targetSlug} = options;
  await allowPush(open, {targetSlug, bundle: built?.bundle ?? planned, unchanged, dryRun: true});
  return {selection, format, content, warnings, unchanged};
}

export function pushResult(ledger: PushLedger): PushResult {
  const {open, release, bundleId, built, bundle, warnings, ...more} = known(
    ledger,
    'open',
    'bundleId',
    'built',
    'bundle',
  );
  const {uploaded, deployment, status, raw, check: checked} = more;
  const unchanged = built.kind === 'unchanged' ? built.unchanged : undefined;
  const {format, sha256, contentSha256, size, files} = bundle;
  return {
    ...open.project,
    bundleId,
    targetSlug: release?.targetSlug,
    message: unchanged?.message ?? bundle.message,
    unchanged: unchanged !== undefined,
    pushedAt: unchanged?.pushedAt,
    deployed: deployment !== undefined,
    deploymentId: deployment?.deploymentId,
    url: urlOf(ledger),
    deployment,
    status,
    warnings,
    matches: uploaded?.matches ?? {},
    archive: {format, sha256, contentSha256, size, files: files.length},
    provenance: bundle.provenance,
    raw: {bundle: uploaded?.raw, ...(raw !== undefined && {deployment: raw})},
    ...(checked && {check: checked}),
  };
}

export async function pushBundleV2(
  options: PushV2Options,
  auth: AuthStrategy,
  host: PipelineHost,
): Promise<PushV2Result> {
  const push = {...options, preference: 'legacy', v2: true, legacyAuth: auth, targetSlug: undefined} as const;
  const result = pushResult(await pushRuntimeBundle(push, host));
  const {bundleId, projectSlug, message, warnings, matches, archive, raw} = result;
  return {bundleId, projectSlug, message, warnings, matches, archive, raw: raw.bundle};
}
