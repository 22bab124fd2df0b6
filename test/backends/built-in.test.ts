import {describe, expect, test} from 'vitest';
import {apiBackend, unfitApiSlugs, type ApiBackendOptions} from '../../src/backends/api/backend.js';
import type {BuiltInContext, HostBackend} from '../../src/backends/host-backend.js';
import {legacyBackend} from '../../src/backends/legacy/backend.js';
import type {LegacyBackendOptions} from '../../src/backends/legacy/connection.js';
import type {Bundle, StreamedBundle} from '../../src/bundle/types.js';
import {ApiKeyStrategy, BearerTokenStrategy} from '../../src/http/index.js';
import {startRecordingServer, type RecordingServer, type Reply} from '../recording-server.js';
import {idFor} from '../../src/operations/list-bundles.js';
import {archive, bundleOf, contextFor, promised, silent} from './context-for.js';

const file = (path: string, ssrOnly: boolean, ssrShared: boolean) => ({
  ...{path, size: 1, executable: false, ssrOnly, ssrShared},
});
const content = {
  message: 'hello',
  config: {ssrOnly: [], ssrShared: [], ssrParameters: {A: 1}},
  files: [
    file('ssr.js', true, false),
    file('both.js', true, true),
    file('a.css', false, true),
    file('b', false, false),
    {...file('link.css', true, true), linkTarget: 'a.css'},
  ],
  size: archive.length,
};
const streamed: StreamedBundle = {
  ...content,
  format: 'v1',
  async *read() {
    yield archive;
  },
};

type Name = 'api' | 'legacy';
const auth = {api: new BearerTokenStrategy('token'), legacy: new ApiKeyStrategy({apiKey: 'key'})};
const backends: Readonly<Record<Name, HostBackend>> = {
  api: apiBackend,
  legacy: legacyBackend,
};
const contextOf = async (name: Name, {origin}: RecordingServer, targetSlug?: string): Promise<BuiltInContext> =>
  contextFor<unknown>(
    name === 'api' ? {connection: {origin, organizationId: 'my org', auth: auth.api}} : {origin, auth: auth.legacy},
    {targetSlug},
  );
const sent = ({requests}: RecordingServer) => requests.map(({method, path}) => `${method} ${path}`);

type Call = (backend: HostBackend, context: BuiltInContext) => Promise<unknown>;
const [first, range] = [{limit: 1}, {limit: 5, cursor: '10'}];
const target = {targetSlug: 'a/b'};
const upload =
  (format: Bundle['format'], more = {}): Call =>
  (backend, context) =>
    backend.upload(bundleOf({...content, format, ...more}), context);
const deploy: Call = (backend, context) => promised(backend.deploy).call(backend, {bundleId: 12, ...target}, context);
const remove: Call = (backend, context) => promised(backend.deleteBundle).call(backend, {bundleId: 12}, context);
const look: Call = (backend, context) =>
  promised(backend.getDeployment).call(backend, {deploymentId: 'd/1', ...target}, context);
const listBundles = (part = range): Call => {
  return (backend, context) => promised(backend.listBundles).call(backend, part, context);
};
const listDeployments = (part = range): Call => {
  return (backend, context) => promised(backend.listDeployments).call(backend, {...part, ...target}, context);
};
const listTargets: Call = (backend, context) => promised(backend.listTargets).call(backend, first, context);

/** Calls a backend whose server answers everything so. */
async function answered(name: Name, call: Call, status: number, body: unknown, targetSlug?: string) {
  await using server = await startRecordingServer(() => ({status, body}));
  return await call(backends[name], await contextOf(name, server, targetSlug));
}

const storefront = '/storefront/deployments/v1/organizations/my%20org/storefronts/my%20shop';

