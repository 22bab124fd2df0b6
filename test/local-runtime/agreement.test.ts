import {describe, expect, test} from 'vitest';
import {ApiKeyStrategy, isRuntimeCliError, listBundles, pushRuntimeBundle} from '../../src/index.js';
import {faults, type Fault} from '../model/faults.js';
import {createSupplies} from '../model/run.js';
import {Store} from '../model/store.js';
import {answerOf, departures, operationAt} from '../wire/contract.js';
import {startRuntime} from './with-runtime.js';

/** The fault of the local runtime that is one of the model's; undefined if it can't do that. */
function ownFault({name, status, effect}: Fault): string | undefined {
  // Of a fault with this status, the answer is one of the wire.
  if (status === 304) return undefined;
  const [, header, value] = /^\d{3}, (retry-after|location): (.+)$/.exec(name) ?? [];
  if (status !== undefined && header !== undefined && value !== undefined && value.length < 40) {
    return `${status}:${header}=${value}`;
  }
  if (status !== undefined && !effect && name === String(status)) return name;
  return {
    'a reset after the request': 'drop',
    'no answer': 'hang',
    'half of the answer, then a close': 'truncate:after=20',
  }[name];
}

const common = faults.flatMap((fault) => {
  const own = ownFault(fault);
  return own === undefined ? [] : [[own, fault] as const];
});

test('the local runtime and the model have most refusals, and the ends of connections, in common', () => {
  expect(common.length).toBeGreaterThan(30);
});

describe('a client fares with the faults of the local runtime as with those of the model:', () => {
  test.each(common)('%s', async (own, {ends, effect, name, status}) => {
    await using supplies = await createSupplies();
    const {runtime} = await startRuntime();
    const call = {
      ...{cwd: supplies.folder, projectSlug: 'shop', message: 'one', preference: 'legacy', origin: runtime.origin},
      legacyAuth: new ApiKeyStrategy({apiKey: runtime.credentials.apiKey}),
      rateLimit: {maxRetries: 1, baseDelayMs: 1, maxDelayMs: 3},
      ...{requestTimeout: 0.5, idleTimeout: 0.5},
    } as const;
    const codeOf = async (work: Promise<unknown>) =>
      work.then(
        () => 0,
        (error: unknown) => (isRuntimeCliError(error) ? error.exitCode : String(error)),
      );
    const parameters = own.includes(':') ? `${own},` : `${own}:`;
    runtime.addFault(`${parameters}route=list`);
    runtime.addFault(`${parameters}route=upload`);
    const read = await codeOf(listBundles(call));
    const write = await codeOf(pushRuntimeBundle({...call, archive: 'v2.tar.gz'}));
    runtime.clearFaults();
    expect({name, ends: [read, write]}).toEqual({name, ends});
    const {bundles} = await listBundles(call);
    // The runtime never answers before it has done the work, the model does it all the same.
    if (own !== 'hang') expect(bundles).toHaveLength(effect && status === undefined ? 1 : 0);
  });
});

test('the answers of the model fit the document', () => {
  const stores = {api: new Store('api', {}), legacy: new Store('legacy', {})};
  const storefront = '/storefront/deployments/v1/organizations/org/storefronts/shop';
  const project = '/api/projects/shop';
  const deployments = `${storefront}/environments/preview/deployments`;
  const conversations = {
    api: [
      ['upload', 'POST', `${storefront}/bundles`, ''],
      ['deploy', 'POST', deployments, '{"bundleId": 701}'],
      ['deploy', 'POST', deployments, '{"bundleId": 99999}'],
      ['list', 'GET', `${storefront}/bundles?limit=2&offset=0`, ''],
      ['history', 'GET', `${deployments}?limit=2&offset=0`, ''],
    ],
    legacy: [
      ['upload', 'POST', '/api/v2/projects/shop/bundles/', ''],
      ['upload', 'POST', `${project}/builds/preview/`, ''],
      ['deploy', 'POST', `${project}/target/preview/deploy/`, '{"bundle_id": 41}'],
      ['list', 'GET', `${project}/bundles/?limit=2&offset=0`, ''],
      ['targets', 'GET', `${project}/target/?limit=2&offset=0`, ''],
      ['look', 'GET', `${project}/target/staging/deploy/?limit=2&offset=0`, ''],
      ['history', 'GET', `${project}/target/staging/deploy/?limit=5&offset=0`, ''],
      ['download', 'GET', `${project}/bundles/42/download/`, ''],
      ['delete', 'DELETE', `${project}/bundles/42/`, ''],
      ['delete', 'DELETE', `${project}/bundles/42/`, ''],
    ],
  } as const;
  const problems = (['api', 'legacy'] as const).flatMap((side) =>
    conversations[side].flatMap(([name, method, url, sent]) => {
      const {status, body} = stores[side].answer(name, url, Buffer.from(sent), 'http://runtime.example').answer;
      const [path = ''] = url.split('?');
      const found = operationAt(method, path);
      const documented = found && answerOf(found.operation, status)?.[1];
      if (!documented) return [`${method} ${path}: ${status} is not documented`];
      const [content] = Object.values(documented.content ?? {});
      const misfits = content ? departures(content.schema, JSON.parse(String(body)), 'open') : [];
      return misfits.map((misfit) => `${method} ${path}: ${misfit}`);
    }),
  );
  expect(problems).toEqual([]);
});
