import {shownUrl} from '../../backends/answers.js';
import {amendError, interrupted, isRuntimeCliError} from '../../errors/index.js';
import {advises, checkBeforeRetrying, type Suggestion} from '../../errors/suggestion.js';
import {mayBeDone} from '../call-backend.js';
import type {AcceptedDeployment, Release} from '../deploy/release.js';
import {acceptDeployment, isOwnReason, requestDeploy, waitForAccepted} from '../deploy/start-deployment.js';
import type {PushResult} from './options.js';
import type {UploadedPush} from './upload-push.js';

/** A push whose bundle is deployed, or being deployed. */
export interface DeployedPush extends UploadedPush, AcceptedDeployment {
  readonly release: Release;
}

/** Deploys an uploaded bundle, unless the upload already did. */
export async function deployPush(push: UploadedPush, release: Release): Promise<DeployedPush> {
  const {open, bundleId, uploaded} = push;
  // Others may have deployed a bundle that was there before.
  const noted = uploaded && push.noted;
  const accepted = uploaded?.deployment
    ? acceptDeployment(open, release, bundleId, {deployment: uploaded.deployment, status: 'queued'})
    : await requestDeploy(open, release, {bundleId, noted}).catch((error: unknown) => {
        throw afterUpload(error, push, release.targetSlug);
      });
  const url = accepted.url ?? shownUrl(uploaded?.url);
  if (url !== undefined) open.host.writes?.learn({url});
  return {...push, ...accepted};
}

export async function waitForPush(push: DeployedPush): Promise<DeployedPush> {
  return waitForAccepted(push).catch((error: unknown) => {
    throw afterAcceptance(error, push);
  });
}

/** What a push without a target, or with one, resolves to. */
export function pushResult(
  push: UploadedPush & Partial<Omit<DeployedPush, keyof UploadedPush>>,
  warnings: readonly string[],
): PushResult {
  const {open, release, bundleId, built, bundle, uploaded, deployment, status, raw, check} = push;
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
    url: push.url ?? shownUrl(uploaded?.url),
    deployment,
    status,
    warnings,
    matches: uploaded?.matches ?? {},
    archive: {format, sha256, contentSha256, size, files: files.length},
    provenance: bundle.provenance,
    raw: {bundle: uploaded?.raw, ...(raw !== undefined && {deployment: raw})},
    ...(check && {check}),
  };
}

/** The error of a wait. It must not hide that the bundle was uploaded. */
function afterAcceptance(error: unknown, push: DeployedPush): unknown {
  const {open, release} = push;
  if (!isRuntimeCliError(error) || isOwnReason(error, open)) return error;
  if (error.code === 'ERR_DEPLOYMENT_FAILED') return afterUpload(error, push, release.targetSlug);
  const bundle = `${describeUploaded(push)}.`;
  if (error.code === 'ERR_INTERRUPTED') return interrupted(error, bundle);
  return amendError(error, {message: `${bundle} ${error.message}`});
}

/** The error of a deployment after an upload. It must not hide that the bundle was uploaded. */
function afterUpload(error: unknown, push: UploadedPush, targetSlug: string): unknown {
  const {open, bundleId} = push;
  if (!isRuntimeCliError(error) || isOwnReason(error, open)) return error;
  const {code} = error;
  const bundle = describeUploaded(push);
  const details = {bundleId};
  const isInterrupted = code === 'ERR_INTERRUPTED';
  if (isInterrupted && error.details?.['deploymentRequested'] === false)
    return interrupted(error, `${bundle}.`, {suggestions: deployLater(push, targetSlug), details});
  const mayHaveStarted = isInterrupted || code === 'ERR_OUTCOME_UNKNOWN';
  const hasFailed = code === 'ERR_DEPLOYMENT_FAILED';
  const look = mayHaveStarted || hasFailed || mayBeDone(error) ? lookFirst(push, targetSlug) : [];
  // More than that the bundle exists is known here.
  const advice = look.length > 0 ? error.advice.filter((each) => each !== checkBeforeRetrying) : error.advice;
  const suggestions = [
    ...(advises('bundle:history', advice) ? [] : look),
    ...(mayHaveStarted || hasFailed ? [] : deployLater(push, targetSlug)),
  ];
  const started = `${bundle}, and its deployment to ${targetSlug} may have started`;
  if (isInterrupted) return interrupted(error, `${started}.`, {suggestions, details});
  const state = mayHaveStarted ? started : `${bundle}, but deploying it to ${targetSlug} failed`;
  return amendError(error, {message: `${state}: ${error.message}`, advice, suggestions, details});
}

function describeUploaded({bundleId, uploaded}: UploadedPush): string {
  return `Bundle ${String(bundleId)} ${uploaded === undefined ? 'is unchanged' : 'was uploaded'}`;
}

/** How to look whether a deployment has started, if the backend can tell. */
function lookFirst({open}: UploadedPush, targetSlug: string): readonly Suggestion[] {
  if (open.backend.listDeployments === undefined) return [];
  return ['Check before you deploy it again:', [{run: ['bundle:history', ...open.flags(targetSlug)]}]];
}

function deployLater({open, bundleId}: UploadedPush, targetSlug: string): readonly Suggestion[] {
  const command = ['bundle:deploy', bundleId, ...open.flags(targetSlug)];
  return ['To deploy it without another upload, run:', [{run: command}]];
}