describe('a built-in backend: its requests', () => {
  const environment = `${storefront}/environments/a%2Fb/deployments`;
  const project = '/api/projects/my%20shop';
  const part = 'limit=5&offset=10';

  test.each<[Name, string, Call, unknown, string, unknown?]>([
    ['api', 'an upload', upload('v2'), {bundleId: 5}, `POST ${storefront}/bundles`],
    ['api', 'a list of bundles', listBundles(), {data: []}, `GET ${storefront}/bundles?${part}`],
    ['api', 'a deployment', deploy, {deploymentId: 'd'}, `POST ${environment}`, {bundleId: 12}],
    ['api', 'a look', look, {status: 'failed'}, `GET ${environment}/d%2F1`],
    ['api', 'a history', listDeployments(), {data: []}, `GET ${environment}?${part}`],
    ['legacy', 'an upload of v2', upload('v2'), {id: 5}, 'POST /api/v2/projects/my%20shop/bundles/'],
    ['legacy', 'an upload of v1', upload('v1'), {bundle_id: 5}, `POST ${project}/builds/`],
    ['legacy', 'a list of bundles', listBundles(), {results: []}, `GET ${project}/bundles/?${part}`],
    ['legacy', 'a list of targets', listTargets, {results: []}, `GET ${project}/target/?limit=1&offset=0`],
    ['legacy', 'a deployment', deploy, {}, `POST ${project}/target/a%2Fb/deploy/`, {bundle_id: 12}],
    ['legacy', 'a history', listDeployments(), {results: []}, `GET ${project}/target/a%2Fb/deploy/?${part}`],
    ['legacy', 'a deletion', remove, {}, `DELETE ${project}/bundles/12/`],
  ])('%s: %s', async (name, _, call, body, request, json) => {
    await using server = await startRecordingServer(() => ({status: 200, body}));
    await call(backends[name], await contextOf(name, server));
    expect(sent(server)).toEqual([request]);
    const [made] = server.requests;
    expect(made?.headers).toMatchObject({
      authorization: name === 'api' ? 'Bearer token' : 'Bearer key',
      'user-agent': 'mycli/0.0.0-test',
    });
    if (json !== undefined) expect(JSON.parse(String(made?.body))).toEqual(json);
  });

  /** The parts of a multipart body, by name. */
  const partsOf = ({requests}: RecordingServer) => {
    const [request] = requests;
    const [, boundary = ''] =
      /^multipart\/form-data; boundary=(.*)$/.exec(request?.headers['content-type'] ?? '') ?? [];
    const parts = String(request?.body).split(`--${boundary}`).slice(1, -1);
    return Object.fromEntries(
      parts.map((part) => {
        const [head = '', ...rest] = part.split('\r\n\r\n');
        return [/name="([^"]*)"/.exec(head)?.[1] ?? '', rest.join('\r\n\r\n').replace(/\r\n$/, '')];
      }),
    );
  };
  const whole = {rootDir: 'root', configPath: 'c.json', matchMode: 'ignore_missing'} as const;

  test.each<[Name, Partial<Bundle>]>([
    ['api', whole],
    ['api', {}],
    ['legacy', whole],
    ['legacy', {}],
  ])('%s: an upload of v2 has the archive, the message and %j', async (name, more) => {
    await using server = await startRecordingServer(() => ({status: 201, body: {bundleId: 5, id: 5}}));
    await upload('v2', more)(backends[name], await contextOf(name, server));
    expect(partsOf(server)).toEqual({bundle: 'the archive', message: 'hello', ...more});
    const body = String(server.requests[0]?.body);
    expect(body).toContain('filename="bundle.tar.gz"');
    expect(body.toLowerCase()).toContain('content-type: application/octet-stream');
  });

  test('legacy: an upload of v1 has the files that patterns match, and the archive, from a file or while it is packed', async () => {
    await using server = await startRecordingServer(() => ({status: 201, body: {bundle_id: 5, warnings: ['careful']}}));
    const context = await contextOf('legacy', server);
    const bundleMetadata = {dependencies: {left: '^1'}, ccOverrides: ['x']};
    const result = {bundleId: 5, warnings: ['careful'], raw: {bundle_id: 5, warnings: ['careful']}};
    expect(await upload('v1')(backends.legacy, context)).toEqual(result);
    expect(await promised(backends.legacy.uploadStream)(streamed, context)).toEqual(result);
    await upload('v1', {config: {...content.config, bundleMetadata}})(backends.legacy, context);
    const body = {
      message: 'hello',
      encoding: 'base64',
      ssr_parameters: {A: 1},
      ssr_only: ['ssr.js', 'both.js'],
      ssr_shared: ['both.js', 'a.css'],
      data: archive.toString('base64'),
    };
    const withMetadata = {...body, bundle_metadata: {dependencies: {left: '^1'}, cc_overrides: ['x']}};
    expect(server.requests.map((request) => JSON.parse(String(request.body)) as unknown)).toEqual([
      body,
      body,
      withMetadata,
    ]);
  });

  test.each<[boolean, readonly string[], unknown]>([
    [false, [], {unknown: expect.anything() as unknown}],
    [true, ['GET /api/projects/my%20shop/target/a%2Fb/deploy/?limit=2&offset=0'], {createdAt: 'T', count: 2}],
  ])('legacy: an upload of v1 with a target deploys in the same step; waited for: %s', async (wait, looks, before) => {
    const created = '2026-01-01T00:00:01Z';
    const list: Reply = {status: 200, body: {count: 2, results: [{created_at: created}]}};
    await using server = await startRecordingServer(({method}) =>
      method === 'GET' ? list : {status: 201, body: {bundle_id: 5}},
    );
    const context = {...(await contextOf('legacy', server, 'a/b')), wait};
    expect(await promised(backends.legacy.uploadStream)(streamed, context)).toMatchObject({
      deployment: {bundleId: 5, targetSlug: 'a/b', before: wait ? {createdAt: created, count: 2} : before},
      warnings: [],
    });
    expect(sent(server)).toEqual([...looks, 'POST /api/projects/my%20shop/builds/a%2Fb/']);
  });
});

