import {readFile, writeFile} from 'node:fs/promises';
import {once} from 'node:events';
import {join} from 'node:path';
import {createInterface} from 'node:readline';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {sendRaw} from '../../local-runtime/client.js';
import {runWarm} from '../warm-cli.js';
import {binary, start} from '../spawn-cli.js';
import {createRuntimeBench, type RuntimeBench} from '../with-runtime.js';

let bench: RuntimeBench;
beforeEach(async () => {
  bench = await createRuntimeBench({MYCLI_RUNTIME_BACKEND: 'legacy', MYCLI_POLL_INTERVAL: '0.05'}, {ssr: true});
  await writeFile(join(bench.project, 'build/ssr.js'), app);
});
afterEach(() => bench[Symbol.asyncDispose]());

/** It logs each request, and answers with the value of a variable. */
const app = `require('node:http').createServer(({url}, response) => {
  console.log('asked for ' + url + ' \\u001b[31m');
  console.error('no luck with ' + url);
  response.end(process.env.API_KEY ?? 'unset');
}).listen(process.env.PORT);
`;

const canary = 'canary-value-7f3a';
const staging = ['--target', 'staging'];
const api = {MYCLI_RUNTIME_BACKEND: 'api'};

async function mycli(args: readonly string[], env: Readonly<Record<string, string>> = {}, stdin = '') {
  const ended = await runWarm(args, {cwd: bench.project, env: {...bench.env, ...env}, stdin});
  expect(ended.stdout + ended.stderr).not.toContain(canary);
  return ended;
}

