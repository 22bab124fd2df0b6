import {Readable} from 'node:stream';
import {describe, expect, test} from 'vitest';
import {apiBackend, type ApiBackendOptions} from '../../src/backends/api/backend.js';
import type {Bundle, StreamedBundle} from '../../src/bundle/types.js';
import {legacyBackend} from '../../src/backends/legacy/backend.js';
import type {LegacyBackendOptions} from '../../src/backends/legacy/connection.js';
import {ApiKeyStrategy, BearerTokenStrategy} from '../../src/http/index.js';
import {startRecordingServer, type RecordingServer, type Reply} from '../recording-server.js';
import {contextFor, promised} from './context-for.js';

const uploadStream = promised(legacyBackend.uploadStream);

const file = (path: string, ssrOnly: boolean, ssrShared: boolean) => ({
  path,
  size: 1,
  executable: false,
  ssrOnly,
  ssrShared,
});
const archive = Buffer.from('the archive');
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
};

function bundleOf(more: Partial<Bundle> & Pick<Bundle, 'format'>): Bundle {
  return {
    ...content,
    path: '/nowhere',
    size: archive.length,
    sha256: '',
    contentSha256: '',
    createReadStream: ({start = 0} = {}) => Readable.from([archive.subarray(start)]),
    entries: () => Readable.from([]),
    ...more,
  };
}

const streamed: StreamedBundle = {
  ...content,
  format: 'v1',
  size: archive.length,
  async *read() {
    yield archive;
  },
};

const apiContext = ({origin}: RecordingServer) =>
  contextFor<ApiBackendOptions>({
    connection: {origin, organizationId: 'org', auth: new BearerTokenStrategy('token')},
  });
const legacyContext = ({origin}: RecordingServer, targetSlug?: string) =>
  contextFor<LegacyBackendOptions>({origin, auth: new ApiKeyStrategy({apiKey: 'key'})}, {targetSlug});

/** A server that takes every upload and answers `body`. */
const taking = (body: unknown) => startRecordingServer(() => ({status: 201, body}));

/** The parts of a multipart body: name and headers without blanks, and the content. */
function partsOf({requests}: RecordingServer): Readonly<Record<string, string>> {
  const [request] = requests;
  const [, boundary = ''] = /^multipart\/form-data; boundary=(.*)$/.exec(request?.headers['content-type'] ?? '') ?? [];
  const parts = String(request?.body).split(`--${boundary}`).slice(1, -1);
  return Object.fromEntries(
    parts.map((part) => {
      const [head = '', ...rest] = part.split('\r\n\r\n');
      return [/name="([^"]*)"/.exec(head)?.[1] ?? '', rest.join('\r\n\r\n').replace(/\r\n$/, '')];
    }),
  );
}

const whole = {rootDir: 'root', configPath: 'c.json', matchMode: 'ignore_missing'} as const;

describe('an upload of v2', () => {
  test.each([
    ['all that the bundle says of itself', whole, {...whole}],
    ['nothing that it does not say', {}, {}],
  ])('sends the archive, the message and %s, to both backends', async (_, more, fields) => {
    const bundle = bundleOf({format: 'v2', ...more});
    const expected = {bundle: 'the archive', message: 'hello', ...fields};
    await using api = await taking({bundleId: 5});
    await apiBackend.upload(bundle, await apiContext(api));
    expect(partsOf(api)).toEqual(expected);
    await using legacy = await taking({id: 5});
    await legacyBackend.upload(bundle, await legacyContext(legacy));
    expect(partsOf(legacy)).toEqual(expected);
    expect([...api.requests, ...legacy.requests].map(({method, path}) => `${method} ${path}`)).toEqual([
      'POST /storefront/deployments/v1/organizations/org/storefronts/my%20shop/bundles',
      'POST /api/v2/projects/my%20shop/bundles/',
    ]);
    for (const {body} of [...api.requests, ...legacy.requests]) {
      expect(String(body)).toContain('filename="bundle.tar.gz"');
      expect(String(body).toLowerCase()).toContain('content-type: application/octet-stream');
    }
  });

  test.each([[{bundleId: 0}], [{bundleId: 0, warnings: 'careful', matches: ['ssr.js']}]])(
    'has neither warnings nor matches in the answer %j',
    async (answer) => {
      await using server = await taking(answer);
      expect(await apiBackend.upload(bundleOf({format: 'v2'}), await apiContext(server))).toEqual({
        bundleId: 0,
        warnings: [],
        matches: {},
        raw: answer,
      });
    },
  );

  test.each([
    {},
    {bundleId: 'b5'},
    {bundleId: -1},
    {bundleId: 1.5},
    {bundleId: [5]},
    {bundleId: '12345678901234567'},
    {error: 'maintenance'},
    [],
    'maintenance',
    null,
    '<!doctype html>',
    '',
  ])('without an id in the answer %j is an error: it may be there all the same', async (answer) => {
    await using server = await taking(answer);
    const wrongWith = (backend: string) => ({
      code: 'ERR_RESPONSE_INVALID',
      exitCode: 7,
      suggestions: [
        'The request may have been carried out. Check before retrying:',
        `mycli bundle:list --project 'my shop' --runtime-backend ${backend}`,
      ],
    });
    const pending = apiBackend.upload(bundleOf({format: 'v2'}), await apiContext(server));
    await expect(pending).rejects.toMatchObject(wrongWith('api'));
    const legacy = await legacyContext(server);
    for (const format of ['v1', 'v2'] as const) {
      await expect(legacyBackend.upload(bundleOf({format}), legacy)).rejects.toMatchObject(wrongWith('legacy'));
    }
  });
});

