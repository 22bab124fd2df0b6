import {describe, expect, test} from 'vitest';
import {apiBackend, type ApiBackendOptions} from '../../src/backends/api/backend.js';
import {BearerTokenStrategy} from '../../src/http/index.js';
import {startRecordingServer, type RecordingServer} from '../recording-server.js';
import {contextFor, promised, silent} from './context-for.js';

const deploy = promised(apiBackend.deploy);
const getDeployment = promised(apiBackend.getDeployment);
const listBundles = promised(apiBackend.listBundles);
const listDeployments = promised(apiBackend.listDeployments);

const storefront = '/storefront/deployments/v1/organizations/my%20org/storefronts/my%20shop';
const deployments = `${storefront}/environments/a%2Fb/deployments`;
const auth = new BearerTokenStrategy('token');

const contextAt = ({origin}: RecordingServer) =>
  contextFor<ApiBackendOptions>({connection: {origin, organizationId: 'my org', auth}});

/** A server that answers everything with `body`. */
const answering = (body: unknown) => startRecordingServer(() => ({status: 200, body}));

const sent = ({requests}: RecordingServer) => requests.map(({method, path}) => `${method} ${path}`);

describe('a list of Api', () => {
  test('of bundles is read item by item', async () => {
    await using server = await answering({
      total: 7,
      data: [
        {bundleId: 1, description: 'one', status: 'ok', creationDate: 'then', createdBy: 'me', inUseBy: ['a', 2]},
        {bundleId: 2, description: 3, status: 'preparing'},
        {bundleId: 3, status: 'odd', inUseBy: 'a'},
        {bundleId: 4, status: 'broken', lifecycleStatus: 'active'},
        {bundleId: 5, status: 'ok', lifecycleStatus: 'deleting'},
      ],
    });
    const {items, total, raw} = await listBundles({limit: 5, cursor: '10'}, await contextAt(server));
    expect(items).toEqual([
      {bundleId: 1, message: 'one', status: 'ready', createdAt: 'then', createdBy: 'me', inUseBy: ['a', '2']},
      {bundleId: 2, status: 'preparing'},
      {bundleId: 3, status: 'unknown'},
      {bundleId: 4, status: 'broken'},
      {bundleId: 5, status: 'deleting'},
    ]);
    expect(total).toBe(7);
    expect(raw).toHaveProperty('data.length', 5);
    expect(sent(server)).toEqual([`GET ${storefront}/bundles?limit=5&offset=10`]);
    expect(server.requests[0]?.headers.authorization).toBe('Bearer token');
  });

  test('of deployments finds the bundle where servers have it, and shows what names none', async () => {
    const item = {deploymentId: 'd', status: 'finished'};
    await using server = await answering({
      total: 9,
      data: [
        {...item, bundle: {bundleId: 1, id: 7, description: 'one'}, creationDate: 'then', createdBy: 'me'},
        {...item, bundle: {id: 2, message: 'two'}, bundleId: 7, status: 'failed'},
        {...item, bundleId: 3, status: 'queued'},
        {...item, bundle: {}},
        {deploymentId: 'd', status: null, bundle: null, creationDate: null, createdBy: null},
        {deploymentId: 'd'},
      ],
    });
    const range = {targetSlug: 'a/b', limit: 5, cursor: '10'};
    const {items, total, raw} = await listDeployments(range, await contextAt(server));
    const deployment = {deploymentId: 'd', targetSlug: 'a/b'};
    expect(items).toEqual([
      {deployment, bundleId: 1, status: 'finished', message: 'one', createdAt: 'then', createdBy: 'me'},
      {deployment, bundleId: 2, status: 'failed', message: 'two'},
      {deployment, bundleId: 3, status: 'queued'},
      {deployment, status: 'finished'},
      {deployment, status: 'queued'},
      {deployment, status: 'queued'},
    ]);
    expect(total).toBe(9);
    expect(raw).toHaveProperty('data.length', 6);
    expect(sent(server)).toEqual([`GET ${deployments}?limit=5&offset=10`]);
  });

  test.each([
    ['{}'],
    ['{"data":{},"total":"9"}'],
    ['{"results":[]}'],
    ['{"error":"maintenance"}'],
    ['[]'],
    ['null'],
    ['"maintenance"'],
    ['<!doctype html>'],
    [''],
  ])('is not what the answer %j is: that is never an empty list', async (body) => {
    await using server = await answering(body);
    const context = await contextAt(server);
    const range = {limit: 1};
    const wrong = {code: 'ERR_RESPONSE_INVALID', exitCode: 7, method: 'GET', status: 200};
    await expect(listBundles(range, context)).rejects.toMatchObject(wrong);
    await expect(listDeployments({...range, targetSlug: 'a'}, context)).rejects.toMatchObject(wrong);
  });
});

