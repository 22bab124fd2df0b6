import {expect, test} from 'vitest';
import type {HostBackend} from '../../src/backends/built-in.js';
import type {BackendContext} from '../../src/backends/contract.js';
import {invoke, type OpenBackend} from '../../src/operations/open-backend.js';
import {startRecordingServer} from '../recording-server.js';
import {contextFor} from './context-for.js';

/** A backend that only knows POST, and how often the service got a request that it fails. */
async function countRequests(
  call: (open: OpenBackend) => Promise<unknown>,
  options: {readonly repeatable?: boolean} = {},
): Promise<number> {
  await using server = await startRecordingServer(() => ({status: 500}));
  const ask = (_request: unknown, {http}: BackendContext) => http.post(server.origin, options).json<never>();
  const backend: HostBackend = {
    ...{apiVersion: 1, name: 'acme', summary: 'Acme', formats: ['v2']},
    check: () => Promise.resolve({configured: true}),
    upload: ask,
    ...{deploy: ask, promote: ask, download: ask, deleteBundle: ask},
    ...{getDeployment: ask, listBundles: ask, listDeployments: ask, listTargets: ask, readLogs: ask},
  };
  const open: OpenBackend = {
    ...{backend, context: await hostContext(), secrets: []},
    reopen: () => Promise.resolve(open),
  };
  await expect(call(open)).rejects.toMatchObject({code: 'ERR_SERVER'});
  return server.requests.length;
}

const hostContext = () => contextFor<unknown>({});
const page = {limit: 1};

test.each([
  ['getDeployment', (open: OpenBackend) => invoke(open, 'getDeployment', {})],
  ['listBundles', (open: OpenBackend) => invoke(open, 'listBundles', page)],
  ['listDeployments', (open: OpenBackend) => invoke(open, 'listDeployments', {...page, targetSlug: 'staging'})],
  ['listTargets', (open: OpenBackend) => invoke(open, 'listTargets', page)],
  ['readLogs', (open: OpenBackend) => invoke(open, 'readLogs', {deployment: {}})],
])('in %s, every request may be repeated unless it says otherwise', async (_member, call) => {
  expect(await countRequests(call)).toBe(3);
  expect(await countRequests(call, {repeatable: false})).toBe(1);
});

test.each([
  ['deploy', (open: OpenBackend) => invoke(open, 'deploy', {bundleId: 1, targetSlug: 'staging'})],
  ['promote', (open: OpenBackend) => invoke(open, 'promote', {bundleId: 1, from: 'a', to: 'b'})],
  ['deleteBundle', (open: OpenBackend) => invoke(open, 'deleteBundle', {bundleId: 1})],
])('in %s, a POST is sent once unless it says otherwise', async (_member, call) => {
  expect(await countRequests(call)).toBe(1);
  expect(await countRequests(call, {repeatable: true})).toBe(3);
});
