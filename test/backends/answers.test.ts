import {Readable, Writable} from 'node:stream';
import {text} from 'node:stream/consumers';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {apiBackend} from '../../src/backends/api/backend.js';
import type {ApiBackendOptions} from '../../src/backends/api/connection.js';
import type {BuiltInContext} from '../../src/backends/built-in.js';
import type {ListResult} from '../../src/backends/contract.js';
import {legacyBackend} from '../../src/backends/legacy/backend.js';
import type {LegacyBackendOptions} from '../../src/backends/legacy/connection.js';
import {isRuntimeCliError} from '../../src/errors/index.js';
import {ApiKeyStrategy, BearerTokenStrategy, OAuthClientCredentialsStrategy} from '../../src/http/index.js';
import {startRecordingServer, type RecordingServer, type Reply} from '../recording-server.js';
import {answerOf, departures, least, operationAt, operations} from '../wire/contract.js';
import {bundleOf, contextFor, promised} from './context-for.js';

// What the host is told of the published answers: of all of their members, and of those only that must be there. How
// single members are read is tested in test/wire/schema.test.ts, what is no answer at all in built-in.test.ts.

/** What the host is told, member by member. A member that is undefined is not told. */
type Told = Readonly<Record<string, unknown>>;

interface PublishedAnswer {
  readonly name: string;
  /** The name of the request in docs/reference/openapi.json. */
  readonly operation: string;
  readonly call: () => Promise<object>;
  /** None: the answer has no body. */
  readonly answer?: object;
  readonly told: Told;
  /** What is told in place of that when no optional member is there, or each is null. */
  readonly bare?: Told;
  /** What is told in place of that for other values of a member, unpublished ones among them. */
  readonly words?: readonly (readonly [path: string, value: unknown, told: Told | 'invalid'])[];
}

let server: RecordingServer;
let legacy: BuiltInContext<LegacyBackendOptions>;
let api: BuiltInContext<ApiBackendOptions>;
/** What the server answers to the request that is looked at. */
let reply: Reply;
let asked: string;

beforeAll(async () => {
  server = await startRecordingServer(({method, path}) => {
    if (operationAt(method, path.replace(/\?.*/, ''))?.operation.id === asked) return reply;
    return path === '/archive' ? {status: 200, body: 'the archive'} : {status: 204};
  });
  const {origin} = server;
  legacy = await contextFor<LegacyBackendOptions>({origin, auth: new ApiKeyStrategy({apiKey: 'key'})});
  const auth = new BearerTokenStrategy('token');
  api = await contextFor<ApiBackendOptions>({connection: {origin, organizationId: 'org', auth}});
});
afterAll(() => server[Symbol.asyncDispose]());

const range = {limit: 1};
const inTarget = {...range, targetSlug: 'staging'};
const deployment = {bundleId: 7, targetSlug: 'staging'};
const [v1, v2] = [bundleOf({format: 'v1'}), bundleOf({format: 'v2'})];

/** A page as its one item, and how long the list is. */
async function only(list: Promise<ListResult<object>>): Promise<object> {
  const {items, total, raw} = await list;
  expect(items).toHaveLength(1);
  return {total, raw, ...items[0]};
}

/** What is read from an archive. */
async function downloaded(): Promise<object> {
  const chunks: Buffer[] = [];
  const writeTo = new Writable({
    write(chunk: Buffer, _, done) {
      chunks.push(chunk);
      done();
    },
  });
  await promised(legacyBackend.download)({bundleId: 7, writeTo}, legacy);
  return {archive: await text(Readable.from(chunks))};
}

/** How a deployment that will be waited for begins. */
async function deployedAfterLook(): Promise<object> {
  const waiting = {...legacy, wait: true};
  const {deployment: reference, status, warnings = []} = await promised(legacyBackend.deploy)(deployment, waiting);
  const {before} = reference;
  const isUnknown = typeof before === 'object' && before !== null && 'unknown' in before;
  return {before: isUnknown ? 'unknown' : before, warned: warnings.length > 0, status};
}

async function authorization(): Promise<object> {
  const client = {tokenUrl: `${server.origin}/api/oauth2/token`, clientId: 'id', clientSecret: 'secret'};
  return {header: await new OAuthClientCredentialsStrategy(client).getAuthorizationHeader({http: api.http})};
}

