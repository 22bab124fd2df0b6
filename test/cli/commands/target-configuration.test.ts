import {rmSync} from 'node:fs';
import {readFile, stat, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import type {RequestRecord} from '../../../src/testing.js';
import {makeFolder} from '../../folder.js';
import {binary, start} from '../spawn-cli.js';
import {createRuntimeBench, type RuntimeBench} from '../with-runtime.js';

let bench: RuntimeBench;
beforeEach(async () => {
  bench = await createRuntimeBench({MYCLI_RUNTIME_BACKEND: 'legacy', MYCLI_POLL_INTERVAL: '0.05'});
});
afterEach(() => bench[Symbol.asyncDispose]());

const configFile = () => join(bench.project, 'mycli.config.json');
const configure = (config: object) => writeFile(configFile(), JSON.stringify(config));
const api = {MYCLI_RUNTIME_BACKEND: 'api'};

/** The document of a command, with its exit code. */
async function documentOf(line: string, env: Readonly<Record<string, string>> = {}) {
  const {code, stdout} = await bench.mycli([...line.split(' '), '--json'], env);
  return {code, ...(JSON.parse(stdout) as Readonly<Record<string, unknown>>)};
}

describe('target:diff and target:apply', () => {
  test('a target becomes code, is changed there, and makes the same target elsewhere', async () => {
    await bench.mycli(['push', '--target', 'staging', '--wait']);
    await bench.mycli(['env:set', 'API_KEY=value', '--target', 'staging', '--wait']);
    expect(await documentOf('target:diff staging')).toMatchObject({code: 2, error: {code: 'ERR_USAGE'}});
    const mistyped = await bench.mycli(['target:diff', 'stagin']);
    expect(mistyped.stderr).toBe(
      'Error: Neither the configuration nor the project has a target "stagin".\n  Did you mean staging?\n',
    );
    expect(await documentOf('target:diff staging --init')).toMatchObject({code: 0, file: configFile()});
    const written = JSON.parse(await readFile(configFile(), 'utf8')) as {targets: {staging: {settings: object}}};
    expect(written).toEqual({
      projectSlug: 'shop',
      targets: {staging: {settings: {name: 'staging', region: 'us-east-1'}, variables: ['API_KEY']}},
    });
    expect(await documentOf('target:diff staging --exit-code')).toMatchObject({code: 0, identical: true});
    expect(await documentOf('target:diff staging --init')).toMatchObject({code: 2, error: {code: 'ERR_USAGE'}});
    const {staging} = written.targets;
    const settings = {...staging.settings, proxies: [{path: 'api', host: 'api.example.com'}]};
    await writeFile(join(bench.project, '_redirects'), '/old /new\n/blog/* /news/:splat 302\n');
    await configure({targets: {staging: {...staging, settings, redirects: '_redirects'}}});
    const {code, stdout} = await bench.mycli(['target:diff', 'staging', '--exit-code']);
    expect({code, lines: stdout.split('\n').slice(0, 3)}).toEqual({
      code: 13,
      lines: [
        '~ proxies: [] → [{"path":"api","host":"api.example.com"}]',
        '+ redirect /old → /new (301, query)',
        '+ redirect /blog/* → /news/* (302, query, wildcard)',
      ],
    });
    expect(await documentOf('target:apply staging --dry-run')).toMatchObject({code: 0, applied: 0, dryRun: true});
    expect(await documentOf('target:apply staging')).toMatchObject({code: 2, error: {code: 'ERR_USAGE'}});
    expect(await documentOf('target:apply staging --yes --wait')).toMatchObject({code: 0, applied: 3});
    expect(await documentOf('target:apply staging --yes')).toMatchObject({code: 0, applied: 0, identical: true});
    await configure({targets: {staging: {...staging, settings, redirects: '_redirects'}}});
    const other = {MYCLI_PROJECT: 'other'};
    expect(await documentOf('target:create staging', other)).toMatchObject({code: 0, created: true});
    expect(await documentOf('target:diff staging', other)).toMatchObject({
      differences: [{kind: 'variable', name: 'API_KEY', after: 'set'}],
    });
  });

  test('a redirect shows the query of its destination, and no password', async () => {
    await bench.mycli(['push', '--target', 'staging', '--wait']);
    const redirect = (query: string) => ({from: '/a', to: `https://shop.example/b?page=${query}`});
    await configure({targets: {staging: {redirects: [redirect('1')]}}});
    expect(await documentOf('target:apply staging --yes')).toMatchObject({code: 0, applied: 1});
    const hidden = {from: '/c', to: 'https://user:canary-1@shop.example/d'};
    await configure({targets: {staging: {redirects: [redirect('2'), hidden]}}});
    const document = await documentOf('target:diff staging');
    const differences = [{before: redirect('1'), after: redirect('2')}, {name: '/c'}];
    expect(document).toMatchObject({differences});
    expect(JSON.stringify(document)).not.toContain('canary-1');
    const lines = [
      '~ redirect /a → https://shop.example/b?page=2 (301), was https://shop.example/b?page=1 (301)',
      '+ redirect /c → https://***@shop.example/d (301)',
    ];
    for (const line of ['target:diff staging', 'target:apply staging --dry-run', 'target:apply staging --yes']) {
      const {stdout} = await bench.mycli(line.split(' '));
      expect(stdout.split('\n').slice(0, 2)).toEqual(lines);
    }
  });

  test('a target that is configured and not there can be created, which the error says', async () => {
    await bench.mycli(['push', '--target', 'staging', '--wait']);
    await configure({targets: {qa: {settings: {logLevel: 'debug'}, variables: ['API_KEY']}}});
    for (const line of ['target:diff qa', 'target:apply qa --yes', 'target:apply qa --dry-run']) {
      for (const env of [{}, api]) {
        const {code, stderr} = await bench.mycli(line.split(' '), env);
        const create = /To create it as configured, run: mycli target:create qa /;
        expect({code, stderr}).toEqual({code: 7, stderr: expect.stringMatching(create)});
      }
    }
  });

  test('where only variables are missing, target:apply has nothing to apply, and names them', async () => {
    await bench.mycli(['push', '--target', 'staging', '--wait']);
    await configure({targets: {staging: {variables: ['API_KEY', 'API_URL']}}});
    const {code, stdout} = await bench.mycli(['target:apply', 'staging', '--yes']);
    const [first] = stdout.split('\n');
    expect({code, first}).toEqual({code: 0, first: 'Nothing to apply. staging still lacks API_KEY, API_URL.'});
  });

  test('--init prints what belongs into a configuration that is code, and pasted there, it is the state', async () => {
    await bench.mycli(['push', '--target', 'staging', '--wait']);
    const path = join(bench.project, 'mycli.config.mjs');
    await writeFile(path, "export default {projectSlug: 'shop'};\n");
    const {stderr} = await bench.mycli(['target:diff', 'staging']);
    expect(stderr).toMatch(
      /Run mycli target:diff staging --init .*, and paste what it prints into mycli\.config\.mjs\./,
    );
    const {stdout} = await bench.mycli(['target:diff', 'staging', '--init']);
    const snippet = stdout.slice(stdout.indexOf('targets: '));
    await writeFile(join(bench.project, 'pasted.mjs'), `export default {projectSlug: 'shop', ${snippet}};\n`);
    expect(await documentOf('target:diff staging --config pasted.mjs')).toMatchObject({code: 0, identical: true});
    const other = await bench.mycli(['target:diff', 'staging', '--init', '--config', 'pasted.mjs']);
    expect(other.stdout).toMatch(/^Add this to "targets" in the configuration:\n'staging': /);
  });

  test('the value of a new access header is shown once, or is in a file of the user alone, which is never published', async () => {
    await bench.mycli(['push', '--target', 'staging', '--wait']);
    await configure({targets: {staging: {access: true}}});
    const {stdout} = await bench.mycli(['target:apply', 'staging', '--yes']);
    expect(stdout).toMatch(/^x-sfdc-access-control: mycli-access-[\w-]{32}$/m);
    const planned = await bench.mycli(['target:apply', 'staging', '--dry-run', '--rotate']);
    expect(planned.stdout).toBe(
      '+ access header, which replaces the current ones\n' +
        'Found 1 difference between staging and the configuration.\n',
    );
    await configure({});
    const unconfigured = await bench.mycli(['target:apply', 'staging', '--dry-run', '--rotate']);
    expect(unconfigured.stderr).not.toContain('is as configured');
    await configure({targets: {staging: {access: true}}});
    const rotated = await bench.mycli(['target:apply', 'staging', '--yes', '--rotate', '--output', 'build/access.txt']);
    expect(rotated.stdout).toContain('+ access header, which replaces the current ones\n');
    expect(rotated.stdout).toContain('Changed staging: 1 difference resolved.\n');
    expect(rotated.stdout + rotated.stderr).toContain(
      "check.headers: { 'x-sfdc-access-control': '@build/access.txt' }.",
    );
    const path = join(bench.project, 'build/access.txt');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readFile(path, 'utf8')).toMatch(/^mycli-access-[\w-]{32}\n$/);
    const shut = await bench.mycli('push --target staging --wait --check / --json'.split(' '));
    expect(JSON.parse(shut.stdout)).toMatchObject({
      error: {
        code: 'ERR_CHECK_REFUSED',
        suggestions: expect.arrayContaining([expect.stringContaining('x-sfdc-access-control=@FILE')]) as unknown,
        details: {check: {checks: [{attempts: 1, status: 401}]}},
      },
    });
    const header = {MYCLI_CHECK_HEADER: 'x-sfdc-access-control=@build/access.txt'};
    const checked = await bench.mycli('push --target staging --wait --check /'.split(' '), header);
    expect(checked).toMatchObject({code: 0, stderr: expect.stringContaining('Left out what mycli wrote: access.txt.')});
  });

  test('the value of a new access header is shown if its file cannot be written, which is an error', async () => {
    const folder = await makeFolder();
    const onRequest = ({route}: RequestRecord) => {
      if (route === 'access') rmSync(folder, {recursive: true, force: true});
    };
    await using vanishing = await createRuntimeBench({MYCLI_RUNTIME_BACKEND: 'legacy'}, {onRequest});
    await vanishing.mycli(['push', '--target', 'staging', '--wait']);
    await writeFile(join(vanishing.project, 'mycli.config.json'), '{"targets": {"staging": {"access": true}}}');
    const path = join(folder, 'access.txt');
    const {code, stdout, stderr} = await vanishing.mycli(['target:apply', 'staging', '--yes', '--output', path]);
    expect({code, stderr}).toEqual({code: 3, stderr: expect.stringMatching(/^Error: .* cannot be written/m)});
    expect(stdout).toMatch(/^x-sfdc-access-control: mycli-access-[\w-]{32}$/m);
  });

  test('the value of a new access header is shown or written before what follows, which may never end', async () => {
    await bench.mycli(['push', '--target', 'staging', '--wait']);
    await configure({targets: {staging: {access: true, settings: {sourceMaps: true}}}});
    bench.runtime.addFault('hang:route=update-target');
    const apply = ['target:apply', 'staging', '--yes'];
    const running = start(binary, apply, {cwd: bench.project, env: bench.env});
    let shown = '';
    running.child.stdout?.on('data', (chunk) => (shown += String(chunk)));
    await expect.poll(() => shown, {timeout: 60_000}).toMatch(/^x-sfdc-access-control: mycli-access-[\w-]{32}$/m);
    running.child.kill('SIGKILL');
    await running.ended;
    const path = join(bench.project, 'access.txt');
    const options = {cwd: bench.project, env: bench.env};
    const {child, ended} = start(binary, [...apply, '--rotate', '--output', path], options);
    const written = () => readFile(path, 'utf8').catch(() => '');
    await expect.poll(written, {timeout: 60_000}).toMatch(/^mycli-access-[\w-]{32}\n$/);
    child.kill('SIGKILL');
    await ended;
  });

  test('the value of a new access header is in the document of a failure, but in no event', async () => {
    await bench.mycli(['push', '--target', 'staging', '--wait']);
    await configure({targets: {staging: {access: true, settings: {sourceMaps: true, logLevel: 'debug'}}}});
    bench.runtime.addFault('422x1:route=update-target');
    const {stdout} = await bench.mycli('target:apply staging --yes --json --events events.ndjson'.split(' '));
    const {error} = JSON.parse(stdout) as {error: {message: string; details: {access: string}}};
    expect(error.message).toMatch(/^The settings (?:logLevel, sourceMaps|sourceMaps, logLevel) could not be changed: /);
    const {access} = error.details;
    expect(access).toMatch(/^mycli-access-[\w-]{32}$/);
    expect(await readFile(join(bench.project, 'events.ndjson'), 'utf8')).not.toContain(access);
  });

  test('a service that may not be changed is not, and hooks and guards of the target hold', async () => {
    await bench.mycli(['push', '--target', 'staging', '--wait']);
    await configure({targets: {staging: {settings: {sourceMaps: true}, guard: {confirm: true}}}});
    expect(await documentOf('target:apply staging --yes', {MYCLI_SAFETY: 'read-only'})).toMatchObject({
      error: {code: 'ERR_SAFETY'},
    });
    expect(await documentOf('target:apply staging --yes')).toMatchObject({error: {code: 'ERR_GUARD_REFUSED'}});
  });

  test('a slug that is near a configured target, or one of the service, may be meant to be that', async () => {
    await bench.mycli(['push', '--target', 'stage', '--wait']);
    await configure({targets: {staging: {settings: {sourceMaps: true}}}});
    for (const line of ['target:diff stag', 'target:apply stag --yes'])
      expect(await documentOf(line)).toMatchObject({
        code: 7,
        error: {suggestions: ['Did you mean staging or stage?']},
      });
    // The service has this one: only its description is missing.
    expect(await documentOf('target:diff stage')).toMatchObject({
      error: {suggestions: [expect.stringContaining('--init') as string]},
    });
  });

  test('a target that is created says what it has of the configuration, and what failed after it was made', async () => {
    await configure({targets: {qa: {settings: {sourceMaps: true}, access: true, variables: ['KEY']}}});
    bench.runtime.addFault('422x1:route=change-access');
    expect(await documentOf('target:create qa')).toMatchObject({
      code: 7,
      error: {
        message: expect.stringMatching(/^Target qa was created\. The access header could not be changed: /) as string,
        suggestions: [expect.stringContaining('target:diff qa') as string],
        details: {targetSlug: 'qa', created: true},
      },
    });
    const deleted = await bench.mycli(['target:delete', 'qa', '--yes']);
    expect(deleted.stderr).toMatch(/^Found target qa \[.*\nDeleted target qa \[/m);
    const {stdout, stderr} = await bench.mycli(['target:create', 'qa', '--dry-run']);
    expect(stderr).toContain('  From the configuration: settings sourceMaps; access header\n');
    expect(stdout).toBe('Dry run: would create target qa of shop.\n');
    const made = await bench.mycli(['target:create', 'qa']);
    expect(made.stdout).toContain('To set what is missing, run: mycli env:set KEY=@FILE --project shop --target qa');
  });

  test('preview:up makes a preview as configured, says how to look, and its check gets in', async () => {
    await configure({preview: {settings: {sourceMaps: true}, access: true}});
    for (const [branch, env] of [
      ['one', {}],
      ['two', api],
    ] as const) {
      const up = ['preview:up', branch, '--build-directory', 'build'];
      const {code, stdout} = await bench.mycli([...up, '--check', '/'], env);
      expect({code, stdout}).toEqual({
        code: 0,
        stdout: expect.stringMatching(/x-sfdc-access-control: mycli-access-[\w-]{32}/),
      });
      const again = await bench.mycli(up, env);
      expect(again.stdout).not.toContain('x-sfdc-access-control');
    }
  });

  test('a project that the credentials do not reach is told, with those that they do', async () => {
    await bench.mycli(['push', '--target', 'staging', '--wait']);
    bench.runtime.addFault({action: 'status', status: 403, route: 'list'});
    const refused = await bench.mycli(['bundle:list', '--project', 'shopp']);
    expect(refused.code).toBe(4);
    expect(refused.stderr).toContain('Did you mean the project shop?');
    expect(refused.stderr).toContain('The credentials do not reach a project "shopp". They reach: shop.');
    expect((await bench.mycli(['bundle:list'])).stderr).not.toContain('They reach');
    const before = bench.runtime.requests.length;
    const reaches = 'The credentials do not reach a project "shopp". They reach: shop.';
    expect(await documentOf('bundle:list --project shopp')).toMatchObject({
      error: {suggestions: expect.arrayContaining([reaches]) as unknown},
    });
    const routes = bench.runtime.requests.slice(before).map(({route}) => route);
    expect(routes).toEqual(['list', 'projects']);
    bench.runtime.clearFaults();
    // The service lists none.
    for (const list of ['bundle:list', 'bundle:prune', 'target:list', 'preview:list']) {
      const {code, stderr} = await bench.mycli([list, '--project', 'shopp']);
      expect([code, stderr]).toEqual([7, expect.stringContaining(reaches)]);
    }
    // Nobody is told to create what is mistyped.
    const only =
      /^ {2}Did you mean the project shop\?\n {2}The credentials do not reach .*shop\.\n(?: {2}Request ID: .*\n)?$/m;
    for (const line of [
      'status',
      'logs --target staging',
      'target:diff staging',
      'target:apply qa --yes',
      'download latest',
      'inspect latest',
      'inspect 3',
    ]) {
      const {code, stderr} = await bench.mycli([...line.split(' '), '--project', 'shopp']);
      expect([line, code, stderr]).toEqual([line, 7, expect.stringMatching(only)]);
      expect(stderr).not.toContain('mycli');
    }
    expect(await documentOf('target:delete staging --project shopp --yes')).toMatchObject({
      error: {suggestions: expect.arrayContaining([reaches]) as unknown},
    });
  });

  test('a cache that takes prefixes says so, and clears no more than it was asked for', async () => {
    await bench.mycli(['push', '--target', 'staging', '--wait']);
    const {code, stderr} = await bench.mycli(['target:invalidate', '/images/*', '--target', 'staging'], api);
    expect({code, stderr}).toEqual({code: 0, stderr: expect.stringContaining('everything that begins with /images/.')});
    const inner = await documentOf('target:invalidate /images/*.png --target staging', api);
    expect(inner).toMatchObject({code: 3, error: {suggestions: ['If that is what you want, pass "/images/*".']}});
    expect(await documentOf('target:invalidate /images/*.png --target staging')).toMatchObject({code: 0});
  });

  test('each advice about a target that nothing describes, and that is not there, leads on', async () => {
    await bench.mycli(['push', '--target', 'staging', '--wait']);
    const without = await bench.mycli(['target:diff']);
    expect({code: without.code, stderr: without.stderr}).toEqual({
      code: 2,
      stderr: expect.stringContaining(
        'Pass its slug as an argument, or set MYCLI_TARGET or targetSlug in mycli.config.',
      ),
    });
    let typed = ['target:diff', 'qa'];
    const followed: string[] = [];
    while (typed.length > 0 && followed.length < 5) {
      followed.push(String(typed[0]));
      const {stderr} = await bench.mycli(typed);
      typed = /run: mycli (.*)/.exec(stderr)?.[1]?.split(' ') ?? [];
    }
    expect(followed).toEqual(['target:diff', 'target:create']);
    expect((await bench.mycli(['target:diff', 'qa'])).stderr).toContain('run: mycli target:diff qa --init');
    expect(await documentOf('target:diff qa --init')).toMatchObject({code: 0});
  });

  test('a target that is passed as a flag belongs into the argument, which the error says', async () => {
    for (const command of ['target:diff', 'target:apply', 'target:delete', 'target:create']) {
      for (const flag of ['--target', '-t']) {
        const {code, stderr} = await bench.mycli([command, flag, 'staging']);
        expect({code, stderr}).toEqual({
          code: 2,
          stderr: expect.stringContaining(`Pass the target as an argument: mycli ${command} SLUG\n`),
        });
      }
    }
  });

  test('what is typed for other clients is answered with what to type here', async () => {
    for (const [words, command] of [
      ['mrt env get', 'mycli target:diff --init'],
      ['mrt env redirect list', 'mycli target:apply'],
      ['mrt project list', 'mycli project:list'],
      ['mrt env b2c list', 'Set it on the website; target:create --copy-from copies it.'],
      ['mrt org', "Find members, certificates, notifications and metrics on the service's website."],
      ['metrics', "on the service's website."],
      ['mrt bundle upload-v2', 'mycli push --v2 --no-target'],
    ] as const) {
      const {code, stderr} = await bench.mycli(words.split(' '));
      expect({words, code, stderr}).toEqual({words, code: 2, stderr: expect.stringContaining(command)});
    }
  });

  test('project:list lists what the credentials reach', async () => {
    await bench.mycli(['push', '--target', 'staging', '--wait']);
    for (const env of [{}, api])
      expect(await documentOf('project:list', env)).toMatchObject({projects: [{projectSlug: 'shop', name: 'shop'}]});
  });
});
