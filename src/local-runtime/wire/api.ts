import {STATUS_CODES} from 'node:http';
import {api, type apiSchemas} from '../../wire/api.js';
import type {Range} from '../../wire/parameters.js';
import {HttpFailure, json} from '../answer.js';
import {admitApi} from '../access.js';
import {findBundle, param, type Call, type Protocol} from '../context.js';
import {siteUrl} from '../sites/site-address.js';
import {deploymentState, type DeploymentProgress} from '../store/deployments.js';
import type {BundleRecord, DeploymentRecord} from '../store/store.js';
import {receiveV2} from '../upload/receive-bundle.js';
import {routesOf, type AnswerOf, type Handlers} from './serve.js';

const descriptions: Readonly<Record<DeploymentProgress['status'], string>> = {
  queued: 'The deployment is queued.',
  in_progress: 'Copying the files of the bundle.',
  finished: 'The bundle is deployed.',
  failed: 'The deployment failed because of an injected fault.',
};

const handlers: Handlers<typeof api.operations> = {
  async upload(call) {
    const {bundle, warnings, matches} = await receiveV2(call, param(call, 'storefrontId'));
    return {bundleId: bundle.id, warnings, matches};
  },
  listBundles: (call, range) =>
    page(range, call.context.store.bundles(param(call, 'storefrontId')), (bundle) => bundleRow(bundle, call)),
  async deploy(call, {bundleId}) {
    const [projectSlug, targetSlug] = [param(call, 'storefrontId'), param(call, 'environmentId')];
    const bundle = findBundle(call, projectSlug, bundleId);
    return deploymentRow(await call.context.deployments.deploy({bundle, targetSlug, createdBy: call.user}), call);
  },
  listDeployments: (call, range) => page(range, deploymentsOf(call), (deployment) => deploymentRow(deployment, call)),
  getDeployment(call) {
    const id = param(call, 'deploymentId');
    const deployment = deploymentsOf(call).find(({deploymentId}) => deploymentId === id);
    if (!deployment) throw new HttpFailure(404, `Deployment "${id}" does not exist.`);
    return deploymentRow(deployment, call);
  },
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

function page<Item, Row>(range: Range, items: readonly Item[], row: (item: Item) => Row) {
  return {...range, total: items.length, data: items.slice(range.offset, range.offset + range.limit).map(row)};
}

function deploymentsOf(call: Call): readonly DeploymentRecord[] {
  return call.context.store.deployments(param(call, 'storefrontId'), param(call, 'environmentId'));
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
