import {HttpFailure, json} from '../answer.js';
import {admitLegacy} from '../access.js';
import {param, type AdmittedCall} from '../context.js';
import {siteUrl} from '../sites/site-address.js';
import {deploymentState, type DeploymentState} from '../store/deployments.js';
import type {BundleRecord, DeploymentRecord} from '../store/store.js';
import {receiveV1, receiveV2, type AcceptedUpload} from '../upload/receive-bundle.js';
import {presignedUrl} from './archive.js';
import {legacy} from './legacy-schemas.js';
import {listOperation, operation, slice, type AnswerOf, type Range, type WireProtocol} from './operation.js';
import {deleteBundle, findBundle} from './requested-records.js';
import {common} from './schemas.js';

const prefix = '/api/';
const project = `${prefix}projects/{projectSlug}/`;
const target = `${project}target/{targetSlug}/`;

const alsoCreated = {'201': 'Accepted by clients as well.'};
const v1 = {
  stream: {type: 'application/json', schema: legacy.LegacyV1Bundle},
  answer: {
    ...{status: 200, description: 'The bundle was stored.', schema: legacy.LegacyV1Uploaded, also: alsoCreated},
  },
};

/** The protocol of the legacy backend. */
export const legacyProtocol: WireProtocol = {
  ...({prefix, kind: 'Legacy', tag: 'legacy', security: ['apiKey', 'apiKeyOfUser'], admit: admitLegacy} as const),
  // Some clients read one, some the other.
  failure: ({status, message, headers}) => json(status, {detail: message, message}, headers),
  routes: [
    listOperation({
      ...({path: `${prefix}projects/`, name: 'projects', id: 'legacyListProjects', refuses: 'listOfAll'} as const),
      summary: 'List projects',
      description: 'The projects of the user. Clients also use it to try an API key.',
      answer: {status: 200, description: 'A page of projects.', schema: legacy.LegacyProjectPage},
      handle: (call, range) =>
        page(call, range, call.context.store.projects(), (slug) => ({
          slug,
          name: slug,
          organization: call.context.credentials.organizationId,
          deletion_status: 'ACTIVE',
        })),
    }),
    operation({
      ...({method: 'POST', path: `${project}builds/`, name: 'upload', refuses: 'upload', id: 'legacyPushV1'} as const),
      summary: 'Upload a v1 bundle',
      description: 'Stores a bundle, and deploys nothing.',
      ...v1,
      handle: async (call) => pushedV1(await receiveV1(call), `${call.origin}/`),
    }),
    operation({
      ...({method: 'POST', path: `${project}builds/{targetSlug}/`, name: 'upload'} as const),
      ...({refuses: 'uploadAndDeploy', id: 'legacyPushAndDeployV1'} as const),
      summary: 'Upload a v1 bundle and deploy it',
      description: 'Stores a bundle, starts its deployment and answers without waiting for it.',
      ...v1,
      handle(call) {
        const site = {projectSlug: param(call, 'projectSlug'), targetSlug: param(call, 'targetSlug')};
        return call.context.deployments.exclusively(site, async (start) => {
          const upload = await receiveV1(call);
          await start({bundle: upload.bundle, createdBy: call.user, route: 'upload'});
          return pushedV1(upload, siteUrl(call, site));
        });
      },
    }),
    operation({
      ...({method: 'POST', path: `${prefix}v2/projects/{projectSlug}/bundles/`, name: 'upload'} as const),
      ...({refuses: 'upload', id: 'legacyPushV2'} as const),
      summary: 'Upload a v2 bundle',
      description: 'Stores a bundle, and deploys nothing.',
      stream: {type: 'multipart/form-data', schema: common.BundleForm},
      answer: {
        status: 201,
        description: 'The bundle was stored.',
        schema: legacy.LegacyV2Uploaded,
        also: {'200': 'Accepted by clients as well.'},
      },
      async handle(call) {
        const {bundle, warnings, matches} = await receiveV2(call, param(call, 'projectSlug'));
        return {id: bundle.id, warnings, matches};
      },
    }),
    listOperation({
      ...({path: `${project}bundles/`, name: 'list', id: 'legacyListBundles'} as const),
      summary: 'List bundles',
      description: 'The bundles of a project, newest first.',
      answer: {status: 200, description: 'A page of bundles.', schema: legacy.LegacyBundlePage},
      handle: (call, range) =>
        page(call, range, call.context.store.bundles(param(call, 'projectSlug')), (bundle) => bundleRow(bundle, call)),
    }),
    operation({
      ...({method: 'POST', path: `${project}bundles/bulk-delete/`, name: 'delete'} as const),
      ...({refuses: 'deleteSeveral', id: 'legacyDeleteBundles'} as const),
      summary: 'Delete several bundles',
      description: 'Deletes each bundle that can be deleted, and lists the others. mycli deletes one at a time.',
      json: legacy.LegacyBulkDeleteRequest,
      answer: {status: 202, description: 'The bundles are deleted, now or soon.', schema: legacy.LegacyBulkDeleted},
      handle: (call, {bundle_ids: ids}) => removeSeveral(call, ids),
    }),
    operation({
      ...({method: 'DELETE', path: `${project}bundles/{bundleId}/`, name: 'delete', refuses: 'delete'} as const),
      id: 'legacyDeleteBundle',
      summary: 'Delete a bundle',
      description: 'A bundle that a target runs, or is being deployed to, cannot be deleted (409).',
      answer: {
        ...{status: 202, description: 'The bundle will be deleted.', also: {'204': 'The bundle is deleted.'}},
      },
      handle: (call) => deleteBundle(call, requestedBundle(call)),
    }),
    operation({
      ...({method: 'GET', path: `${project}bundles/{bundleId}/download/`, name: 'download', refuses: 'get'} as const),
      id: 'legacyDownloadBundle',
      summary: 'Get the URL of an archive',
      description: 'The URL is presigned: whoever has it can download the archive for an hour, without credentials.',
      answer: {status: 200, description: 'The URL.', schema: legacy.LegacyDownload},
      handle: (call) => ({download_url: presignedUrl(requestedBundle(call), call)}),
    }),
    listOperation({
      ...({path: `${project}target/`, name: 'targets', id: 'legacyListTargets'} as const),
      summary: 'List targets',
      description: 'The targets of a project.',
      answer: {status: 200, description: 'A page of targets.', schema: legacy.LegacyTargetPage},
      handle(call, range) {
        const targets = call.context.store.targets(param(call, 'projectSlug'));
        return page(call, range, targets, (slug) => targetRow(slug, call));
      },
    }),
    operation({
      ...({method: 'GET', path: target, name: 'target', refuses: 'get', id: 'legacyGetTarget'} as const),
      summary: 'Get a target',
      answer: {status: 200, description: 'The target.', schema: legacy.LegacyTarget},
      handle: (call) => targetRow(param(call, 'targetSlug'), call),
    }),
    operation({
      ...({method: 'POST', path: `${target}deploy/`, name: 'deploy', refuses: 'deploy', id: 'legacyDeploy'} as const),
      summary: 'Deploy a bundle',
      description:
        'Starts a deployment and answers without waiting for it. One deployment runs per target; while it does, others are refused (409).',
      json: legacy.LegacyDeployRequest,
      answer: {
        status: 201,
        description: 'The deployment was accepted.',
        schema: legacy.LegacyDeployAccepted,
        also: {'200': 'Accepted by clients as well.', '204': 'The deployment was accepted.'},
      },
      async handle(call, {bundle_id: asked}) {
        const {deployments} = call.context;
        const [projectSlug, targetSlug] = [param(call, 'projectSlug'), param(call, 'targetSlug')];
        const id = asked === 'current' ? deployments.current(projectSlug, targetSlug)?.bundleId : asked;
        if (id === undefined) throw new HttpFailure(400, `Nothing is deployed to "${targetSlug}".`);
        await deployments.deploy({bundle: findBundle(call, projectSlug, id), targetSlug, createdBy: call.user});
        return {warnings: []};
      },
    }),
    listOperation({
      ...({path: `${target}deploy/`, name: 'history', id: 'legacyListDeployments'} as const),
      summary: 'List deployments',
      description:
        'The deployments to a target, newest first. Clients that wait for a deployment poll this. They tell deployments apart by `created_at`, and those of the same time by their position and `count`, so a new one must be on top.',
      answer: {status: 200, description: 'A page of deployments.', schema: legacy.LegacyDeploymentPage},
      handle(call, range) {
        const deployments = call.context.store.deployments(param(call, 'projectSlug'), param(call, 'targetSlug'));
        return page(call, range, deployments, (deployment) => deploymentRow(deployment, call.context.now()));
      },
    }),
  ],
};

