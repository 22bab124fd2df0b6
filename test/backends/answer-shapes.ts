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
  /** What is never missing nor null when what it is in is there; every other member may be either. */
  readonly required: readonly string[];
  /** Objects with keys of their own. */
  readonly open?: readonly string[];
}

const at = (second: number) => `2026-01-02T03:04:0${String(second)}.000Z`;
const uuid = '0b9f6a1e-0000-4000-8000-000000000001';
const matches = {ssrOnly: ['ssr.js'], ssrShared: ['static/app.js', 'static/app.css']};
const legacyPage = {count: 1, next: 'http://runtime.example/api/?limit=1&offset=1', previous: null};
const apiPage = {limit: 1, offset: 0, total: 1};

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
  required: ['bundle_id'],
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
    required: ['id'],
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
    required: ['results', 'results.0', 'results.0.id'],
  },
  'legacy download': {
    method: 'GET',
    path: /^\/api\/projects\/[^/]+\/bundles\/[^/]+\/download\/$/,
    status: 200,
    answer: {download_url: '{origin}/archive?signature=1'},
    required: ['download_url'],
  },
  'legacy delete': {
    method: 'DELETE',
    path: /^\/api\/projects\/[^/]+\/bundles\/[^/]+\/$/,
    status: 202,
    alsoStatus: [204],
    required: [],
  },
  'legacy delete several': {
    method: 'POST',
    path: /^\/api\/projects\/[^/]+\/bundles\/bulk-delete\/$/,
    status: 202,
    answer: {
      rejected_bundles: [{bundle_id: 8, errors: 'There is no bundle 8.'}],
      bundles_queued_for_cleanup: [7],
    },
    required: [
      'rejected_bundles',
      'rejected_bundles.0',
      'rejected_bundles.0.bundle_id',
      'rejected_bundles.0.errors',
      'bundles_queued_for_cleanup',
    ],
  },
  'legacy projects': {
    method: 'GET',
    path: /^\/api\/projects\/$/,
    status: 200,
    answer: {...legacyPage, results: [{slug: 'shop', name: 'shop', organization: 'acme', deletion_status: 'ACTIVE'}]},
    required: ['results', 'results.0', 'results.0.slug'],
  },
  'legacy targets': {
    method: 'GET',
    path: /^\/api\/projects\/[^/]+\/target\/$/,
    status: 200,
    answer: {...legacyPage, results: [target]},
    required: ['results', 'results.0', 'results.0.slug', 'results.0.current_deploy.bundle.id'],
  },
  'legacy target': {
    method: 'GET',
    path: /^\/api\/projects\/[^/]+\/target\/[^/]+\/$/,
    status: 200,
    answer: target,
    required: ['slug', 'current_deploy.bundle.id'],
  },
  'legacy deploy': {
    method: 'POST',
    path: /^\/api\/projects\/[^/]+\/target\/[^/]+\/deploy\/$/,
    status: 201,
    alsoStatus: [200, 202, 204],
    answer: {warnings: ['careful'], status: 'In Progress', bundle_id: 7, bundle: {id: 7}, created_at: at(4)},
    required: ['bundle.id'],
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
    required: ['results', 'results.0'],
  },
  token: {
    method: 'POST',
    path: /\/token$/,
    status: 200,
    answer: {access_token: 'a.b.c', expires_in: 1800, token_type: 'Bearer', scope: 'bundles'},
    required: ['access_token'],
  },
  'Api upload': {
    method: 'POST',
    path: /\/storefronts\/[^/]+\/bundles$/,
    status: 201,
    answer: {bundleId: 7, warnings: ['careful'], matches},
    required: ['bundleId'],
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
    required: ['data', 'data.0', 'data.0.bundleId'],
    open: ['data.0.ssrParameters'],
  },
  'Api deploy': {
    method: 'POST',
    path: /\/environments\/[^/]+\/deployments$/,
    status: 201,
    alsoStatus: [200, 202],
    answer: {...deployment, warnings: ['careful']},
    required: ['deploymentId'],
  },
  'Api deployments': {
    method: 'GET',
    path: /\/environments\/[^/]+\/deployments$/,
    status: 200,
    answer: {...apiPage, data: [deployment]},
    required: ['data', 'data.0', 'data.0.deploymentId'],
  },
  'Api deployment': {
    method: 'GET',
    path: /\/environments\/[^/]+\/deployments\/[^/]+$/,
    status: 200,
    answer: deployment,
    required: ['deploymentId'],
  },
} as const satisfies Readonly<Record<string, AnswerShape>>;

/** The published answers of refusal. Any other document, and none at all, is a refusal too. */
export const refusalShapes = {
  'legacy refusal': {
    method: 'GET',
    path: /^\/api\//,
    status: 422,
    answer: {detail: 'There is no such bundle.', message: 'There is no such bundle.'},
    required: [],
  },
  'Api refusal': {
    method: 'GET',
    path: /^\/storefront\//,
    status: 422,
    answer: {title: 'Unprocessable Entity', type: 'about:blank', detail: 'There is no such bundle.'},
    required: [],
  },
} as const satisfies Readonly<Record<string, AnswerShape>>;

/** The name of a published answer. */
export type ShapeName = keyof typeof answerShapes | keyof typeof refusalShapes;

/** A published answer by its name, with the members that may be missing or null. */
export function shapeOf(name: ShapeName): AnswerShape & {readonly optional: readonly string[]} {
  const shape: AnswerShape = {...answerShapes, ...refusalShapes}[name];
  const paths = membersOf(shape.answer, shape.open ?? []);
  return {...shape, optional: paths.filter((path) => !shape.required.includes(path))};
}

/** The paths of all members of a document; those of objects with keys of their own are not looked into. */
function membersOf(value: Json | undefined, open: readonly string[], at: readonly string[] = []): readonly string[] {
  if (typeof value !== 'object' || value === null || open.includes(at.join('.'))) return [];
  return Object.entries(value).flatMap(([key, member]: readonly [string, Json]) => {
    if (Array.isArray(value) && typeof member !== 'object') return [];
    const path = [...at, key];
    return [path.join('.'), ...membersOf(member, open, path)];
  });
}

/**
 * A copy of `value` with another member at `path`; undefined takes it away. A path that leads nowhere changes nothing.
 */
export function withMember(value: Json | undefined, [key, ...rest]: readonly string[], member: Json | undefined): Json {
  if (typeof value !== 'object' || value === null || key === undefined) return value ?? null;
  const old = Reflect.get(value, key) as Json | undefined;
  const changed = rest.length === 0 ? member : old === undefined ? undefined : withMember(old, rest, member);
  if (Array.isArray(value)) {
    const items = value as readonly Json[];
    return items.flatMap((item, index) => (String(index) === key ? (changed === undefined ? [] : [changed]) : [item]));
  }
  const {[key]: _, ...others} = value as Readonly<Record<string, Json>>;
  return changed === undefined ? others : {...others, [key]: changed};
}