describe('a deployment on Api', () => {
  test('is asked for by the number of the bundle, and named by the id of the answer', async () => {
    await using server = await answering({deploymentId: 'd1', status: 'in_progress', warnings: ['careful', {a: 1}]});
    const context = await contextAt(server);
    expect(await deploy({bundleId: '12', targetSlug: 'a/b'}, context)).toMatchObject({
      deployment: {deploymentId: 'd1', targetSlug: 'a/b'},
      status: 'in_progress',
      warnings: ['careful', '{"a":1}'],
      raw: {deploymentId: 'd1'},
    });
    expect(sent(server)).toEqual([`POST ${deployments}`]);
    expect(server.requests[0]?.body.toString()).toBe('{"bundleId":12}');
  });

  test.each(['b1', '', '1.5', '-1', '1e3', -1, 1.5, 2 ** 53, '1234567890123456', NaN])(
    'of a bundle %j is refused before anything is sent: ids are numbers',
    async (bundleId) => {
      await using server = await answering({});
      const pending = deploy({bundleId, targetSlug: 'a'}, await contextAt(server));
      await expect(pending).rejects.toMatchObject({
        code: 'ERR_OPTION_INVALID',
        suggestions: [expect.stringContaining('"latest"')],
      });
      await expect(pending).rejects.toThrow(`"${String(bundleId)}" is not a bundle ID of the api backend`);
      expect(server.requests).toEqual([]);
    },
  );

  test.each([0, '0', '123456789012345', 2 ** 53 - 1])('of the bundle %j is sent', async (bundleId) => {
    await using server = await answering({deploymentId: 'd', status: 'queued'});
    await deploy({bundleId, targetSlug: 'a'}, await contextAt(server));
    expect(JSON.parse(String(server.requests[0]?.body))).toEqual({bundleId: Number(bundleId)});
  });

  test.each([
    ['no id', {status: 'queued'}, 'has no deployment ID'],
    ['an id that is not text', {deploymentId: 5, status: 'queued'}, 'has no deployment ID'],
    ['an unknown status', {deploymentId: 'd', status: 'Finished'}, 'unknown deployment status: "Finished"'],
    ['a web page', '<!doctype html>', 'is not JSON'],
    ['a string', '"maintenance"', 'is not a JSON object'],
    ['an error', {error: 'maintenance'}, 'has no deployment ID'],
    ['nothing', '', 'is not JSON'],
  ])('that is answered with %s is an error', async (_, body, problem) => {
    await using server = await answering(body);
    const pending = deploy({bundleId: 1, targetSlug: 'a'}, await contextAt(server));
    await expect(pending).rejects.toMatchObject({
      code: 'ERR_RESPONSE_INVALID',
      exitCode: 7,
      suggestions: [
        expect.stringContaining('Check before retrying'),
        "mycli bundle:history --project 'my shop' --target a --runtime-backend api",
      ],
    });
    await expect(pending).rejects.toThrow(problem);
  });

  test.each(['{}', '{"message":"maintenance"}', '{"deploymentId":null}', '[]', 'null', '<!doctype html>'])(
    'has no state in the answer %s',
    async (body) => {
      await using server = await answering(body);
      const pending = getDeployment({deploymentId: 'd', targetSlug: 'a'}, await contextAt(server));
      await expect(pending).rejects.toMatchObject({code: 'ERR_RESPONSE_INVALID'});
    },
  );

  test('is looked at by its id, and tells of no progress that it cannot read', async () => {
    const progress = {description: 1, percentage: '40'};
    await using server = await answering({status: 'in_progress', statusMessage: 'all is well', progress});
    const state = await getDeployment({deploymentId: 'd/1', targetSlug: 'a/b'}, await contextAt(server));
    expect(state).toMatchObject({status: 'in_progress', description: 'all is well', percentage: undefined});
    expect(sent(server)).toEqual([`GET ${deployments}/d%2F1`]);
  });
});

