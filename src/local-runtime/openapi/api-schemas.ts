import {
  bundleId,
  onlyHosted,
  onlyLocal,
  optional,
  ref,
  text,
  texts,
  time,
  warnings,
  type Part,
} from './schema-parts.js';

const apiStatus = ['queued', 'in_progress', 'finished', 'failed'];

const apiPage = (row: string, rows: string): Part => ({
  type: 'object',
  description: `One page of ${rows}.`,
  required: ['data'],
  properties: {
    limit: optional({type: 'integer', minimum: 1, description: 'The `limit` of the request, or the default.'}),
    offset: optional({type: 'integer', minimum: 0, description: 'The `offset` of the request, or 0.'}),
    total: optional({type: 'integer', minimum: 0, description: 'Length of the whole list.'}),
    data: {type: 'array', items: ref('schemas', row)},
  },
});

/** The bodies of the Api backend, and of its token endpoint. */
export const apiSchemas: Part = {
  AccessToken: {
    type: 'object',
    description: 'An access token.',
    required: ['access_token'],
    properties: {
      access_token: text(
        'A JWT. Clients send it as it is. They also decode its claims, but only to show whose it is and when it expires.',
        {pattern: '^[!-~]+$'},
      ),
      token_type: optional(text('`Bearer`.', {enum: ['Bearer', null]})),
      expires_in: optional({
        type: 'integer',
        description: 'Lifetime in seconds. Clients renew the token shortly before. If missing, it is used until a 401.',
      }),
      scope: optional(text('The granted scopes, separated by spaces.')),
    },
  },
  OAuthError: {
    type: 'object',
    description: 'A refusal of the token endpoint (RFC 6749, section 5.2).',
    required: ['error'],
    properties: {
      error: text(
        'Such as `invalid_client`, `invalid_scope`, `invalid_request` or `unsupported_grant_type`. A client that may fall back to the legacy backend does so after `invalid_scope`.',
      ),
      error_description: optional(text('The reason, for people.')),
    },
  },
  Problem: {
    type: 'object',
    description: 'A refusal, as problem details (RFC 9457).',
    properties: {
      type: optional(text('A URI for the kind of problem, or `about:blank`.')),
      title: optional(text('The phrase of the status, or a short name of the problem.')),
      detail: optional(text('The reason, for people. Clients show it.')),
    },
  },
  ApiUploaded: {
    type: 'object',
    description: 'An accepted bundle.',
    required: ['bundleId'],
    properties: {bundleId, warnings, matches: ref('schemas', 'BundleMatches')},
  },
  ApiBundle: {
    type: 'object',
    description: 'A bundle.',
    required: ['bundleId'],
    properties: {
      bundleId,
      description: optional(text('The message of the upload.')),
      status: optional(
        text('`ok`: it can be deployed. `preparing`: not yet. `broken`: it never can.', {
          enum: ['ok', 'broken', 'preparing', null],
        }),
      ),
      lifecycleStatus: optional(
        text('`active`, or a word that starts with `cleanup` or `delet`: it is being deleted.'),
      ),
      createdBy: optional(text('The user or client that uploaded it.')),
      creationDate: optional(time('When it was uploaded.')),
      lastModified: optional(time('When it last changed.')),
      type: optional(text('`ssr`, or `legacy` for bundles without server code.', {enum: ['ssr', 'legacy', null]})),
      ssrParameters: optional({type: 'object', description: 'From the configuration of the bundle.'}),
      inUseBy: optional(texts('The environments that run it.')),
    },
  },
  ApiDeployRequest: {
    type: 'object',
    required: ['bundleId'],
    properties: {bundleId},
  },
  ApiDeployment: {
    type: 'object',
    description:
      'A deployment. All members but `deploymentId` may be missing or null; without `status`, a deployment counts as queued.',
    required: ['deploymentId'],
    properties: {
      deploymentId: text('ID of the deployment. A part of its URL.', {format: 'uuid'}),
      status: optional(text('`finished` and `failed` are final.', {enum: [...apiStatus, null]})),
      statusMessage: optional(text('The status in words, and the reason of a failure.')),
      progress: {
        type: ['object', 'null'],
        description: 'Null until the deployment has started.',
        properties: {
          description: optional(text('What is being done.')),
          percentage: optional({type: 'number', minimum: 0, maximum: 100}),
        },
      },
      duration: optional({type: 'number', description: 'Seconds that it took; null until it has ended.'}),
      bundle: {
        type: ['object', 'null'],
        properties: {bundleId: optional(bundleId), description: optional(text('The message of the bundle.'))},
      },
      createdBy: optional(text('The user or client that requested it.')),
      creationDate: optional(time('When it was requested.')),
      lastModified: optional(time('When its status last changed.')),
      url: {
        ...optional(text('Where the environment is served. Clients show it and open it.', {format: 'uri'})),
        ...onlyLocal,
      },
      warnings: {...warnings, ...onlyHosted},
    },
  },
  ApiBundlePage: apiPage('ApiBundle', 'bundles'),
  ApiDeploymentPage: apiPage('ApiDeployment', 'deployments'),
};
