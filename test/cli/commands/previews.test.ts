import {afterEach, beforeEach, expect, test} from 'vitest';
import {readFile, rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {BearerTokenStrategy, deployBundle, prunePreviews} from '../../../src/index.js';
import {previewName, previewSlugs} from '../../../src/operations/targets/previews.js';
import {git, gitEnvironment, commit} from '../../bundle/provenance/repository.js';
import {binary, runCli, start} from '../spawn-cli.js';
import {createRuntimeBench, type RuntimeBench} from '../with-runtime.js';

let bench: RuntimeBench;
beforeEach(async () => {
  bench = await createRuntimeBench({MYCLI_RUNTIME_BACKEND: 'legacy', MYCLI_POLL_INTERVAL: '0.05'});
});
afterEach(() => bench[Symbol.asyncDispose]());

interface Preview {
  readonly branch?: string;
  readonly targetSlug: string;
  readonly created: boolean;
  readonly bundleId: number;
  readonly bundles: readonly number[];
  readonly unchanged: boolean;
  readonly url: string;
  readonly warnings: readonly string[];
}

async function documentOf<Document = Preview>(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Document> {
  const {code, stdout, stderr} = await bench.mycli([...args, '--json'], env);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as Document;
}

async function branches(env: Readonly<Record<string, string>> = {}) {
  const {previews} = await documentOf<{previews: readonly Preview[]}>(['preview:list'], env);
  return previews.map(({branch}) => branch).toSorted();
}

test.each([
  ['legacy', {}],
  ['api', {MYCLI_RUNTIME_BACKEND: 'api'}],
])('a preview goes up twice and down twice (%s)', async (backend, env) => {
  const first = await documentOf(['preview:up', 'feature/a', '--message', 'one'], env);
  expect(first).toMatchObject({backend, branch: 'feature/a', created: true, status: 'finished', unchanged: false});
  const second = await documentOf(['preview:up', 'feature/a', '--message', 'one'], env);
  expect(second).toMatchObject({targetSlug: first.targetSlug, created: false, unchanged: true});
  expect(await branches(env)).toEqual(['feature/a']);
  const {warnings} = await documentOf(['preview:down', 'feature/b', '--yes'], env);
  expect(warnings).toEqual(['Did you mean feature/a instead of feature/b?']);
  const gone = await documentOf(['preview:down', 'feature/a', '--yes'], env);
  expect(gone).toMatchObject({deleted: true, targetSlug: first.targetSlug, bundles: backend === 'api' ? [] : [1]});
  // The runtime still lists it for a second.
  const again = await documentOf(['preview:down', 'feature/a', '--yes'], env);
  expect(again).toMatchObject({deleted: false, bundles: [], warnings: []});
  // Nothing is there to be asked about.
  expect(await documentOf(['preview:down', 'feature/a'], env)).toMatchObject({deleted: false});
  expect(await branches(env)).toEqual([]);
});

test('preview:up says once what it has verified, and where, for a new preview too', async () => {
  const {code, stderr} = await bench.mycli(['preview:up', 'feature/new']);
  expect(code, stderr).toBe(0);
  expect(stderr.match(/^Verified: /gm)).toHaveLength(1);
  expect(stderr.match(/^Backend: /gm), stderr).toHaveLength(1);
  // Its slug is not known before the service has made it.
  expect(stderr).toMatch(/^ +target +preview of the branch +\(BRANCH\)$/m);
});

test('previews of branches with the same letters stay apart, also as copies', async () => {
  await documentOf(['push', '--target', 'staging', '--wait']);
  const slugs = new Set<string>();
  for (const branch of ['feature/a', 'feature-a', 'Feature.a'])
    slugs.add((await documentOf(['preview:up', branch])).targetSlug);
  for (const branch of ['fix/b', 'fix-b'])
    slugs.add((await documentOf(['preview:up', branch, '--copy-from', 'staging'])).targetSlug);
  expect(slugs.size).toBe(5);
  for (const branch of ['feature/a', 'fix/b', 'fix-b']) {
    expect(await documentOf(['preview:up', branch])).toMatchObject({created: false});
  }
});

test('a preview that goes down leaves what another target has run', async () => {
  const {bundleId} = await documentOf(['preview:up', 'a', '--message', 'shared']);
  await documentOf(['bundle:deploy', String(bundleId), '--target', 'staging', '--wait']);
  await writeFile(join(bench.project, 'build/static/index.html'), '<h1>changed</h1>\n');
  const {bundleId: own} = await documentOf(['preview:up', 'a', '--message', 'own']);
  const down = await documentOf(['preview:down', 'a', '--yes']);
  expect(down.bundles).toEqual([own]);
});

test('a preview is one target although two calls make it at the same time', async () => {
  const up = () => runCli(binary, ['preview:up', 'a', '--json'], {cwd: bench.project, env: bench.env});
  const ended = await Promise.all([up(), up()]);
  expect(ended.map(({code}) => code)).toEqual([0, 0]);
  expect(await branches()).toEqual(['a']);
});

test('the branch is the one that is checked out, and copyFrom that of the configuration, which counts for a new preview', async () => {
  await documentOf(['push', '--target', 'staging', '--wait']);
  await writeFile(join(bench.project, 'mycli.config.json'), '{"preview": {"copyFrom": "staging"}}');
  expect((await bench.mycli(['preview:up'])).code).toBe(2);
  git(bench.project, 'init', '-q', '-b', 'fix-live-prices');
  commit(bench.project, 'first');
  const up = await documentOf(['preview:up'], {...gitEnvironment, MYCLI_SAFETY: 'no-production'});
  expect(up).toMatchObject({branch: 'fix-live-prices', targetSlug: 'preview-fix-live-prices', created: true});
  const clones = bench.runtime.requests.filter(({path}) => path.endsWith('/clone/'));
  expect(clones.length).toBe(1);
  const again = (await bench.mycli(['preview:up'], gitEnvironment)).stderr;
  expect(again).toContain('of fix-live-prices, which is there: nothing is copied from staging [');
  expect(again).not.toContain('Warning');
  expect((await bench.mycli(['preview:up', '--copy-from', 'nope'], gitEnvironment)).stderr).toContain(
    'Warning: There is no target nope to copy, so a new preview could not be created.',
  );
});

test('a preview that lacks its access header is completed as a copy, and nothing says that it is not copied', async () => {
  await documentOf(['push', '--target', 'staging', '--wait']);
  await documentOf(['env:set', 'GREETING=hello', '--target', 'staging']);
  const up = ['preview:up', 'a', '--copy-from', 'staging'];
  await documentOf(up);
  await writeFile(join(bench.project, 'mycli.config.json'), '{"preview": {"access": true}}');
  const {code, stderr} = await bench.mycli(up);
  expect(code, stderr).toBe(0);
  expect(stderr).toContain('Preview preview-a of a [');
  expect(stderr).toMatch(/^ {2}From staging: .*variables GREETING/m);
  expect(stderr).not.toMatch(/[Cc]opied/);
});

test('a preview that copies a target with an access header warns that it is public, in a dry run too', async () => {
  await documentOf(['push', '--target', 'staging', '--wait']);
  await writeFile(join(bench.project, 'mycli.config.json'), '{"targets": {"staging": {"access": true}}}');
  await documentOf(['target:apply', 'staging', '--yes', '--output', 'access.txt']);
  const warning = expect.stringMatching(
    /so anyone can visit preview-a\. To require one, set preview\.access to true, /,
  );
  const up = ['preview:up', 'a', '--copy-from', 'staging'];
  for (const command of [[...up, '--dry-run'], up])
    expect((await documentOf(command)).warnings).toContainEqual(warning);
  expect((await documentOf(up)).warnings).not.toContainEqual(warning);
});

test.each([
  ['legacy', {}],
  ['api', {MYCLI_RUNTIME_BACKEND: 'api'}],
])('a preview that is made says so, with its slug, if the push to it fails (%s)', async (_, env) => {
  bench.runtime.addFault('422x1:route=upload');
  const {error} = JSON.parse((await bench.mycli(['preview:up', 'a', '--json'], env)).stdout) as {
    error: {message: string; details: {targetSlug: string}};
  };
  const [slug = ''] = await targets(env);
  expect(error).toMatchObject({details: {targetSlug: slug, created: true}});
  expect(error.message).toMatch(new RegExp(`^Target ${slug} was created\\. `));
});

test('a preview that goes down takes along a bundle whose deployment was not reached, and none of another branch', async () => {
  for (const branch of ['a', 'b']) {
    bench.runtime.addFault('422x1:route=deploy');
    expect((await bench.mycli(['preview:up', branch, '--v2', '-m', `of ${branch}`])).code).toBe(7);
  }
  expect(await documentOf(['preview:down', 'a', '--yes'])).toMatchObject({deleted: true, bundles: [1]});
  expect(await documentOf(['preview:up', 'b', '-m', 'another'])).toMatchObject({created: false, bundleId: 3});
  expect(await documentOf(['preview:down', 'b', '--yes'])).toMatchObject({deleted: true, bundles: [3, 2]});
});

interface Failed {
  readonly error: {readonly exitCode: number; readonly details: {readonly targetSlug: string; readonly access: string}};
}

test('the value of an access header is in the document if the push fails or is interrupted, and can be renewed', async () => {
  await writeFile(join(bench.project, 'mycli.config.json'), '{"preview": {"access": true}}');
  const {project, env, runtime} = bench;
  const events = join(project, 'events.ndjson');
  const args = ['preview:up', 'a', '--json', '--debug', '--events', events];
  runtime.addFault('hang:route=upload');
  const {child, ended} = start(binary, args, {cwd: project, env});
  await expect.poll(() => readFile(events, 'utf8')).toMatch(/"step":"upload".*"status":"started"/);
  child.kill('SIGINT');
  const interrupted = await ended;
  runtime.clearFaults();
  runtime.addFault('422x1:route=upload');
  const refused = await bench.mycli(args.with(1, 'b'));
  for (const {stdout, stderr} of [interrupted, refused]) {
    const {details} = (JSON.parse(stdout) as Failed).error;
    expect(details).toMatchObject({targetSlug: expect.stringMatching(/^preview-[ab]$/) as string, created: true});
    expect(details.access).toMatch(/^mycli-access-[\w-]{32}$/);
    expect(stderr + (await readFile(events, 'utf8'))).not.toContain(details.access);
  }
  const {warnings} = await documentOf(['preview:up', 'a']);
  expect(warnings).toEqual([expect.stringContaining('create a new one with target:apply --rotate.')]);
  const rotate = ['target:apply', 'preview-a', '--rotate', '--yes', '--events', events];
  const {access} = await documentOf<{readonly access: string}>(rotate);
  expect(await readFile(events, 'utf8')).not.toContain(access);
  const header = {MYCLI_CHECK_HEADER: `x-sfdc-access-control=${access}`};
  expect((await documentOf(['preview:up', 'a', '--check', '/'], header)).warnings).toEqual([]);
});

test('a preview is not made for a build that cannot be pushed', async () => {
  await rm(join(bench.project, 'build/ssr.js'));
  expect((await bench.mycli(['preview:up', 'a'])).code).toBe(3);
  expect(bench.runtime.requests.filter(({method}) => method === 'POST')).toEqual([]);
});

test('old previews are pruned, others stay', async () => {
  await documentOf(['push', '--target', 'staging', '--wait']);
  await documentOf(['preview:up', 'a']);
  expect(await documentOf(['preview:prune', '--yes'])).toMatchObject({found: [], deleted: []});
  // The service tells its time in whole seconds.
  const dryRun = () => documentOf(['preview:prune', '--expires', '0m', '--dry-run']);
  await expect.poll(dryRun).toMatchObject({dryRun: true, found: [{branch: 'a'}], deleted: []});
  expect((await bench.mycli(['preview:prune', '--expires', '0m'])).code).toBe(2);
  expect(await documentOf(['preview:prune', '--expires', '0m', '--yes'])).toMatchObject({deleted: ['preview-a']});
  const {targets} = await documentOf<{targets: readonly Preview[]}>(['target:list']);
  expect(targets.map(({targetSlug}) => targetSlug)).toEqual(['staging']);
});

test('previews are pruned with a line for each', async () => {
  for (const branch of ['a', 'b']) await documentOf(['preview:up', branch, '-m', `of ${branch}`]);
  // The service tells its time in whole seconds.
  const dryRun = () => documentOf(['preview:prune', '--expires', '0m', '--dry-run']);
  await expect.poll(dryRun).toMatchObject({found: [{branch: 'a'}, {branch: 'b'}]});
  const {stderr} = await bench.mycli(['preview:prune', '--expires', '0m', '--yes']);
  const lines = stderr.split('\n').filter((line) => /^Found| ?Deleted/.test(line));
  expect(lines).toEqual([
    expect.stringMatching(/^Found 2 of 2 previews to prune/),
    '  Deleted preview-a and 1 bundle',
    '  Deleted preview-b and 1 bundle',
    expect.stringMatching(/^Deleted 2 previews \[/),
  ]);
});

test.each([
  ['feature/search', 'preview-feature-search', 'preview: feature/search'],
  ['x'.repeat(100), /^preview-x{47}-[0-9a-f]{8}$/, /^preview: x{46}~[0-9a-f]{8}$/],
  ['日本', /^preview-[0-9a-f]{8}$/, 'preview: 日本'],
  ['-Ä-', /^preview-[0-9a-f]{8}$/, 'preview: -Ä-'],
])('the target of %s fits the limits of services', (branch, slug, name) => {
  expect(previewSlugs(branch)[0]).toMatch(slug);
  expect(previewName(branch)).toMatch(name);
});

test('two preview:prune at the same time delete everything, and neither fails', async () => {
  for (const branch of ['a', 'b', 'c']) await documentOf(['preview:up', branch, '--message', branch]);
  const {project, env} = bench;
  const args = ['preview:prune', '--expires', '0d', '--yes', '--json'];
  // The service tells its time in whole seconds.
  const expired = async () => (await documentOf<{found: readonly Preview[]}>([...args, '--dry-run'])).found;
  await expect.poll(expired).toHaveLength(3);
  const both = await Promise.all([1, 2].map(() => runCli(binary, args, {cwd: project, env})));
  const documents = both.map(({code, stdout, stderr}) => {
    expect(code, stderr + stdout).toBe(0);
    return JSON.parse(stdout) as {deleted: readonly string[]; warnings?: readonly string[]};
  });
  const deleted = new Set(documents.flatMap((document) => document.deleted));
  expect([...deleted].toSorted()).toEqual(['preview-a', 'preview-b', 'preview-c']);
  expect(documents.flatMap(({warnings = []}) => warnings)).toEqual([]);
  expect(await branches()).toEqual([]);
});

async function targets(env: Readonly<Record<string, string>> = {}): Promise<readonly string[]> {
  const found = await documentOf<{targets: readonly Preview[]}>(['target:list'], env);
  return found.targets.map(({targetSlug}) => targetSlug).toSorted();
}

async function codeOf(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const {code, stdout} = await bench.mycli([...args, '--json'], env);
  const {error} = JSON.parse(stdout) as {readonly error?: {readonly code: string}};
  return [code, error?.code];
}

const configure = (config: object) => writeFile(join(bench.project, 'mycli.config.json'), JSON.stringify(config));

test.each([
  ['for its target', {targets: {'preview-live': {production: true}}}],
  ['for all targets', {production: true}],
])('a preview that the configuration calls production is not deleted: %s', async (_, config) => {
  await documentOf(['preview:up', 'live']);
  await documentOf(['preview:up', 'other']);
  await configure(config);
  const safety = {MYCLI_SAFETY: 'no-production'};
  const prune = ['preview:prune', '--expires', '0m', '--yes'];
  // The service tells its time in whole seconds.
  await expect.poll(() => codeOf(prune)).toEqual([3, 'ERR_GUARD_REFUSED']);
  expect(await codeOf(prune, safety)).toEqual([3, 'ERR_SAFETY']);
  expect(await codeOf(['preview:down', 'live', '--yes'], safety)).toEqual([3, 'ERR_SAFETY']);
  expect(await codeOf(['preview:down', 'live', '--yes'])).toEqual([3, 'ERR_GUARD_REFUSED']);
  expect(await targets()).toEqual(['preview-live', 'preview-other']);
});

test('the settings are those of the target that a branch has, not of the one that it could have', async () => {
  await documentOf(['preview:up', 'feature/a']);
  const {targetSlug} = await documentOf(['preview:up', 'feature-a']);
  const old = async () =>
    (await documentOf<{found: readonly unknown[]}>(['preview:prune', '--expires', '0m', '--dry-run'])).found.length;
  await expect.poll(old).toBe(2);
  await configure({targets: {[targetSlug]: {guard: {ciOnly: true}}}});
  const here = {CI: ''};
  expect(await codeOf(['preview:up', 'feature-a'], here)).toEqual([3, 'ERR_GUARD_REFUSED']);
  expect(await codeOf(['preview:down', 'feature-a', '--yes'], here)).toEqual([3, 'ERR_GUARD_REFUSED']);
  const prune = ['preview:prune', '--expires', '0m', '--yes'];
  expect(await codeOf(prune, here)).toEqual([3, 'ERR_GUARD_REFUSED']);
  expect(await targets()).toEqual(['preview-feature-a', targetSlug].toSorted());
  expect(await codeOf(['preview:down', 'feature/a', '--yes'], here)).toEqual([0, undefined]);
});

test('a branch that is called as the target of another one gets a target of its own', async () => {
  await documentOf(['preview:up', 'feature-cart']);
  const {targetSlug: victim} = await documentOf(['preview:up', 'feature/cart']);
  const attack = victim.replace('preview-', '');
  const {targetSlug} = await documentOf(['preview:up', attack]);
  expect(targetSlug).not.toBe(victim);
  expect(await documentOf(['preview:down', attack, '--yes'])).toMatchObject({targetSlug, deleted: true});
  expect(await targets()).toEqual(['preview-feature-cart', victim].toSorted());
  // Before the other one is there, too.
  await documentOf(['preview:down', 'feature/cart', '--yes']);
  await documentOf(['preview:up', attack]);
  expect((await documentOf(['preview:up', 'feature/cart'])).targetSlug).toBe(victim);
});

test('a preview that goes down leaves the bundle of a push that it did not upload again', async () => {
  const push = ['push', '--message', 'Release 5'];
  const {bundleId} = await documentOf(push);
  expect(await documentOf(['preview:up', 'a'])).toMatchObject({bundleId, unchanged: true});
  expect(await documentOf(['preview:down', 'a', '--yes'])).toMatchObject({deleted: true, bundles: []});
  expect((await bench.mycli(['deploy', String(bundleId), '--target', 'staging'])).code).toBe(0);
});

test('a preview that goes down leaves a bundle that was deployed to it by hand', async () => {
  const {bundleId: own} = await documentOf(['preview:up', 'a']);
  const {bundleId} = await documentOf(['push', '--message', 'Release 5']);
  await documentOf(['deploy', String(bundleId), '--target', 'preview-a', '--wait']);
  expect((await documentOf(['preview:down', 'a', '--yes', '--dry-run'])).bundles).toEqual([own]);
  expect((await documentOf(['preview:down', 'a', '--yes'])).bundles).toEqual([own]);
});

test('a push does not count on the bundle of a preview, which goes with it', async () => {
  const {bundleId} = await documentOf(['preview:up', 'a']);
  const pushed = await documentOf(['push', '--if-changed']);
  expect(pushed).toMatchObject({unchanged: false});
  expect(pushed.bundleId).not.toBe(bundleId);
});

test('a preview to which something is deployed while others are pruned stays', async () => {
  for (const branch of ['a', 'b']) await documentOf(['preview:up', branch]);
  const {origin, credentials} = bench.runtime;
  const place = {preference: 'legacy', origin, projectSlug: 'shop'} as const;
  const legacyAuth = new BearerTokenStrategy(credentials.apiKey);
  // The clock of the service has whole seconds.
  const {previews: made} = await documentOf<{previews: {updatedAt: string}[]}>(['preview:list']);
  const last = Math.max(...made.map(({updatedAt}) => Date.parse(updatedAt)));
  await expect.poll(() => Date.now() > last + 4000).toBe(true);
  const pruned = await prunePreviews({
    ...{...place, legacyAuth, olderThanMs: 2000},
    async confirm(_, previews) {
      expect(previews.map(({targetSlug}) => targetSlug)).toEqual(['preview-a', 'preview-b']);
      await deployBundle({...place, legacyAuth, bundleId: 1, targetSlug: 'preview-b', wait: true, pollInterval: 0.05});
    },
  });
  expect(pruned).toMatchObject({
    deleted: ['preview-a'],
    warnings: ['Kept preview-b: something was deployed to it meanwhile.'],
  });
});

/** Three previews that are old enough, and the command that prunes them. */
async function threeOldPreviews() {
  for (const branch of ['a', 'b', 'c']) await documentOf(['preview:up', branch]);
  const prune = ['preview:prune', '--expires', '0m', '--yes'];
  const found = async () => (await documentOf<{found: unknown[]}>([...prune, '--dry-run'])).found.length;
  await expect.poll(found).toBe(3);
  return prune;
}

test('preview:prune goes on after one that cannot be deleted, and reports both', async () => {
  const prune = await threeOldPreviews();
  bench.runtime.addFault('403x1:route=delete-target');
  const {code, stdout} = await bench.mycli([...prune, '--json']);
  expect(code).toBe(4);
  const {error} = JSON.parse(stdout) as {error: {message: string; details: unknown}};
  expect(error).toMatchObject({
    code: 'ERR_FORBIDDEN',
    message: expect.stringMatching(/^Deleted: preview-b, preview-c\. preview-a was not deleted: .*403/) as string,
    details: {deleted: ['preview-b', 'preview-c'], failed: [{targetSlug: 'preview-a', code: 'ERR_FORBIDDEN'}]},
  });
  expect(await targets()).toEqual(['preview-a']);
});

test('preview:prune reads what ran on other targets once to find bundles, and once before it deletes them', async () => {
  await documentOf(['push', '--target', 'staging', '--wait']);
  const prune = await threeOldPreviews();
  const {requests} = bench.runtime;
  const before = requests.length;
  expect((await documentOf<{deleted: unknown[]}>(prune)).deleted).toHaveLength(3);
  const reads = requests.slice(before).filter(({route, path}) => route === 'history' && path.includes('staging'));
  expect(reads).toHaveLength(2);
});

test('preview:prune ends at credentials that are refused, and names the previews that it did not try', async () => {
  const prune = await threeOldPreviews();
  bench.runtime.addFault('401:route=delete-target');
  const {code, stderr} = await bench.mycli(prune);
  expect(code).toBe(4);
  expect(stderr).toMatch(/preview-a was not deleted: [^]* Not tried: preview-b, preview-c\./);
  expect(await targets()).toHaveLength(3);
});

test('a preview that is gone without its bundle is a warning with the command that deletes the bundle', async () => {
  const prune = await threeOldPreviews();
  bench.runtime.addFault('409x1:route=delete');
  const {warnings} = await documentOf([...prune, '--project', 'shop']);
  const [warning = ''] = warnings;
  expect(warning).toMatch(/^Bundle 1 was not deleted: .* run: mycli bundle:delete 1 --project shop/);
  expect(await targets()).toEqual([]);
  const [, command = ''] = /run: mycli (.*)$/.exec(warning) ?? [];
  expect((await bench.mycli([...command.split(' '), '--yes'])).code).toBe(0);
});
