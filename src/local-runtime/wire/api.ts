import {STATUS_CODES} from 'node:http';
import {HttpFailure, json} from '../answer.js';
import {admitApi} from '../access.js';
import {findBundle, param, type Call} from '../context.js';
import {siteUrl} from '../sites/site-address.js';
import {deploymentState, type DeploymentProgress} from '../store/deployments.js';
import type {BundleRecord, DeploymentRecord} from '../store/store.js';
import {receiveV2} from '../upload/receive-bundle.js';
import {operation, type AnswerOf, type WireProtocol} from './operation.js';
import {range, type Range} from './parameters.js';
import {api, bundleForm} from './schemas.js';

const prefix = '/storefront/';
const storefront = `${prefix}deployments/v1/organizations/:organizationId/storefronts/:storefrontId`;
const deployments = `${storefront}/environments/:environmentId/deployments`;

const descriptions: Readonly<Record<DeploymentProgress['status'], string>> = {
  queued: 'The deployment is queued.',
  in_progress: 'Copying the files of the bundle.',
  finished: 'The bundle is deployed.',
  failed: 'The deployment failed because of an injected fault.',
};

export const apiProtocol: WireProtocol = {
  // Unknown paths below it are refused as problem details, too.
  prefix,
  kind: 'Api',
  security: ['oauth', 'accessToken'],
  admit: admitApi,
  failure: ({status, message, headers}) =>
    json(
      status,
      {title: STATUS_CODES[status] ?? 'Error', type: 'about:blank', detail: message},
      {'content-type': 'application/problem+json', ...headers},
    ),
  routes: [
    operation('POST', `${storefront}/bundles`, 'upload', {
      id: 'apiUploadBundle',
      summary: 'Upload a bundle, which is not deployed',
      stream: bundleForm,
      status: 201,
      answer: api.ApiUploaded,
      async handle(call) {
        const {bundle, warnings, matches} = await receiveV2(call, param(call, 'storefrontId'));
        return {bundleId: bundle.id, warnings, matches};
      },
    }),
    operation('GET', `${storefront}/bundles`, 'list', {
      query: range,
      id: 'apiListBundles',
      summary: 'List the bundles of a storefront, newest first',
      answer: api.ApiBundlePage,
      handle: (call, range) =>
        page(range, call.context.store.bundles(param(call, 'storefrontId')), (bundle) => bundleRow(bundle, call)),
    }),
    operation('POST', deployments, 'deploy', {
      id: 'apiDeploy',
      summary: 'Deploy a bundle',
      description:
        'Starts a deployment and answers without waiting for it. One deployment runs per environment; while it does, others are refused (409).',
      json: api.ApiDeployRequest,
      status: 201,
      answer: api.ApiDeployment,
      also: [200, 202],
      mayConflict: true,
      async handle(call, {bundleId}) {
        const [projectSlug, targetSlug] = [param(call, 'storefrontId'), param(call, 'environmentId')];
        const bundle = findBundle(call, projectSlug, bundleId);
        return deploymentRow(await call.context.deployments.deploy({bundle, targetSlug, createdBy: call.user}), call);
      },
    }),
    operation('GET', deployments, 'history', {
      query: range,
      id: 'apiListDeployments',
      summary: 'List the deployments to an environment, newest first',
      answer: api.ApiDeploymentPage,
      handle: (call, range) => page(range, deploymentsOf(call), (deployment) => deploymentRow(deployment, call)),
    }),
    operation('GET', `${deployments}/:deploymentId`, 'deployment', {
      id: 'apiGetDeployment',
      summary: 'Get a deployment',
      description: 'Clients that wait for a deployment poll this until `status` is final.',
      answer: api.ApiDeployment,
      handle(call) {
        const id = param(call, 'deploymentId');
        const deployment = deploymentsOf(call).find(({deploymentId}) => deploymentId === id);
        if (!deployment) throw new HttpFailure(404, `Deployment "${id}" does not exist.`);
        return deploymentRow(deployment, call);
      },
    }),
  ],
};

function page<Item, Row>(range: Range, items: readonly Item[], row: (item: Item) => Row) {
  return {...range, total: items.length, data: items.slice(range.offset, range.offset + range.limit).map(row)};
}

function deploymentsOf(call: Call): readonly DeploymentRecord[] {
  return call.context.store.deployments(param(call, 'storefrontId'), param(call, 'environmentId'));
}

function bundleRow(bundle: BundleRecord, {context}: Call): AnswerOf<typeof api.ApiBundle> {
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

function deploymentRow(deployment: DeploymentRecord, call: Call): AnswerOf<typeof api.ApiDeployment> {
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
