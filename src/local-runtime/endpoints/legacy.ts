import {targetSettings} from '../../settings/target-settings.js';
import {fromWire, toWire} from '../../wire/service-fields.js';
import {legacy, type legacySchemas} from '../../wire/legacy.js';
import type {Range} from '../../wire/parameters.js';
import {failureAnswer, HttpFailure} from '../answer.js';
import {admitLegacy, issueLogToken} from '../access.js';
import {reasonOfSilence, requestedBundle, projectOf, siteOf, type Call, type Protocol} from '../runtime-context.js';
import {siteUrl, type SiteName} from '../sites/site-address.js';
import {deploymentState} from '../store/deployment-records.js';
import type {BundleRecord, DeploymentRecord} from '../store/store.js';
import {settingsOf, type TargetCreation, type Target, type TargetPhase} from '../store/target-records.js';
import {receiveV1, receiveV2, type AcceptedUpload} from '../upload/receive-bundle.js';
import {presignedUrl} from './local.js';
import {maskedValue, routesOf, type AnswerOf, type Handlers} from './serve.js';
import {configurationHandlers} from './configuration-handlers.js';

const handlers: Handlers<typeof legacy.operations> = {
  listProjects: (call, range) => page(call, range, call.context.store.projects(), projectRow),
  pushV1: async (call) => pushedV1(await receiveV1(call), `${call.origin}/`),
  pushAndDeployV1(call) {
    const site = siteOf(call);
    return call.context.deployments.exclusively(site, async (start) => {
      const upload = await receiveV1(call);
      await start({bundle: upload.bundle, createdBy: call.user, route: 'upload'});
      return pushedV1(upload, siteUrl(call, site));
    });
  },
  async pushV2(call) {
    const {bundle, warnings, matches} = await receiveV2(call);
    return {id: bundle.id, warnings, matches};
  },
  listBundles: (call, range) => page(call, range, call.context.store.bundles(projectOf(call)), bundleRow),
  deleteBundles: (call, {bundle_ids: ids}) => removeSeveral(call, ids),
  deleteBundle: (call) => call.context.deployments.deleteBundle(requestedBundle(call)),
  downloadBundle: (call) => ({download_url: presignedUrl(requestedBundle(call), call)}),
  listTargets: (call, range) => page(call, range, call.context.targets.list(projectOf(call)), targetRow),
  getTarget: (call) => targetRow(call.context.targets.find(siteOf(call)), call),
  async deploy(call, {bundle_id: requested}) {
    const {deployments} = call.context;
    const site = siteOf(call);
    const id = requested === 'current' ? deployments.current(site)?.bundleId : requested;
    if (id === undefined) throw new HttpFailure(400, `Nothing is deployed to "${site.targetSlug}".`);
    await deployments.deploy(site, {bundle: requestedBundle(call, id), createdBy: call.user});
    return {warnings: []};
  },
  listDeployments: (call, range) => page(call, range, call.context.store.deployments(siteOf(call)), deploymentRow),
  createTarget(call, {slug, name, ...given}) {
    const settings = fromWire(targetSettings, 'legacy', given);
    return createTarget(call, {projectSlug: projectOf(call), targetSlug: slug}, {name, settings});
  },
  cloneTarget: (call, {from_target_slug: copyFrom}) =>
    createTarget(call, siteOf(call), {name: siteOf(call).targetSlug, copyFrom}),
  deleteTarget: (call) => call.context.targets.remove(siteOf(call)),
  listVariables(call, range) {
    const {variables, status} = call.context.targets.find(siteOf(call));
    const publishing_status_description = status === 'ready' ? 'Published' : 'Publishing';
    return page(call, range, Object.entries(variables), ([name, {updatedAt: updated_at, updatedBy: updated_by}]) => ({
      [name]: {value: maskedValue, updated_at, updated_by, publishing_status_description},
    }));
  },
  setVariables: (call, changes) => call.context.targets.changeVariables(siteOf(call), changes, call.user),
  async invalidate(call, {pattern}) {
    const site = siteOf(call);
    await call.context.targets.invalidate(site, pattern, call.user);
    return {result: 'The cache is being invalidated.', slug: site.targetSlug};
  },
  ...configurationHandlers(
    'legacy',
    (call) => targetRow(call.context.targets.find(siteOf(call)), call),
    (call, range, rows) => page(call, range, rows, (row) => row),
  ),
  createApiKey: async ({context}) => ({api_key: await context.renewApiKey()}),
  async createLogToken(call) {
    const site = siteOf(call);
    call.context.targets.find(site);
    const silence = await reasonOfSilence(call.context, site);
    return {token: await issueLogToken(site, call.context), warnings: silence === undefined ? [] : [silence]};
  },
};

