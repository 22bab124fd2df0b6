import * as v from 'valibot';
import {range} from './parameters.js';
import * as s from './schema.js';

const {object, onlyHosted, onlyLocal, optional, text, time, uri} = s;

export const maxTargetName = 64;
export const targetSlugPattern = /^[a-z0-9]+(?:-+[a-z0-9]+)*$/;
const slugRule = 'must be lowercase letters, digits and inner hyphens';

const newName = v.pipe(
  v.string(),
  v.nonEmpty(),
  v.maxLength(maxTargetName),
  s.say('Its name for people.', {maxLength: maxTargetName}),
);
const newSlug = v.pipe(
  v.string(),
  v.maxLength(maxTargetName),
  v.regex(targetSlugPattern, slugRule),
  s.say('Its name in paths.', {maxLength: maxTargetName}),
);

export const legacyTarget = object(
  'A target. Clients show the URL of what it serves: of the first host name that is there.',
  {
    slug: text('Its name in paths.'),
    name: optional(text('Its name for people.')),
    state: optional(
      s.word(
        ['ACTIVE', 'CREATE_IN_PROGRESS', 'PUBLISH_IN_PROGRESS', 'CREATE_FAILED', 'PUBLISH_FAILED'],
        'What is going on: `CREATE_` while it is made, `PUBLISH_` while it gets a bundle or variables.',
      ),
    ),
    deletion_status: optional(text('`ACTIVE`, or a word that starts with `CLEANUP_`: it is being deleted.')),
    current_deploy: optional(
      object('The newest deployment to the target.', {
        status: optional(text('As in `LegacyDeployment`, or in lower case.')),
        bundle: optional(v.object({id: s.givenBundleId, message: optional(text('The message of the bundle.'))})),
      }),
    ),
    ssr_external_hostname: optional(text('The host name that customers see.', onlyHosted)),
    cdn_domain_name: optional(text('The host name in the network of the service.', onlyHosted)),
    is_production: optional(v.pipe(v.boolean(), s.say('Whether customers see it.', onlyHosted))),
    url: optional(uri('Where the target is served, if it has no host name of its own.', onlyLocal)),
  },
);

const environment = object('An environment.', {
  environmentId: s.segment('Its name in paths, which the service makes.'),
  displayName: optional(text('Its name for people.')),
  status: optional(
    s.word(['building', 'ready', 'build_failed', 'deleting'], '`ready`: it can be deployed to. `building`: not yet.'),
  ),
  isPrimary: optional(v.pipe(v.boolean(), s.say('Whether it is the first one of the storefront.', onlyHosted))),
  isProduction: optional(v.pipe(v.boolean(), s.say('Whether customers see it.', onlyHosted))),
  ssrRegion: optional(text('Where its servers are.', onlyHosted)),
  mrtOrigin: optional(uri('Where the environment is served. Clients show it and open it.')),
  creationDate: optional(time('When it was made.')),
  lastModified: optional(time('When it last changed.')),
});

const legacyVariables = s.objectOf(
  v.record(v.string(), v.unknown()),
  'Variables by their names: `{value, updated_by, updated_at, publishing_status_description}`. Values are masked.',
);

const changes = s.objectOf(
  v.object({value: v.nullable(v.string())}),
  'Changes of variables by their names. `null` removes one. What is not named stays as it is.',
  {additionalProperties: {type: 'object', properties: {value: {type: ['string', 'null']}}, required: ['value']}},
);

