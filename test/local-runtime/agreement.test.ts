import {expect, test} from 'vitest';
import {Store} from '../model/store.js';
import {answerOf, departures, operationAt} from '../wire/contract.js';

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