const gone = undefined;
const time = '2026-01-02T03:04:04.000Z';
const message = 'main: 1a2b3c4';
const user = 'jane@example.com';
const deploymentId = '0b9f6a1e-0000-4000-8000-000000000001';
const url = 'http://runtime.example/shop/staging/';
const matches = {ssrOnly: ['ssr.js'], ssrShared: ['static/app.js', 'static/app.css']};
const warnings = ['careful'];

const pushed = {told: {bundleId: 7, warnings, matches}, bare: {warnings: [], matches: {}}};
const pushedV1 = {
  answer: {bundle_id: 7, message, url, bundle_preview_url: 'http://runtime.example/preview', warnings},
  bare: {warnings: [], url: gone},
};
const deployedLegacy = {...deployment, before: {unknown: 'It was requested without waiting for it.'}};
const legacyPage = {count: 1, next: 'http://runtime.example/api/?limit=1&offset=1', previous: null};
const history = {
  ...legacyPage,
  results: [
    {
      ...{bundle: {id: 7, message}, status: 'Finished', deploy_type: 'Publish', external_publish_id: deploymentId},
      ...{user, created_at: time, updated_at: time, duration: '00:01:16.867000'},
    },
  ],
};
const apiDeployment = {
  ...{deploymentId, status: 'in_progress', statusMessage: 'All is well.', duration: 12.5, url},
  ...{progress: {description: 'Copying the files.', percentage: 40}, bundle: {bundleId: 7, description: message}},
  ...{createdBy: user, creationDate: time, lastModified: time},
};
const listed = {total: 1, bundleId: 7, message, createdAt: time, createdBy: user};
const unlisted = {total: gone, message: gone, createdAt: gone, createdBy: gone};

/** What is told for each status: `[published, told]`. */
const statuses = (path: string, ...words: readonly (readonly [unknown, string])[]) =>
  words.map(([word, status]) => [path, word, status === 'invalid' ? status : {status}] as const);
const legacyStatuses = [
  ['Queued', 'queued'],
  ['In Progress', 'in_progress'],
  ['Failed', 'failed'],
] as const;
const apiStatuses = [
  ['queued', 'queued'],
  ['failed', 'failed'],
  ['finished', 'finished'],
] as const;