describe('the Api backend', () => {
  const checked = (organizationId: string, projectSlug?: string, targetSlug?: string) => {
    const options: ApiBackendOptions = {connection: {origin: 'https://api.example', organizationId, auth}};
    return apiBackend.check({options, configDirectory: '/', env: {}, logger: silent, projectSlug, targetSlug});
  };

  test.each<[string, string?, string?]>([
    ['o'],
    ['o'.repeat(32), 'p'.repeat(20), 't'.repeat(19)],
    ['o', 'my-shop--2', '0'],
  ])('is configured with the organization %s, the project %s and the target %s', async (...given) => {
    expect(await checked(...given)).toEqual({configured: true});
  });

  test.each([
    ['', undefined, undefined, ['organization']],
    ['o'.repeat(33), undefined, undefined, ['organization']],
    ['o', 'My-shop', undefined, ['project slug']],
    ['o', '-shop', undefined, ['project slug']],
    ['o', 'shop', 'shop-', ['target slug']],
    ['o', 'p'.repeat(21), 't'.repeat(20), ['project slug', 'target slug']],
    ['', 'shop!', '', ['organization', 'project slug', 'target slug']],
  ])('is not with the organization "%s", the project %s and the target %s', async (id, project, target, names) => {
    const {configured, missing = []} = await checked(id, project, target);
    expect(configured).toBe(false);
    expect(missing).toEqual(names.map((name) => expect.stringContaining(name) as string));
  });

  test('without a connection tells what the caller says is missing, else that one is; an address is named', async () => {
    const {check} = apiBackend;
    const context = {...(await contextFor<ApiBackendOptions>({})), projectSlug: 'shop'};
    expect(await check(context)).toEqual({configured: false, missing: ['apiConnection']});
    const missing = ['--api-origin'];
    expect(await check({...context, options: {missing}})).toEqual({configured: false, missing});
    await expect(listBundles({limit: 1}, context)).rejects.toMatchObject({
      code: 'ERR_CREDENTIALS_MISSING',
      message: expect.stringContaining('api backend') as string,
    });
    const connection = {origin: 'ftp://api.example', organizationId: 'org', auth};
    await expect(listBundles({limit: 1}, {...context, options: {connection}})).rejects.toMatchObject({
      code: 'ERR_ORIGIN_INVALID',
      message: expect.stringMatching(/^api origin /) as string,
    });
  });
});

describe('what a hostile server of Api answers', () => {
  test.each(['.', '..', '\ud800', 'a\u0000', 'a\r\nb', '', 'x'.repeat(257), 5])(
    'a deployment with the id %j is none: it would lead to another address',
    async (deploymentId) => {
      await using server = await answering({deploymentId, status: 'queued', total: 1, data: [{deploymentId}]});
      const context = await contextAt(server);
      const deployed = deploy({bundleId: 7, targetSlug: 'a/b'}, context);
      await expect(deployed).rejects.toMatchObject({code: 'ERR_RESPONSE_INVALID'});
      const listed = listDeployments({targetSlug: 'a/b', limit: 5}, context);
      await expect(listed).rejects.toMatchObject({code: 'ERR_RESPONSE_INVALID'});
      const known = server.requests.length;
      const looked = getDeployment({deploymentId, targetSlug: 'a/b'}, context);
      await expect(looked).rejects.toMatchObject({code: 'ERR_OPTION_INVALID'});
      expect(server.requests).toHaveLength(known);
    },
  );

  test.each(['.', '..', '\ud800', 'a\r\nb'])('an organization %j is no connection', async (organizationId) => {
    const context = await contextFor<ApiBackendOptions>({
      connection: {origin: 'http://127.0.0.1:9', organizationId, auth},
    });
    expect(await apiBackend.check(context)).toMatchObject({configured: false});
  });

  test('values that are not strings, and keys that every object has, are read unchanged', async () => {
    const rows = '[{"bundleId":1,"__proto__":{"bundleId":2},"inUseBy":[{"toString":1,"valueOf":1},null,"a"]}]';
    await using server = await startRecordingServer((_, response) => {
      response.end(`{"total":-5,"__proto__":{"data":[]},"constructor":1,"data":${rows}}`);
    });
    const {items, total} = await listBundles({limit: 5}, await contextAt(server));
    expect(items).toMatchObject([{bundleId: 1, inUseBy: ['{"toString":1,"valueOf":1}', 'null', 'a']}]);
    expect(total).toBeUndefined();
  });

  test('an id that no number can hold is refused, not rounded', async () => {
    await using server = await startRecordingServer((_, response) => {
      response.end('{"total":1,"data":[{"bundleId":9007199254740993}]}');
    });
    const listed = listBundles({limit: 5}, await contextAt(server));
    await expect(listed).rejects.toMatchObject({code: 'ERR_RESPONSE_INVALID'});
  });
});
