import {STATUS_CODES} from 'node:http';
import * as v from 'valibot';
import {json, HttpFailure, validate} from '../answer.js';
import {param, type AdmittedCall, type Protocol} from '../context.js';
import {deploymentState, type DeploymentState} from '../store/deployments.js';
import type {BundleRecord, DeploymentRecord} from '../store/records.js';
import {receiveV2} from '../upload/receive-bundle.js';
import {admitApi} from './admission.js';
import {findBundle, readRange, slice} from './requested-records.js';
import {siteUrlFor} from './site-address.js';

// Unknown paths below it are refused as problem details, too.
const prefix = '/storefront/';
/** Where the paths of the Api backend start. */
export const apiPrefix = `${prefix}deployments/v1/`;
const storefront = `${apiPrefix}organizations/{organizationId}/storefronts/{storefrontId}`;
const deployments = `${storefront}/environments/{environmentId}/deployments`;

/** The protocol of the Api backend. */
export const apiProtocol: Protocol = {
  prefix,
  routes: [
    {method: 'POST', path: `${storefront}/bundles`, name: 'upload', handle: upload},
    {method: 'GET', path: `${storefront}/bundles`, name: 'list', handle: listBundles},
    {method: 'POST', path: deployments, name: 'deploy', handle: deploy},
    {method: 'GET', path: deployments, name: 'history', handle: history},
    {method: 'GET', path: `${deployments}/{deploymentId}`, name: 'deployment', handle: oneDeployment},
  ],
  admit: admitApi,
  failure: ({status, message, headers}) =>
    json(
      status,
      {title: STATUS_CODES[status] ?? 'Error', type: 'about:blank', detail: message},
      {'content-type': 'application/problem+json', ...headers},
    ),
};

const deployBodySchema = v.object({bundleId: v.pipe(v.number(), v.integer())});

const descriptions: Readonly<Record<DeploymentState['status'], string>> = {
  queued: 'The deployment is queued.',
  in_progress: 'Copying the files of the bundle.',
  finished: 'The bundle is deployed.',
  failed: 'The deployment failed because of an injected fault.',
};

async function upload(call: AdmittedCall): Promise<Response> {
  const {bundle, warnings, matches} = await receiveV2(call, param(call, 'storefrontId'));
  return json(201, {bundleId: bundle.id, warnings, matches});
}

function listBundles(call: AdmittedCall): Response {
  const {store, deployments} = call.context;
  return list(call, store.bundles(param(call, 'storefrontId')), (bundle) =>
    bundleRow(bundle, deployments.targetsServing(bundle)),
  );
}

async function deploy(call: AdmittedCall): Promise<Response> {
  const {deployments, now} = call.context;
  const [projectSlug, targetSlug] = [param(call, 'storefrontId'), param(call, 'environmentId')];
  const body = validate(deployBodySchema, await call.body.json(), {status: 400, what: 'The body'});
  const bundle = findBundle(call, projectSlug, body.bundleId);
  const deployment = await deployments.exclusively(projectSlug, targetSlug, () =>
    deployments.start({bundle, targetSlug, createdBy: call.user, route: 'deploy'}),
  );
  return json(201, deploymentRow(deployment, now(), call));
}

function history(call: AdmittedCall): Response {
  const {store, now} = call.context;
  const time = now();
  const items = store.deployments(param(call, 'storefrontId'), param(call, 'environmentId'));
  return list(call, items, (deployment) => deploymentRow(deployment, time, call));
}

function oneDeployment(call: AdmittedCall): Response {
  const {store, now} = call.context;
  const id = param(call, 'deploymentId');
  const deployment = store
    .deployments(param(call, 'storefrontId'), param(call, 'environmentId'))
    .find(({deploymentId}) => deploymentId === id);
  if (!deployment) throw new HttpFailure(404, `Deployment "${id}" does not exist.`);
  return json(200, deploymentRow(deployment, now(), call));
}

function list<T>(call: AdmittedCall, items: readonly T[], row: (item: T) => unknown): Response {
  const range = readRange(call);
  return json(200, {...range, total: items.length, data: slice(items, range).map(row)});
}

function bundleRow(bundle: BundleRecord, inUseBy: readonly string[]): unknown {
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
    inUseBy,
  };
}

function deploymentRow(deployment: DeploymentRecord, now: Date, call: AdmittedCall): unknown {
  const {status, percentage, updatedAt, duration} = deploymentState(deployment, now);
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
    url: siteUrlFor(call, deployment),
  };
}