const published: readonly PublishedAnswer[] = [
  {
    name: 'legacy: a push of v1',
    operation: 'legacyPushV1',
    call: () => legacyBackend.upload(v1, legacy),
    ...pushedV1,
    told: {bundleId: 7, warnings, url: 'http://runtime.example/preview'},
  },
  {
    name: 'legacy: a push of v1 with its deployment',
    operation: 'legacyPushAndDeployV1',
    call: () => legacyBackend.upload(v1, {...legacy, targetSlug: 'staging'}),
    ...pushedV1,
    told: {bundleId: 7, warnings, deployment: deployedLegacy, url},
  },
  {
    name: 'legacy: a push of v2',
    operation: 'legacyPushV2',
    call: () => legacyBackend.upload(v2, legacy),
    answer: {id: 7, warnings, matches},
    ...pushed,
  },
  {
    name: 'legacy: the list of bundles',
    operation: 'legacyListBundles',
    call: () => only(promised(legacyBackend.listBundles)(range, legacy)),
    answer: {
      ...legacyPage,
      results: [
        {
          ...{id: 7, message, status: 1, deletion_status: 'ACTIVE', user, created_at: time, updated_at: time},
          in_use_by: ['staging'],
        },
      ],
    },
    told: {...listed, status: 'ready', inUseBy: ['staging']},
    bare: {...unlisted, status: 'unknown', inUseBy: gone},
    words: [
      ...statuses('results.0.status', [0, 'preparing'], [2, 'broken'], [3, 'unknown'], ['completed', 'unknown']),
      ...statuses('results.0.deletion_status', ['CLEANUP_QUEUED', 'deleting'], ['CLEANUP_FAILED', 'deleting']),
    ],
  },
  {
    name: 'legacy: a download',
    operation: 'legacyDownloadBundle',
    call: downloaded,
    answer: {download_url: '{origin}/archive'},
    told: {archive: 'the archive'},
  },
  {
    name: 'legacy: a deletion',
    operation: 'legacyDeleteBundle',
    call: async () => {
      await promised(legacyBackend.deleteBundle)({bundleId: 7}, legacy);
      return {};
    },
    told: {},
  },
  {
    name: 'legacy: a deployment',
    operation: 'legacyDeploy',
    call: () => promised(legacyBackend.deploy)(deployment, legacy),
    answer: {warnings, status: 'In Progress', bundle_id: 7, bundle: {id: 7}, created_at: time},
    told: {deployment: deployedLegacy, status: 'in_progress', warnings},
    bare: {status: 'queued', warnings: []},
    words: statuses('status', ...legacyStatuses, ['Finished', 'finished'], ['accepted', 'queued']),
  },
  {
    name: 'legacy: the list of deployments',
    operation: 'legacyListDeployments',
    call: () => only(promised(legacyBackend.listDeployments)(inTarget, legacy)),
    answer: history,
    told: {...listed, deployment: expect.objectContaining({targetSlug: 'staging'}), status: 'finished'},
    bare: {...unlisted, bundleId: gone, status: 'queued'},
    words: statuses('results.0.status', ...legacyStatuses, ['Cancelled', 'unknown'], [4, 'unknown']),
  },
  {
    name: 'legacy: a look at the deployment that is waited for',
    operation: 'legacyListDeployments',
    call: async () => {
      const {status} = await promised(legacyBackend.getDeployment)({...deployment, before: 'none'}, legacy);
      return {status};
    },
    answer: history,
    told: {status: 'finished'},
    // Of which bundle it is, or where it stands, is not told yet: it is looked at again.
    bare: {status: 'queued'},
    words: [
      ...statuses('results.0.status', ...legacyStatuses, ['Cancelled', 'invalid']),
      ...statuses('results.0.bundle', [null, 'queued'], [{id: 8}, 'queued']),
    ],
  },
  {
    name: 'legacy: the look before a deployment, which costs a warning, never the deployment',
    operation: 'legacyListDeployments',
    call: deployedAfterLook,
    answer: history,
    told: {before: {createdAt: time, count: 1}, warned: false, status: 'queued'},
    bare: {before: 'unknown', warned: true},
    words: [
      ['results.0.status', 'Cancelled', {}],
      ['count', null, {before: {createdAt: time}}],
    ],
  },
  {
    name: 'Api: the token',
    operation: 'requestToken',
    call: authorization,
    answer: {access_token: 'a.b.c', expires_in: 1800, token_type: 'Bearer', scope: 'bundles'},
    told: {header: 'Bearer a.b.c'},
    bare: {},
    words: [
      ['token_type', 'bearer', {}],
      ['expires_in', '1800', {}],
      ['access_token', null, 'invalid'],
    ],
  },
  {
    name: 'Api: an upload',
    operation: 'apiUploadBundle',
    call: () => apiBackend.upload(v2, api),
    answer: {bundleId: 7, warnings, matches},
    ...pushed,
  },
  {
    name: 'Api: the list of bundles',
    operation: 'apiListBundles',
    call: () => only(promised(apiBackend.listBundles)(range, api)),
    answer: {
      ...{limit: 1, offset: 0, total: 1},
      data: [
        {
          ...{bundleId: 7, description: message, status: 'ok', lifecycleStatus: 'active', createdBy: user, type: 'ssr'},
          ...{creationDate: time, lastModified: time, ssrParameters: {SSRFunctionNodeVersion: '24.x'}},
          inUseBy: ['staging'],
        },
      ],
    },
    told: {...listed, status: 'ready', inUseBy: ['staging']},
    bare: {...unlisted, status: 'unknown', inUseBy: gone},
    words: [
      ...statuses('data.0.status', ['broken', 'broken'], ['preparing', 'preparing'], ['odd', 'unknown']),
      ...statuses('data.0.lifecycleStatus', ['deleting', 'deleting']),
    ],
  },
  {
    name: 'Api: a deployment',
    operation: 'apiDeploy',
    call: () => promised(apiBackend.deploy)(deployment, api),
    answer: {...apiDeployment, warnings},
    told: {deployment: {deploymentId, targetSlug: 'staging'}, status: 'in_progress', url, warnings},
    bare: {status: 'queued', url: gone, warnings: []},
    words: statuses('status', ...apiStatuses),
  },
  {
    name: 'Api: the list of deployments',
    operation: 'apiListDeployments',
    call: () => only(promised(apiBackend.listDeployments)(inTarget, api)),
    answer: {limit: 1, offset: 0, total: 1, data: [apiDeployment]},
    told: {
      ...{...listed, deployment: {deploymentId, targetSlug: 'staging'}, status: 'in_progress'},
      ...{description: 'All is well.', url},
    },
    bare: {...unlisted, bundleId: gone, status: 'queued', description: gone, url: gone},
    words: statuses('data.0.status', ...apiStatuses, ['cancelled', 'unknown']),
  },
  {
    name: 'Api: a look at the deployment that is waited for',
    operation: 'apiGetDeployment',
    call: () => promised(apiBackend.getDeployment)({deploymentId: 'd', targetSlug: 'staging'}, api),
    answer: apiDeployment,
    told: {status: 'in_progress', description: 'Copying the files.', percentage: 40, url},
    bare: {status: 'queued', description: gone, percentage: gone, url: gone},
    words: [
      ['progress', null, {description: 'All is well.', percentage: gone}],
      ...statuses('status', ...apiStatuses, ['cancelled', 'invalid']),
    ],
  },
];

