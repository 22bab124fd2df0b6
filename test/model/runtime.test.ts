import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {startLocalRuntime} from '../../src/local-runtime/start-local-runtime.js';
import {createSupplies} from './run.js';
import {startService} from './service.js';

/** A service as a client sees it. */
interface Side {
  readonly origin: string;
  readonly authorization: {readonly api: string; readonly legacy: string};
  readonly organization: string;
}

/** What a service answers: the status, and the members of the document with their types. */
interface Shape {
  readonly status: number;
  readonly members: Readonly<Record<string, string>>;
}

function shapeOf(value: unknown, path = ''): Readonly<Record<string, string>> {
  if (Array.isArray(value)) return value.length === 0 ? {} : shapeOf(value[0], `${path}[]`);
  if (typeof value !== 'object' || value === null) return {[path]: typeof value};
  return Object.assign({}, ...Object.entries(value).map(([key, member]) => shapeOf(member, `${path}.${key}`)));
}

/** Asks for everything that a client may, and for what a service refuses. */
async function converse(
  {origin, authorization, organization}: Side,
  archive: Buffer,
): Promise<Readonly<Record<string, Shape>>> {
  const shapes: Record<string, Shape> = {};
  const ask = async (name: string, path: string, init: RequestInit & {readonly as?: string} = {}) => {
    const {as = authorization[path.startsWith('/api/') ? 'legacy' : 'api'], ...rest} = init;
    const isJson = typeof rest.body === 'string';
    const headers = {authorization: as, ...(isJson && {'content-type': 'application/json'})};
    const answer = await fetch(`${origin}${path}`, {...rest, headers});
    const text = await answer.text();
    const value: unknown = answer.headers.get('content-type')?.includes('json') ? JSON.parse(text) : null;
    shapes[name] = {status: answer.status, members: answer.ok && value !== null ? shapeOf(value) : {}};
    return value as Readonly<Record<string, string | number>> | null;
  };
  const form = () => {
    const body = new FormData();
    body.set('bundle', new Blob([new Uint8Array(archive)]), 'bundle.tar.gz');
    body.set('message', 'one');
    return {method: 'POST', body};
  };
  const post = (value: unknown) => ({method: 'POST', body: JSON.stringify(value)});

  const project = '/api/projects/shop';
  const {id} = (await ask('legacy upload', '/api/v2/projects/shop/bundles/', form())) ?? {};
  const spare = (await ask('legacy upload again', '/api/v2/projects/shop/bundles/', form()))?.['id'];
  const target = `${project}/target/staging/deploy/`;
  await ask('legacy deploy', target, post({bundle_id: id}));
  await ask('legacy deploy while busy', target, post({bundle_id: id}));
  await ask('legacy deploy of no bundle', `${project}/target/idle/deploy/`, post({bundle_id: 99_999}));
  await ask('legacy history', `${target}?limit=5&offset=0`);
  await ask('legacy targets', `${project}/target/?limit=5&offset=0`);
  await ask('legacy list', `${project}/bundles/?limit=5&offset=0`);
  await ask('legacy list with a wrong key', `${project}/bundles/?limit=5&offset=0`, {as: 'Bearer wrong'});
  await ask('legacy download', `${project}/bundles/${String(id)}/download/`);
  await ask('legacy download of no bundle', `${project}/bundles/99999/download/`);
  await ask('legacy delete', `${project}/bundles/${String(spare)}/`, {method: 'DELETE'});
  await ask('legacy delete again', `${project}/bundles/${String(spare)}/`, {method: 'DELETE'});

  const store = `/storefront/deployments/v1/organizations/${organization}/storefronts/shop`;
  const {bundleId} = (await ask('api upload', `${store}/bundles`, form())) ?? {};
  const deployments = `${store}/environments/preview/deployments`;
  const {deploymentId} = (await ask('api deploy', deployments, post({bundleId}))) ?? {};
  await ask('api deploy while busy', deployments, post({bundleId}));
  await ask('api deploy of no bundle', `${store}/environments/idle/deployments`, post({bundleId: 99_999}));
  await ask('api deployment', `${deployments}/${String(deploymentId)}`);
  await ask('api history', `${deployments}?limit=5&offset=0`);
  await ask('api list', `${store}/bundles?limit=5&offset=0`);
  await ask('api list with a wrong token', `${store}/bundles?limit=5&offset=0`, {as: 'Bearer wrong'});
  return shapes;
}

test('the local runtime answers as the model does, in every member that the model has', async () => {
  await using supplies = await createSupplies();
  const archive = await readFile(join(supplies.folder, 'v2.tar.gz'));
  await using service = await startService({}, archive);
  const runtime = await startLocalRuntime({deploymentSeconds: 60});
  onTestFinished(() => runtime.close());
  const {tokenUrl, clientId, clientSecret, apiKey, organizationId: organization} = runtime.credentials;
  const basic = Buffer.from(`${clientId}:${clientSecret}`).toString('base64');
  const grant = {
    method: 'POST',
    headers: {authorization: `Basic ${basic}`},
    body: new URLSearchParams({grant_type: 'client_credentials'}),
  };
  const {access_token: token} = (await (await fetch(tokenUrl, grant)).json()) as {readonly access_token: string};

  const ours = {api: 'Bearer canary-access-token', legacy: 'Bearer canary-api-key'};
  const model = await converse({origin: service.origin, authorization: ours, organization: 'org'}, archive);
  const theirs = {api: `Bearer ${token}`, legacy: `Bearer ${apiKey}`};
  const real = await converse({origin: runtime.origin, authorization: theirs, organization}, archive);

  expect(Object.entries(real).map(([name, {status}]) => `${name}: ${status}`)).toEqual(
    Object.entries(model).map(([name, {status}]) => `${name}: ${status}`),
  );
  for (const [name, {members}] of Object.entries(model))
    expect([name, real[name]?.members]).toEqual([name, expect.objectContaining(members)]);
});
