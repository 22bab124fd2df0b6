import {mkdir, mkdtemp, readFile, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, beforeEach, expect, test} from 'vitest';
import {startLocalRuntime, type LocalRuntime} from '../../../src/testing.js';
import {commit, git, gitEnvironment} from '../../bundle/provenance/repository.js';
import {binary, runCli} from '../spawn-cli.js';
import {runWarm} from '../warm-cli.js';

let root: string;
let runtime: LocalRuntime;
let sent: number;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'mycli-safety-'));
  await mkdir(join(root, 'build'));
  await writeFile(join(root, 'build/ssr.js'), 'export default () => "hello";\n');
  await writeFile(join(root, '.gitignore'), 'build\nbundle.tar.gz*\n');
  const config = {
    projectSlug: 'shop',
    guard: {origin: 'git@git.example:shop/site.git'},
    targets: {
      staging: {guard: {cleanTree: true}},
      live: {guard: {branch: ['release/*'], confirm: true}},
      'shop-7': {production: true},
    },
  };
  // It is code, which runs before the command does anything.
  await writeFile(
    join(root, 'mycli.config.mjs'),
    `process.env.MYCLI_SAFETY = '';\nexport default ${JSON.stringify(config)};\n`,
  );
  git(root, 'init', '-q', '-b', 'main');
  git(root, 'remote', 'add', 'origin', 'https://ann:canary@git.example/shop/site');
  commit(root, 'first');
  runtime = await startLocalRuntime({deploymentSeconds: 0});
});

afterAll(async () => {
  await runtime.close();
  await rm(root, {recursive: true, force: true});
});

beforeEach(() => {
  sent = runtime.requests.length;
});

async function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const connection = {MYCLI_RUNTIME_ORIGIN: runtime.origin, MYCLI_API_KEY: runtime.credentials.apiKey};
  return runWarm(args, {cwd: root, env: {...gitEnvironment, HOME: root, ...connection, ...env}});
}

test.each([[[]], [['--dry-run']]])('a guard of the target refuses a push %j before anything is sent', async (flags) => {
  const {code, stdout} = await run(['bundle:push', '--target', 'live', '--json', ...flags]);
  expect(code).toBe(3);
  expect(JSON.parse(stdout)).toMatchObject({
    error: {
      code: 'ERR_GUARD_REFUSED',
      exitCode: 3,
      details: {
        targetSlug: 'live',
        failures: [
          {guard: 'branch', message: 'The branch main is checked out. Allowed: release/*.'},
          {guard: 'confirm', message: expect.stringContaining('there is no terminal to ask in') as string},
        ],
      },
    },
  });
  expect(runtime.requests.length).toBe(sent);
});

test('a push to another target passes its guards, and its document has the provenance', async () => {
  // Files that the command itself makes in the work tree.
  const files = ['--events', 'events.ndjson', '--output-env', 'push.env'];
  const args = ['bundle:push', '--target', 'staging', '--json', '--message', 'Release 5', ...files];
  const {code, stdout, stderr} = await run(args);
  expect([code, stderr]).toEqual([0, expect.stringContaining('Guards of staging: cleanTree, origin')]);
  await Promise.all(['events.ndjson', 'push.env'].map((file) => rm(join(root, file))));
  expect(JSON.parse(stdout)).toMatchObject({
    message: expect.stringMatching(/^Release 5 \[main: [0-9a-f]+\]$/) as string,
    provenance: {branch: 'main', dirty: false},
  });
  expect(stdout + stderr).not.toContain('canary');
});

test.each([
  ['read-only', ['bundle:push']],
  ['no-delete', ['bundle:delete', '1', '--yes']],
  ['no-production', ['bundle:push', '--target', 'shop-7']],
])('MYCLI_SAFETY=%s refuses %j, although the configuration file clears it', async (safety, args) => {
  const {code, stdout} = await run([...args, '--json'], {MYCLI_SAFETY: safety});
  expect(code).toBe(3);
  expect(JSON.parse(stdout)).toMatchObject({error: {code: 'ERR_SAFETY', details: {safety}}});
  expect(runtime.requests.length).toBe(sent);
});

const changing = [
  ['auth:rotate', '--yes'],
  ['bundle:delete', '1', '--yes'],
  ['bundle:deploy', '1', '--target', 'staging'],
  ['bundle:promote', '--from', 'qa', '--target', 'staging'],
  ['bundle:prune', '--keep', '1', '--yes'],
  ['bundle:push', '--target', 'staging'],
  ['bundle:rollback', '--target', 'staging'],
  ['env:set', '--target', 'staging', 'NAME=value'],
  ['env:unset', '--target', 'staging', 'NAME'],
  ['preview:up', 'topic'],
  ['target:create', 'qa'],
  ['target:delete', 'qa', '--yes'],
  ['target:invalidate', '--target', 'staging'],
];