/** A copy of an answer with another value for a member. */
function withMember(answer: object, path: string, value: unknown): object {
  const copy = structuredClone(answer);
  const keys = path.split('.');
  const holder = keys.slice(0, -1).reduce<object>((part, key) => Reflect.get(part, key) as object, copy);
  Reflect.set(holder, keys.at(-1) ?? '', value);
  return copy;
}

describe.each(published)('the published answer of $name', ({operation, call, answer, told, bare, words = []}) => {
  const documented = operations.find(({id}) => id === operation);
  const [first = 0, ...others] = Object.keys(documented?.answers ?? {})
    .map(Number)
    .filter((status) => status < 300);
  const [, {content = {}} = {}] = (documented && answerOf(documented, first)) ?? [];
  const [{schema} = {schema: undefined}] = Object.values(content);

  /** Checks what the host is told of an answer. */
  async function tells(expected: Told, body: unknown = answer, status = first): Promise<void> {
    asked = operation;
    reply = {status, body: body === undefined ? body : JSON.stringify(body).replaceAll('{origin}', server.origin)};
    const {raw, ...result}: {readonly raw?: unknown} = await call();
    expect(result).toEqual(expected);
    // What came is passed on untouched.
    if (raw !== undefined) expect(raw).toEqual(body);
  }

  test('is documented', () => {
    expect([first, schema !== undefined]).toEqual([expect.toSatisfy((status) => status >= 200), answer !== undefined]);
    const filled: unknown = JSON.parse(JSON.stringify(answer ?? {}).replaceAll('{origin}', 'http://runtime.example'));
    expect(schema ? departures(schema, filled, 'request') : []).toEqual([]);
  });

  test('is told, with each status that it may have', async () => {
    await tells(told);
    for (const status of others) {
      await (status === 204 ? tells({...told, ...bare}, null, status) : tells(told, answer, status));
    }
  });

  test.runIf(bare)('is told without what may be missing, or null', async () => {
    for (const rest of [null, undefined]) await tells({...told, ...bare}, schema && least(schema, answer, rest));
  });

  test.each(words)('with another %s: %j', async (path, value, expected) => {
    const body = withMember(answer ?? {}, path, value);
    if (expected !== 'invalid') await tells({...told, ...expected}, body);
    else await expect(tells({}, body)).rejects.toMatchObject({code: 'ERR_RESPONSE_INVALID', exitCode: 7});
  });
});

test.each<[string, string, () => Promise<unknown>, object, string | undefined]>([
  ['legacy', 'legacyListBundles', () => promised(legacyBackend.listBundles)(range, legacy), {detail: 'No.'}, 'No.'],
  ['legacy', 'legacyListBundles', () => promised(legacyBackend.listBundles)(range, legacy), {message: 'No.'}, 'No.'],
  [
    'Api',
    'apiListBundles',
    () => promised(apiBackend.listBundles)(range, api),
    {title: 'Unprocessable Entity', detail: 'No.'},
    'No.',
  ],
  // The title is the phrase of the status, which the message has already.
  [
    'Api',
    'apiListBundles',
    () => promised(apiBackend.listBundles)(range, api),
    {title: 'Unprocessable Entity'},
    undefined,
  ],
])('a refusal of %s (%s): its reason is told', async (_, operation, call, body, said) => {
  [asked, reply] = [operation, {status: 422, body}];
  const error: unknown = await call().catch((reason: unknown) => reason);
  expect(isRuntimeCliError(error)).toBe(true);
  expect(error).toMatchObject({code: 'ERR_REJECTED', status: 422, details: said && {serverMessage: said}});
});
