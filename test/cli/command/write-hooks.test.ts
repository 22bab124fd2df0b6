import {expect, onTestFinished, test} from 'vitest';
import {startLocalRuntime} from '../../../src/testing.js';
import {startRecordingServer} from '../../http/with-server.js';
import {runtimeEnvironment} from '../runtime-environment.js';
import {binary, start} from '../spawn-cli.js';
import {createPluginBench} from '../with-plugins.js';

/** A user with the example plugin, a runtime, and a webhook that answers `status`. */
async function startBench(status: number) {
  const bench = await createPluginBench({example: 'freeze'});
  const runtime = await startLocalRuntime({deploymentSeconds: 0});
  onTestFinished(async () => {
    await runtime.close();
    await bench[Symbol.asyncDispose]();
  });
  const webhook = await startRecordingServer((response) => void response.writeHead(status).end());
  const env = {...runtimeEnvironment(runtime), MYCLI_TARGET: 'production', NOTIFY_URL: webhook.origin};
  const push = (args: readonly string[], more: Readonly<Record<string, string>> = {}) =>
    bench.mycli(['bundle:push', '--json', ...args], {...env, ...more});
  const told = () => webhook.requests.map(({body}): unknown => JSON.parse(body.toString()));
  const mycli = (...args: readonly string[]) => bench.mycli([...args, '--json'], {...env, MYCLI_POLL_INTERVAL: '0.05'});
  return {runtime, mycli, push, told};
}

const frozen = {FREEZE_WINDOWS: '2000-01-01T00:00Z/2999-01-01T00:00Z'};

test('a veto of a plugin ends a push, and a preview of it, before anything is changed', async () => {
  const {runtime, push, told} = await startBench(204);
  for (const args of [[], ['--dry-run']]) {
    const {code, stdout} = await push(args, frozen);
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({
      error: {
        code: 'ERR_VETOED',
        message: expect.stringContaining('production is frozen until 2999-01-01') as string,
        details: {operation: 'push', vetoes: [{plugin: 'mycli-plugin-freeze'}]},
      },
    });
  }
  expect(runtime.requests.filter(({route = ''}) => !['token', 'targets', 'projects'].includes(route))).toEqual([]);
  expect(told()).toEqual([]);
});

test('a plugin is told the outcome, and its failure is a warning', async () => {
  const {runtime, push, told} = await startBench(500);
  const pushed = await push(['--wait']);
  expect(pushed.code).toBe(0);
  const {bundleId, warnings} = JSON.parse(pushed.stdout) as {bundleId: number; warnings: readonly string[]};
  const failure = /^Plugin mycli-plugin-freeze: its mycli:after hook failed: the webhook answered 500 \(.*\.js\)\.$/;
  expect(warnings).toContainEqual(expect.stringMatching(failure));

  runtime.addFault('403:route=upload');
  const refused = await push([]);
  expect(refused.code).toBe(4);
  expect(JSON.parse(refused.stdout)).toMatchObject({error: {code: 'ERR_FORBIDDEN'}});
  expect(refused.stderr).toContain('hook failed: the webhook answered 500');

  expect(told()).toEqual([
    expect.objectContaining({operation: 'push', outcome: 'succeeded', status: 'finished', bundleIds: [bundleId]}),
    expect.objectContaining({outcome: 'failed', error: expect.objectContaining({code: 'ERR_FORBIDDEN'}) as object}),
  ]);
});

test('a plugin is told of each preview that is pruned, and of the one that is not', async () => {
  const {runtime, mycli, told} = await startBench(204);
  for (const branch of ['a', 'b']) expect((await mycli('preview:up', branch)).code).toBe(0);
  const prune = ['preview:prune', '--expires', '0m', '--yes'];
  // The service tells its time in whole seconds.
  await expect.poll(async () => (await mycli(...prune, '--dry-run')).stdout).toMatch(/"preview-a[^]*"preview-b/);
  runtime.addFault('403x1:route=delete-target');
  expect((await mycli(...prune)).code).toBe(4);
  expect(told().slice(-2)).toMatchObject([
    {operation: 'delete-target', outcome: 'failed', error: {code: 'ERR_FORBIDDEN'}},
    {operation: 'delete-target', outcome: 'succeeded'},
  ]);
});

test('a plugin is told of a deployment that failed its check, and of the rollback', async () => {
  const {runtime, push, told} = await startBench(204);
  const {bundleId} = JSON.parse((await push(['--wait'])).stdout) as {bundleId: number};
  runtime.addFault('503:route=site');
  const check = ['--check', '/', '--rollback-on-failure'];
  const atOnce = {MYCLI_CHECK_RETRIES: '0', MYCLI_POLL_INTERVAL: '0.1'};
  const {code, stdout} = await push(['-m', 'another', ...check], atOnce);
  expect(code).toBe(12);
  expect(JSON.parse(stdout)).toMatchObject({
    error: {
      ...{code: 'ERR_ROLLED_BACK', exitCode: 12},
      details: {check: {passed: false, checks: [{status: 503}]}, rollback: {rolledBack: true, bundleId}},
    },
  });
  expect(told().slice(1)).toEqual([
    expect.objectContaining({
      ...{operation: 'push', outcome: 'failed', status: 'finished'},
      error: expect.objectContaining({code: 'ERR_UNHEALTHY'}) as object,
    }),
    expect.objectContaining({operation: 'rollback', outcome: 'succeeded', status: 'finished', bundleIds: [bundleId]}),
  ]);
});

test('a push that has failed when a signal comes says so, though plugins are still told', async () => {
  await using bench = await createPluginBench({example: 'freeze'});
  const runtime = await startLocalRuntime({deploymentSeconds: 0, faults: ['fail']});
  onTestFinished(() => runtime.close());
  const webhook = await startRecordingServer(() => undefined);
  const env = {...bench.env, ...runtimeEnvironment(runtime), NOTIFY_URL: webhook.origin};
  const args = ['bundle:push', '--wait', '--json', '-t', 'production'];
  const {child, ended} = start(binary, args, {cwd: bench.project, env});
  await expect.poll(() => webhook.requests.length, {timeout: 20_000}).toBe(1);
  child.kill('SIGINT');
  const {code, stdout} = await ended;
  expect(code).toBe(130);
  expect(JSON.parse(stdout)).toMatchObject({
    error: {
      code: 'ERR_INTERRUPTED',
      message: expect.stringMatching(
        /^Interrupted by SIGINT\. Bundle 1 was uploaded\. Deployment \S+ failed: .* an injected fault\.$/,
      ) as string,
      suggestions: expect.arrayContaining(['Check before you deploy it again:']) as string[],
      details: {bundleId: 1},
    },
  });
});

test('a plugin is told of a change that it allowed, even if the service cannot be reached', async () => {
  const {runtime, push, told} = await startBench(204);
  await runtime.close();
  expect((await push([])).code).toBe(6);
  expect(told()).toMatchObject([{operation: 'push', outcome: 'failed', error: {code: 'ERR_NETWORK'}}]);
});