describe('an upload of v1', () => {
  const body = {
    message: 'hello',
    encoding: 'base64',
    ssr_parameters: {A: 1},
    ssr_only: ['ssr.js', 'both.js'],
    ssr_shared: ['both.js', 'a.css'],
    data: archive.toString('base64'),
  };

  test('sends the files that patterns match, and the archive as base64, from a file or while it is packed', async () => {
    await using server = await taking({bundle_id: 5, warnings: ['careful']});
    const context = await legacyContext(server);
    const result = {bundleId: 5, warnings: ['careful'], raw: {bundle_id: 5, warnings: ['careful']}};
    expect(await legacyBackend.upload(bundleOf({format: 'v1'}), context)).toEqual(result);
    expect(await uploadStream(streamed, context)).toEqual(result);
    for (const {method, path, body: sent} of server.requests) {
      expect(`${method} ${path}`).toBe('POST /api/projects/my%20shop/builds/');
      expect(JSON.parse(String(sent))).toEqual(body);
    }
    expect(server.requests).toHaveLength(2);
  });

  test('sends the dependencies of the metadata, and nothing else of it', async () => {
    await using server = await taking({bundle_id: 5});
    const bundleMetadata = {dependencies: {left: '^1'}, ccOverrides: ['x']};
    const config = {...content.config, bundleMetadata};
    await legacyBackend.upload(bundleOf({format: 'v1', config}), await legacyContext(server));
    const {bundle_metadata: sent} = JSON.parse(String(server.requests[0]?.body)) as {bundle_metadata: unknown};
    expect(sent).toEqual({dependencies: {left: '^1'}});
  });

  test('with a target deploys in the same step, and looks at nothing before', async () => {
    await using server = await taking({bundle_id: 5});
    const {deployment, warnings} = await uploadStream(streamed, await legacyContext(server, 'a/b'));
    expect(deployment).toMatchObject({bundleId: 5, targetSlug: 'a/b', before: {unknown: expect.anything()}});
    expect(warnings).toEqual([]);
    expect(server.requests.map(({method}) => method)).toEqual(['POST']);
  });

  test('with a target, and waited for, deploys in the same step, after a look at what was there before', async () => {
    const created = '2026-01-01T00:00:01Z';
    const list: Reply = {status: 200, body: {count: 2, results: [{created_at: created}]}};
    await using server = await startRecordingServer(({method}) =>
      method === 'GET' ? list : {status: 201, body: {bundle_id: 5}},
    );
    const result = await uploadStream(streamed, {...(await legacyContext(server, 'a/b')), wait: true});
    expect(result.deployment).toEqual({bundleId: 5, targetSlug: 'a/b', before: {createdAt: created, count: 2}});
    expect(server.requests.map(({method, path}) => `${method} ${path}`)).toEqual([
      'GET /api/projects/my%20shop/target/a%2Fb/deploy/?limit=2&offset=0',
      'POST /api/projects/my%20shop/builds/a%2Fb/',
    ]);
  });
});
