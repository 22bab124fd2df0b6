import {execFile} from 'node:child_process';
import {once} from 'node:events';
import {existsSync} from 'node:fs';
import {mkdir, readdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {afterEach, describe, expect, test} from 'vitest';
import type {PushResult} from '../../../src/operations/push/options.js';
import type {LocalRuntime, LocalRuntimeOptions} from '../../../src/testing.js';
import {binary, start, type Ended} from '../spawn-cli.js';
import {createRuntimeBench, type RuntimeBench} from '../with-runtime.js';

const secrets = {apiKey: 'canary-api-key-1f0c', clientSecret: 'canary-client-secret-7d2e'};

let bench: RuntimeBench;
let project: string;
let temporary: string;
let runtime: LocalRuntime;
afterEach(() => bench[Symbol.asyncDispose]());

async function startRuntime(options: LocalRuntimeOptions = {}): Promise<void> {
  bench = await createRuntimeBench({MYCLI_RETRY_BASE_DELAY: '10'}, {credentials: secrets, ...options});
  ({project, runtime} = bench);
  temporary = join(bench.root, 'tmp');
  await mkdir(temporary);
}

const historyOfStaging =
  /^mycli bundle:history --project shop --target staging --runtime-backend api --api-origin http:\S+ --organization /;

const environment = () => ({...bench.env, TMPDIR: temporary});

async function mycli(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const ended = await bench.mycli(args, {TMPDIR: temporary, ...env});
  const said = ended.stdout + ended.stderr;
  for (const secret of Object.values(secrets)) {
    for (const form of [secret, Buffer.from(secret).toString('base64').replace(/=+$/, '')]) {
      expect(said).not.toContain(form);
    }
  }
  expect(await readdir(temporary)).toEqual([]);
  return ended;
}

test('bundle:push: that the service was not reached before a large build is said before the archive', async () => {
  await startRuntime();
  await runtime.close();
  await writeFile(join(project, 'build/static/large.bin'), Buffer.alloc(21_000_000));
  const {code, stderr} = await mycli(['push', '--runtime-backend', 'legacy']);
  expect(code).toBe(6);
  expect(stderr).toMatch(/Cannot connect to \S+: connection refused[^]*Archive: [^]*Error: Cannot connect/);
});

describe('bundle:push', () => {
  test.each([
    ['legacy, v1', ['--runtime-backend', 'legacy'], 'legacy', 'v1'],
    ['legacy, v2', ['--runtime-backend', 'legacy', '--v2'], 'legacy', 'v2'],
    ['auto', [], 'api', 'v2'],
  ])('pushes and deploys (%s); the document is the result', async (_, flags, backend, format) => {
    await startRuntime({faults: ['429x1:route=upload']});
    const {code, stdout, stderr} = await mycli([
      'bundle:push',
      '--target',
      'staging',
      '--wait',
      '--json',
      '--debug',
      ...flags,
    ]);
    expect(stderr).toContain('429');
    expect(JSON.parse(stdout)).toMatchObject({
      schemaVersion: 1,
      backend,
      deployed: true,
      status: 'finished',
      archive: {format, files: 2},
      warnings: [],
    });
    expect(code).toBe(0);
    const page = await fetch(`${runtime.appsOrigin}/shop/staging/static/index.html`);
    expect(await page.text()).toBe('<h1>hello</h1>\n');
  });

  test('tells people what it does, in plain lines, with the source of each setting', async () => {
    await startRuntime();
    const {code, stdout, stderr} = await mycli(['bundle:push', '-t', 'staging', '--wait']);
    expect(code).toBe(0);
    expect(stderr).toContain('Backend: Runtime (OAuth)');
    expect(stderr).toMatch(/target\s+staging\s+\(--target\)/);
    expect(stderr).toMatch(/project\s+shop\s+\(MYCLI_PROJECT\)/);
    expect(stderr).toMatch(/^Uploaded bundle 1 to shop \[[\d.]+ m?s\]$/m);
    expect(stderr).toMatch(/^Verified: 2 files \(1 server-only, 1 shared, 0 other\), /m);
    const [first, ...rest] = stdout.trimEnd().split('\n');
    expect(first).toMatch(/^Pushed bundle 1 to shop in [\d.]+ m?s: \d+ B, sha256 [0-9a-f]{12}$/);
    // Nothing ran there before.
    expect(rest).toEqual(['Deployed to staging.', runtime.siteUrl('shop', 'staging')]);
    expect(stderr).not.toContain('\u001B');
  });

  test('only uploads with --no-target although there is a target', async () => {
    await startRuntime();
    const {code, stdout} = await mycli(['bundle:push', '--json', '--no-target'], {MYCLI_TARGET: 'staging'});
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({bundleId: 1, deployed: false});
    expect(runtime.requests.filter(({path}) => path.includes('deploy'))).not.toContainEqual(
      expect.objectContaining({method: 'POST', path: expect.stringMatching(/\/deployments$|\/deploy\/$/) as string}),
    );
  });

  test('sends nothing with a target that is empty, as a variable of a script that is not set', async () => {
    await startRuntime();
    for (const flag of [['-t', ''], ['--target=']]) {
      const {code, stderr} = await mycli(['bundle:push', ...flag], {MYCLI_TARGET: 'staging'});
      expect({code, stderr}).toMatchObject({code: 2, stderr: expect.stringContaining('pass --no-target') as string});
    }
    expect(runtime.requests).toEqual([]);
  });

  test('and target:invalidate send nothing when a shell has expanded a pattern', async () => {
    await startRuntime();
    const expanded = (await readdir('/')).filter((name) => /^[a-z]+$/.test(name)).map((name) => `/${name}`);
    for (const args of [
      ['target:invalidate', ...expanded],
      ['bundle:push', '--invalidate', ...expanded],
      ['bundle:push', '--invalidate', ...expanded.slice(0, 1), '--invalidate', '/shop/*'],
    ]) {
      const {code, stderr} = await mycli([...args, '-t', 'staging']);
      expect({code, stderr}).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(
          /^Error: \S+ is a path on this machine: .*\n {2}Quote the pattern: '\/\*'/,
        ) as string,
      });
    }
    expect(runtime.requests).toEqual([]);
  });

  test('a dry run advises about a given pattern that matches no file, in its warnings and to people', async () => {
    await startRuntime();
    const args = ['bundle:push', '--dry-run', '--ssr-only', 'ssr.js', '--ssr-shared', 'statics/**'];
    const advice =
      'The ssrShared pattern "statics/**" matches no file. The closest is "static/index.html". ' +
      'A strict server refuses the bundle: correct the pattern, or set matchMode to ignore_missing in mycli.config.';
    const {code, stdout} = await mycli([...args, '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({dryRun: true, warnings: [advice]});
    const shown = await mycli(args);
    expect(shown.code).toBe(0);
    expect(shown.stderr.replaceAll(/\s+/g, ' ')).toContain(advice.slice(1));
    const lenient = await mycli([...args, '--json'], {MYCLI_MATCH_MODE: 'ignore_missing'});
    expect(JSON.parse(lenient.stdout)).toMatchObject({dryRun: true});
    expect(lenient.stdout + lenient.stderr).not.toContain('matches no file');
    expect(runtime.requests).toEqual([]);
  });

  test('a dry run accepts refused credentials where the push falls back to another backend', async () => {
    await startRuntime();
    const [push, env] = [['bundle:push', '--target', 'staging'], {MYCLI_API_TOKEN: 'refused-token-1'}];
    const {code, stderr} = await mycli([...push, '--dry-run'], env);
    expect([code, stderr]).toEqual([0, expect.stringContaining('Could not check whether the target staging exists.')]);
    expect((await mycli(push, env)).code).toBe(0);
    expect((await mycli([...push, '--dry-run', '--runtime-backend', 'api'], env)).code).toBe(4);
  });

  test.each([
    ['bundle:push', '--dry-run', '--runtime-backend', 'legacy'],
    ['bundle:build', '--dry-run', '--format', 'v1'],
  ])('what only v2 has is warned about when the bundle is v1: %s %s %s %s', async (...args) => {
    await startRuntime();
    const {code, stdout} = await mycli([...args, '--json'], {MYCLI_ROOT_DIR: 'app', MYCLI_CC_OVERRIDE: 'a,b'});
    const warnings = ['rootDir has no effect on a v1 bundle.', 'ccOverrides has no effect on a v1 bundle.'];
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({warnings: expect.arrayContaining(warnings) as unknown});
  });

  test.each([
    [
      ['push', '--poll-interval', '1'],
      '--poll-interval is not a flag: set MYCLI_POLL_INTERVAL or pollInterval in mycli.config.',
    ],
    [['push', '--check-password=canary'], '--check-password is not a flag: set MYCLI_CHECK_PASSWORD.'],
    [
      ['push', '--no-allow-source-maps'],
      '--no-allow-source-maps is not a flag: set MYCLI_ALLOW_SOURCE_MAPS or allowSourceMaps in mycli.config.',
    ],
    [['push', '--token-url', 'x'], '--token-url is not a flag: set MYCLI_TOKEN_URL or api.tokenUrl in mycli.config.'],
  ])('%j names the key and the variable of what was a flag', async (args, suggestion) => {
    await startRuntime();
    const {code, stdout} = await mycli([...args, '--json']);
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({error: {suggestions: [suggestion, expect.anything()]}});
  });

  test('the compression level decides how small the archive is, not what is in it', async () => {
    await startRuntime();
    await writeFile(join(project, 'build/static/large.txt'), 'hello '.repeat(20_000));
    const pushed = async (level: string) => {
      const {stdout} = await mycli(['bundle:push', '--json'], {MYCLI_COMPRESSION_LEVEL: level});
      return (JSON.parse(stdout) as PushResult).archive;
    };
    const [stored, smallest] = [await pushed('0'), await pushed('9')];
    expect(stored.size).toBeGreaterThan(120_000);
    expect(smallest.size).toBeLessThan(10_000);
    expect(smallest.contentSha256).toBe(stored.contentSha256);
  });

  test('a rate limit that does not end is exit code 5', async () => {
    await startRuntime({faults: ['429:route=upload']});
    const {code, stdout} = await mycli(['bundle:push', '--json', '--max-retries', '2']);
    expect(code).toBe(5);
    expect(JSON.parse(stdout)).toMatchObject({error: {code: 'ERR_RATE_LIMITED', exitCode: 5, status: 429}});
    expect(runtime.requests.filter(({route}) => route === 'upload')).toHaveLength(3);
  });

  test('a failed deployment is exit code 8, and the error holds the bundle and how to look', async () => {
    await startRuntime({faults: ['failx1']});
    const {code, stdout} = await mycli(['bundle:push', '-t', 'staging', '--wait', '--json']);
    expect(code).toBe(8);
    expect(JSON.parse(stdout)).toMatchObject({
      error: {
        code: 'ERR_DEPLOYMENT_FAILED',
        message: expect.stringMatching(/failed: The deployment failed because of an injected fault\.$/) as string,
        details: {bundleId: 1},
        suggestions: ['Check before you deploy it again:', expect.stringMatching(historyOfStaging) as string],
      },
    });
  });
});

test.runIf(existsSync('/dev/full'))(
  'a push whose result cannot be written has succeeded, and names its bundle',
  async () => {
    await startRuntime();
    const script = '"$0" "$1" bundle:push --target staging --wait > /dev/full';
    const options = {cwd: project, env: {PATH: process.env['PATH'], ...environment()}};
    const {stderr} = await promisify(execFile)('bash', ['-c', script, process.execPath, binary], options);
    expect(stderr).toMatch(/already finished when this happened: stdout cannot be written: /);
  },
);

test('a dry run needs no credentials, and says which a push needs', async () => {
  await startRuntime();
  const none = {MYCLI_API_KEY: '', MYCLI_CLIENT_SECRET: '', MYCLI_CLIENT_ID: '', MYCLI_API_ORIGIN: ''};
  const args = ['bundle:push', '--dry-run', '--runtime-backend', 'legacy', '--json'];
  const {code, stdout, stderr} = await mycli(args, none);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({dryRun: true});
  expect(stderr).toContain('The Runtime (API key) backend is not configured: missing --api-key');
  expect(runtime.requests).toEqual([]);
});

describe('a prebuilt archive', () => {
  test('is built with a manifest, and pushed as it is', async () => {
    await startRuntime();
    const built = await mycli(['bundle:build', '--json', '-m', 'built before']);
    expect(built.code).toBe(0);
    const {archive} = JSON.parse(built.stdout) as {archive: {sha256: string}};
    const pushed = await mycli(['bundle:push', '--archive', 'bundle.tar.gz', '--json']);
    expect(JSON.parse(pushed.stdout)).toMatchObject({message: 'built before', archive: {sha256: archive.sha256}});
  });
});

test('a signal during an upload leaves no file', async () => {
  await startRuntime({faults: ['hang:route=upload']});
  const running = start(binary, ['bundle:push'], {cwd: project, env: environment()});
  const {stderr} = running.child;
  if (!stderr) throw new Error('stderr is not a pipe');
  let said = '';
  while (!said.includes('Built ')) said += String((await once(stderr, 'data'))[0]);
  expect(await readdir(temporary)).not.toEqual([]);
  running.child.kill('SIGTERM');
  expect(await running.ended).toMatchObject({code: 143});
  expect(await readdir(temporary)).toEqual([]);
});

test('an interruption after the upload tells which bundle is there, and how to look at its deployment', async () => {
  await startRuntime({deploymentSeconds: 600});
  const args = ['bundle:push', '-t', 'staging', '--wait', '--json'];
  const running = start(binary, args, {cwd: project, env: environment()});
  const {stderr} = running.child;
  if (!stderr) throw new Error('stderr is not a pipe');
  let said = '';
  while (!/Deployment to \S+ accepted/.test(said)) said += String((await once(stderr, 'data'))[0]);
  running.child.kill('SIGINT');
  const {code, stdout} = await running.ended;
  expect(code).toBe(130);
  expect(JSON.parse(stdout)).toMatchObject({
    error: {
      code: 'ERR_INTERRUPTED',
      details: {bundleId: 1},
      message: expect.stringMatching(
        /^Interrupted by SIGINT\. Bundle 1 was uploaded\. Deployment \S+ continues\.$/,
      ) as string,
      suggestions: ['To check on it, run:', expect.stringMatching(historyOfStaging) as string],
    },
  });
});
