import {expect, test} from 'vitest';
import type {HostBackend} from '../../src/backends/host-backend.js';
import type {BackendContext} from '../../src/backends/contract.js';
import {backendMembers, type OptionalMember} from '../../src/backends/members.js';
import {invoke} from '../../src/operations/call-backend.js';
import {RunOutlet} from '../../src/pipelines/report.js';
import {createProject} from '../operations/test-host.js';
import {startRecordingServer} from '../recording-server.js';
import {contextFor} from './context-for.js';

const members = Object.entries(backendMembers).flatMap(([name, row]) =>
  'capability' in row ? [name as OptionalMember] : [],
);

/** How often the service gets a POST that it fails, from a backend that does nothing else. */
async function countRequests(member: OptionalMember, options: {readonly repeatable?: boolean} = {}): Promise<number> {
  await using server = await startRecordingServer(() => ({status: 500}));
  const ask = (_request: unknown, {http}: BackendContext) => http.post(server.origin, options).json<never>();
  const backend: HostBackend = {
    ...{apiVersion: 1, name: 'acme', summary: 'Acme', formats: ['v2']},
    check: () => Promise.resolve({configured: true}),
    upload: ask,
    ...Object.fromEntries(members.map((name) => [name, ask])),
  };
  await using project = await createProject();
  const host = {...project.host, outlet: new RunOutlet(project.host, {warnings: []})};
  const signal = new AbortController().signal;
  const open = {backend, host, signal, secrets: [], context: () => contextFor<unknown>({})};
  await expect(invoke(open, member, {})).rejects.toMatchObject({code: 'ERR_SERVER'});
  return server.requests.length;
}

test.each(members)('%s repeats a POST as its row says, unless the request says otherwise', async (member) => {
  const {effect, ...row} = backendMembers[member];
  const isRepeatable = 'repeatable' in row;
  expect(isRepeatable && effect === 'writes').toBe(false);
  expect(await countRequests(member)).toBe(isRepeatable ? 3 : 1);
  expect(await countRequests(member, {repeatable: !isRepeatable})).toBe(isRepeatable ? 1 : 3);
});

test('a request that takes a 429 for an answer gets it at once, with its text', async () => {
  const body = {message: 'database space exceeded'};
  await using server = await startRecordingServer(() => ({status: 429, body}));
  const {http} = await contextFor({});
  const message = expect.stringContaining('(429 Too Many Requests): database space exceeded.') as string;
  await expect(http.post(server.origin, {retryRateLimit: false})).rejects.toMatchObject({status: 429, message});
  const answered = http.extend({throwHttpErrors: false, retryRateLimit: false});
  expect(await answered.get(server.origin)).toMatchObject({statusCode: 429, body: JSON.stringify(body)});
  expect(server.requests).toHaveLength(2);
  await expect(http.post(server.origin)).rejects.toMatchObject({status: 429});
  expect(server.requests).toHaveLength(4);
});
