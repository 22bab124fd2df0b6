import type {Json, ShapeName} from './answer-shapes.js';

/** What the host is told, member by member. A member that is undefined is not told. */
export type Told = Readonly<Record<string, unknown>>;

/** What comes of a published answer in one of the places where it is read. */
export interface AnswerUse {
  readonly shape: ShapeName;
  /** Of the whole answer. */
  readonly told: Told;
  /** What is told in place of that when no optional member is there, or each is null. */
  readonly bare: Told;
  /** What is told in place of that for other values of a member, unpublished ones among them. */
  readonly words?: readonly (readonly [path: string, value: Json, told: Told | 'invalid'])[];
  /** Without these, or with null in their place, it is no answer. */
  readonly required: readonly string[];
}

const message = 'main: 1a2b3c4';
const createdBy = 'jane@example.com';
const createdAt = '2026-01-02T03:04:04.000Z';
const deploymentId = '0b9f6a1e-0000-4000-8000-000000000001';
const url = 'http://runtime.example/shop/staging/';
const matches = {ssrOnly: ['ssr.js'], ssrShared: ['static/app.js', 'static/app.css']};
const gone = undefined;

const uploaded = {
  told: {bundleId: 7, warnings: ['careful'], matches},
  bare: {warnings: [], matches: {}},
};
const uploadedV1 = {
  shape: 'legacy push v1',
  told: {bundleId: 7, warnings: ['careful'], url: 'http://runtime.example/preview'},
  bare: {warnings: [], url: gone},
  words: [
    ['bundle_id', '7', {}],
    ['bundle_id', 'b7', 'invalid'],
    ['bundle_id', -1, 'invalid'],
  ],
  required: ['bundle_id'],
} as const;
const deployed = {
  bundleId: 7,
  targetSlug: 'staging',
  before: {unknown: 'It was requested without waiting for it.'},
};