/** The document of a command that succeeds. */
async function documentOf(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<unknown> {
  const {code, stdout, stderr} = await mycli([...args, '--json'], env);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
}

async function codeOf(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<unknown> {
  const {stdout} = await mycli([...args, '--json'], env);
  return (JSON.parse(stdout) as {readonly error?: {readonly code: string}}).error?.code;
}

describe('target', () => {
  test.each([
    ['legacy', {}],
    ['api', api],
  ])('target:create waits, target:list shows it, target:delete says what it ran (%s)', async (backend, env) => {
    const created = (await documentOf(['target:create', 'qa', '--output-env', 'out.env'], env)) as {
      targetSlug: string;
    };
    expect(created).toMatchObject({backend, name: 'qa', state: 'ready', created: true, dryRun: false});
    const {targetSlug} = created;
    await documentOf(['push', '--target', targetSlug, '--wait', '--message', 'one'], env);
    const {stdout} = await mycli(['target:list', '--columns', 'targetSlug,state'], env);
    expect(stdout).toMatch(new RegExp(`^TARGET SLUG +STATE\n${targetSlug} +ready\n$`));
    const deleted = await documentOf(['target:delete', targetSlug, '--yes'], env);
    expect(deleted).toMatchObject({targetSlug, deleted: true, running: {bundleId: 1, message: 'one'}});
    expect(await codeOf(['target:delete', targetSlug, '--yes'], env)).toBe('ERR_REJECTED');
    expect(await readFile(join(bench.project, 'out.env'), 'utf8')).toContain(`MYCLI_TARGET_SLUG=${targetSlug}\n`);
  });

  test.each<[string, readonly string[], string, Readonly<Record<string, string>>?]>([
    ['is there already', ['target:create', 'staging'], 'ERR_REJECTED'],
    ['has no consent', ['target:delete', 'staging'], 'ERR_USAGE'],
    ['is production', ['target:delete', 'live', '--yes'], 'ERR_GUARD_REFUSED'],
    ['is protected', ['target:delete', 'staging', '--yes'], 'ERR_SAFETY', {MYCLI_SAFETY: 'no-delete'}],
    ['is production', ['target:invalidate', '--target', 'live'], 'ERR_SAFETY', {MYCLI_SAFETY: 'no-production'}],
    ['gets no pattern', ['target:invalidate', 'images', ...staging], 'ERR_OPTION_INVALID'],
    ['is not there', ['target:invalidate', '--target', 'nowhere'], 'ERR_REJECTED'],
    ['is not there', ['target:delete', 'nowhere'], 'ERR_REJECTED'],
    ['is new', ['push', '--target', 'stagin', '--no-create'], 'ERR_REJECTED'],
    ['is not needed', ['push', '--project', 'shp', '--no-create'], 'ERR_REJECTED'],
    ['is not needed', ['push', '--project', 'shp'], 'ERR_SAFETY', {MYCLI_SAFETY: 'no-create'}],
    ['is new', ['promote', '--from', 'staging', '--target', 'lives'], 'ERR_REJECTED', {MYCLI_CREATE: 'false'}],
    ['is new', ['deploy', 'latest', '--target', 'stagin'], 'ERR_SAFETY', {MYCLI_SAFETY: 'no-create'}],
    ['is new', ['target:create', 'qa'], 'ERR_SAFETY', {MYCLI_SAFETY: 'no-create'}],
    ['gets no slug', ['target:create', 'New_Target'], 'ERR_OPTION_INVALID'],
    ['gets no slug', ['target:create', 'New_Target', '--dry-run'], 'ERR_OPTION_INVALID'],
  ])('a target that %s is left alone: %j', async (_, args, code, env = {}) => {
    await documentOf(['push', ...staging, '--wait']);
    await documentOf(['target:create', 'live', '--no-wait']);
    expect(await codeOf(args, env)).toBe(code);
    const {targets} = (await documentOf(['target:list'])) as {targets: readonly {targetSlug: string}[]};
    expect(targets.map(({targetSlug}) => targetSlug).toSorted()).toEqual(['live', 'staging']);
  });

  test('target:delete of production is advised with the switches that were typed', async () => {
    await documentOf(['target:create', 'live']);
    const {stderr} = await mycli(['target:delete', 'live', '--yes']);
    expect(stderr).toContain('To delete it anyway, run: mycli target:delete live --force --yes');
    expect(stderr).toContain('Check target live: failed');
    // Nobody can be asked.
    const asked = await mycli(['target:delete', 'live', '--dry-run']);
    expect(asked.stderr).toMatch(/run: mycli target:delete live --force --yes(?!.*--dry-run)/);
  });

  test('target:list shows as production what target:delete takes for it', async () => {
    for (const slug of ['live', 'shop-7', 'qa']) await documentOf(['target:create', slug, '--no-wait']);
    await writeFile(join(bench.project, 'mycli.config.json'), '{"targets": {"shop-7": {"production": true}}}');
    interface Row {
      readonly targetSlug: string;
      readonly production?: boolean;
    }
    const {targets} = (await documentOf(['target:list'])) as {targets: readonly Row[]};
    for (const {targetSlug, production} of targets) {
      const {stdout} = await mycli(['target:delete', targetSlug, '--dry-run', '--json']);
      expect([targetSlug, production === true]).toEqual([targetSlug, stdout.includes('ERR_GUARD_REFUSED')]);
    }
    expect(targets.length).toBe(3);
  });

  test('target:create says which slug the service made of a name', async () => {
    const {stdout} = await mycli(['target:create', 'Qa'], api);
    const [, slug = ''] = /^Created target (qa-\w+) of shop/.exec(stdout) ?? [];
    expect(stdout).toContain(`\nThe service made this slug for the name Qa. Use ${slug} from now on.\n`);
    expect((await mycli(['status', '--target', 'qa'], api)).stderr).toContain(`Did you mean ${slug}?`);
    expect((await mycli(['target:create', 'qa'])).stdout).not.toContain('The service made');
    expect((await mycli(['target:create', 'QA'])).stderr).toContain('not "QA".\n  Did you mean qa?\n');
  });

  test('a deployment says that its target is new, and warns if it may be a typo, unless --create is given', async () => {
    const warning = /^Warning: The target stagin is new\. Did you mean staging\? --no-create refuses new ones\.$/m;
    expect((await mycli(['push', ...staging, '--dry-run'])).stderr).toContain('The project shop is new.');
    expect((await mycli(['push', ...staging])).stderr).toContain('The project shop is new.');
    expect((await mycli(['push', '--target', 'stagin', '--dry-run'])).stderr).toMatch(warning);
    const forbidden = await mycli(['push', '--target', 'stagin', '--dry-run', '--no-create']);
    expect([forbidden.code, forbidden.stderr]).toEqual([7, expect.stringContaining('has no target "stagin"')]);
    expect((await mycli(['push', ...staging])).stderr).not.toContain('is new');
    expect((await mycli(['deploy', '1', '--target', 'qa'])).stderr).toContain('The target qa is new.');
    const {stderr: refused} = await mycli(['push', '--target', 'stagin', '--no-create']);
    expect(refused).toMatch(/^Check that the push can succeed: failed /m);
    expect(refused).toContain('None is created because of --no-create (create: false, MYCLI_CREATE=false).');
    for (const [env, said] of [
      [{MYCLI_SAFETY: 'no-create'}, 'MYCLI_SAFETY=no-create blocks creating the project "shp".'],
      [{MYCLI_CREATE: 'false'}, 'The project "shp" does not exist.\n  Did you mean the project shop?'],
    ] as const)
      for (const command of [['push'], ['push', '--dry-run'], ['deploy', '1']])
        expect((await mycli([...command, ...staging, '--project', 'shp'], env)).stderr).toContain(said);
    expect((await mycli(['push', '--target', 'stagin'])).stderr).toMatch(warning);
    expect((await mycli(['push', '--target', 'stagin2', '--create'])).stderr).not.toContain('is new');
  });

  test('an upload says that its project is new, and warns if it may be a typo', async () => {
    expect((await mycli(['push'])).stderr).toContain('\nThe project shop is new.\n');
    expect((await mycli(['push'])).stderr).not.toContain('is new');
    const {code, stderr} = await mycli(['push', '--project', 'shpo']);
    expect(code).toBe(0);
    expect(stderr).toContain('Warning: The project shpo is new. Did you mean shop? --no-create refuses new ones.\n');
  });

  test.each([
    ['target:create', 'qa'],
    ['preview:up', 'qa'],
  ])('%s says that its project is new', async (...make) => {
    const said = (args: readonly string[], env = {}) => mycli([...make, ...args], env);
    await documentOf(['push', ...staging, '--wait']);
    const shp = ['--project', 'shp'];
    const warning = 'Warning: The project shp is new. Did you mean shop? --no-create refuses new ones.\n';
    const refusal = 'The project "shp" does not exist.\n  Did you mean the project shop?';
    for (const dryRun of [['--dry-run'], []]) {
      expect(await said([...shp, ...dryRun, '--no-create'])).toMatchObject({code: 7});
      const {stderr} = await said([...shp, ...dryRun], {MYCLI_CREATE: 'false'});
      expect(stderr).toContain(refusal);
      const unsafe = await said([...shp, ...dryRun], {MYCLI_SAFETY: 'no-create'});
      // That a target is forbidden is known before anything is sent.
      const [kind, slug] = make[0] === 'target:create' ? ['target', 'qa'] : ['project', 'shp'];
      expect(unsafe.stderr).toContain(`MYCLI_SAFETY=no-create blocks creating the ${kind} "${slug}".`);
    }
    expect((await said([...shp, '--dry-run'])).stderr).toContain(warning);
    expect(await documentOf(['project:list'])).toMatchObject({projects: [{projectSlug: 'shop'}]});
    // Its target is meant to be new.
    expect(await said(['--no-create'])).toMatchObject({
      code: 0,
      stderr: expect.not.stringContaining('is new') as string,
    });
    expect((await said(shp)).stderr).toContain(warning);
    expect((await said(['--project', 'shpo', '--create'])).stderr).not.toContain('is new');
  });

  test('a guard of the configuration refuses all that changes the target', async () => {
    await documentOf(['push', ...staging, '--wait']);
    const config = {targets: {staging: {guard: {cleanTree: true, ciOnly: true, confirm: true}}}};
    await writeFile(join(bench.project, 'mycli.config.json'), JSON.stringify(config));
    for (const args of [
      ['target:delete', 'staging', '--yes'],
      ['target:invalidate', ...staging],
      ['env:set', 'A=@mycli.config.json', ...staging],
      ['env:unset', 'A', ...staging, '--dry-run'],
    ]) {
      const {code, stdout} = await mycli([...args, '--json'], {CI: ''});
      const {error} = JSON.parse(stdout) as {error: {code: string; details: {failures: readonly {guard: string}[]}}};
      expect([code, error.code]).toEqual([3, 'ERR_GUARD_REFUSED']);
      expect(error.details.failures.map(({guard}) => guard)).toEqual(['ciOnly', 'confirm']);
    }
  });

  test('target:invalidate sends a request for each pattern', async () => {
    await documentOf(['push', ...staging, '--wait']);
    const {stdout} = await mycli(['target:invalidate', ...staging]);
    expect(stdout).toBe('Invalidating /* of staging. It takes about two minutes.\n');
    await documentOf(['target:invalidate', '/a/*', '/b', ...staging]);
    const sent = bench.runtime.requests.filter(({path}) => path.endsWith('/invalidation/'));
    expect(sent.map(({method, status}) => [method, status])).toEqual(Array(3).fill(['POST', 201]));
  });
});

test.each([
  ['legacy', {}],
  ['api', api],
])('a dry run says what would happen, and sends nothing that writes (%s)', async (_, env) => {
  const {targetSlug} = (await documentOf(['target:create', 'qa'], env)) as {targetSlug: string};
  await documentOf(['push', '--target', targetSlug, '--wait', '--message', 'one'], env);
  const up = (await documentOf(['preview:up', 'feature/a'], env)) as {targetSlug: string};
  const read = (request: {readonly method: string; readonly path: string}) =>
    request.method === 'GET' || request.path.includes('token');
  const before = bench.runtime.requests.filter((request) => !read(request)).length;
  for (const [args, said] of [
    [['target:create', 'other'], /^Dry run: would create target other of .*\.\n$/],
    [['target:delete', targetSlug], `^Dry run: would delete target ${targetSlug} of .*, which runs bundle 1 "one"`],
    [['target:invalidate', '/a', '--target', targetSlug], `^Dry run: would invalidate /a of ${targetSlug}\\.\n$`],
    [['env:set', 'A=@build/ssr.js', '--target', targetSlug], `^Dry run: would set A on ${targetSlug} of `],
    [['env:unset', 'A', '--target', targetSlug], `^${targetSlug} has no variable A\\. Nothing was changed\\.\n$`],
    [
      ['preview:up', 'feature/a'],
      `Dry run: unchanged since bundle 1, pushed .* Would deploy it to ${up.targetSlug}\\.\n$`,
    ],
    [
      ['preview:up', 'feature/b'],
      /^Dry run: would create a target for feature\/b\.\n[^]*Dry run: unchanged since bundle 1/,
    ],
    [['preview:down', 'feature/a'], `^Dry run: would delete ${up.targetSlug} (and 1 bundle )?of .*\\.\n$`],
    [['preview:down', 'feature/b'], /^Nothing to delete: /],
    [['preview:prune', '--expires', '1w'], /^Nothing to prune in shop\.\n$/],
  ] as const) {
    const {code, stdout, stderr} = await mycli([...args, '--dry-run'], env);
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(new RegExp(said));
  }
  expect(bench.runtime.requests.filter((request) => !read(request)).length).toBe(before);
});

describe('--invalidate', () => {
  const invalidations = () => bench.runtime.requests.filter(({path}) => path.endsWith('/invalidation/'));

  test('of a push, a deployment and a rollback clears the cache once it is live', async () => {
    const clear = [...staging, '--invalidate', '/a/*', '--invalidate', '/'];
    for (const args of [['push'], ['push'], ['deploy', '1'], ['rollback', '--to', '2']])
      expect(await documentOf([...args, ...clear])).toMatchObject({status: 'finished', warnings: []});
    expect(invalidations().map(({status}) => status)).toEqual(Array(8).fill(201));
  });

  test('that fails is a warning of the document, and nothing is undone', async () => {
    bench.runtime.addFault('500:route=invalidate');
    const pushed = await documentOf(['push', ...staging, '--invalidate', '/*', '--rollback-on-failure']);
    const warning = expect.stringMatching(
      /^The deployment is live, but the cache of staging was not cleared: /,
    ) as unknown;
    expect(pushed).toMatchObject({status: 'finished', warnings: [warning]});
  });

  test.each<[string, readonly string[], string]>([
    ['a wrong pattern', ['push', ...staging, '--invalidate', 'a'], 'ERR_OPTION_INVALID'],
    ['no target', ['push', '--invalidate', '/*'], 'ERR_USAGE'],
    ['no wait', ['deploy', '1', ...staging, '--no-wait', '--invalidate', '/*'], 'ERR_USAGE'],
  ])('with %s is refused before anything is sent', async (_, args, code) => {
    expect(await codeOf(args)).toBe(code);
    expect(bench.runtime.requests).toEqual([]);
  });
});

describe('env', () => {
  test('sets, lists, compares and removes variables, and shows no value', async () => {
    await writeFile(join(bench.project, '.env'), `API_URL="${canary} and\nmore"\n# ours\nexport API_KEY=${canary}\n`);
    await writeFile(join(bench.project, 'key.txt'), `${canary}\n`);
    await documentOf(['push', ...staging, '--wait']);
    const set = await documentOf(['env:set', '--from', '.env', 'TOKEN=@key.txt', ...staging, '--wait']);
    expect(set).toMatchObject({set: ['API_KEY', 'API_URL', 'TOKEN'], unset: [], dryRun: false, targetSlug: 'staging'});
    const app = new URL(`${bench.runtime.appsOrigin}/shop/staging/`);
    expect(await (await fetch(app)).text()).toBe(canary);
    const listed = await mycli(['env:list', ...staging, '--columns', 'name']);
    expect(listed.stdout).toBe('NAME\nAPI_KEY\nAPI_URL\nTOKEN\n');
    expect(listed.stderr).toContain('Found 3 variables for staging of shop');
    const removed = await mycli(['env:unset', 'API_URL', 'NOTHING', ...staging]);
    expect(removed.stdout).toContain('staging has no variable NOTHING.\nRemoved API_URL from staging of shop.\n');
    const near = await mycli(['env:unset', 'API_KEYS', ...staging]);
    expect(near.stderr).toContain('Warning: Did you mean API_KEY instead of API_KEYS?\n');
    const sent = () => bench.runtime.requests.filter(({method}) => method === 'PATCH').length;
    const before = sent();
    const dryRun = await mycli(['env:unset', 'API_KEY', ...staging, '--dry-run']);
    expect(dryRun.stdout).toBe('Dry run: would remove API_KEY from staging of shop.\n');
    const missing = await mycli(['env:unset', 'API_URL', 'NOTHING', ...staging]);
    expect(missing.stdout).toBe('staging has no variable API_URL or NOTHING. Nothing was changed.\n');
    expect(sent()).toBe(before);
    const diff = await documentOf(['env:diff', '.env', ...staging]);
    expect(diff).toMatchObject({missing: ['API_URL'], extra: ['TOKEN'], shared: ['API_KEY']});
    expect((await mycli(['env:diff', '.env', ...staging])).stdout).toBe(
      'Missing on staging: API_URL. Only there: TOKEN. In both: API_KEY.\n',
    );
  });

  test('--from leaves out variables of clients and of excluded prefixes, and says so', async () => {
    const lines = ['MYCLI_API_KEY', 'mrt_key', 'SFCC_SECRET', 'DEV_URL', 'LOCAL_X', 'SITE', 'MYCLIENT'];
    await writeFile(join(bench.project, '.env'), lines.map((name) => `${name}=${canary}\n`).join(''));
    await writeFile(join(bench.project, 'mine.env'), `MYCLI_API_KEY=${canary}\n`);
    await documentOf(['push', ...staging, '--wait']);
    const excluded = ['--exclude-prefix', 'DEV_', '--exclude-prefix', 'LOCAL_'];
    const {stdout, stderr} = await mycli(['env:set', '--from', '.env', ...excluded, 'MRT_TYPED=@mine.env', ...staging]);
    expect(stdout).toContain('Set MYCLIENT, SITE, MRT_TYPED on staging');
    expect(stderr).toContain(
      'Skipped in .env, because of their prefixes: DEV_URL, LOCAL_X, MYCLI_API_KEY, SFCC_SECRET, mrt_key.',
    );
    expect(stdout + stderr).not.toContain(canary);
    const diff = await documentOf(['env:diff', '.env', ...staging]);
    expect(diff).toMatchObject({missing: ['DEV_URL', 'LOCAL_X'], extra: ['MRT_TYPED'], shared: ['MYCLIENT', 'SITE']});
    expect(await codeOf(['env:set', '--from', 'mine.env', ...staging])).toBe('ERR_OPTION_INVALID');
    expect(await codeOf(['env:set', 'A=@mine.env', '--exclude-prefix', 'A', ...staging])).toBe('ERR_USAGE');
  });

  test('doctor and diff name what the target lacks: of .env.example, or of the configuration', async () => {
    await writeFile(join(bench.project, '.env.example'), 'API_KEY=\n# OPTIONAL=\nAPI_URL=http://localhost\n');
    await documentOf(['push', ...staging, '--wait']);
    await documentOf(['env:set', 'API_KEY=@build/ssr.js', ...staging]);
    const checked = async (args: readonly string[] = staging) => {
      const {checks} = (await documentOf(['doctor', ...args])) as {checks: readonly {name: string; message: string}[]};
      return checks.flatMap(({name, message}) => (name === 'variables' ? [message] : []));
    };
    expect(await checked()).toEqual(['Target staging lacks 1 variable: API_URL.']);
    expect(await checked([])).toEqual([]);
    expect(await checked(['--target', 'nowhere'])).toEqual([expect.stringContaining('cannot be listed: The project')]);
    expect(await documentOf(['diff', 'running:staging'])).toMatchObject({
      identical: true,
      missingVariables: ['API_URL'],
    });
    const {stdout} = await mycli(['diff', 'running:staging', '--markdown']);
    expect(stdout).toContain('\nTarget staging lacks 1 variable: API_URL.\n');
    const config = {variables: [], targets: {staging: {variables: ['API_KEY']}}};
    await writeFile(join(bench.project, 'mycli.config.json'), JSON.stringify(config));
    expect(await checked()).toEqual(['Target staging has all expected variables.']);
    expect(await checked(['--target', 'nowhere'])).toEqual([]);
    const ofOther = {targetSlug: 'qa', targets: {qa: {variables: ['ONLY_QA']}, staging: {variables: ['API_URL']}}};
    await writeFile(join(bench.project, 'mycli.config.json'), JSON.stringify(ofOther));
    expect(await documentOf(['diff', 'running:staging'])).toMatchObject({missingVariables: ['API_URL']});
    expect((await mycli(['diff', 'running:staging'])).stdout).toContain('Target staging lacks 1 variable: API_URL.\n');
    bench.runtime.addFault('405:route=variables');
    expect(await documentOf(['diff', 'running:staging'])).not.toHaveProperty('missingVariables');
  });

  test('a value from stdin is set, and one on the command line is warned about', async () => {
    await documentOf(['push', ...staging, '--wait']);
    const piped = await mycli(['env:set', 'A=-', ...staging], {}, `${canary}\n`);
    expect([piped.code, piped.stderr.includes('Warning')]).toEqual([0, false]);
    const typed = await mycli(['env:set', `B=${canary}`, ...staging, '--dry-run', '--debug']);
    expect(typed.stderr).toContain('Warning: Other users can see the value of B in the process list.');
    expect(typed.stdout).toBe('Dry run: would set B on staging of shop.\n');
    const {variables} = (await documentOf(['env:list', ...staging])) as {variables: readonly {name: string}[]};
    expect(variables.map(({name}) => name)).toEqual(['A']);
  });

  test.each([
    ['legacy', {}],
    ['api', api],
  ])('values that are too large are named with their size (%s)', async (_, env) => {
    const big = 'x'.repeat(70_000);
    await writeFile(join(bench.project, 'big.txt'), big);
    const {targetSlug} = (await documentOf(['target:create', 'qa'], env)) as {targetSlug: string};
    const one = await mycli(['env:set', 'BIG=@big.txt', '--target', targetSlug], env);
    expect(one.code).toBe(7);
    expect(one.stderr).toContain('  Shorten BIG (70 kB), or split it into several variables, each set on its own.\n');
    const two = await mycli(['env:set', 'A=b', 'BIG=@big.txt', '--target', targetSlug], env);
    expect(two.stderr).toContain('  Shorten BIG (70 kB), A (1 B), or set fewer at once.\n');
    expect(one.stderr + two.stderr).not.toContain(big);
  });

  test('a value that parsers read differently is named with its line, two are refused, and an empty one can be typed', async () => {
    await documentOf(['push', ...staging, '--wait']);
    await writeFile(join(bench.project, '.env'), `A=1\nPW=${canary}#word\n`);
    const {stderr} = await mycli(['env:set', '--from', '.env', ...staging]);
    expect(stderr).toContain('Line 2 of .env (PW) is read differently by dotenv parsers: it has a # without a space');
    await writeFile(join(bench.project, '.env'), `A=1\nPW=${canary}\nA=1\nPW=2\n`);
    const twice = await mycli(['env:set', '--from', '.env', ...staging]);
    expect(twice.stderr).toContain('.env gives the variable PW two values.');
    const empty = await mycli(['env:set', 'A=', ...staging]);
    expect([empty.stdout.split('\n')[0], empty.stderr.includes('Warning')]).toEqual([
      'Set A on staging of shop.',
      false,
    ]);
    await writeFile(join(bench.project, '.env'), '__proto__=x\nB=1\n');
    expect(await documentOf(['env:set', '--from', '.env', ...staging])).toMatchObject({set: ['B', '__proto__']});
    const {variables} = (await documentOf(['env:list', ...staging])) as {variables: readonly {name: string}[]};
    expect(variables.map(({name}) => name)).toEqual(['A', 'B', '__proto__']);
  });

  test.each<[string, readonly string[], string]>([
    ['no variable', ['env:set'], 'ERR_USAGE'],
    ['no name', ['env:set', canary], 'ERR_USAGE'],
    ['a name that none can have', ['env:set', `1A=${canary}`], 'ERR_OPTION_INVALID'],
    ['a name twice', ['env:set', `A=${canary}`, 'A=2'], 'ERR_USAGE'],
    ['no file', ['env:set', 'A=@nowhere'], 'ERR_OPTION_INVALID'],
    ['a file of something else', ['env:set', '--from', 'notes.txt'], 'ERR_OPTION_INVALID'],
    ['an empty file', ['env:diff', 'empty.env'], 'ERR_OPTION_INVALID'],
    ['stdin twice', ['env:set', '--from', '-', 'A=-'], 'ERR_USAGE'],
    ['an empty stdin', ['env:set', 'A=-'], 'ERR_OPTION_INVALID'],
    ['an empty stdin as a file', ['env:set', '--from', '-'], 'ERR_OPTION_INVALID'],
    ['an empty file of a value', ['env:set', 'A=@empty.txt'], 'ERR_OPTION_INVALID'],
    ['a value that is read differently', ['env:set', '--from', 'hash.env'], 'ERR_OPTION_INVALID'],
  ])('%s is refused before anything is sent: %j', async (_, args, code) => {
    await writeFile(join(bench.project, 'notes.txt'), `A=1\n${canary}\n`);
    await writeFile(join(bench.project, 'empty.env'), '# nothing\n');
    await writeFile(join(bench.project, 'empty.txt'), '\n');
    await writeFile(join(bench.project, 'hash.env'), `A=1\nPW=${canary}#x\n`);
    const sent = bench.runtime.requests.length;
    expect(await codeOf([...args, ...staging])).toBe(code);
    expect(bench.runtime.requests.length).toBe(sent);
  });
});

describe('logs', () => {
  /** Follows the logs, has the app log until there is a line, and ends it as a user does. */
  async function firstLine(args: readonly string[]) {
    await documentOf(['push', ...staging, '--wait']);
    const {child, ended} = start(binary, ['logs', ...staging, ...args], {cwd: bench.project, env: bench.env});
    if (child.stdout === null) throw new Error('no stdout');
    const line = once(createInterface({input: child.stdout}), 'line') as Promise<[string]>;
    const asking = setInterval(
      () => void sendRaw(`${bench.runtime.appsOrigin}/shop/staging/page`).catch(() => undefined),
      200,
    );
    const [first] = await line.finally(() => clearInterval(asking));
    child.kill('SIGINT');
    return {first, ...(await ended)};
  }

  test('has a line for each entry, without control characters, until Ctrl-C', async () => {
    const {first, code, stderr} = await firstLine(['--level', 'info', '--grep', '^asked']);
    expect(first).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z {2}INFO {3}asked for \/page$/);
    expect(code).toBe(0);
    expect(stderr).not.toContain('Error');
  });

  test('with --json is a document on each line', async () => {
    const {first} = await firstLine(['--level', 'error', '--since', '1h', '--json']);
    const entry = {schemaVersion: 1, level: 'ERROR', message: 'no luck with /page', time: expect.any(String)};
    expect(JSON.parse(first)).toEqual(entry);
  });

  test('of a target that is not there is an error on one line', async () => {
    const {code, stdout} = await mycli(['logs', '--target', 'nowhere', '--json']);
    expect(code).toBe(7);
    expect(stdout.trimEnd().split('\n').length).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({error: {code: 'ERR_REJECTED'}});
  });
});
