import {STATUS_CODES} from 'node:http';
import {HttpFailure, json} from '../answer.js';
import {admitApi} from '../access.js';
import {param, type AdmittedCall} from '../context.js';
import {siteUrl} from '../sites/site-address.js';
import {deploymentState, type DeploymentState} from '../store/deployments.js';
import type {BundleRecord, DeploymentRecord} from '../store/store.js';
import {receiveV2} from '../upload/receive-bundle.js';
import {listOperation, operation, slice, type AnswerOf, type WireProtocol} from './operation.js';
import {findBundle} from './requested-records.js';
import {api, common} from './schemas.js';

const prefix = '/storefront/';
const storefront = `${prefix}deployments/v1/organizations/{organizationId}/storefronts/{storefrontId}`;
const deployments = `${storefront}/environments/{environmentId}/deployments`;

const descriptions: Readonly<Record<DeploymentState['status'], string>> = {
  queued: 'The deployment is queued.',
  in_progress: 'Copying the files of the bundle.',
  finished: 'The bundle is deployed.',
  failed: 'The deployment failed because of an injected fault.',
};

/** The protocol of the Api backend. */
export const apiProtocol: WireProtocol = {
  // Unknown paths below it are refused as problem details, too.
  ...({prefix, kind: 'Api', tag: 'Api', security: ['oauth', 'accessToken'], admit: admitApi} as const),
  failure: ({status, message, headers}) =>
    json(
      status,
      {title: STATUS_CODES[status] ?? 'Error', type: 'about:blank', detail: message},
      {'content-type': 'application/problem+json', ...headers},
    ),
  routes: [
    operation({
      ...({method: 'POST', path: `${storefront}/bundles`, name: 'upload', refuses: 'upload'} as const),
      id: 'apiUploadBundle',
      summary: 'Upload a bundle',
      description: 'Stores a bundle, and deploys nothing.',
      stream: {type: 'multipart/form-data', schema: common.BundleForm},
      answer: {status: 201, description: 'The bundle was stored.', schema: api.ApiUploaded},
      async handle(call) {
        const {bundle, warnings, matches} = await receiveV2(call, param(call, 'storefrontId'));
        return {bundleId: bundle.id, warnings, matches};
      },
    }),
    listOperation({
      ...({path: `${storefront}/bundles`, name: 'list', id: 'apiListBundles'} as const),
      summary: 'List bundles',
      description: 'The bundles of a storefront, newest first.',
      answer: {status: 200, description: 'A page of bundles.', schema: api.ApiBundlePage},
      handle(call, range) {
        const bundles = call.context.store.bundles(param(call, 'storefrontId'));
        return {...range, total: bundles.length, data: slice(bundles, range).map((bundle) => bundleRow(bundle, call))};
      },
    }),
    operation({
      ...({method: 'POST', path: deployments, name: 'deploy', refuses: 'deploy'} as const),
      id: 'apiDeploy',
      summary: 'Deploy a bundle',
      description:
        'Starts a deployment and answers without waiting for it. One deployment runs per environment; while it does, others are refused (409).',
      json: api.ApiDeployRequest,
      answer: {
        status: 201,
        description: 'The deployment was stored, and runs.',
        schema: api.ApiDeployment,
        also: {'200': 'Accepted by clients as well.', '202': 'The deployment was accepted.'},
      },
      async handle(call, {bundleId}) {
        const [projectSlug, targetSlug] = [param(call, 'storefrontId'), param(call, 'environmentId')];
        const bundle = findBundle(call, projectSlug, bundleId);
        return deploymentRow(await call.context.deployments.deploy({bundle, targetSlug, createdBy: call.user}), call);
      },
    }),
    listOperation({
      ...({path: deployments, name: 'history', id: 'apiListDeployments'} as const),
      summary: 'List deployments',
      description: 'The deployments to an environment, newest first.',
      answer: {status: 200, description: 'A page of deployments.', schema: api.ApiDeploymentPage},
      handle(call, range) {
        const all = deploymentsOf(call);
        return {
          ...range,
          total: all.length,
          data: slice(all, range).map((deployment) => deploymentRow(deployment, call)),
        };
      },
    }),
    operation({
      ...({method: 'GET', path: `${deployments}/{deploymentId}`, name: 'deployment', refuses: 'get'} as const),
      id: 'apiGetDeployment',
      summary: 'Get a deployment',
      description: 'Clients that wait for a deployment poll this until `status` is final.',
      answer: {status: 200, description: 'The deployment.', schema: api.ApiDeployment},
      handle(call) {
        const id = param(call, 'deploymentId');
        const deployment = deploymentsOf(call).find(({deploymentId}) => deploymentId === id);
        if (!deployment) throw new HttpFailure(404, `Deployment "${id}" does not exist.`);
        return deploymentRow(deployment, call);
      },
    }),
  ],
};

function deploymentsOf(call: AdmittedCall): readonly DeploymentRecord[] {
  return call.context.store.deployments(param(call, 'storefrontId'), param(call, 'environmentId'));
}

function bundleRow(bundle: BundleRecord, {context}: AdmittedCall): AnswerOf<typeof api.ApiBundle> {
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

function deploymentRow(deployment: DeploymentRecord, call: AdmittedCall): AnswerOf<typeof api.ApiDeployment> {
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
