import {apiPrefix} from '../protocols/api-protocol.js';
import {tokenPath} from '../protocols/token-protocol.js';
import {
  alternative,
  answer,
  bundleForm,
  deployRefusals,
  jsonBody,
  listRefusals,
  parameterRefs,
  refuse,
  uploadRefusals,
} from './parts.js';
import type {Part} from './schema-parts.js';

/** What the operations have in common. */
const common = {tags: ['Api'], security: [{oauth: []}, {accessToken: []}]};
const storefront = `${apiPrefix}organizations/{organizationId}/storefronts/{storefrontId}`;
const deployments = `${storefront}/environments/{environmentId}/deployments`;
const inStorefront = parameterRefs('organizationId', 'storefrontId');
const inEnvironment = parameterRefs('organizationId', 'storefrontId', 'environmentId');

const deployment = {
  deploymentId: '0b9f6a1e-3f43-4b5e-9d0c-5a1f6f6d2c11',
  status: 'in_progress',
  statusMessage: 'Copying the files of the bundle.',
  progress: {description: 'Copying the files of the bundle.', percentage: 40},
  duration: null,
  bundle: {bundleId: 42, description: 'main: 1a2b3c4'},
  createdBy: 'ci-client',
  creationDate: '2026-01-02T03:04:05.000Z',
  lastModified: '2026-01-02T03:04:07.000Z',
};
const queued = {...deployment, status: 'queued', statusMessage: 'The deployment is queued.', progress: null};

const uploaded = answer('The bundle was stored.', 'ApiUploaded', {
  bundleId: 42,
  warnings: [],
  matches: {ssrOnly: ['ssr.js'], ssrShared: ['static/app.js']},
});
const requested = answer('The deployment was stored, and runs.', 'ApiDeployment', queued);

/** The operations of the Api backend, and its token endpoint. */
export const apiPaths: Part = {
  [tokenPath]: {
    post: {
      operationId: 'requestToken',
      ...common,
      summary: 'Request an access token',
      description:
        'The client credentials grant of OAuth 2 (RFC 6749, section 4.4). The endpoint may be at any URL: clients are configured with it. Some clients form-encode the parts of HTTP Basic, as the RFC requires, some percent-encode them, and some do neither; accept all. Clients keep a token until shortly before it expires, and request another one once if a token that had been accepted gets a 401.',
      security: [{client: []}],
      requestBody: {
        required: true,
        content: {
          'application/x-www-form-urlencoded': {
            schema: {
              type: 'object',
              required: ['grant_type'],
              properties: {
                grant_type: {const: 'client_credentials'},
                scope: {type: 'string', description: 'The requested scopes, separated by spaces. None: all.'},
              },
            },
            example: {grant_type: 'client_credentials', scope: 'bundles deployments'},
          },
        },
      },
      responses: {
        '200': answer(
          'The token.',
          'AccessToken',
          {
            access_token: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjaS1jbGllbnQifQ.c2lnbmF0dXJl',
            token_type: 'Bearer',
            expires_in: 1800,
            scope: 'bundles deployments',
          },
          {'Cache-Control': {required: true, schema: {type: 'string', const: 'no-store'}}},
        ),
        ...refuse('OAuth', 'badRequest', 'unauthorized', 'timeout', 'tooLarge', 'unsupported'),
      },
    },
  },
  [`${storefront}/bundles`]: {
    parameters: inStorefront,
    post: {
      operationId: 'apiUploadBundle',
      ...common,
      summary: 'Upload a bundle',
      description: 'Stores a bundle, and deploys nothing.',
      requestBody: bundleForm,
      responses: {
        '201': uploaded,
        ...refuse('Api', ...uploadRefusals),
      },
    },
    get: {
      operationId: 'apiListBundles',
      ...common,
      summary: 'List bundles',
      description: 'The bundles of a storefront, newest first.',
      parameters: parameterRefs('limit', 'offset'),
      responses: {
        '200': answer('A page of bundles.', 'ApiBundlePage', {
          limit: 25,
          offset: 0,
          total: 1,
          data: [
            {
              bundleId: 42,
              description: 'main: 1a2b3c4',
              status: 'ok',
              lifecycleStatus: 'active',
              createdBy: 'ci-client',
              creationDate: '2026-01-02T03:04:05.000Z',
              lastModified: '2026-01-02T03:04:05.000Z',
              type: 'ssr',
              ssrParameters: {SSRFunctionNodeVersion: '24.x'},
              inUseBy: ['staging'],
            },
          ],
        }),
        ...refuse('Api', ...listRefusals),
      },
    },
  },
  [deployments]: {
    parameters: inEnvironment,
    post: {
      operationId: 'apiDeploy',
      ...common,
      summary: 'Deploy a bundle',
      description:
        'Starts a deployment and answers without waiting for it. One deployment runs per environment; while it does, others are refused (409).',
      requestBody: jsonBody('ApiDeployRequest', {bundleId: 42}),
      responses: {
        '200': alternative(requested, 'Accepted by clients as well.'),
        '201': requested,
        '202': alternative(requested, 'The deployment was accepted.'),
        ...refuse('Api', ...deployRefusals),
      },
    },
    get: {
      operationId: 'apiListDeployments',
      ...common,
      summary: 'List deployments',
      description: 'The deployments to an environment, newest first.',
      parameters: parameterRefs('limit', 'offset'),
      responses: {
        '200': answer('A page of deployments.', 'ApiDeploymentPage', {
          limit: 25,
          offset: 0,
          total: 1,
          data: [deployment],
        }),
        ...refuse('Api', ...listRefusals),
      },
    },
  },
  [`${deployments}/{deploymentId}`]: {
    parameters: [...inEnvironment, ...parameterRefs('deploymentId')],
    get: {
      operationId: 'apiGetDeployment',
      ...common,
      summary: 'Get a deployment',
      description: 'Clients that wait for a deployment poll this until `status` is final.',
      responses: {
        '200': answer('The deployment.', 'ApiDeployment', deployment),
        ...refuse('Api', 'badRequest', 'unauthorized', 'notFound'),
      },
    },
  },
};
