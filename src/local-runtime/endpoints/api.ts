import {STATUS_CODES} from 'node:http';
import type {DeploymentStatus} from '../../backends/contract.js';
import {targetSettings} from '../../settings/target-settings.js';
import {api, type apiSchemas} from '../../wire/api.js';
import {toWire} from '../../wire/service-fields.js';
import type {Range} from '../../wire/parameters.js';
import {HttpFailure, json} from '../answer.js';
import {admitApi} from '../access.js';
import {requestedBundle, param, projectOf, siteOf, type Call, type Protocol} from '../runtime-context.js';
import {siteUrl} from '../sites/site-address.js';
import {deploymentState} from '../store/deployment-records.js';
import type {BundleRecord, DeploymentRecord} from '../store/store.js';
import {settingsOf, type Target, type TargetPhase} from '../store/target-records.js';
import {receiveV2} from '../upload/receive-bundle.js';
import {maskedValue, routesOf, type AnswerOf, type Handlers} from './serve.js';
import {configurationHandlers} from './configuration-handlers.js';

const descriptions: Readonly<Record<DeploymentStatus, string>> = {
  queued: 'The deployment is queued.',
  in_progress: 'Copying the files of the bundle.',
  finished: 'The bundle is deployed.',
  failed: 'The deployment failed because of an injected fault.',
};

const handlers: Handlers<typeof api.operations> = {
  async uploadBundle(call) {
    const {bundle, warnings, matches} = await receiveV2(call);
    return {bundleId: bundle.id, warnings, matches};
  },
  listBundles: (call, range) => page(call, range, call.context.store.bundles(projectOf(call)), bundleRow),
  async deploy(call, {bundleId}) {
    const bundle = requestedBundle(call, bundleId);
    return deploymentRow(await call.context.deployments.deploy(siteOf(call), {bundle, createdBy: call.user}), call);
  },
  listDeployments: (call, range) => page(call, range, call.context.store.deployments(siteOf(call)), deploymentRow),
  getDeployment(call) {
    const id = param(call, 'deploymentId');
    const deployment = call.context.store.deployments(siteOf(call)).find(({deploymentId}) => deploymentId === id);
    if (!deployment) throw new HttpFailure(404, `Deployment "${id}" does not exist.`);
    return deploymentRow(deployment, call);
  },
  listEnvironments: (call, range) => page(call, range, call.context.targets.list(projectOf(call)), environmentRow),
  createEnvironment: (call, {displayName: name}) => createEnvironment(call, {name}),
  cloneEnvironment: (call, {displayName: name, sourceEnvironmentId: copyFrom}) =>
    createEnvironment(call, {name, copyFrom}),
  getEnvironment: environmentOf,
  deleteEnvironment: (call) => call.context.targets.remove(siteOf(call)),
  listVariables(call) {
    const {variables, status} = call.context.targets.find(siteOf(call));
    const publishingStatus = status === 'ready' ? 'published' : 'publishing';
    const rows = Object.entries(variables).map(([name, {updatedAt: lastModified, updatedBy: lastModifiedBy}]) => {
      return [name, {value: maskedValue, publishingStatus, lastModified, lastModifiedBy}] as const;
    });
    return Object.fromEntries(rows);
  },
  setVariables: (call, changes) => call.context.targets.changeVariables(siteOf(call), changes, call.user),
  ...configurationHandlers('api', environmentOf, (call, range, rows) => page(call, range, rows, (row) => row)),
  async makePrimary(call) {
    await call.context.targets.makePrimary(siteOf(call));
    return environmentOf(call);
  },
  listStorefronts: (call, range) =>
    page(call, range, call.context.store.projects(), (slug) => ({storefrontId: slug, storefrontName: slug})),
  invalidate: (call, {pattern}) => call.context.targets.invalidate(siteOf(call), pattern, call.user),
};

export const apiProtocol: Protocol = {
  // Unknown paths below it are refused as problem details, too.
  prefix: '/storefront/',
  admit: admitApi,
  failure: ({status, message, headers}) =>
    json(
      status,
      {title: STATUS_CODES[status] ?? 'Error', type: 'about:blank', detail: message},
      {'content-type': 'application/problem+json', ...headers},
    ),
  routes: routesOf(api.operations, handlers),
};

function page<Item, Row>(call: Call, range: Range, items: readonly Item[], row: (item: Item, call: Call) => Row) {
  const shown = items.slice(range.offset, range.offset + range.limit);
  return {...range, total: items.length, data: shown.map((item) => row(item, call))};
}

function bundleRow(bundle: BundleRecord, {context}: Call): AnswerOf<typeof apiSchemas.ApiBundle> {
  return {
    bundleId: bundle.id,
    description: bundle.message,
    status: 'ok',
    lifecycleStatus: 'active',
    createdBy: bundle.createdBy,
    creationDate: bundle.createdAt,
    lastModified: bundle.createdAt,
    // The other type, `legacy`, is for bundles without server code, which nobody pushes anymore.
    type: 'ssr',
    ssrParameters: bundle.ssrParameters,
    inUseBy: context.deployments.targetsServing(bundle),
  };
}

function deploymentRow(deployment: DeploymentRecord, call: Call): AnswerOf<typeof apiSchemas.ApiDeployment> {
  const {status, percentage, updatedAt, duration} = deploymentState(deployment, call.context.now());
  return {
    deploymentId: deployment.deploymentId,
    status,
    statusMessage: descriptions[status],
    progress: percentage === undefined ? null : {description: descriptions[status], percentage},
    duration: duration ?? null,
    bundle: {bundleId: deployment.bundleId, description: deployment.message},
    createdBy: deployment.createdBy,
    creationDate: deployment.createdAt,
    lastModified: updatedAt,
    url: siteUrl(call, deployment),
  };
}

async function createEnvironment(call: Call, target: {readonly name: string; readonly copyFrom?: string}) {
  const {targets} = call.context;
  const site = {projectSlug: projectOf(call), targetSlug: targets.makeSlug(target.name)};
  await targets.create(site, {...target, user: call.user});
  return environmentRow(targets.find(site), call);
}

const environmentWords = {
  creating: 'building',
  'create-failed': 'build_failed',
  ready: 'ready',
  publishing: 'ready',
  'publish-failed': 'ready',
  deleting: 'deleting',
} as const satisfies Readonly<Record<TargetPhase, string>>;

function environmentOf(call: Call) {
  return environmentRow(call.context.targets.find(siteOf(call)), call);
}

function environmentRow(target: Target, call: Call): AnswerOf<typeof apiSchemas.ApiEnvironment> {
  const [newest] = call.context.store.deployments(target);
  return {
    ...toWire(targetSettings, 'api', settingsOf(target)),
    environmentId: target.targetSlug,
    displayName: target.name,
    status: environmentWords[target.status],
    isPrimary: target.primary,
    mrtOrigin: siteUrl(call, target),
    // It has no host name of its own here.
    url: siteUrl(call, target),
    creationDate: target.createdAt,
    lastModified: newest?.createdAt ?? target.createdAt,
  };
}
