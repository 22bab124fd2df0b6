import {execFile} from 'node:child_process';
import {chmod, mkdir, readdir, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {promisify} from 'node:util';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {BearerTokenStrategy, pushRuntimeBundle} from '../../../src/index.js';
import type {LocalRuntime} from '../../../src/testing.js';
import {isForAll} from '../../folder.js';
import {binary, runCli, type Ended} from '../spawn-cli.js';
import {createRuntimeBench, type RuntimeBench} from '../with-runtime.js';

const secret = 'canary-api-key-93ab';

let bench: RuntimeBench;
let project: string;
let temporary: string;
let runtime: LocalRuntime;

beforeEach(async () => {
  bench = await createRuntimeBench(
    {MYCLI_RUNTIME_BACKEND: 'legacy', MYCLI_TARGET: 'staging'},
    {credentials: {apiKey: secret}},
  );
  ({project, runtime} = bench);
  temporary = join(bench.root, 'tmp');
  await mkdir(temporary);
});
afterEach(() => bench[Symbol.asyncDispose]());

async function mycli(...args: readonly string[]): Promise<Ended> {
  const ended = await bench.mycli(args, {TMPDIR: temporary});
  expect(ended.stdout + ended.stderr).not.toContain(secret);
  expect(await readdir(temporary)).toEqual([]);
  return ended;
}

/** Pushes and deploys by the library: how the command line does it is tested in push.test.ts. */
async function push(message: string): Promise<void> {
  await pushRuntimeBundle({
    preference: 'legacy',
    origin: runtime.origin,
    legacyAuth: new BearerTokenStrategy(secret),
    projectSlug: 'shop',
    targetSlug: 'staging',
    cwd: project,
    v2: true,
    message,
    wait: true,
    pollInterval: 0.01,
  });
}

const documentOf = ({stdout}: Ended): unknown => JSON.parse(stdout);

describe('bundle:list and bundle:history', () => {
  test('show tables on stdout; messages cannot break out of their line', async () => {
    await push('first');
    await push('second\n9  ready');
    const list = await mycli('bundle:list', '--columns', 'bundleId,status,inUseBy,message', '--quiet');
    expect(list).toMatchObject({code: 0, stderr: ''});
    expect(list.stdout.split('\n')).toEqual([
      'BUNDLE ID  STATUS  IN USE BY  MESSAGE',
      '2          ready   staging    second 9 ready',
      '1          ready   -          first',
      '',
    ]);
    const history = await mycli('bundle:history', '--columns', 'bundleId,status,message', '--limit', '1');
    expect(history.stdout).toBe('BUNDLE ID  STATUS          MESSAGE\n2          finished, live  second 9 ready\n');
    expect(history.stderr).toContain('Found 1 deployment to staging of shop');
    expect(history.stderr).toContain('Showing 1 of 2');
    expect((await mycli('bundle:list')).stderr).toContain('Found 2 bundles of shop');
    // Where something is changed is told before it is; a list has only its backend.
    expect(history.stderr).not.toContain('(MYCLI_PROJECT)');
  });

  test.each([
    ['an unknown column', ['--columns', 'bundleId,mesage']],
    ['--limit with --all', ['--limit', '1', '--all']],
  ])('refuse %s', async (_, flags) => {
    const ended = await mycli('bundle:list', '--json', ...flags);
    expect(ended.code).toBe(2);
    expect(documentOf(ended)).toMatchObject({error: {code: 'ERR_USAGE'}});
  });
});

describe('bundle:download', () => {
  test('writes an archive that tar reads, once', async () => {
    await push('first');
    const {code, stdout} = await mycli('bundle:download', '1');
    expect(code).toBe(0);
    expect(stdout).toContain(join(project, 'bundle-1.tar.gz'));
    const list = await promisify(execFile)('tar', ['-tzf', join(project, 'bundle-1.tar.gz')]);
    expect(list.stdout.split('\n')).toContain('bld/ssr.js');
    const again = await mycli('bundle:download', '1', '--json');
    expect(again.code).toBe(3);
    expect(documentOf(again)).toMatchObject({
      error: {code: 'ERR_OUTPUT', suggestions: [expect.stringContaining('--force')]},
    });
    const forced = await mycli('bundle:download', '1', '--force', '--json');
    expect(documentOf(forced)).toMatchObject({schemaVersion: 1, backend: 'legacy', bundleId: 1, files: 3});
  });
});

test('bundle:inspect, bundle:download: running:TARGET is what a target runs, as for bundle:diff', async () => {
  await push('first');
  const inspected = await mycli('bundle:inspect', 'running:staging');
  expect(inspected.stderr).toContain('Read bundle 1: 2 files');
  expect(documentOf(await mycli('bundle:inspect', 'running:', '--json'))).toMatchObject({bundleId: 1});
  const {stdout, stderr} = await mycli('bundle:download', 'running:staging');
  expect(stdout).toContain(join(project, 'bundle-1.tar.gz'));
  expect(stderr).toContain('Downloaded bundle 1');
  const wrong = await mycli('bundle:download', 'running:a/b');
  expect([wrong.code, wrong.stderr]).toEqual([3, expect.stringContaining('running must not contain / or')]);
  expect((await mycli('bundle:inspect', 'running:none')).stderr).toContain('has no target "none"');
  const deployed = await mycli('bundle:deploy', 'running:staging', '--target', 'production');
  expect(deployed.stderr).toMatch(
    /To deploy what staging runs, run mycli promote --from staging .*--target production/,
  );
});

const canBeAnother = process.getuid?.() === 0 && isForAll(tmpdir()) && isForAll(dirname(binary));
test.runIf(canBeAnother)('bundle:download keeps its part when it cannot be moved to its place', async () => {
  await push('first');
  const folder = join(bench.root, 'sticky');
  await mkdir(folder);
  await chmod(bench.root, 0o755);
  await chmod(folder, 0o1777);
  await writeFile(join(folder, 'a.tgz'), 'of root');
  const args = ['bundle:download', '1', '--project', 'shop', '--output', 'a.tgz', '--force'];
  const env = {...bench.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CACHE_HOME: folder};
  const {code, stderr} = await runCli(binary, args, {cwd: folder, uid: 65_534, env});
  expect(stderr).toContain('a.tgz cannot be written');
  expect(code).toBe(3);
  expect(await readdir(folder)).toEqual(expect.arrayContaining(['a.tgz', 'a.tgz.part', 'a.tgz.part.json']));
});

test('bundle:build: a dry run lists 20 files and counts the rest, and --json has all', async () => {
  for (let at = 0; at < 23; at += 1) await writeFile(join(project, 'build', 'static', `${String(at)}.txt`), 'x');
  const {stdout} = await mycli('bundle:build', '--dry-run');
  expect(stdout.match(/^(?:shared|server-only|other) /gm)).toHaveLength(20);
  expect(stdout).toMatch(/\n\.\.\. and \d+ more files; --json lists all\.\n/);
  const {files} = documentOf(await mycli('bundle:build', '--dry-run', '--json')) as {files: readonly unknown[]};
  expect(files.length).toBeGreaterThan(23);
});

describe('bundle:inspect', () => {
  test('shows a file and an uploaded bundle alike', async () => {
    await push('first');
    await mycli('bundle:build');
    const file = documentOf(await mycli('bundle:inspect', 'bundle.tar.gz', '--json'));
    expect(file).toMatchObject({schemaVersion: 1, format: 'v2', matches: {ssrOnly: [{pattern: 'ssr.js', files: 1}]}});
    const uploaded = documentOf(await mycli('bundle:inspect', '1', '--json'));
    expect(uploaded).toEqual({...(file as object), backend: 'legacy', projectSlug: 'shop', bundleId: 1});
    const shown = await mycli('bundle:inspect', './bundle.tar.gz', '--quiet');
    expect(shown.stdout).toMatch(/\nshared +15 B +static\/index.html\n/);
  });
});

test('bundle:download does not write into the build', async () => {
  await push('first');
  await writeFile(join(project, 'mycli.config.json'), JSON.stringify({buildDirectory: '.'}));
  const ended = await mycli('bundle:download', '1', '--json');
  expect(ended.code).toBe(3);
  expect(documentOf(ended)).toMatchObject({
    error: {code: 'ERR_OUTPUT', message: expect.stringContaining('is inside the build folder') as unknown},
  });
});

test.each([
  ['bundle:history', '--target', 'stagin'],
  ['bundle:rollback', '--target', 'stagin'],
  ['bundle:promote', '--from', 'stagin', '--target', 'production'],
  ['status', '--target', 'stagin'],
])('%s: a target that does not exist is told from one without deployments', async (...args) => {
  await push('first');
  const {code, stderr} = await mycli(...args);
  expect(stderr).toContain('Error: The project "shop" has no target "stagin".\n  Did you mean staging?');
  expect(code).toBe(7);
});

test('deploy of what is no bundle ID quotes it in each command that it may be meant for', async () => {
  const {code, stderr} = await mycli('deploy', '#4', '--target', 'staging');
  expect(code).toBe(3);
  expect(stderr).toContain("If it is the target, pass latest --target '#4'.");
  expect(stderr).toContain("If it is a build folder, run mycli push '#4' ");
});

test.each(['staging', 'running:staging'])(
  'bundle:delete of %s names the command that deletes targets',
  async (typed) => {
    const {code, stderr} = await mycli('delete', typed);
    expect(code).toBe(3);
    expect(stderr).toContain(`"${typed}" is not a bundle ID`);
    expect(stderr).toContain('To delete a target, run: mycli target:delete staging ');
    expect(runtime.requests).toEqual([]);
  },
);

test('bundle:rollback to a bundle that was deleted says so', async () => {
  await push('first');
  await push('second');
  const deleted = await mycli('bundle:delete', '1', '--yes');
  expect(deleted.stderr).toMatch(/Looked for 1 bundle\b(?!.*To delete)/s);
  expect(deleted.code).toBe(0);
  expect(deleted.stderr).toContain('  project  ');
  expect(deleted.stderr).not.toContain('  target  ');
  const {code, stderr} = await mycli('bundle:rollback', '--wait');
  expect(code).toBe(7);
  expect(stderr).toContain('Skipped bundle 1, which was deleted.');
  expect(stderr).toContain('To deploy something else, push it: mycli push ');
  expect((await mycli('bundle:rollback', '--to', '1')).stderr).toContain('has no bundle 1.');
});

test('bundle:rollback says what it goes back to, deploys it and says how to undo it', async () => {
  await push('first');
  await push('second');
  const {code, stdout, stderr} = await mycli('bundle:rollback', '--wait');
  expect(code).toBe(0);
  expect(stderr).toMatch(/Rolling back to bundle 1 "first", deployed .*; currently bundle 2[^]*Deployed to staging/);
  expect(stdout).toMatch(/^Deployed bundle 1 to staging of shop in [\d.]+ m?s\.$/m);
  expect(stdout).toContain(
    `Undo: mycli rollback --to 2 --project shop --target staging --runtime-backend legacy --origin ${runtime.origin}\n`,
  );
});

test.each(['1', 'latest'])('bundle:rollback --to %s says how to undo it, unless it changes nothing', async (to) => {
  await push('first');
  await push('second');
  const {stderr, stdout} = await mycli('bundle:rollback', '--to', to, '--wait');
  expect(stderr).toContain(to === '1' ? 'Rolling back to bundle 1; currently bundle 2' : 'Rolling back to bundle 2');
  expect(stdout.match(/^Undo: mycli rollback --to \d/m)?.[0]).toBe(
    to === '1' ? 'Undo: mycli rollback --to 2' : undefined,
  );
});

describe('config:show', () => {
  test('shows each setting, where it comes from and what it overrode', async () => {
    await writeFile(join(project, 'mycli.config.json'), JSON.stringify({targetSlug: 'prod', timeout: 30}));
    const {code, stdout, stderr} = await mycli('config:show', '--timeout', '5');
    expect(code).toBe(0);
    expect(stderr).toContain(join(project, 'mycli.config.json'));
    expect(stdout).toMatch(/\ntimeout +5 +--timeout; overrode 30 \(mycli\.config\.json\); overrode 600 \(default\)\n/);
    expect(stdout).toMatch(/\ntargetSlug +staging +MYCLI_TARGET; overrode prod /);
    expect(stdout).toMatch(/\napiKey +\*+ +MYCLI_API_KEY\n/);
    const same = await mycli('config:show', '--target', 'staging');
    expect(same.stdout).toMatch(/\ntargetSlug +staging +--target; also MYCLI_TARGET; overrode prod /);
    expect(runtime.requests).toEqual([]);
  });

  test('shows one setting by its key or its flag', async () => {
    for (const name of ['targetSlug', 'target']) {
      const {stdout} = await mycli('config', 'show', name, '--json');
      expect(JSON.parse(stdout)).toMatchObject({settings: [{name: 'targetSlug', value: 'staging'}]});
    }
    const unset = await mycli('config:show', 'copy-from');
    expect(unset.stdout).toBe(
      'No copyFrom specified. Pass --copy-from SLUG, or set MYCLI_COPY_FROM or preview.copyFrom in mycli.config.\n',
    );
    const mistyped = await mycli('config:show', 'orign');
    expect([mistyped.code, mistyped.stderr]).toEqual([2, expect.stringContaining('Did you mean origin?')]);
    const secret = 'a3f5c7e9b1d3f5a7c9e1b3d5f7a9c1e3b5d7f9a1';
    expect((await mycli('config:show', secret)).stderr).not.toContain(secret);
  });
});