const pattern = v.pipe(
  v.string(),
  v.regex(/^\//, 'must start with /'),
  s.say('Paths that the cache drops; `*` stands for anything.', {examples: ['/*']}),
);

export const targetSchemas = {
  LegacyTarget: legacyTarget,
  LegacyNewTarget: object('A target to make. Servers take more members than these.', {slug: newSlug, name: newName}),
  LegacyCloneRequest: object('The target to copy. What it runs is deployed to the new one.', {
    from_target_slug: text('The slug of that target.'),
    clone_environment_variables: optional(v.pipe(v.boolean(), s.say('Whether to copy its variables.'))),
    clone_redirects: optional(v.pipe(v.boolean(), s.say('Whether to copy its redirects.'))),
  }),
  LegacyVariables: v.union([
    v.pipe(
      object('One page of variables.', {count: s.total, results: v.array(legacyVariables)}),
      v.transform(({results, count}) => ({rows: results, total: count})),
    ),
    v.pipe(
      legacyVariables,
      v.transform((all) => ({rows: [all], total: 1})),
    ),
  ]),
  VariableChanges: changes,
  LegacyInvalidation: object('What to invalidate.', {
    pattern,
    items: v.optional(v.pipe(v.null(), s.say('Always null.'))),
  }),
  LegacyInvalidated: object('An accepted invalidation, which takes minutes.', {
    result: optional(text('What was accepted.')),
    slug: optional(text('The target.')),
  }),
  LegacyLogToken: object('A token for the logs.', {
    token: v.pipe(v.string(), v.nonEmpty(), s.say('Clients send it in the query of the WebSocket.')),
  }),
  ApiEnvironment: environment,
  ApiEnvironmentPage: object('One page of environments.', {
    limit: optional(v.pipe(s.wholeNumber(1), s.say('The `limit` of the request, or the default.'))),
    offset: optional(v.pipe(s.wholeNumber(0), s.say('The `offset` of the request, or 0.'))),
    total: s.total,
    data: v.array(environment),
  }),
  ApiNewEnvironment: object('An environment to make.', {displayName: newName}),
  ApiCloneRequest: object('The environment to copy. What it runs is deployed to the new one.', {
    sourceEnvironmentId: text('The ID of that environment.'),
    displayName: newName,
    cloneEnvironmentVariables: optional(v.pipe(v.boolean(), s.say('Whether to copy its variables.'))),
    cloneRedirects: optional(v.pipe(v.boolean(), s.say('Whether to copy its redirects.'))),
  }),
  ApiVariables: s.objectOf(
    v.record(v.string(), v.unknown()),
    'Variables by their names: `{value, publishingStatus, lastModified, lastModifiedBy}`. Values are masked.',
  ),
  ApiInvalidation: object('What to invalidate.', {pattern}),
};

const inTarget = '/api/projects/:projectSlug/target/:targetSlug/';
const acceptedTarget = {answer: targetSchemas.LegacyTarget, status: 201, also: [200, 202], mayConflict: true} as const;

/** What the legacy half has for targets, besides looking at them. */
export const legacyTargetOperations = {
  createTarget: {
    method: 'POST',
    path: '/api/projects/:projectSlug/target/',
    route: 'create-target',
    id: 'legacyCreateTarget',
    summary: 'Create a target',
    description: 'Starts making it and answers without waiting. Clients look at its `state`.',
    json: targetSchemas.LegacyNewTarget,
    ...acceptedTarget,
  },
  cloneTarget: {
    method: 'POST',
    path: `${inTarget}clone/`,
    route: 'create-target',
    id: 'legacyCloneTarget',
    summary: 'Create a target as a copy of another one',
    description: 'The target in the path is the new one.',
    json: targetSchemas.LegacyCloneRequest,
    ...acceptedTarget,
  },
  deleteTarget: {
    method: 'DELETE',
    path: inTarget,
    route: 'delete-target',
    id: 'legacyDeleteTarget',
    summary: 'Delete a target',
    description: 'Lists may have it for a while, with its `deletion_status`.',
    status: 204,
    also: [200, 202],
  },
  listVariables: {
    method: 'GET',
    path: `${inTarget}env-var/`,
    route: 'variables',
    query: range,
    id: 'legacyListVariables',
    summary: 'List the environment variables of a target',
    description: 'Clients read pages, and all variables in one object.',
    answer: targetSchemas.LegacyVariables,
  },
  setVariables: {
    method: 'PATCH',
    path: `${inTarget}env-var/`,
    route: 'set-variables',
    id: 'legacySetVariables',
    summary: 'Set and remove environment variables of a target',
    description: 'What the target runs is published again with them.',
    json: targetSchemas.VariableChanges,
    status: 204,
    also: [200, 202],
    mayConflict: true,
  },
  invalidate: {
    method: 'POST',
    path: `${inTarget}invalidation/`,
    route: 'invalidate',
    id: 'legacyInvalidate',
    summary: 'Invalidate what the cache of a target has',
    json: targetSchemas.LegacyInvalidation,
    status: 201,
    answer: targetSchemas.LegacyInvalidated,
    also: [200, 202],
  },
  createLogToken: {
    method: 'POST',
    path: `${inTarget}jwt/`,
    route: 'log-token',
    id: 'legacyCreateLogToken',
    summary: 'Create a token for the logs of a target',
    description:
      'With it, clients open a WebSocket on the host of the logs: that of the API, with its first label `cloud` replaced by `logs`. Its query has `project`, `environment`, `access_token` and maybe `user`. Each message is a JSON array of `{message}`, where `message` is `TIME TAB REQUEST-ID TAB LEVEL TAB TEXT`, `LEVEL TEXT` or any text. Clients send an empty message every five minutes.',
    answer: targetSchemas.LegacyLogToken,
    also: [201],
  },
} as const;

const environments = '/storefront/environments/v1/organizations/:organizationId/storefronts/:storefrontId/environments';
const inEnvironment = `${environments}/:environmentId` as const;
const acceptedEnvironment = {
  answer: targetSchemas.ApiEnvironment,
  status: 202,
  also: [200, 201],
  mayConflict: true,
} as const;

/** What the Api half has for environments. */
export const apiEnvironmentOperations = {
  listEnvironments: {
    method: 'GET',
    path: environments,
    route: 'targets',
    query: range,
    id: 'apiListEnvironments',
    summary: 'List the environments of a storefront',
    answer: targetSchemas.ApiEnvironmentPage,
  },
  createEnvironment: {
    method: 'POST',
    path: environments,
    route: 'create-target',
    id: 'apiCreateEnvironment',
    summary: 'Create an environment',
    description: 'The service makes its ID. It starts making it and answers without waiting.',
    json: targetSchemas.ApiNewEnvironment,
    ...acceptedEnvironment,
  },
  cloneEnvironment: {
    method: 'POST',
    path: `${environments}/clone`,
    route: 'create-target',
    id: 'apiCloneEnvironment',
    summary: 'Create an environment as a copy of another one',
    json: targetSchemas.ApiCloneRequest,
    ...acceptedEnvironment,
  },
  getEnvironment: {
    method: 'GET',
    path: inEnvironment,
    route: 'target',
    id: 'apiGetEnvironment',
    summary: 'Get an environment',
    answer: targetSchemas.ApiEnvironment,
  },
  deleteEnvironment: {
    method: 'DELETE',
    path: inEnvironment,
    route: 'delete-target',
    id: 'apiDeleteEnvironment',
    summary: 'Delete an environment',
    description: 'Lists may have it for a while, as `deleting`.',
    status: 202,
    also: [200, 204],
  },
  listVariables: {
    method: 'GET',
    path: `${inEnvironment}/environment-variables`,
    route: 'variables',
    id: 'apiListVariables',
    summary: 'List the environment variables of an environment',
    answer: targetSchemas.ApiVariables,
  },
  setVariables: {
    method: 'PATCH',
    path: `${inEnvironment}/environment-variables`,
    route: 'set-variables',
    id: 'apiSetVariables',
    summary: 'Set and remove environment variables of an environment',
    description: 'What the environment runs is published again with them.',
    json: targetSchemas.VariableChanges,
    status: 204,
    also: [200, 202],
    mayConflict: true,
  },
  invalidate: {
    method: 'POST',
    path: `${inEnvironment}/cache-invalidations`,
    route: 'invalidate',
    id: 'apiInvalidate',
    summary: 'Invalidate what the cache of an environment has',
    json: targetSchemas.ApiInvalidation,
    status: 202,
    also: [200, 201, 204],
  },
} as const;
