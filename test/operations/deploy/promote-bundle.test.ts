import {describe, expect, onTestFinished, test} from 'vitest';
import type {BundleId, DeploymentItem} from '../../../src/backends/contract.js';
import type {PromoteBundleOptions} from '../../../src/operations/options.js';
import {ApiKeyStrategy} from '../../../src/http/index.js';
import {startRecordingServer} from '../../recording-server.js';
import {acme} from '../acme.js';
import {startService} from '../pushed-bundles.js';
import {createProject} from '../test-host.js';
import {listDeployments} from '../../../src/pipelines/read.js';
import {promoteBundle} from '../calls.js';

const promotion = {from: 'staging', targetSlug: 'production', projectSlug: 'shop'};

describe.each(['legacy', 'api'])('a promotion with %s', (preference) => {
  test('deploys the bundle that the other target runs', async () => {
    const {push, connection, project} = await startService();
    await push({targetSlug: 'staging'});
    await push({targetSlug: 'staging'});
    await push();
    const wait = {wait: true, pollInterval: 0.01};
    expect(await promoteBundle({...connection, ...promotion, ...wait, preference}, project.host)).toMatchObject({
      ...{backend: preference, bundleId: 2, promotedFrom: 'staging', targetSlug: 'production', status: 'finished'},
    });
    const options = {...connection, preference: 'legacy', targetSlug: 'production'};
    const {deployments} = await listDeployments(options, project.host);
    expect(deployments.map(({bundleId}) => bundleId)).toEqual([2]);
  });

  test('of a target that runs nothing is refused', async () => {
    const {push, connection, project} = await startService();
    await push();
    await expect(promoteBundle({...connection, ...promotion, preference}, project.host)).rejects.toMatchObject({
      code: 'ERR_REJECTED',
      message: 'The project "shop" has no targets, or does not exist.',
    });
  });
});

test.each([
  ['without an ID or a status', [{}]],
  ['of a failure without an ID', [{status: 'Failed'}]],
  ['of another status', [{bundle: {id: 9}, status: 'Cancelled'}]],
])('a promotion is refused if the newest deployment is a row %s', async (_, first) => {
  const rest = [{bundle: {id: 8}, status: 'Finished', created_at: '2026-01-01T00:00:00Z'}];
  await using server = await startRecordingServer(({path}) => {
    const isFirst = new URL(path, 'http://x').searchParams.get('offset') === '0';
    return {status: 200, body: {count: -3, results: isFirst ? first : path.includes('offset=1') ? rest : []}};
  });
  await using project = await createProject();
  const legacyAuth = new ApiKeyStrategy({apiKey: 'key'});
  const promoting = promoteBundle(
    {preference: 'legacy', origin: server.origin, legacyAuth, ...promotion},
    project.host,
  );
  await expect(promoting).rejects.toMatchObject({exitCode: 7});
  expect(server.requests.every(({method}) => method === 'GET')).toBe(true);
});

test('a promotion to the target itself is refused, with the flags to change', async () => {
  const {connection, project} = await startService();
  const same = {...connection, ...promotion, preference: 'legacy', targetSlug: 'staging'} as const;
  await expect(promoteBundle(same, project.host)).rejects.toMatchObject({
    code: 'ERR_OPTION_INVALID',
    message: '--from and --target are both staging, so there is nothing to promote.',
    suggestions: [expect.stringContaining('--from') as string],
  });
});

async function startAcme(
  members: readonly ('deploy' | 'promote')[],
  items: readonly Partial<DeploymentItem>[] = [{bundleId: 7}],
) {
  const project = await createProject();
  onTestFinished(() => project[Symbol.asyncDispose]());
  const calls: unknown[] = [];
  const accept = (call: string) => (request: unknown) => {
    calls.push({[call]: request});
    return Promise.resolve({deployment: {deploymentId: 1}, status: 'queued', raw: undefined});
  };
  const listDeployments = ({targetSlug}: {readonly targetSlug: string}) => {
    calls.push({list: targetSlug});
    const all = items.map((item) => ({deployment: {}, status: 'finished', ...item}));
    return Promise.resolve({items: all, total: all.length, raw: undefined});
  };
  const own = Object.fromEntries(members.map((member) => [member, accept(member)]));
  const plugin = acme({deploy: undefined, listDeployments, ...own});
  const promote = (options: Partial<PromoteBundleOptions> = {}) =>
    promoteBundle({...plugin, ...promotion, ...options}, project.host);
  return {calls, promote};
}

test("a backend's own promotion is used", async () => {
  const {calls, promote} = await startAcme(['deploy', 'promote']);
  expect(await promote()).toMatchObject({bundleId: 7, promotedFrom: 'staging', status: 'queued'});
  expect(calls).toEqual([{list: 'staging'}, {promote: {bundleId: 7, from: 'staging', to: 'production'}}]);
});

test('a backend without a promotion of its own deploys the bundle', async () => {
  const {calls, promote} = await startAcme(['deploy']);
  await promote();
  expect(calls).toEqual([{list: 'staging'}, {deploy: {bundleId: 7, targetSlug: 'production'}}]);
});

test('a backend that can do neither is refused before anything is sent', async () => {
  const {calls, promote} = await startAcme([]);
  await expect(promote()).rejects.toMatchObject({code: 'ERR_CAPABILITY_UNSUPPORTED'});
  expect(calls).toEqual([]);
});

test.each<[string, BundleId | undefined, DeploymentItem['status']]>([
  ['whose bundle', undefined, 'finished'],
  ['whose status', 7, 'unknown'],
])('a deployment %s the server does not report is not promoted', async (_what, bundleId, status) => {
  const {promote} = await startAcme(['promote'], [{bundleId, status}]);
  await expect(promote()).rejects.toMatchObject({
    code: 'ERR_REJECTED',
    message: 'The server does not report which bundle the target "staging" runs.',
  });
});

test.each(['production', '../x'])('the target %j cannot be promoted from', async (from) => {
  const {calls, promote} = await startAcme(['promote']);
  await expect(promote({from})).rejects.toMatchObject({code: 'ERR_OPTION_INVALID'});
  expect(calls).toEqual([]);
});