describe('a built-in backend: answers that it reads', () => {
  const row = {deploymentId: 'd', status: 'finished'};
  const deployment = {deploymentId: 'd', targetSlug: 'a/b'};

  test('api: the bundle of a deployment is where servers have it, or nowhere', async () => {
    const data = [
      {...row, bundle: {bundleId: 1, id: 7, description: 'one'}},
      {...row, bundle: {id: 2, message: 'two'}, bundleId: 7},
      {...row, bundleId: 3},
      {...row, bundle: null, creationDate: null},
    ];
    expect(await answered('api', listDeployments(), 200, {data})).toMatchObject({
      items: [
        {deployment, bundleId: 1, message: 'one'},
        {bundleId: 2, message: 'two'},
        {bundleId: 3},
        {status: 'finished'},
      ],
    });
  });

  test('api: keys that every object has change nothing', async () => {
    const rows = '[{"bundleId":1,"__proto__":{"bundleId":2}}]';
    const list = await answered('api', listBundles(), 200, `{"total":-5,"__proto__":{"data":[]},"data":${rows}}`);
    expect(list).toMatchObject({items: [{bundleId: 1}], total: undefined});
  });

  test('legacy: a row of the history that names no bundle is shown', async () => {
    const results = [
      {bundle: {id: '6', message: null}, status: 'Finished', created_at: null, user: null},
      {bundle: null, status: 'Failed', deploy_type: 'Deploy Settings'},
      // The target may run it, so it must not be passed over as one that has yet to end.
      {bundle: {id: 5}},
      {},
    ];
    expect(await answered('legacy', listDeployments(), 200, {results})).toMatchObject({
      items: [
        {bundleId: 6, status: 'finished'},
        {status: 'failed'},
        {bundleId: 5, status: 'unknown'},
        {status: 'unknown'},
      ],
    });
  });

  test.each<[Name, Call, number, unknown, object?]>([
    ['legacy', deploy, 202, undefined, {status: 'queued', warnings: []}],
    ['legacy', deploy, 200, {}, {status: 'queued'}],
    ['legacy', deploy, 201, {status: 'In Progress', message: 'deploying'}, {status: 'in_progress'}],
    ['legacy', deploy, 202, {message: 'queued'}, {status: 'queued'}],
    ['legacy', deploy, 200, {warnings: ['old'], detail: 'queued'}, {status: 'queued', warnings: ['old']}],
    ['legacy', remove, 202, {detail: 'queued'}],
    ['legacy', remove, 200, {id: 12}],
    ['api', upload('v2'), 201, {bundleId: 0, warnings: 'no', matches: ['a']}, {bundleId: 0, matches: {}}],
  ])('%s: %o is done when %i and %j is the answer', async (name, call, status, body, result) => {
    const done = await answered(name, call, status, body);
    if (result) expect(done).toMatchObject(result);
  });
});

test.each<[Call, object]>([
  [deploy, {message: 'no'}],
  [deploy, {title: 'No', type: 'about:blank', status: 400, detail: 'no'}],
  [deploy, {warnings: [], error: 'no'}],
  [remove, {detail: 'no', code: 5}],
])('legacy: %o is not done when %j is the answer', async (call, body) => {
  const message = expect.stringContaining('looks like an error') as string;
  await expect(answered('legacy', call, 200, body)).rejects.toMatchObject({code: 'ERR_RESPONSE_INVALID', message});
});

// The model refuses all other answers that are none, at each request: test/model/faults.ts.
test.each(['..', 'a\r\nb', 5])(
  'api: a deployment with the ID %j is none: it would lead to another address',
  async (deploymentId) => {
    const wrong = {code: 'ERR_RESPONSE_INVALID', exitCode: 7};
    const body = {deploymentId, status: 'queued', total: 1, data: [{deploymentId}]};
    await expect(answered('api', deploy, 200, body)).rejects.toMatchObject(wrong);
    await expect(answered('api', listDeployments(), 200, body)).rejects.toMatchObject(wrong);
    await using server = await startRecordingServer(() => ({status: 200, body}));
    const looked = promised(apiBackend.getDeployment)(
      {deploymentId, ...target},
      (await contextOf('api', server)) as BuiltInContext<ApiBackendOptions>,
    );
    await expect(looked).rejects.toMatchObject({code: 'ERR_OPTION_INVALID'});
    expect(server.requests).toEqual([]);
  },
);

