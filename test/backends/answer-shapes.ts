// The published answers of both services, as data. What a client gets from them: answer-uses.ts.

/** A JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | {readonly [key: string]: Json};

/** A published answer. Paths name members: `results.0.bundle.id`; a list has one element, which stands for all. */
export interface AnswerShape {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Of the path, without the query. */
  readonly path: RegExp;
  /** Status of the answer. */
  readonly status: number;
  /** Another status that means the same, with the same answer or without a body. */
  readonly alsoStatus?: readonly number[];
  /** The whole answer. `{origin}` in it is the server's own. None: the answer has no body. */
  readonly answer?: Json;
  /** What may be missing or null. */
  readonly optional: readonly string[];
  /** The values that a member can have. */
  readonly words?: Readonly<Record<string, readonly Json[]>>;
  /** Objects with keys of their own. */
  readonly open?: readonly string[];
}

const at = (second: number) => `2026-01-02T03:04:0${String(second)}.000Z`;
const uuid = '0b9f6a1e-0000-4000-8000-000000000001';
const matches = {ssrOnly: ['ssr.js'], ssrShared: ['static/app.js', 'static/app.css']};
const legacyPage = {count: 1, next: 'http://runtime.example/api/?limit=1&offset=1', previous: null};
const legacyPageOptional = ['count', 'next', 'previous'];
const apiPage = {limit: 1, offset: 0, total: 1};
const apiPageOptional = ['limit', 'offset', 'total'];

const v1Push = {
  method: 'POST',
  status: 200,
  alsoStatus: [201],
  answer: {
    bundle_id: 7,
    message: 'main: 1a2b3c4',
    url: 'http://runtime.example/',
    bundle_preview_url: 'http://runtime.example/preview',
    warnings: ['careful'],
  },
  optional: ['message', 'url', 'bundle_preview_url', 'warnings'],
} as const;

const target = {
  slug: 'staging',
  name: 'staging',
  state: 'ACTIVE',
  deletion_status: 'ACTIVE',
  current_deploy: {status: 'Finished', bundle: {id: 7, message: 'main: 1a2b3c4'}},
  ssr_external_hostname: 'staging.runtime.example',
  cdn_domain_name: 'cdn.runtime.example',
  is_production: false,
  // Not published: the local runtime has one host for all targets, and tells where each of them is.
  url: 'http://runtime.example/shop/staging/',
};
const targetOptional = [
  'name',
  'state',
  'deletion_status',
  'current_deploy',
  'current_deploy.status',
  'current_deploy.bundle',
  'current_deploy.bundle.message',
  'ssr_external_hostname',
  'cdn_domain_name',
  'is_production',
  'url',
];
const deployStates = ['Queued', 'In Progress', 'Failed', 'Finished'];
const targetStates = ['ACTIVE', 'CREATE_IN_PROGRESS', 'PUBLISH_IN_PROGRESS', 'CREATE_FAILED', 'PUBLISH_FAILED'];

const deployment = {
  deploymentId: uuid,
  status: 'in_progress',
  statusMessage: 'All is well.',
  progress: {description: 'Copying the files.', percentage: 40},
  duration: 12.5,
  bundle: {bundleId: 7, description: 'main: 1a2b3c4'},
  createdBy: 'jane@example.com',
  creationDate: at(4),
  lastModified: at(5),
  // Not published: what the local runtime adds.
  url: 'http://runtime.example/shop/staging/',
};
const deploymentOptional = [
  'status',
  'statusMessage',
  'progress',
  'progress.description',
  'progress.percentage',
  'duration',
  'bundle',
  'bundle.bundleId',
  'bundle.description',
  'createdBy',
  'creationDate',
  'lastModified',
  'url',
];
const apiStates = ['queued', 'in_progress', 'failed', 'finished'];

const below = (path: string, names: readonly string[]) => names.map((name) => `${path}.${name}`);

