import {expect, test} from 'vitest';
import {BearerTokenStrategy} from '../../../src/index.js';
import {callFromLibrary} from '../../../src/pipelines/library-call.js';
import {listTargets} from '../../../src/pipelines/targets.js';
import {startRecordingServer} from '../../recording-server.js';
import {createProject} from '../test-host.js';

/** The targets that an Api answers, and what is warned of. */
async function list(rows: readonly object[], headers: Readonly<Record<string, string>> = {}) {
  const reply = {status: 200, headers, body: {limit: 200, offset: 0, total: rows.length, data: rows}};
  await using server = await startRecordingServer(() => reply);
  await using project = await createProject();
  const auth = new BearerTokenStrategy('token');
  const apiConnection = {origin: server.origin, organizationId: 'org', auth};
  const options = {preference: 'api', projectSlug: 'shop', apiConnection} as const;
  const {targets} = await callFromLibrary(options, project.host, listTargets);
  return {targets, log: project.log};
}

test('targets: an environment that was deleted is none', async () => {
  const {targets} = await list([
    {environmentId: 'gone', status: 'deleted'},
    {environmentId: 'stuck', status: 'delete_failed'},
    {environmentId: 'here', status: 'ready'},
  ]);
  expect(targets.map(({targetSlug, state}) => ({targetSlug, state}))).toEqual([{targetSlug: 'here', state: 'ready'}]);
});

test('targets: the URL is that of the host that visitors use', async () => {
  const mrtOrigin = 'https://origin.example';
  const {targets} = await list([
    {environmentId: 'own', mrtOrigin, ssrExternalHostname: 'shop.example', defaultEcdnHostname: 'cdn.example'},
    {environmentId: 'standard', mrtOrigin, ssrExternalHostname: null, defaultEcdnHostname: 'cdn.example'},
    {environmentId: 'bare', mrtOrigin},
  ]);
  const urls = ['https://shop.example/', 'https://cdn.example/', `${mrtOrigin}/`];
  expect(targets.map(({url}) => url)).toEqual(urls);
});

test('targets: a service that is read-only is told once, at its first answer', async () => {
  const row = {environmentId: 'here', status: 'ready'};
  const told = (log: readonly string[]) => log.filter((line) => line.includes('read-only for maintenance'));
  expect(told((await list([row], {'x-mrt-read-only': 'True'})).log)).toHaveLength(1);
  expect(told((await list([row], {'x-mrt-read-only': 'false'})).log)).toEqual([]);
});