function pushedV1({bundle, warnings}: AcceptedUpload, url: string): AnswerOf<typeof legacy.LegacyV1Uploaded> {
  return {bundle_id: bundle.id, message: bundle.message, url, bundle_preview_url: null, warnings};
}

function requestedBundle(call: AdmittedCall): BundleRecord {
  return findBundle(call, param(call, 'projectSlug'), Number(param(call, 'bundleId')));
}

/** Deletes each bundle that can be deleted. */
async function removeSeveral(
  call: AdmittedCall,
  ids: readonly number[],
): Promise<AnswerOf<typeof legacy.LegacyBulkDeleted>> {
  const queued: number[] = [];
  const rejected: {bundle_id: number; errors: string}[] = [];
  for (const id of new Set(ids)) {
    try {
      await deleteBundle(call, findBundle(call, param(call, 'projectSlug'), id));
      queued.push(id);
    } catch (error) {
      if (!(error instanceof HttpFailure)) throw error;
      rejected.push({bundle_id: id, errors: error.message});
    }
  }
  return {rejected_bundles: rejected, bundles_queued_for_cleanup: queued};
}

const statusWords = {queued: 'Queued', in_progress: 'In Progress', failed: 'Failed', finished: 'Finished'} as const;

/** One page of a list, with the URLs of the adjacent ones. */
function page<Item, Row>(
  {origin, path}: AdmittedCall,
  range: Range,
  items: readonly Item[],
  row: (item: Item) => Row,
): {count: number; next: string | null; previous: string | null; results: Row[]} {
  const {limit, offset} = range;
  const url = (start: number): string =>
    `${origin}${path}?${new URLSearchParams({limit: String(limit), offset: String(start)}).toString()}`;
  return {
    count: items.length,
    next: offset + limit < items.length ? url(offset + limit) : null,
    previous: offset > 0 ? url(Math.max(0, offset - limit)) : null,
    results: slice(items, range).map(row),
  };
}

