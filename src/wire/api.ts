import * as v from 'valibot';
import {targetSettings} from '../settings/target-settings.js';
import {bundleForm, common} from './bundles.js';
import {answeredFields} from './service-fields.js';
import {del, get, post, put, type Half} from './operation.js';
import {range} from './parameters.js';
import * as s from './schema.js';
import {configurationOperations, configurationSchemas} from './configuration-operations.js';

const {flag, givenBundleId, object, onlyHosted, onlyLocal, optional, shownTexts, text, time, uri, warnings, word} = s;

const bundle = object('A bundle.', {
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
  ssrParameters: optional(s.objectOf(v.unknown(), 'From the configuration of the bundle.')),
  inUseBy: optional(shownTexts('The environments that run it.')),
});

const deploymentId = s.segment('ID of the deployment. A part of its URL.', {format: 'uuid'});

const deploymentState = {
  status: optional(word(['queued', 'in_progress', 'finished', 'failed'], '`finished` and `failed` are final.')),
  statusMessage: optional(text('The status in words, and the reason of a failure.')),
  progress: optional(
    object('Null until the deployment has started.', {
      description: optional(text('What the service is doing.')),
      percentage: optional(v.pipe(v.number(), v.minValue(0), v.maxValue(100), s.say('Percent of the deployment.'))),
    }),
  ),
  duration: optional(v.pipe(v.number(), s.say('Seconds that it took; null until it has ended.'))),
  bundle: optional(
    v.object({
      bundleId: optional(givenBundleId),
      description: optional(text('The message of the bundle.')),
      id: optional(s.bundleIdAs('Read if there is no `bundleId`.', onlyHosted)),
      message: optional(text('Read if there is no `description`.', onlyHosted)),
    }),
  ),
  bundleId: optional(s.bundleIdAs('Read if `bundle` has no ID.', onlyHosted)),
  createdBy: optional(text('The user or client that requested it.')),
  creationDate: optional(time('When it was requested.')),
  lastModified: optional(time('When its status last changed.')),
  url: optional(uri('Where the environment is served. Clients show it and open it.', onlyLocal)),
  warnings: optional(shownTexts('Problems that did not stop the request. Clients show them.', onlyHosted)),
};

const deployment = object(
  'A deployment. All members but `deploymentId` may be missing or null; without `status`, a deployment counts as queued.',
  {
    deploymentId,
    ...deploymentState,
  },
);

/** What clients read of a deployment that they ask for. They know its ID. */
export const polledDeployment = v.object({...deploymentState, deploymentId: optional(deploymentId)});

const configuration = configurationSchemas('api', {id: s.segment('Its ID, a part of its URL.')});

const environment = object('An environment.', {
  ...answeredFields(targetSettings, 'api'),
  environmentId: s.segment('Its name in paths, which the service makes.'),
  displayName: optional(text('Its name for people.')),
  status: optional(
    word(
      ['building', 'ready', 'build_failed', 'deleting', 'deleted', 'delete_failed'],
      '`ready`: it can be deployed to. `building`: not yet.',
    ),
  ),
  isPrimary: optional(flag("Whether it is the storefront's primary environment.")),
  isProduction: optional(flag('Whether customers see it.')),
  ssrExternalHostname: optional(text('The host name that visitors use.')),
  defaultEcdnHostname: optional(text('The same, if there is no host name of its own.', onlyHosted)),
  mrtOrigin: optional(uri('Where the environment is served. Clients show it and open it, unless it has a host name.')),
  url: optional(uri('Where it is served, whatever its host names.', onlyLocal)),
  creationDate: optional(time('When it was made.')),
  lastModified: optional(time('When it last changed.')),
});

const page = <Row extends v.GenericSchema>(row: Row, rows: string) =>
  v.pipe(
    object(`One page of ${rows}.`, {
      limit: optional(v.pipe(s.wholeNumber(1), s.say('The `limit` of the request, or the default.'))),
      offset: optional(v.pipe(s.wholeNumber(0), s.say('The `offset` of the request, or 0.'))),
      total: s.total,
      data: v.array(row),
    }),
    v.transform(({data, total}) => ({rows: data, total})),
  );

export const apiSchemas = {
  Problem: object('A refusal, as problem details (RFC 9457).', {
    type: optional(text('A URI for the kind of problem, or `about:blank`.')),
    title: optional(text('The phrase of the status, or a short name of the problem.')),
    detail: optional(text('The reason, for people. Clients show it.')),
  }),
  ApiUploaded: object('An accepted bundle.', {bundleId: givenBundleId, warnings, matches: common.BundleMatches}),
  ApiBundle: bundle,
  ApiDeployRequest: object('A bundle to deploy.', {bundleId: s.bundleId}, {examples: [{bundleId: 42}]}),
  ApiDeployment: deployment,
  ApiBundlePage: page(bundle, 'bundles'),
  ApiDeploymentPage: page(deployment, 'deployments'),
  ApiEnvironment: environment,
  ApiEnvironmentPage: page(environment, 'environments'),
  ApiNewEnvironment: object('An environment to make.', {displayName: s.newTargetName}),
  ApiCloneRequest: object('The environment to copy. What it runs is deployed to the new one.', {
    sourceEnvironmentId: text('The ID of that environment.'),
    displayName: s.newTargetName,
    cloneEnvironmentVariables: optional(flag('Whether to copy its variables.')),
    cloneRedirects: optional(flag('Whether to copy its redirects.')),
    cloneB2cTargetInfo: optional(flag('Whether to copy what connects it to the commerce platform.')),
  }),
  ApiTargetSettings: configuration.settings,
  ApiRedirect: configuration.redirect,
  ApiNewRedirect: configuration.newRedirect,
  ApiRedirectPage: page(configuration.redirect, 'redirects'),
  AccessHeader: configuration.accessHeader,
  NewAccessHeader: configuration.newAccessHeader,
  ApiAccessHeaderPage: page(configuration.accessHeader, 'access headers'),
  ApiStorefrontPage: page(
    object('A storefront.', {
      storefrontId: s.segment('Its name in paths.'),
      storefrontName: optional(text('Its name for people.')),
      type: optional(text('What it is, in the words of the service.', onlyHosted)),
      setupStatus: optional(text('Whether it is set up.', onlyHosted)),
    }),
    'storefronts',
  ),
  ApiVariables: s.objectOf(
    v.record(v.string(), v.unknown()),
    'Variables by their names: `{value, publishingStatus, lastModified, lastModifiedBy}`. Values are masked.',
  ),
  ApiInvalidation: object('What to invalidate.', {pattern: s.pattern}),
};

