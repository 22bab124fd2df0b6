import * as v from 'valibot';
import {bundleForm, common} from './bundles.js';
import type {Half} from './operation.js';
import {range} from './parameters.js';
import {
  bundleId,
  bundleIdAs,
  givenBundleId,
  object,
  objectOf,
  onlyHosted,
  onlyLocal,
  optional,
  say,
  segment,
  shownTexts,
  text,
  time,
  total,
  uri,
  warnings,
  wholeNumber,
  word,
} from './schema.js';
import {apiEnvironmentOperations} from './targets.js';

const apiBundle = object('A bundle.', {
  bundleId: givenBundleId,
  description: optional(text('The message of the upload.')),
  status: optional(
    word(['ok', 'broken', 'preparing'], '`ok`: it can be deployed. `preparing`: not yet. `broken`: it never can.'),
  ),
  lifecycleStatus: optional(text('`active`, or a word that starts with `cleanup` or `delet`: it is being deleted.')),
  createdBy: optional(text('The user or client that uploaded it.')),
  creationDate: optional(time('When it was uploaded.')),
  lastModified: optional(time('When it last changed.')),
  type: optional(word(['ssr', 'legacy'], '`ssr`, or `legacy` for bundles without server code.')),
  ssrParameters: optional(objectOf(v.unknown(), 'From the configuration of the bundle.')),
  inUseBy: optional(shownTexts('The environments that run it.')),
});

const deploymentId = segment('ID of the deployment. A part of its URL.', {format: 'uuid'});

const deploymentState = {
  status: optional(word(['queued', 'in_progress', 'finished', 'failed'], '`finished` and `failed` are final.')),
  statusMessage: optional(text('The status in words, and the reason of a failure.')),
  progress: optional(
    object('Null until the deployment has started.', {
      description: optional(text('What is being done.')),
      percentage: optional(v.pipe(v.number(), v.minValue(0), v.maxValue(100), say('Of the whole.'))),
    }),
  ),
  duration: optional(v.pipe(v.number(), say('Seconds that it took; null until it has ended.'))),
  bundle: optional(
    v.object({
      bundleId: optional(givenBundleId),
      description: optional(text('The message of the bundle.')),
      id: optional(bundleIdAs('Read if there is no `bundleId`.', onlyHosted)),
      message: optional(text('Read if there is no `description`.', onlyHosted)),
    }),
  ),
  bundleId: optional(bundleIdAs('Read if `bundle` has no ID.', onlyHosted)),
  createdBy: optional(text('The user or client that requested it.')),
  creationDate: optional(time('When it was requested.')),
  lastModified: optional(time('When its status last changed.')),
  url: optional(uri('Where the environment is served. Clients show it and open it.', onlyLocal)),
  warnings: optional(shownTexts('Problems that did not stop the request. Clients show them.', onlyHosted)),
};

const apiDeployment = object(
  'A deployment. All members but `deploymentId` may be missing or null; without `status`, a deployment counts as queued.',
  {
    deploymentId,
    ...deploymentState,
  },
);

/** What clients read of a deployment that they ask for. They know its ID. */
export const apiPolledDeployment = v.object({...deploymentState, deploymentId: optional(deploymentId)});

const apiPage = <Row extends v.GenericSchema>(row: Row, rows: string) =>
  object(`One page of ${rows}.`, {
    limit: optional(v.pipe(wholeNumber(1), say('The `limit` of the request, or the default.'))),
    offset: optional(v.pipe(wholeNumber(0), say('The `offset` of the request, or 0.'))),
    total,
    data: v.array(row),
  });

export const apiSchemas = {
  Problem: object('A refusal, as problem details (RFC 9457).', {
    type: optional(text('A URI for the kind of problem, or `about:blank`.')),
    title: optional(text('The phrase of the status, or a short name of the problem.')),
    detail: optional(text('The reason, for people. Clients show it.')),
  }),
  ApiUploaded: object('An accepted bundle.', {bundleId: givenBundleId, warnings, matches: common.BundleMatches}),
  ApiBundle: apiBundle,
  ApiDeployRequest: object('A bundle to deploy.', {bundleId}, {examples: [{bundleId: 42}]}),
  ApiDeployment: apiDeployment,
  ApiBundlePage: apiPage(apiBundle, 'bundles'),
  ApiDeploymentPage: apiPage(apiDeployment, 'deployments'),
};

const storefront = '/storefront/deployments/v1/organizations/:organizationId/storefronts/:storefrontId';
const deployments = `${storefront}/environments/:environmentId/deployments` as const;

/** The half of the wire for the Api backend. */
export const api = {
  kind: 'Api',
  security: ['oauth', 'accessToken'],
  operations: {
    upload: {
      method: 'POST',
      path: `${storefront}/bundles`,
      route: 'upload',
      id: 'apiUploadBundle',
      summary: 'Upload a bundle, which is not deployed',
      stream: bundleForm,
      status: 201,
      answer: apiSchemas.ApiUploaded,
    },
    listBundles: {
      method: 'GET',
      path: `${storefront}/bundles`,
      route: 'list',
      query: range,
      id: 'apiListBundles',
      summary: 'List the bundles of a storefront, newest first',
      answer: apiSchemas.ApiBundlePage,
    },
    deploy: {
      method: 'POST',
      path: deployments,
      route: 'deploy',
      id: 'apiDeploy',
      summary: 'Deploy a bundle',
      description:
        'Starts a deployment and answers without waiting for it. One deployment runs per environment; while it does, others are refused (409).',
      json: apiSchemas.ApiDeployRequest,
      status: 201,
      answer: apiSchemas.ApiDeployment,
      also: [200, 202],
      mayConflict: true,
    },
    listDeployments: {
      method: 'GET',
      path: deployments,
      route: 'history',
      query: range,
      id: 'apiListDeployments',
      summary: 'List the deployments to an environment, newest first',
      answer: apiSchemas.ApiDeploymentPage,
    },
    getDeployment: {
      method: 'GET',
      path: `${deployments}/:deploymentId`,
      route: 'deployment',
      id: 'apiGetDeployment',
      summary: 'Get a deployment',
      description: 'Clients that wait for a deployment poll this until `status` is final.',
      answer: apiSchemas.ApiDeployment,
    },
    ...apiEnvironmentOperations,
  },
} as const satisfies Half;