export const legacyProtocol: Protocol = {
  prefix: '/api/',
  admit: admitLegacy,
  failure: failureAnswer,
  routes: routesOf(legacy.operations, handlers),
};

function pushedV1({bundle, warnings}: AcceptedUpload, url: string): AnswerOf<typeof legacySchemas.LegacyV1Uploaded> {
  return {bundle_id: bundle.id, message: bundle.message, url, bundle_preview_url: null, warnings};
}

async function removeSeveral(
  call: Call,
  ids: readonly number[],
): Promise<AnswerOf<typeof legacySchemas.LegacyBulkDeleted>> {
  const queued: number[] = [];
  const rejected: {bundle_id: number; errors: string}[] = [];
  for (const id of new Set(ids)) {
    try {
      await call.context.deployments.deleteBundle(requestedBundle(call, id));
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
  call: Call,
  {limit, offset}: Range,
  items: readonly Item[],
  row: (item: Item, call: Call) => Row,
): {count: number; next: string | null; previous: string | null; results: Row[]} {
  const url = (start: number): string =>
    `${call.origin}${call.path}?${new URLSearchParams({limit: String(limit), offset: String(start)}).toString()}`;
  return {
    count: items.length,
    next: offset + limit < items.length ? url(offset + limit) : null,
    previous: offset > 0 ? url(Math.max(0, offset - limit)) : null,
    results: items.slice(offset, offset + limit).map((item) => row(item, call)),
  };
}

function projectRow(slug: string, {context}: Call): AnswerOf<typeof legacySchemas.LegacyProject> {
  return {slug, name: slug, organization: context.credentials.organizationId, deletion_status: 'ACTIVE'};
}

function bundleRow(bundle: BundleRecord, {context}: Call): AnswerOf<typeof legacySchemas.LegacyBundle> {
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

function deploymentRow(deployment: DeploymentRecord, call: Call): AnswerOf<typeof legacySchemas.LegacyDeployment> {
  const now = call.context.now();
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
  return `${new Date(milliseconds).toISOString().slice(11, 23)}000`;
}

const stateWords = {
  creating: 'CREATE_IN_PROGRESS',
  'create-failed': 'CREATE_FAILED',
  ready: 'ACTIVE',
  publishing: 'PUBLISH_IN_PROGRESS',
  'publish-failed': 'PUBLISH_FAILED',
  deleting: 'ACTIVE',
} as const satisfies Readonly<Record<TargetPhase, string>>;

function targetRow(target: Target, call: Call): AnswerOf<typeof legacySchemas.LegacyTarget> {
  const {store, now} = call.context;
  const [newest] = store.deployments(target);
  return {
    ...toWire(targetSettings, 'legacy', settingsOf(target)),
    slug: target.targetSlug,
    name: target.name,
    state: stateWords[target.status],
    deletion_status: target.status === 'deleting' ? 'CLEANUP_IN_PROGRESS' : 'ACTIVE',
    // In place of the host names of real targets, which have no path: this server has one host for all.
    url: siteUrl(call, target),
    current_deploy:
      newest === undefined
        ? null
        : {
            status: statusWords[deploymentState(newest, now()).status],
            bundle: {id: newest.bundleId, message: newest.message},
          },
  };
}

async function createTarget(call: Call, site: SiteName, target: Omit<TargetCreation, 'user'>) {
  await call.context.targets.create(site, {...target, user: call.user});
  return targetRow(call.context.targets.find(site), call);
}