describe('a built-in backend: its configuration', () => {
  const origin = 'https://runtime.example';
  const api = (organizationId: string) => ({connection: {origin, organizationId, auth: auth.api}});
  const organization = 'an organization ID of 1 to 32 characters';
  const both = ['origin (MYCLI_RUNTIME_ORIGIN)', 'legacyAuth (an API key)'];

  test.each([
    [{projectSlug: 'p'.repeat(20), targetSlug: 't'.repeat(19)}, []],
    [{projectSlug: 'my-shop--2', targetSlug: '0'}, []],
    [{projectSlug: 'My-shop'}, ['project']],
    [{projectSlug: '-shop'}, ['project']],
    [{projectSlug: 'p'.repeat(21), targetSlug: 't'.repeat(20)}, ['project', 'target']],
  ])('api: the slugs %j do not fit: %j', (slugs, unfit) => {
    expect(unfitApiSlugs(slugs)).toEqual(unfit.map((what) => expect.stringContaining(`${what} slug`) as string));
  });

  test.each<[Name, ApiBackendOptions & LegacyBackendOptions, object, readonly string[]]>([
    ['api', api('o'), {}, []],
    ['api', api('o'.repeat(32)), {}, []],
    ['api', {}, {}, ['apiConnection']],
    ...['', 'o'.repeat(33), '.', '..', '\ud800', 'a\r\nb'].map(
      (id) => ['api', api(id), {}, [organization]] as [Name, object, object, string[]],
    ),
    ['legacy', {origin, auth: auth.legacy}, {}, []],
    ['legacy', {auth: auth.legacy}, {env: {MYCLI_RUNTIME_ORIGIN: origin}}, []],
    ['legacy', {}, {}, both],
    ['legacy', {auth: auth.legacy}, {env: {MYCLI_RUNTIME_ORIGIN: ''}}, both.slice(0, 1)],
    ['legacy', {origin}, {}, both.slice(1)],
  ])('%s: with %j and %j, what is missing is %j', async (name, options, more, missing) => {
    const surroundings = {configDirectory: '/', env: {}, logger: silent};
    expect(await backends[name].check({...surroundings, options, ...more})).toEqual(
      missing.length === 0 ? {configured: true} : {configured: false, missing},
    );
  });

  test.each<[Name, object, object]>([
    ['api', {}, {code: 'ERR_CREDENTIALS_MISSING'}],
    ['api', {connection: {...api('o').connection, origin: 'ftp://a'}}, {code: 'ERR_OPTION_INVALID'}],
    ['legacy', {origin: 'ftp://a', auth: auth.legacy}, {code: 'ERR_OPTION_INVALID'}],
    ['legacy', {}, {code: 'ERR_CREDENTIALS_MISSING'}],
  ])('%s: with %j nothing is sent', async (name, options, error) => {
    await expect(listBundles()(backends[name], await contextFor<unknown>(options))).rejects.toMatchObject(error);
  });
});

describe('a built-in backend: the bundle IDs that users type', () => {
  test.each(['0', '123456789012345', 2 ** 53 - 1])('%j is a number', (id) => {
    for (const backend of [apiBackend, legacyBackend]) expect(idFor(backend, id)).toBe(Number(id));
  });

  const wrong = ['b1', '', '01', '00', '+1', '1.0', '1.5', '-1', '1e3', '0x1', -1, 2 ** 53, '1234567890123456', NaN];
  test.each(wrong)('%j is refused', (id) => {
    expect(() => idFor(legacyBackend, id)).toThrow(
      expect.objectContaining({
        code: 'ERR_OPTION_INVALID',
        message: `"${String(id)}" is not a bundle ID of the Runtime (API key) backend: its IDs are numbers.`,
        suggestions: ['Use the ID that a push printed. Run mycli bundle:list to list the bundles.'],
      }),
    );
  });

  test('what looks like a key is not repeated', () => {
    const message = 'This is not a bundle ID of the Runtime (API key) backend: its IDs are numbers.';
    expect(() => idFor(legacyBackend, '0123456789abcdef0123456789abcdef')).toThrow(
      expect.objectContaining({message, details: undefined}),
    );
  });
});