const storefront = '/storefront/deployments/v1/organizations/:organizationId/storefronts/:storefrontId';
const deployments = `${storefront}/environments/:environmentId/deployments` as const;
/** Below it, everything has scopes of its own. */
export const environments =
  '/storefront/environments/v1/organizations/:organizationId/storefronts/:storefrontId/environments';
/** They have a scope of their own, too. */
export const storefronts = '/storefront/storefronts/v1/organizations/:organizationId/storefronts';
const inEnvironment = `${environments}/:environmentId`;
const variables = `${inEnvironment}/environment-variables`;
const acceptedEnvironment = {
  answer: apiSchemas.ApiEnvironment,
  statuses: [202, 200, 201],
  mayConflict: true,
} as const;

/** The half of the wire for Runtime (OAuth). */
export const api = {
  kind: 'Api',
  prefix: 'api',
  security: ['oauth', 'accessToken'],
  operations: {
    uploadBundle: post(`${storefront}/bundles`, 'upload', 'Upload a bundle, which is not deployed', {
      stream: bundleForm,
      statuses: [201],
      answer: apiSchemas.ApiUploaded,
    }),
    listBundles: get(`${storefront}/bundles`, 'list', 'List the bundles of a storefront, newest first', {
      query: range,
      answer: apiSchemas.ApiBundlePage,
    }),
    deploy: post(deployments, 'deploy', 'Deploy a bundle', {
      description:
        'Starts a deployment and answers without waiting for it. One deployment runs per environment; while it does, others are refused (409).',
      json: apiSchemas.ApiDeployRequest,
      statuses: [201, 200, 202],
      answer: apiSchemas.ApiDeployment,
      mayConflict: true,
    }),
    listDeployments: get(deployments, 'history', 'List the deployments to an environment, newest first', {
      query: range,
      answer: apiSchemas.ApiDeploymentPage,
    }),
    getDeployment: get(`${deployments}/:deploymentId`, 'deployment', 'Get a deployment', {
      description: 'Clients that wait for a deployment poll this until `status` is final.',
      answer: apiSchemas.ApiDeployment,
    }),
    listEnvironments: get(environments, 'targets', 'List the environments of a storefront', {
      query: range,
      lacking: [404, 405],
      answer: apiSchemas.ApiEnvironmentPage,
    }),
    createEnvironment: post(environments, 'create-target', 'Create an environment', {
      description: 'The service makes its ID. It starts making it and answers without waiting.',
      lacking: [404, 405],
      json: apiSchemas.ApiNewEnvironment,
      ...acceptedEnvironment,
    }),
    cloneEnvironment: post(`${environments}/clone`, 'create-target', 'Create an environment as a copy of another one', {
      lacking: [405],
      json: apiSchemas.ApiCloneRequest,
      ...acceptedEnvironment,
    }),
    getEnvironment: get(inEnvironment, 'target', 'Get an environment', {answer: apiSchemas.ApiEnvironment}),
    deleteEnvironment: del(inEnvironment, 'delete-target', 'Delete an environment', {
      description: 'Lists may have it for a while, as `deleting`.',
      lacking: [405],
      statuses: [202, 200, 204],
      mayConflict: true,
    }),
    listVariables: get(variables, 'variables', 'List the environment variables of an environment', {
      lacking: [405],
      answer: apiSchemas.ApiVariables,
    }),
    ...configurationOperations(
      {
        target: inEnvironment,
        variables,
        redirects: `${inEnvironment}/redirects`,
        redirect: `${inEnvironment}/redirects/:redirectId`,
        access: `${inEnvironment}/access-control-headers`,
        accessHeader: `${inEnvironment}/access-control-headers/:accessId`,
      },
      configuration,
      {
        target: apiSchemas.ApiEnvironment,
        redirects: apiSchemas.ApiRedirectPage,
        access: apiSchemas.ApiAccessHeaderPage,
      },
    ),
    makePrimary: put(`${inEnvironment}/primary`, 'primary', 'Make an environment the primary one of its storefront', {
      answer: apiSchemas.ApiEnvironment,
      statuses: [200, 202, 204],
      lacking: [404, 405],
      mayConflict: true,
    }),
    listStorefronts: get(storefronts, 'projects', 'List the storefronts of an organization', {
      query: range,
      lacking: [404, 405],
      answer: apiSchemas.ApiStorefrontPage,
    }),
    invalidate: post(`${inEnvironment}/cache-invalidations`, 'invalidate', 'Clear the cache of an environment', {
      lacking: [405],
      json: apiSchemas.ApiInvalidation,
      statuses: [202, 200, 201, 204],
    }),
  },
} as const satisfies Half;
