import * as v from 'valibot';
import {answer, json, HttpFailure, validate} from '../answer.js';
import {param, type AdmittedCall, type Protocol} from '../context.js';
import {deploymentState, type DeploymentState} from '../store/deployments.js';
import type {BundleRecord, DeploymentRecord} from '../store/records.js';
import {receiveV1, receiveV2, type AcceptedUpload} from '../upload/receive-bundle.js';
import {admitLegacy} from './admission.js';
import {presignedUrl} from './archive-protocol.js';
import {siteUrlFor} from './site-address.js';
import {deleteBundle, findBundle, maxDeletedBundles, readRange, slice} from './requested-records.js';

/** Where the paths of the legacy backend start. */
export const legacyPrefix = '/api/';

/** The protocol of the legacy backend. */
export const legacyProtocol: Protocol = {
  prefix: legacyPrefix,
  routes: [
    {method: 'GET', path: '/api/projects/', name: 'projects', handle: listProjects},
    {method: 'POST', path: '/api/projects/{projectSlug}/builds/', name: 'upload', handle: pushV1},
    {method: 'POST', path: '/api/projects/{projectSlug}/builds/{targetSlug}/', name: 'upload', handle: pushAndDeployV1},
    {method: 'POST', path: '/api/v2/projects/{projectSlug}/bundles/', name: 'upload', handle: pushV2},
    {method: 'GET', path: '/api/projects/{projectSlug}/bundles/', name: 'list', handle: listBundles},
    {
      method: 'GET',
      path: '/api/projects/{projectSlug}/bundles/{bundleId}/download/',
      name: 'download',
      handle: download,
    },
    {method: 'POST', path: '/api/projects/{projectSlug}/bundles/bulk-delete/', name: 'delete', handle: removeSeveral},
    {method: 'DELETE', path: '/api/projects/{projectSlug}/bundles/{bundleId}/', name: 'delete', handle: remove},
    {method: 'POST', path: '/api/projects/{projectSlug}/target/{targetSlug}/deploy/', name: 'deploy', handle: deploy},
    {method: 'GET', path: '/api/projects/{projectSlug}/target/{targetSlug}/deploy/', name: 'history', handle: history},
    {method: 'GET', path: '/api/projects/{projectSlug}/target/', name: 'targets', handle: listTargets},
    {method: 'GET', path: '/api/projects/{projectSlug}/target/{targetSlug}/', name: 'target', handle: target},
  ],
  admit: admitLegacy,
  // Some clients read one, some the other.
  failure: ({status, message, headers}) => json(status, {detail: message, message}, headers),
};

const bundleId = v.pipe(v.number(), v.integer());
const deployBodySchema = v.object({bundle_id: v.union([bundleId, v.literal('current')])});
const bulkDeleteBodySchema = v.object({
  bundle_ids: v.pipe(v.array(bundleId), v.minLength(1), v.maxLength(maxDeletedBundles)),
});

async function pushV1(call: AdmittedCall): Promise<Response> {
  return pushedV1(call, await receiveV1(call));
}

async function pushAndDeployV1(call: AdmittedCall): Promise<Response> {
  const {deployments} = call.context;
  const targetSlug = param(call, 'targetSlug');
  return deployments.exclusively(param(call, 'projectSlug'), targetSlug, async () => {
    const upload = await receiveV1(call);
    await deployments.start({bundle: upload.bundle, targetSlug, createdBy: call.user, route: 'upload'});
    return pushedV1(call, upload);
  });
}

function pushedV1(call: AdmittedCall, {bundle, warnings}: AcceptedUpload): Response {
  const {targetSlug} = call.params;
  return json(200, {
    bundle_id: bundle.id,
    message: bundle.message,
    url: targetSlug === undefined ? `${call.origin}/` : siteUrlFor(call, {projectSlug: bundle.projectSlug, targetSlug}),
    bundle_preview_url: null,
    warnings,
  });
}

async function pushV2(call: AdmittedCall): Promise<Response> {
  const {bundle, warnings, matches} = await receiveV2(call, param(call, 'projectSlug'));
  return json(201, {id: bundle.id, warnings, matches});
}

function listBundles(call: AdmittedCall): Response {
  const {store, deployments} = call.context;
  const bundles = store.bundles(param(call, 'projectSlug'));
  return legacyList(call, bundles, (bundle) => legacyBundle(bundle, deployments.targetsServing(bundle)));
}

function download(call: AdmittedCall): Response {
  const bundle = findBundle(call, param(call, 'projectSlug'), Number(param(call, 'bundleId')));
  return json(200, {download_url: presignedUrl(bundle, call)});
}

async function remove(call: AdmittedCall): Promise<Response> {
  await deleteBundle(call, findBundle(call, param(call, 'projectSlug'), Number(param(call, 'bundleId'))));
  // The service deletes later, and says so.
  return answer(202, '');
}

/** Deletes each bundle that can be deleted. */
async function removeSeveral(call: AdmittedCall): Promise<Response> {
  const projectSlug = param(call, 'projectSlug');
  const body = validate(bulkDeleteBodySchema, await call.body.json(), {status: 400, what: 'The body'});
  const queued: number[] = [];
  const rejected: {readonly bundle_id: number; readonly errors: string}[] = [];
  for (const id of new Set(body.bundle_ids)) {
    try {
      await deleteBundle(call, findBundle(call, projectSlug, id));
      queued.push(id);
    } catch (error) {
      if (!(error instanceof HttpFailure)) throw error;
      rejected.push({bundle_id: id, errors: error.message});
    }
  }
  return json(202, {rejected_bundles: rejected, bundles_queued_for_cleanup: queued});
}