/** Every place where the backends read an answer. */
export const answerUses = {
  'legacy: a push of v1': uploadedV1,
  'legacy: a push of v1 with its deployment': {
    ...uploadedV1,
    shape: 'legacy push v1 and deploy',
    told: {...uploadedV1.told, deployment: deployed, url: 'http://runtime.example/'},
    bare: {warnings: [], url: gone},
  },
  'legacy: a push of v2': {shape: 'legacy push v2', ...uploaded, required: ['id']},
  'legacy: the list of bundles': {
    shape: 'legacy bundles',
    told: {total: 1, bundleId: 7, message, status: 'ready', createdAt, createdBy, inUseBy: ['staging']},
    bare: {total: gone, message: gone, status: 'unknown', createdBy: gone, createdAt: gone, inUseBy: gone},
    words: [
      ['results.0.status', 0, {status: 'preparing'}],
      ['results.0.status', 2, {status: 'broken'}],
      ['results.0.status', 3, {status: 'unknown'}],
      ['results.0.status', 'completed', {status: 'unknown'}],
      ['results.0.deletion_status', 'CLEANUP_QUEUED', {status: 'deleting'}],
      ['results.0.deletion_status', 'CLEANUP_FAILED', {status: 'deleting'}],
      ['results.0.id', '7', {}],
    ],
    required: ['results', 'results.0', 'results.0.id'],
  },
  'legacy: a download': {
    shape: 'legacy download',
    told: {archive: 'the archive'},
    bare: {},
    required: ['download_url'],
  },
  'legacy: a deletion': {shape: 'legacy delete', told: {}, bare: {}, required: []},
  'legacy: a deployment': {
    shape: 'legacy deploy',
    told: {deployment: deployed, status: 'in_progress', warnings: ['careful']},
    bare: {status: 'queued', warnings: []},
    words: [
      ['status', 'Queued', {status: 'queued'}],
      ['status', 'Failed', {status: 'failed'}],
      ['status', 'Finished', {status: 'finished'}],
      ['status', 'accepted', {status: 'queued'}],
    ],
    required: [],
  },
  'legacy: the list of deployments': {
    shape: 'legacy deployments',
    told: {total: 1, bundleId: 7, message, status: 'finished', createdAt, createdBy},
    bare: {total: gone, bundleId: gone, message: gone, status: 'queued', createdBy: gone, createdAt: gone},
    words: [
      ['results.0.status', 'Queued', {status: 'queued'}],
      ['results.0.status', 'In Progress', {status: 'in_progress'}],
      ['results.0.status', 'Failed', {status: 'failed'}],
      ['results.0.status', 'Cancelled', {status: 'unknown'}],
      ['results.0.status', 4, {status: 'unknown'}],
    ],
    required: ['results', 'results.0'],
  },
  'legacy: a look at the deployment that is waited for': {
    shape: 'legacy deployments',
    told: {status: 'finished'},
    // Of which bundle it is, or where it stands, is not told yet: it is looked at again.
    bare: {status: 'queued'},
    words: [
      ['results.0.bundle', null, {status: 'queued'}],
      ['results.0.status', 'Queued', {status: 'queued'}],
      ['results.0.status', 'In Progress', {status: 'in_progress'}],
      ['results.0.status', 'Failed', {status: 'failed'}],
      ['results.0.status', 'Cancelled', 'invalid'],
      ['results.0.bundle.id', 8, {status: 'queued'}],
    ],
    required: ['results', 'results.0'],
  },
  'legacy: the look before a deployment': {
    shape: 'legacy deployments',
    told: {before: {createdAt, count: 1}, warned: false, status: 'queued'},
    bare: {before: 'unknown', warned: true},
    words: [
      ['results.0.status', 'Cancelled', {}],
      ['count', null, {before: {createdAt}}],
    ],
    // It costs a warning, never the deployment.
    required: [],
  },
  'Api: the token': {
    shape: 'token',
    told: {header: 'Bearer a.b.c'},
    bare: {},
    words: [
      ['token_type', 'bearer', {}],
      ['expires_in', '1800', {}],
    ],
    required: ['access_token'],
  },
  'Api: an upload': {
    shape: 'Api upload',
    ...uploaded,
    words: [
      ['bundleId', '7', {}],
      ['bundleId', 'b7', 'invalid'],
    ],
    required: ['bundleId'],
  },
  'Api: the list of bundles': {
    shape: 'Api bundles',
    told: {total: 1, bundleId: 7, message, status: 'ready', createdAt, createdBy, inUseBy: ['staging']},
    bare: {total: gone, message: gone, status: 'unknown', createdBy: gone, createdAt: gone, inUseBy: gone},
    words: [
      ['data.0.status', 'broken', {status: 'broken'}],
      ['data.0.status', 'preparing', {status: 'preparing'}],
      ['data.0.status', 'odd', {status: 'unknown'}],
      ['data.0.lifecycleStatus', 'deleting', {status: 'deleting'}],
    ],
    required: ['data', 'data.0', 'data.0.bundleId'],
  },
  'Api: a deployment': {
    shape: 'Api deploy',
    told: {deployment: {deploymentId, targetSlug: 'staging'}, status: 'in_progress', url, warnings: ['careful']},
    bare: {status: 'queued', url: gone, warnings: []},
    words: [
      ['status', 'queued', {status: 'queued'}],
      ['status', 'failed', {status: 'failed'}],
      ['status', 'finished', {status: 'finished'}],
    ],
    required: ['deploymentId'],
  },
  'Api: the list of deployments': {
    shape: 'Api deployments',
    told: {
      ...{total: 1, deploymentId, bundleId: 7, message, status: 'in_progress', createdAt, createdBy},
      ...{description: 'All is well.', url},
    },
    bare: {
      total: gone,
      bundleId: gone,
      message: gone,
      status: 'queued',
      createdBy: gone,
      createdAt: gone,
      description: gone,
      url: gone,
    },
    words: [
      ['data.0.status', 'queued', {status: 'queued'}],
      ['data.0.status', 'failed', {status: 'failed'}],
      ['data.0.status', 'finished', {status: 'finished'}],
      ['data.0.status', 'cancelled', {status: 'unknown'}],
    ],
    required: ['data', 'data.0', 'data.0.deploymentId'],
  },
  'Api: a look at the deployment that is waited for': {
    shape: 'Api deployment',
    told: {status: 'in_progress', description: 'Copying the files.', percentage: 40, url},
    bare: {status: 'queued', description: gone, percentage: gone, url: gone},
    words: [
      ['progress', null, {description: 'All is well.', percentage: gone}],
      ['status', 'queued', {status: 'queued'}],
      ['status', 'failed', {status: 'failed'}],
      ['status', 'finished', {status: 'finished'}],
      ['status', 'cancelled', 'invalid'],
    ],
    required: [],
  },
  'legacy: a refusal': {
    shape: 'legacy refusal',
    told: {code: 'ERR_REJECTED', status: 422, said: 'There is no such bundle.'},
    bare: {said: gone},
    words: [
      ['detail', null, {}],
      ['message', null, {}],
    ],
    required: [],
  },
  'Api: a refusal': {
    shape: 'Api refusal',
    told: {code: 'ERR_REJECTED', status: 422, said: 'There is no such bundle.'},
    // The title is the phrase of the status, which the message has already.
    bare: {said: gone},
    required: [],
  },
} as const satisfies Readonly<Record<string, AnswerUse>>;

/** The name of a place where an answer is read. */
export type UseName = keyof typeof answerUses;