/** The published answers of success, by operation. */
export const answerShapes = {
  'legacy push v1': {...v1Push, path: /^\/api\/projects\/[^/]+\/builds\/$/},
  'legacy push v1 and deploy': {...v1Push, path: /^\/api\/projects\/[^/]+\/builds\/[^/]+\/$/},
  'legacy push v2': {
    method: 'POST',
    path: /^\/api\/v2\/projects\/[^/]+\/bundles\/$/,
    status: 201,
    alsoStatus: [200],
    answer: {id: 7, warnings: ['careful'], matches},
    optional: ['warnings', 'matches'],
    open: ['matches'],
  },
  'legacy bundles': {
    method: 'GET',
    path: /^\/api\/projects\/[^/]+\/bundles\/$/,
    status: 200,
    answer: {
      ...legacyPage,
      results: [
        {
          id: 7,
          message: 'main: 1a2b3c4',
          status: 1,
          deletion_status: 'ACTIVE',
          user: 'jane@example.com',
          created_at: at(4),
          updated_at: at(5),
          in_use_by: ['staging'],
        },
      ],
    },
    optional: [
      ...legacyPageOptional,
      ...below('results.0', ['message', 'status', 'deletion_status', 'user', 'created_at', 'updated_at', 'in_use_by']),
    ],
    words: {'results.0.status': [0, 1, 2], 'results.0.deletion_status': ['ACTIVE', 'CLEANUP_QUEUED']},
  },
  'legacy download': {
    method: 'GET',
    path: /^\/api\/projects\/[^/]+\/bundles\/[^/]+\/download\/$/,
    status: 200,
    answer: {download_url: '{origin}/archive?signature=1'},
    optional: [],
  },
  'legacy delete': {
    method: 'DELETE',
    path: /^\/api\/projects\/[^/]+\/bundles\/[^/]+\/$/,
    status: 202,
    alsoStatus: [204],
    optional: [],
  },
  'legacy delete several': {
    method: 'POST',
    path: /^\/api\/projects\/[^/]+\/bundles\/bulk-delete\/$/,
    status: 202,
    answer: {
      rejected_bundles: [{bundle_id: 8, errors: 'There is no bundle 8.'}],
      bundles_queued_for_cleanup: [7],
    },
    optional: [],
  },
  'legacy projects': {
    method: 'GET',
    path: /^\/api\/projects\/$/,
    status: 200,
    answer: {...legacyPage, results: [{slug: 'shop', name: 'shop', organization: 'acme', deletion_status: 'ACTIVE'}]},
    optional: [...legacyPageOptional, ...below('results.0', ['name', 'organization', 'deletion_status'])],
  },
  'legacy targets': {
    method: 'GET',
    path: /^\/api\/projects\/[^/]+\/target\/$/,
    status: 200,
    answer: {...legacyPage, results: [target]},
    optional: [...legacyPageOptional, ...below('results.0', targetOptional)],
    words: {'results.0.state': targetStates, 'results.0.current_deploy.status': deployStates},
  },
  'legacy target': {
    method: 'GET',
    path: /^\/api\/projects\/[^/]+\/target\/[^/]+\/$/,
    status: 200,
    answer: target,
    optional: targetOptional,
    words: {state: targetStates, 'current_deploy.status': deployStates},
  },
  'legacy deploy': {
    method: 'POST',
    path: /^\/api\/projects\/[^/]+\/target\/[^/]+\/deploy\/$/,
    status: 201,
    alsoStatus: [200, 204],
    answer: {warnings: ['careful'], status: 'In Progress', bundle: {id: 7}, created_at: at(4)},
    optional: ['warnings', 'status', 'bundle', 'created_at'],
    words: {status: deployStates},
  },
  'legacy deployments': {
    method: 'GET',
    path: /^\/api\/projects\/[^/]+\/target\/[^/]+\/deploy\/$/,
    status: 200,
    answer: {
      ...legacyPage,
      results: [
        {
          bundle: {id: 7, message: 'main: 1a2b3c4'},
          status: 'Finished',
          deploy_type: 'Publish',
          external_publish_id: uuid,
          user: 'jane@example.com',
          created_at: at(4),
          updated_at: at(5),
          duration: '00:01:16.867000',
        },
      ],
    },
    optional: [
      ...legacyPageOptional,
      ...below('results.0', ['bundle', 'bundle.id', 'bundle.message', 'status', 'deploy_type', 'external_publish_id']),
      ...below('results.0', ['user', 'created_at', 'updated_at', 'duration']),
    ],
    words: {
      'results.0.status': deployStates,
      'results.0.deploy_type': ['Publish', 'Reset Bundle', 'Push', 'Deploy Settings', 'Redeploy'],
    },
  },
  token: {
    method: 'POST',
    path: /\/token$/,
    status: 200,
    answer: {access_token: 'a.b.c', expires_in: 1800, token_type: 'Bearer', scope: 'bundles'},
    optional: ['expires_in', 'token_type', 'scope'],
    words: {token_type: ['Bearer']},
  },
  'Api upload': {
    method: 'POST',
    path: /\/storefronts\/[^/]+\/bundles$/,
    status: 201,
    answer: {bundleId: 7, warnings: ['careful'], matches},
    optional: ['warnings', 'matches'],
    open: ['matches'],
  },
  'Api bundles': {
    method: 'GET',
    path: /\/storefronts\/[^/]+\/bundles$/,
    status: 200,
    answer: {
      ...apiPage,
      data: [
        {
          bundleId: 7,
          description: 'main: 1a2b3c4',
          status: 'ok',
          lifecycleStatus: 'active',
          createdBy: 'jane@example.com',
          creationDate: at(4),
          lastModified: at(5),
          type: 'ssr',
          ssrParameters: {SSRFunctionNodeVersion: '24.x'},
          inUseBy: ['staging'],
        },
      ],
    },
    optional: [
      ...apiPageOptional,
      ...below('data.0', ['description', 'status', 'lifecycleStatus', 'createdBy', 'creationDate', 'lastModified']),
      ...below('data.0', ['type', 'ssrParameters', 'inUseBy']),
    ],
    words: {'data.0.status': ['ok', 'broken', 'preparing'], 'data.0.type': ['ssr', 'legacy']},
    open: ['data.0.ssrParameters'],
  },
  'Api deploy': {
    method: 'POST',
    path: /\/environments\/[^/]+\/deployments$/,
    status: 201,
    alsoStatus: [200, 202],
    answer: {...deployment, warnings: ['careful']},
    optional: [...deploymentOptional, 'warnings'],
    words: {status: apiStates},
  },
  'Api deployments': {
    method: 'GET',
    path: /\/environments\/[^/]+\/deployments$/,
    status: 200,
    answer: {...apiPage, data: [deployment]},
    optional: [...apiPageOptional, ...below('data.0', deploymentOptional)],
    words: {'data.0.status': apiStates},
  },
  'Api deployment': {
    method: 'GET',
    path: /\/environments\/[^/]+\/deployments\/[^/]+$/,
    status: 200,
    answer: deployment,
    optional: deploymentOptional,
    words: {status: apiStates},
  },
} as const satisfies Readonly<Record<string, AnswerShape>>;

/** The published answers of refusal. Any other document, and none at all, is a refusal too. */
export const refusalShapes = {
  'legacy refusal': {
    method: 'GET',
    path: /^\/api\//,
    status: 422,
    answer: {detail: 'There is no such bundle.', message: 'There is no such bundle.'},
    optional: ['detail', 'message'],
  },
  'Api refusal': {
    method: 'GET',
    path: /^\/storefront\//,
    status: 422,
    answer: {title: 'Unprocessable Entity', type: 'about:blank', detail: 'There is no such bundle.'},
    optional: ['title', 'type', 'detail'],
  },
} as const satisfies Readonly<Record<string, AnswerShape>>;

/** The name of a published answer. */
export type ShapeName = keyof typeof answerShapes | keyof typeof refusalShapes;

/** A published answer by its name. */
export function shapeOf(name: ShapeName): AnswerShape {
  return {...answerShapes, ...refusalShapes}[name];
}
