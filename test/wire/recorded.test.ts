import {describe, expect, test} from 'vitest';
import * as v from 'valibot';
import type {BuiltInContext} from '../../src/backends/host-backend.js';
import {legacyBackend} from '../../src/backends/legacy/backend.js';
import type {LegacyBackendOptions} from '../../src/backends/legacy/connection.js';
import {isRuntimeCliError} from '../../src/errors/index.js';
import {ApiKeyStrategy} from '../../src/http/index.js';
import {operations} from '../../src/wire/index.js';
import {bundleOf, contextFor, promised} from '../backends/context-for.js';
import {build, gnuTar} from '../local-runtime/archives.js';
import {v1Body} from '../local-runtime/client.js';
import {startRuntime} from '../local-runtime/with-runtime.js';
import {startRecordingServer} from '../recording-server.js';
import {answerOf, departures, operationAt} from './contract.js';
import recorded from './recorded.json' with {type: 'json'};

// What services publish that they answer, and what published clients sent when they were run against a server that only
// recorded it. Nothing of it was made from src/wire, so that a mistake in there cannot hide on both sides.

interface RecordedAnswer {
  readonly source: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly body?: unknown;
  /** What the host is told. Undefined: the host does not ask. */
  readonly told?: object;
}

interface RecordedRequest {
  readonly source: string;
  readonly method: string;
  readonly path: string;
  readonly credentials: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
}

const answers: readonly RecordedAnswer[] = recorded.answers;
const requests: readonly RecordedRequest[] = recorded.requests;

type Context = BuiltInContext<LegacyBackendOptions>;
const range = {limit: 10};
const inTarget = {...range, targetSlug: 'staging'};
const v1 = bundleOf({format: 'v1'});

/** How the host asks, by the name of the request in the document. */
const asks: Readonly<Record<string, (context: Context) => Promise<unknown>>> = {
  legacyListProjects: (context) => legacyBackend.verify(context),
  legacyPushV1: (context) => legacyBackend.upload(v1, context),
  legacyPushAndDeployV1: (context) => legacyBackend.upload(v1, {...context, targetSlug: 'staging'}),
  legacyListBundles: (context) => promised(legacyBackend.listBundles)(range, context),
  legacyListTargets: (context) => promised(legacyBackend.listTargets)(range, context),
  legacyListDeployments: (context) => promised(legacyBackend.listDeployments)(inTarget, context),
  legacyDeploy: (context) => promised(legacyBackend.deploy)({bundleId: 2, targetSlug: 'staging'}, context),
  legacyDeleteBundle: (context) => promised(legacyBackend.deleteBundle)({bundleId: 2}, context),
};

describe.each(answers)('a recorded answer of $source: $method $path $status $body', (answer) => {
  const {method, path, status, body, told} = answer;
  const operation = operationAt(method, path)?.operation;

  test('fits the document', () => {
    const [, documented] = (operation && answerOf(operation, status)) ?? [];
    expect(documented).toBeDefined();
    const [content] = Object.values(documented?.content ?? {});
    expect(content && body !== undefined ? departures(content.schema, body, 'open') : []).toEqual([]);
  });

  test('is read as it is meant', async () => {
    const schema = operations.find(({id}) => id === operation?.id)?.answer;
    if (schema && body !== undefined && status < 400) expect(v.safeParse(schema, body).issues).toBeUndefined();
    const ask = asks[operation?.id ?? ''];
    if (ask === undefined) return;
    await using server = await startRecordingServer(() => ({status, body}));
    const auth = new ApiKeyStrategy({apiKey: 'key'});
    const context = await contextFor<LegacyBackendOptions>({origin: server.origin, auth}, {projectSlug: 'my-project'});
    const outcome = await ask(context).catch((error: unknown) => error);
    if (status >= 400) expect(isRuntimeCliError(outcome)).toBe(true);
    if (told) expect(outcome).toMatchObject(told);
    expect(server.requests.map((request) => `${request.method} ${request.path.split('?')[0] ?? ''}`)).toEqual([
      `${method} ${path}`,
    ]);
  });
});

describe.each(requests)('a recorded request of $source: $method $path $body.bundle_id', (request) => {
  const {method, path, credentials, headers, body} = request;

  test('fits the document', () => {
    const schema = operationAt(method, path)?.operation.bodySchema;
    expect(schema && body ? departures(schema, body, 'open') : []).toEqual([]);
  });

  test('is carried out by the local runtime', async () => {
    const {runtime, client} = await startRuntime();
    const project = path.split('/')[3] ?? '';
    const tar = await gnuTar({...build, 'server/entry.mjs': ''}, {prefix: `${project}/bld`, gzip: false});
    const known = Math.max(1, ...[body?.['bundle_id'] ?? 1, body?.['bundle_ids'] ?? 1].flat().map(Number));
    for (let number = 1; number <= known; number += 1) {
      await client.pushV1(v1Body(tar), `projects/${project}/builds/${number === known ? 'staging/' : ''}`);
    }
    const sent = body && JSON.stringify('data' in body ? {...body, data: tar.toString('base64')} : body);
    const {apiKey} = runtime.credentials;
    const secret = credentials === 'Basic' ? Buffer.from(`me@shop.example:${apiKey}`).toString('base64') : apiKey;
    const response = await fetch(`${runtime.origin}${path}`, {
      method,
      headers: {...headers, authorization: `${credentials} ${secret}`},
      ...(sent !== undefined && {body: Buffer.from(sent)}),
    });
    expect([response.status, await response.json()]).toEqual([
      expect.toSatisfy((status) => status < 300),
      expect.anything(),
    ]);
  });
});
