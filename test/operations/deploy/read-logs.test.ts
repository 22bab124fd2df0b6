import {expect, onTestFinished, test} from 'vitest';
import type {Backend, DeploymentLog} from '../../../src/backends/contract.js';
import type {ReadLogsOptions} from '../../../src/operations/deploy/read-logs.js';
import {acme} from '../acme.js';
import {createProject} from '../test-host.js';
import {readDeploymentLogs} from '../../../src/pipelines/read.js';
import {deployBundle} from '../calls.js';

/** A service whose log has these parts: the cursor is the number of the next one. */
async function serviceWith(
  parts: readonly DeploymentLog[],
  {readLogs}: {readonly readLogs?: Backend['readLogs'] | null} = {},
) {
  const project = await createProject();
  onTestFinished(() => project[Symbol.asyncDispose]());
  const reads: unknown[] = [];
  const options = acme({
    deploy: () => Promise.resolve({deployment: {deploymentId: 2}, status: 'queued', raw: undefined}),
    getDeployment: () => Promise.resolve({status: 'failed', description: 'No space', raw: undefined}),
    listDeployments: () => {
      const items = [2, 1].map((id) => ({deployment: {deploymentId: id}, bundleId: id, status: 'failed' as const}));
      return Promise.resolve({items, total: 2});
    },
    ...(readLogs !== null && {
      readLogs:
        readLogs ??
        (({deployment, cursor = '0'}: Parameters<NonNullable<Backend['readLogs']>>[0]) => {
          reads.push([deployment.deploymentId, cursor]);
          return Promise.resolve(parts[Number(cursor)] ?? {lines: [], cursor});
        }),
    }),
  });
  return {
    reads,
    read: (more: Partial<ReadLogsOptions> = {}) => readDeploymentLogs({...options, ...more}, project.host),
    deploy: () => deployBundle({...options, bundleId: 2, wait: true, pollInterval: 0.01}, project.host),
  };
}

const growing: readonly DeploymentLog[] = [
  {lines: ['one', 'two'], cursor: '1'},
  {lines: ['three'], cursor: '2'},
];

test('the log of the newest deployment is read to its last line', async () => {
  const {read, reads} = await serviceWith(growing);
  expect(await read()).toEqual({
    ...{backend: 'acme', projectSlug: 'shop', targetSlug: 'staging', deploymentId: 2, bundleId: 2, status: 'failed'},
    ...{lines: ['one', 'two', 'three'], done: false},
  });
  expect(reads).toEqual([
    [2, '0'],
    [2, '1'],
    [2, '2'],
  ]);
});

test('the log of an older deployment is read by its ID', async () => {
  const {read, reads} = await serviceWith([{lines: ['old']}]);
  expect(await read({deploymentId: '1'})).toMatchObject({deploymentId: 1, lines: ['old'], done: true});
  expect(reads).toEqual([[1, '0']]);
  await expect(read({deploymentId: 7})).rejects.toMatchObject({
    code: 'ERR_REJECTED',
    message: 'The target "staging" of shop has no deployment 7.',
  });
});

test('following waits for more lines until the log is complete', async () => {
  const parts: DeploymentLog[] = [...growing];
  const {read} = await serviceWith(parts);
  const seen: string[] = [];
  const onLines = (lines: readonly string[]) => {
    seen.push(...lines);
    // The rest appears only once the beginning was seen.
    if (lines.includes('three')) setImmediate(() => parts.push({lines: ['four']}));
  };
  expect(await read({follow: true, pollInterval: 0.001, onLines})).toMatchObject({lines: [], done: true});
  expect(seen).toEqual(['one', 'two', 'three', 'four']);
});

test('a log without an end is stopped, and sooner by an abort', async () => {
  let parts = 0;
  const endless = () => Promise.resolve({lines: ['more'], cursor: String((parts += 1))});
  const {read} = await serviceWith([], {readLogs: endless});
  await expect(read()).rejects.toMatchObject({code: 'ERR_RESPONSE_INVALID'});
  expect(parts).toBe(10_000);
  const controller = new AbortController();
  const reason = new Error('enough');
  setImmediate(() => controller.abort(reason));
  await expect(read({follow: true, signal: controller.signal})).rejects.toBe(reason);
});

test('a backend that repeats its log is stopped', async () => {
  const {read} = await serviceWith([{lines: ['again'], cursor: '0'}]);
  await expect(read()).rejects.toMatchObject({code: 'ERR_RESPONSE_INVALID'});
});

test('a backend without logs is refused, and one whose answer is wrong is named', async () => {
  const without = await serviceWith([], {readLogs: null});
  await expect(without.read()).rejects.toMatchObject({code: 'ERR_CAPABILITY_UNSUPPORTED'});
  const wrong = await serviceWith([{lines: [], cursor: '1'}], {
    readLogs: () => Promise.resolve(JSON.parse('{"lines": "one"}') as DeploymentLog),
  });
  await expect(wrong.read()).rejects.toMatchObject({code: 'ERR_BACKEND_FAILED'});
});

test('the error of a failed deployment has the last lines of its log', async () => {
  const lines = Array.from({length: 30}, (_, index) => `line ${String(index + 1)}`);
  const {deploy} = await serviceWith([{lines, cursor: '1'}, {lines: ['the end']}]);
  const last = [...lines.slice(-19), 'the end'];
  await expect(deploy()).rejects.toMatchObject({
    code: 'ERR_DEPLOYMENT_FAILED',
    message: 'Deployment 2 failed: No space.',
    suggestions: ['The last lines of its log:', ...last],
    details: {log: last},
  });
});

test('a log that cannot be read does not hide why the deployment failed', async () => {
  const {deploy} = await serviceWith([], {readLogs: () => Promise.reject(new Error('no log'))});
  await expect(deploy()).rejects.toMatchObject({message: 'Deployment 2 failed: No space.', suggestions: []});
});