function bundleRow(bundle: BundleRecord, {context}: AdmittedCall): AnswerOf<typeof legacy.LegacyBundle> {
  return {
    id: bundle.id,
    message: bundle.message,
    status: 1,
    deletion_status: 'ACTIVE',
    user: bundle.createdBy,
    created_at: bundle.createdAt,
    updated_at: bundle.createdAt,
    in_use_by: context.deployments.targetsServing(bundle),
  };
}

function deploymentRow(deployment: DeploymentRecord, now: Date): AnswerOf<typeof legacy.LegacyDeployment> {
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
  const milliseconds = Math.max(0, Math.min(now.getTime(), Date.parse(endsAt)) - Date.parse(createdAt));
  const [hours, rest] = [Math.floor(milliseconds / 3_600_000), milliseconds % 3_600_000];
  return `${String(hours).padStart(2, '0')}:${new Date(rest).toISOString().slice(14, 23)}000`;
}

/** A target, derived from its deployments. @throws HttpFailure 404 if it was never used. */
function targetRow(slug: string, call: AdmittedCall): AnswerOf<typeof legacy.LegacyTarget> {
  const now = call.context.now();
  const projectSlug = param(call, 'projectSlug');
  const deployments = call.context.store.deployments(projectSlug, slug);
  const [newest] = deployments;
  if (!newest) {
    throw new HttpFailure(404, `The target "${slug}" does not exist. It is created by the first deployment to it.`);
  }
  const {status} = deploymentState(newest, now);
  const isFirst = !deployments.some((deployment) => deploymentState(deployment, now).status === 'finished');
  return {
    slug,
    name: slug,
    state: targetState(status, isFirst ? 'CREATE' : 'PUBLISH'),
    deletion_status: 'ACTIVE',
    // In place of the host names of real targets, which have no path: this server has one host for all.
    url: siteUrl(call, {projectSlug, targetSlug: slug}),
    current_deploy: {status: statusWords[status], bundle: {id: newest.bundleId, message: newest.message}},
  };
}

function targetState(status: DeploymentState['status'], step: 'CREATE' | 'PUBLISH') {
  switch (status) {
    case 'queued':
    case 'in_progress':
      return `${step}_IN_PROGRESS` as const;
    case 'failed':
      return `${step}_FAILED` as const;
    case 'finished':
      return 'ACTIVE';
  }
}
