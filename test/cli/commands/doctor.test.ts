import {mkdir, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {beforeEach, describe, expect, test} from 'vitest';
import type {LocalRuntime} from '../../../src/testing.js';
import {runtimeEnvironment} from '../runtime-environment.js';
import {runWarm} from '../warm-cli.js';
import {createPluginBench} from '../with-plugins.js';
import {makeFolder} from '../../folder.js';
import {startRuntime} from '../../local-runtime/with-runtime.js';

const canary = 'canary-key-of-doctor-31c5';

interface Check {
  readonly name: string;
  readonly status: string;
  readonly message: string;
  readonly suggestions: readonly string[];
}

let root: string;
let runtime: LocalRuntime;
beforeEach(async () => {
  root = await makeFolder();
  ({runtime} = await startRuntime({credentials: {apiKey: canary, clientSecret: canary}}));
});
async function doctor(args: readonly string[], env: Readonly<Record<string, string>>) {
  const ended = await runWarm(['doctor', ...args], {cwd: root, env: {HOME: root, ...env}});
  for (const secret of [canary, Buffer.from(canary).toString('base64').replace(/=+$/, '')]) {
    expect(ended.stdout + ended.stderr).not.toContain(secret);
  }
  return ended;
}

/** The checks that were not ok, by their names. */
async function findings(env: Readonly<Record<string, string>>): Promise<Readonly<Record<string, Check>>> {
  const {code, stdout} = await doctor(['--json'], env);
  const {checks, error} = JSON.parse(stdout) as {
    checks?: readonly Check[];
    error?: {code: string; details: {checks: readonly Check[]}};
  };
  const all = checks ?? error?.details.checks ?? [];
  const isBroken = all.some(({status}) => status === 'failed');
  expect({code, error: error?.code}).toEqual(isBroken ? {code: 3, error: 'ERR_CHECK_FAILED'} : {code: 0});
  for (const {status, suggestions} of all) if (status === 'failed') expect(suggestions).not.toEqual([]);
  return Object.fromEntries(all.filter(({status}) => status !== 'ok').map((check) => [check.name, check]));
}

const legacy = (origin: string, key = canary) => ({MYCLI_RUNTIME_ORIGIN: origin, MYCLI_API_KEY: key});

describe('doctor', () => {
  test('finds nothing wrong where a push would work, and tells of every check', async () => {
    await writeFile(join(root, 'mycli.config.json'), '{"projectSlug": "shop"}');
    const {code, stdout} = await doctor([], runtimeEnvironment(runtime));
    expect(code).toBe(0);
    const lines = stdout.split('\n').filter((line) => !line.startsWith(' '));
    expect(lines.map((line) => line.split(/ +/)[1])).toEqual([
      ...['node', 'configuration', 'build', 'credentials', 'credentials'],
      ...['target', 'proxy', 'certificates', 'plugins'],
      undefined,
    ]);
    expect(stdout).toContain(
      `Runtime (OAuth) at ${runtime.origin}: accepted, client ${runtime.credentials.clientId}, token expires in `,
    );
    expect(Object.keys(await findings(runtimeEnvironment(runtime)))).toEqual(['build']);
  });

  test('doctor: names a slug that the backend does not take, unless the other one would', async () => {
    await writeFile(join(root, 'mycli.config.json'), '{"projectSlug": "shop", "targetSlug": "Prod"}');
    const env = runtimeEnvironment(runtime);
    expect(await findings({...env, MYCLI_RUNTIME_BACKEND: 'api'})).toMatchObject({
      configuration: {
        status: 'failed',
        message: expect.stringContaining('requires a target slug of at most 19') as string,
      },
    });
    expect(Object.keys(await findings(env))).toEqual(['build']);
  });

  test('warns where no project is set, and of a project or a target whose name may be a typo', async () => {
    const env = runtimeEnvironment(runtime);
    expect((await findings(env))['configuration']).toMatchObject({
      status: 'warning',
      message: 'No configuration file, and no project is set.',
    });
    await mkdir(join(root, 'build'));
    await writeFile(join(root, 'build', 'index.html'), '');
    const push = ['push', '--project', 'shop', '--target', 'staging'];
    expect(await runWarm(push, {cwd: root, env: {HOME: root, ...env}})).toMatchObject({code: 0});
    const warning = (message: string) => ({
      status: 'warning',
      message,
      suggestions: ['Otherwise, a push may create it.'],
    });
    for (const [project, target, expected] of [
      ['shop', 'staging', undefined],
      ['shpo', 'staging', warning('The project shpo is new. Did you mean shop?')],
      ['shop', 'stagin', warning('The target stagin is new. Did you mean staging?')],
    ] as const) {
      const found = (await findings({...env, MYCLI_PROJECT: project, MYCLI_TARGET: target}))['target'];
      expect(found).toEqual(expected && {name: 'target', ...expected});
    }
    const {stdout} = await doctor(['--project', 'shop', '--target', 'qa'], env);
    expect(stdout).toContain('The target qa is new: the first push may create it.');
    const typo = {...env, MYCLI_PROJECT: 'shop', MYCLI_TARGET: 'stagin'};
    for (const refusing of [{MYCLI_CREATE: 'false'}, {MYCLI_SAFETY: 'no-create'}])
      expect((await findings({...typo, ...refusing}))['target']).toMatchObject({status: 'failed'});
  });

  test('ticks no configuration and no build where there is none', async () => {
    expect(await findings({...legacy(runtime.origin), MYCLI_PROJECT: 'shop'})).toMatchObject({
      configuration: {status: 'skipped', suggestions: ['Write one: mycli init']},
      build: {status: 'skipped', message: `No build in ${root}.`},
    });
    await writeFile(join(root, 'mycli.config.json'), '{}');
    expect(await findings({...legacy(runtime.origin), MYCLI_PROJECT: ''})).toMatchObject({
      configuration: {status: 'warning', suggestions: ['Add projectSlug, or pass --project.']},
    });
  });

  test('says what to do about credentials that are missing, refused, or half', async () => {
    const none = await doctor([], {});
    expect(none.code).toBe(3);
    expect(none.stdout).toMatch(/credentials +The Runtime \(API key\) backend is not .*\n +Run mycli login/);
    const {credentials} = await findings({MYCLI_API_KEY: canary});
    expect(credentials?.message).toContain('missing --origin (MYCLI_RUNTIME_ORIGIN).');
    expect(none.stderr).toBe('Error: 1 of 7 checks failed.\n');
    expect(await findings(legacy(runtime.origin, 'wrong'))).toMatchObject({credentials: {status: 'failed'}});
    const half = await findings({MYCLI_API_ORIGIN: runtime.origin});
    expect(half['credentials']?.message).toContain('incomplete');
  });

  test('doctor: only the backend that is chosen is checked', async () => {
    const env = {...runtimeEnvironment(runtime), MYCLI_API_KEY: 'wrong'};
    expect(await findings(env)).toMatchObject({credentials: {status: 'failed'}});
    expect((await findings({...env, MYCLI_RUNTIME_BACKEND: 'api'}))['credentials']).toBeUndefined();
    const {stdout} = await doctor(['--runtime-backend', 'api'], legacy(runtime.origin));
    expect(stdout).toMatch(
      /missing --api-origin .*\n +The API key that is set is for Runtime \(API key\): drop --runtime-backend api to use it\.\n +Run mycli login --api-origin URL/,
    );
  });

  test('tells of a configuration that is broken, and checks the rest', async () => {
    await writeFile(join(root, 'mycli.config.json'), '{"projektSlug": "shop"}');
    expect(await findings(legacy(runtime.origin))).toMatchObject({
      configuration: {status: 'failed', suggestions: ['Did you mean projectSlug?']},
      credentials: {status: 'skipped'},
    });
  });

  test('tells once of a MYCLI_SAFETY that is wrong', async () => {
    const {stdout} = await doctor([], {...legacy(runtime.origin), MYCLI_SAFETY: 'no-deletes'});
    expect(stdout.match(/MYCLI_SAFETY must be/g)).toHaveLength(1);
    expect(stdout).toMatch(/credentials +Not checked until/);
  });

  test('doctor: tells of the build what a push would', async () => {
    const write = async (path: string, text: string) => {
      await mkdir(dirname(join(root, path)), {recursive: true});
      await writeFile(join(root, path), text);
    };
    await write('package.json', '{"dependencies": {"next": "16"}}');
    const missing = {status: 'warning', suggestions: ['Build the application first: npx next build']};
    expect(await findings(legacy(runtime.origin))).toMatchObject({build: missing});
    await write('.next/BUILD_ID', '');
    expect((await findings(legacy(runtime.origin)))['build']?.suggestions[0]).toContain("Set output: 'standalone'");
    await write('.next/standalone/server.js', '');
    expect((await findings(legacy(runtime.origin)))['build']).toBeUndefined();
    expect((await doctor([], legacy(runtime.origin))).stdout).toMatch(/build +.*standalone is a build of Next\.js\./);
  });

  test('names a plugin that does not work', async () => {
    await using bench = await createPluginBench('broken');
    const {code, stdout} = await bench.mycli(['doctor'], legacy(runtime.origin));
    expect(code).toBe(3);
    expect(stdout).toMatch(
      /plugins +.*mycli-plugin-broken.*\n +Update mycli-plugin-broken, or remove it: mycli plugins:uninstall mycli-plugin-broken\n +Or set/,
    );
  });

  test('doctor: names the plugins that only have hooks or commands', async () => {
    await using bench = await createPluginBench({example: 'freeze'});
    const {stdout} = await bench.mycli(['doctor'], legacy(runtime.origin));
    expect(stdout).toMatch(/plugins +These plugins only add hooks or commands: mycli-plugin-freeze\./);
  });

  test('names a plugin of the project that is not installed', async () => {
    await writeFile(join(root, 'package.json'), '{"devDependencies": {"mycli-plugin-acme": "1"}}');
    expect((await findings(legacy(runtime.origin)))['plugins']).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('The plugin mycli-plugin-acme is in ') as string,
      suggestions: ["Install the project's packages, for example with npm ci."],
    });
    const {stderr} = await runWarm(['list', '--runtime-backend', 'acme', '-p', 'shop'], {cwd: root, env: {}});
    expect(stderr).toContain('but not installed. Install the project');
    expect(stderr).not.toContain('plugins:install');
  });

  test('looks at proxies and certificates', async () => {
    const env = {
      ...legacy('https://runtime.invalid'),
      HTTPS_PROXY: `ftp://user:${canary}@proxy.invalid`,
      NODE_EXTRA_CA_CERTS: join(root, 'absent.pem'),
    };
    expect(await findings(env)).toMatchObject({
      proxy: {status: 'failed', message: 'HTTPS_PROXY is not the URL of an HTTP proxy.'},
      certificates: {status: 'failed', message: expect.stringContaining('cannot be read') as string},
    });
    await writeFile(join(root, 'ca.pem'), 'nothing');
    const empty = await findings({...legacy(runtime.origin), NODE_EXTRA_CA_CERTS: join(root, 'ca.pem')});
    expect(empty).toMatchObject({
      certificates: {message: expect.stringContaining('contains no certificate') as string},
    });
    const open = await findings({...legacy(runtime.origin), NODE_TLS_REJECT_UNAUTHORIZED: '0'});
    expect(open).toMatchObject({certificates: {status: 'warning'}});
  });
});