test('every command that changes the service is tried with MYCLI_SAFETY=read-only', async () => {
  // They look for something to change first; their own tests have it.
  const looking = ['preview:down', 'preview:prune', 'target:apply'];
  const manifest = JSON.parse(await readFile('oclif.manifest.json', 'utf8')) as {
    commands: Record<string, {changes?: string}>;
  };
  const named = Object.entries(manifest.commands).filter(([, {changes}]) => changes === 'service');
  expect(named.map(([id]) => id)).toEqual([...changing.map(([id]) => id), ...looking].toSorted());
});

test('the guide says of every command that changes a project which guards it asks', async () => {
  const guide = await readFile('docs/guides/release-safety.md', 'utf8');
  const [, section = ''] = /### Which commands they guard\n(.*?)\n### /s.exec(guide) ?? [];
  const manifest = JSON.parse(await readFile('oclif.manifest.json', 'utf8')) as {
    commands: Record<string, {changes?: string}>;
  };
  const ofProjects = Object.entries(manifest.commands).filter(([id, {changes}]) => {
    return changes === 'service' && id !== 'auth:rotate';
  });
  expect(ofProjects.length).toBeGreaterThan(10);
  expect(ofProjects.map(([id]) => id).filter((id) => !section.includes(`\`${id}`))).toEqual([]);
});

test.each(changing)('MYCLI_SAFETY=read-only keeps %s from changing anything', async (...args) => {
  const {code, stdout} = await run([...args, '--json'], {MYCLI_SAFETY: 'read-only'});
  expect([code, JSON.parse(stdout)]).toMatchObject([3, {error: {code: 'ERR_SAFETY'}}]);
  expect(runtime.requests.slice(sent).filter(({method}) => method !== 'GET')).toEqual([]);
});

test.each([
  ['status'],
  ['target:list'],
  ['env:list', '--target', 'staging'],
  ['bundle:history', '--target', 'staging'],
  ['bundle:deploy', 'latest', '--target', 'staging'],
])('a MYCLI_SAFETY with a typo is an error of %s before anything is sent', async (...args) => {
  const {code, stdout} = await run([...args, '--json'], {MYCLI_SAFETY: 'readonly'});
  expect(code).toBe(3);
  expect(JSON.parse(stdout)).toMatchObject({
    error: {code: 'ERR_OPTION_INVALID', message: expect.stringContaining('MYCLI_SAFETY must be') as string},
  });
  expect(runtime.requests.length).toBe(sent);
});

test('config:show and doctor tell what MYCLI_SAFETY does, and which guards a target has', async () => {
  const env = {MYCLI_SAFETY: 'no-production,no-delete'};
  const shown = await run(['config:show', '--target', 'live', '--json'], env);
  const document = JSON.parse(shown.stdout) as {safety: unknown; settings: readonly {name: string; value: unknown}[]};
  expect(document.safety).toEqual(['no-delete', 'no-production']);
  expect(document.settings.filter(({name}) => name.startsWith('guard')).map(({value}) => value)).toEqual([
    ['release/*'],
    '***@git.example:shop/site.git',
    true,
  ]);
  // Only a process of its own runs the configuration file again, which clears the variable.
  const checked = await runCli(binary, ['doctor'], {cwd: root, env: {...gitEnvironment, HOME: root, ...env}});
  const lines = [
    'MYCLI_SAFETY=no-delete blocks deleting bundles and targets.',
    'MYCLI_SAFETY=no-production blocks changes',
  ];
  expect(
    lines.filter((line) => !checked.stdout.includes(line)),
    checked.stdout + checked.stderr,
  ).toEqual([]);
});

test('bundle:build tells where the bundle comes from, in its document and in the manifest', async () => {
  const {code, stdout} = await run(['bundle:build', '--json']);
  expect(code).toBe(0);
  const {archive, provenance} = JSON.parse(stdout) as {archive: Record<string, string>; provenance: unknown};
  expect(provenance).toEqual({branch: 'main', dirty: false, commit: git(root, 'rev-parse', 'HEAD')});
  const manifest: unknown = JSON.parse(await readFile(String(archive['manifest']), 'utf8'));
  expect(manifest).toMatchObject({provenance});
});
