import {Readable, Writable} from 'node:stream';
import {text} from 'node:stream/consumers';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {apiBackend, type ApiBackendOptions} from '../../src/backends/api/backend.js';
import type {BuiltInContext} from '../../src/backends/built-in.js';
import type {ListResult} from '../../src/backends/contract.js';
import {legacyBackend} from '../../src/backends/legacy/backend.js';
import type {LegacyBackendOptions} from '../../src/backends/legacy/connection.js';
import {isRuntimeCliError} from '../../src/errors/index.js';
import {ApiKeyStrategy, BearerTokenStrategy, OAuthClientCredentialsStrategy} from '../../src/http/index.js';
import {startRecordingServer, type RecordingServer, type Reply} from '../recording-server.js';
import {shapeOf, withMember, type Json} from './answer-shapes.js';
import {answerUses, type AnswerUse, type Told, type UseName} from './answer-uses.js';
import {bundleOf, contextFor, promised} from './context-for.js';

let server: RecordingServer;
let legacy: BuiltInContext<LegacyBackendOptions>;
let api: BuiltInContext<ApiBackendOptions>;
/** What the server answers to the request that is looked at. */
let reply: Reply;
let asks: Pick<ReturnType<typeof shapeOf>, 'method' | 'path'>;

beforeAll(async () => {
  server = await startRecordingServer(({method, path}) => {
    if (method === asks.method && asks.path.test(path.replace(/\?.*/, ''))) return reply;
    if (path.startsWith('/archive')) return {status: 200, body: 'the archive'};
    return {status: 204};
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

/** A page as its one item, and how long the list is. */
async function only(list: Promise<ListResult<object>>): Promise<object> {
  const {items, total, raw} = await list;
  expect(items).toHaveLength(1);
  return {total, raw, ...items[0]};
}

/** What a refusal says. */
async function refusal(call: Promise<unknown>): Promise<object> {
  const error: unknown = await call.catch((reason: unknown) => reason);
  if (!isRuntimeCliError(error)) throw new Error('it was not refused');
  const said = error.details?.['serverMessage'];
  // A document without any of the words is shown as it is.
  return {code: error.code, status: error.status, said: String(said).startsWith('{') ? undefined : said};
}

const calls: Readonly<Record<UseName, () => Promise<object>>> = {
  'legacy: a push of v1': () => legacyBackend.upload(bundleOf({format: 'v1'}), legacy),
  'legacy: a push of v1 with its deployment': () =>
    legacyBackend.upload(bundleOf({format: 'v1'}), {...legacy, targetSlug: 'staging'}),
  'legacy: a push of v2': () => legacyBackend.upload(bundleOf({format: 'v2'}), legacy),
  'legacy: the list of bundles': () => only(promised(legacyBackend.listBundles)(range, legacy)),
  'legacy: a download': async () => {
    const chunks: Buffer[] = [];
    const writeTo = new Writable({
      write(chunk: Buffer, _, done) {
        chunks.push(chunk);
        done();
      },
    });
    await promised(legacyBackend.download)({bundleId: 7, writeTo}, legacy);
    return {archive: await text(Readable.from(chunks))};
  },
  'legacy: a deletion': async () => {
    await promised(legacyBackend.deleteBundle)({bundleId: 7}, legacy);
    return {};
  },
  'legacy: a deployment': () => promised(legacyBackend.deploy)(deployment, legacy),
  'legacy: the list of deployments': async () => {
    const {deployment: reference, ...item} = {
      deployment: undefined,
      ...(await only(promised(legacyBackend.listDeployments)(inTarget, legacy))),
    };
    expect(reference).toMatchObject({targetSlug: 'staging'});
    return item;
  },
  'legacy: a look at the deployment that is waited for': async () => {
    const {status} = await promised(legacyBackend.getDeployment)({...deployment, before: 'none'}, legacy);
    return {status};
  },
  'legacy: the look before a deployment': async () => {
    const {
      deployment: reference,
      status,
      warnings = [],
    } = await promised(legacyBackend.deploy)(deployment, {...legacy, wait: true});
    const before = reference['before'];
    const isUnknown = typeof before === 'object' && before !== null && 'unknown' in before;
    return {before: isUnknown ? 'unknown' : before, warned: warnings.length > 0, status};
  },
  'Api: the token': async () => {
    const client = {clientId: 'id', clientSecret: 'secret'};
    const strategy = new OAuthClientCredentialsStrategy({tokenUrl: `${server.origin}/token`, ...client});
    return {header: await strategy.getAuthorizationHeader({http: api.http})};
  },
  'Api: an upload': () => apiBackend.upload(bundleOf({format: 'v2'}), api),
  'Api: the list of bundles': () => only(promised(apiBackend.listBundles)(range, api)),
  'Api: a deployment': () => promised(apiBackend.deploy)(deployment, api),
  'Api: the list of deployments': async () => {
    const {deployment: reference, ...item} = {
      deployment: {deploymentId: undefined},
      ...(await only(promised(apiBackend.listDeployments)(inTarget, api))),
    };
    return {...item, deploymentId: reference.deploymentId};
  },
  'Api: a look at the deployment that is waited for': () =>
    promised(apiBackend.getDeployment)({deploymentId: 'd', targetSlug: 'staging'}, api),
  'legacy: a refusal': () => refusal(promised(legacyBackend.listBundles)(range, legacy)),
  'Api: a refusal': () => refusal(promised(apiBackend.listBundles)(range, api)),
};

/** A copy of `value` with a member that nobody knows in each of its objects, but for those with keys of their own. */
function withExtras(value: Json, open: readonly string[], path: readonly string[] = []): Json {
  if (typeof value !== 'object' || value === null || open.includes(path.join('.'))) return value;
  const members = Object.entries(value).map(([key, member]: readonly [string, Json]) => {
    return [key, withExtras(member, open, [...path, key])] as const;
  });
  if (Array.isArray(value)) return members.map(([, member]) => member);
  return {...Object.fromEntries(members), an_extra_member: {deep: [1, null, 'text']}};
}

interface Variant {
  readonly name: string;
  readonly status: number;
  /** None: the answer has no body. */
  readonly body?: Json | undefined;
  readonly told: Told | 'invalid';
}

/** The published answer in every form that matters, and what comes of it. */
function variantsOf({shape: name, told, bare, words = [], required}: AnswerUse): readonly Variant[] {
  const {status, alsoStatus = [], answer, optional, open = []} = shapeOf(name);
  const change = (paths: readonly string[], member: Json | undefined) =>
    paths.reduce<Json>((value, path) => withMember(value, path.split('.'), member), answer ?? null);
  const least = {...told, ...bare};
  const statuses = [status, ...alsoStatus].map((number) => ({
    name: `with ${number}`,
    status: number,
    ...(number === 204 ? {told: least} : {body: answer, told}),
  }));
  if (answer === undefined) return statuses;
  const variants: readonly Omit<Variant, 'status'>[] = [
    {name: 'with members that nobody knows', body: withExtras(answer, open), told},
    {name: 'without any optional member', body: change(optional, undefined), told: least},
    {name: 'with null for every optional member', body: change(optional, null), told: least},
    ...words.map(([path, value, more]) => ({
      name: `with ${JSON.stringify(value)} for ${path}`,
      body: change([path], value),
      told: more === 'invalid' ? more : {...told, ...more},
    })),
    ...required.map((path) => ({name: `with null for ${path}`, body: change([path], null), told: 'invalid'}) as const),
  ];
  return [...statuses, ...variants.map((variant) => ({status, ...variant}))];
}

describe.each(Object.keys(answerUses) as UseName[])('the published answer of %s', (name) => {
  const use: AnswerUse = answerUses[name];

  test.each(variantsOf(use))('$name', async ({status, body, told}) => {
    asks = shapeOf(use.shape);
    const sent = body === undefined ? undefined : JSON.stringify(body).replaceAll('{origin}', server.origin);
    reply = {status, body: sent};
    if (told === 'invalid') {
      await expect(calls[name]()).rejects.toMatchObject({code: 'ERR_RESPONSE_INVALID', exitCode: 7});
      return;
    }
    const {raw, ...result}: {readonly raw?: unknown} = await calls[name]();
    expect(result).toEqual(told);
    // What came is passed on untouched.
    if (raw !== undefined) expect(raw).toEqual(body);
  });
});