async function deploy(call: AdmittedCall): Promise<Response> {
  const {deployments} = call.context;
  const [projectSlug, targetSlug] = [param(call, 'projectSlug'), param(call, 'targetSlug')];
  const body = validate(deployBodySchema, await call.body.json(), {status: 400, what: 'The body'});
  const id = body.bundle_id === 'current' ? deployments.current(projectSlug, targetSlug)?.bundleId : body.bundle_id;
  if (id === undefined) throw new HttpFailure(400, `Nothing is deployed to "${targetSlug}".`);
  const bundle = findBundle(call, projectSlug, id);
  await deployments.exclusively(projectSlug, targetSlug, () =>
    deployments.start({bundle, targetSlug, createdBy: call.user, route: 'deploy'}),
  );
  return json(201, {warnings: []});
}

function history(call: AdmittedCall): Response {
  const {store, now} = call.context;
  const time = now();
  const deployments = store.deployments(param(call, 'projectSlug'), param(call, 'targetSlug'));
  return legacyList(call, deployments, (deployment) => legacyDeployment(deployment, time));
}

function listProjects(call: AdmittedCall): Response {
  return legacyList(call, call.context.store.projects(), (slug) => ({
    slug,
    name: slug,
    organization: call.context.credentials.organizationId,
    deletion_status: 'ACTIVE',
  }));
}

function listTargets(call: AdmittedCall): Response {
  const {store, now} = call.context;
  const [projectSlug, time] = [param(call, 'projectSlug'), now()];
  return legacyList(call, store.targets(projectSlug), (slug) =>
    legacyTarget(
      {slug, url: siteUrlFor(call, {projectSlug, targetSlug: slug})},
      store.deployments(projectSlug, slug),
      time,
    ),
  );
}

function target(call: AdmittedCall): Response {
  const {store, now} = call.context;
  const [projectSlug, slug] = [param(call, 'projectSlug'), param(call, 'targetSlug')];
  const url = siteUrlFor(call, {projectSlug, targetSlug: slug});
  const row = legacyTarget({slug, url}, store.deployments(projectSlug, slug), now());
  if (row) return json(200, row);
  throw new HttpFailure(404, `The target "${slug}" does not exist. It is created by the first deployment to it.`);
}

/** The status of every accepted bundle, of the protocol's numbers 0 (pending), 1 (completed) and 2 (failed). */
const bundleCompleted = 1;

const statusWords: Readonly<Record<DeploymentState['status'], string>> = {
  queued: 'Queued',
  in_progress: 'In Progress',
  failed: 'Failed',
  finished: 'Finished',
};

/** One page of a list, with the URLs of the adjacent ones. */
function legacyList<T>(call: AdmittedCall, items: readonly T[], row: (item: T) => unknown): Response {
  const range = readRange(call);
  const {limit, offset} = range;
  const page = (start: number): string =>
    `${call.origin}${call.path}?${new URLSearchParams({limit: String(limit), offset: String(start)}).toString()}`;
  return json(200, {
    count: items.length,
    next: offset + limit < items.length ? page(offset + limit) : null,
    previous: offset > 0 ? page(Math.max(0, offset - limit)) : null,
    results: slice(items, range).map(row),
  });
}

/** A row of the list of bundles. */
function legacyBundle(bundle: BundleRecord, inUseBy: readonly string[]): unknown {
  return {
    id: bundle.id,
    message: bundle.message,
    status: bundleCompleted,
    deletion_status: 'ACTIVE',
    user: bundle.createdBy,
    created_at: bundle.createdAt,
    updated_at: bundle.createdAt,
    in_use_by: inUseBy,
  };
}

/** A row of the list of deployments. */
function legacyDeployment(deployment: DeploymentRecord, now: Date): unknown {
  const {status, updatedAt} = deploymentState(deployment, now);
  return {
    bundle: {id: deployment.bundleId, message: deployment.message},
    status: statusWords[status],
    deploy_type: 'Publish',
    external_publish_id: deployment.deploymentId,
    user: deployment.createdBy,
    created_at: deployment.createdAt,
    updated_at: updatedAt,
    duration: durationText(deployment, now),
  };
}

/** The duration of a deployment, so far or in total, in this protocol's format: `00:01:16.867000`. */
function durationText({createdAt, endsAt}: DeploymentRecord, now: Date): string {
  const created = Date.parse(createdAt);
  const milliseconds = Math.max(0, Math.min(now.getTime(), Date.parse(endsAt)) - created);
  const [hours, rest] = [Math.floor(milliseconds / 3_600_000), milliseconds % 3_600_000];
  return `${String(hours).padStart(2, '0')}:${new Date(rest).toISOString().slice(14, 23)}000`;
}

/**
 * A target, derived from its deployments, newest first; `current_deploy` is the newest. Undefined if it was never used.
 */
function legacyTarget(
  {slug, url}: {readonly slug: string; readonly url: string},
  deployments: readonly DeploymentRecord[],
  now: Date,
): unknown {
  const [newest] = deployments;
  if (!newest) return undefined;
  const {status} = deploymentState(newest, now);
  const isFirst = !deployments.some((deployment) => deploymentState(deployment, now).status === 'finished');
  return {
    slug,
    name: slug,
    state: targetState(status, isFirst ? 'CREATE' : 'PUBLISH'),
    deletion_status: 'ACTIVE',
    // In place of the host names of real targets, which have no path: this server has one host for all.
    url,
    current_deploy: {status: statusWords[status], bundle: {id: newest.bundleId, message: newest.message}},
  };
}

function targetState(status: DeploymentState['status'], step: 'CREATE' | 'PUBLISH'): string {
  switch (status) {
    case 'queued':
    case 'in_progress':
      return `${step}_IN_PROGRESS`;
    case 'failed':
      return `${step}_FAILED`;
    case 'finished':
      return 'ACTIVE';
  }
}
