import {once} from 'node:events';
import {existsSync} from 'node:fs';
import {chown, cp, mkdir, readFile, symlink, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import {describe, expect, test} from 'vitest';
import {startRecordingServer} from '../../recording-server.js';
import {binary, runCli, start} from '../spawn-cli.js';
import {createPluginBench, fixturePlugin} from '../with-plugins.js';

const failing = ['absent', 'broken', 'empty', 'errors', 'exits', 'malformed', 'throws'];

const token = 'canary-token-5b1e';

test.runIf(process.getuid?.() === 0).each(['data/mycli/package.json', 'plugin', 'plugin/package.json'])(
  "a user's plugins: none is loaded if %s belongs to another user",
  async (foreign) => {
    await using bench = await createPluginBench();
    const root = join(bench.root, 'plugin');
    await mkdir(root);
    await writeFile(join(root, 'hook.js'), "exports.default = () => console.log('planted');");
    const manifest = {name: 'planted', version: '1.0.0', oclif: {hooks: {init: './hook.js'}}};
    await writeFile(join(root, 'package.json'), JSON.stringify(manifest));
    const list = {oclif: {schema: 1, plugins: [{name: 'planted', root, type: 'link'}]}};
    await writeFile(join(bench.root, 'data/mycli/package.json'), JSON.stringify(list));
    expect((await runCli(binary, ['--version'], bench)).stderr).toContain('planted');
    await chown(join(bench.root, foreign), 12_345, 12_345);
    const {stderr} = await runCli(binary, ['--version'], bench);
    expect(stderr).not.toContain('planted');
    expect(stderr).toMatch(/^Warning: Ignored the plugins listed in .*, because .* belongs to another user\.\n$/);
  },
);

describe('a push through a plugin', () => {
  test('uploads every byte, deploys, waits, and masks its secret options everywhere', async () => {
    await using bench = await createPluginBench('acme');
    const memory = join(bench.root, 'memory');
    const {code, stdout, stderr} = await bench.mycli(
      ['bundle:push', '-t', 'staging', '--wait', '--json', '--debug', '--runtime-backend', 'acme'],
      {MYCLI_BACKEND_OPTION: `memory=${memory},token=${token}`, ACME_KEY: 'canary-key-91'},
    );
    expect(code).toBe(0);
    const document = JSON.parse(stdout) as {archive: {sha256: string}};
    expect(document).toMatchObject({
      backend: 'acme',
      status: 'finished',
      archive: {format: 'v2'},
      warnings: [],
      raw: {bundle: {token: '***', key: '***', issued: '***'}},
    });
    expect(await readFile(memory, 'utf8')).toBe(`${document.archive.sha256} true\n`);
    expect(stderr).toContain('uploading with *** and number retries');
    expect(stderr).toContain('has the key *** and was issued ***');
    for (const secret of [token, 'canary-key-91', 'CANARY-KEY-91']) expect(stdout + stderr).not.toContain(secret);
  });

  test('takes its options from the configuration file under the environment under the command line', async () => {
    await using bench = await createPluginBench('acme');
    const memory = join(bench.root, 'memory');
    const backends = {acme: {memory: '/nowhere/at/all', retries: 'many'}, other: {memory: 1}};
    await writeFile(join(bench.project, 'mycli.config.json'), JSON.stringify({runtimeBackend: 'acme', backends}));
    await writeFile(join(bench.project, 'token.txt'), `${token}\n`);
    const variable = {MYCLI_BACKEND_OPTION: 'token=canary-refused,memory=/nowhere/else'};
    const given = [`memory=${memory}`, 'retries=7', 'token=@token.txt'];
    const options = given.flatMap((option) => ['--backend-option', option]);
    const {code, stdout, stderr} = await bench.mycli(['bundle:push', ...options], variable);
    expect(stdout).toContain('to shop (acme) in ');
    expect(stdout + stderr).toContain('--backend-option token=@token.txt');
    expect(code).toBe(0);
    expect(existsSync(memory)).toBe(true);
    expect(stdout + stderr).not.toContain(token);
  });

  const database = 'mariadb://shop@db.example:3306/other';
  test.each([
    ['eu', 'eu'],
    [database, database],
    ['mariadb://shop:canary@db.example:3306/other', '…'],
  ])('is named in a suggested command with the options that the folder does not give: %s', async (region, shown) => {
    await using bench = await createPluginBench('acme');
    const memory = join(bench.root, 'memory');
    const backends = {acme: {memory, retries: 1, zone: 'a'}};
    await writeFile(join(bench.project, 'mycli.config.json'), JSON.stringify({runtimeBackend: 'acme', backends}));
    await writeFile(join(bench.project, 'token.txt'), `${token}\n`);
    const flags = ['retries=7', 'zone=a', 'token=@token.txt'].flatMap((option) => ['--backend-option', option]);
    const {stdout} = await bench.mycli(['bundle:push', ...flags], {MYCLI_BACKEND_OPTION: `region=${region}`});
    const suggested = /Deploy it: (mycli .*)/.exec(stdout)?.[1] ?? stdout;
    const named = ['retries=7', `region=${shown}`, 'token=@token.txt'].map((option) => `--backend-option ${option}`);
    expect(suggested.slice(suggested.indexOf(' --target SLUG'))).toBe(` --target SLUG ${named.join(' ')}`);
  });

  test('refuses wrong options before anything is built, naming each', async () => {
    await using bench = await createPluginBench('acme');
    const options = ['--backend-option', 'retries=many', '--backend-option', 'token=bad-canary'];
    const {code, stdout, stderr} = await bench.mycli([
      'bundle:push',
      '--runtime-backend',
      'acme',
      '--json',
      ...options,
    ]);
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({
      error: {
        code: 'ERR_OPTION_INVALID',
        details: {problems: ['memory: must be a path', 'retries: must be a number', 'token: *** is no token']},
      },
    });
    expect(stderr).not.toContain('Built');
    expect(stdout + stderr).not.toContain('bad-canary');
  });

  test('ends with an error that names the plugin when it answers wrongly', async () => {
    await using bench = await createPluginBench('liar');
    const {code, stderr} = await bench.mycli(['bundle:push', '--runtime-backend', 'liar']);
    expect(code).toBe(10);
    expect(stderr).toContain(
      'The liar backend of plugin mycli-plugin-liar returned an invalid result while uploading the bundle: bundleId',
    );
  });
});

describe('what a backend cannot do is said before anything is built', () => {
  test.each([
    ['minimal', ['bundle:push', '-t', 'staging'], 'The minimal backend does not support deploying the bundle'],
    ['blind', ['bundle:deploy', 'latest', '-t', 'staging'], 'The blind backend does not support listing the bundles'],
    ['minimal', ['bundle:push', '--v2'], 'The minimal backend does not accept v2 bundles.'],
  ])('%s: %j', async (backend, args, message) => {
    await using bench = await createPluginBench('minimal');
    const {code, stdout, stderr} = await bench.mycli([...args, '--runtime-backend', backend, '--json']);
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({
      error: {code: 'ERR_CAPABILITY_UNSUPPORTED', message: expect.stringContaining(message) as string},
    });
    expect(stderr).not.toContain('Built');
  });
});

describe.concurrent('plugins that fail', () => {
  test('cost a warning each that names them, and nothing else', async () => {
    await using bench = await createPluginBench(...failing, 'minimal');
    const {code, stdout, stderr} = await bench.mycli(['bundle:push', '--runtime-backend', 'minimal', '--json']);
    expect(code).toBe(0);
    const {warnings} = JSON.parse(stdout) as {warnings: string[]};
    expect(warnings.map((warning) => warning.replace(/:.*/s, ''))).toEqual(
      failing.map((name) => `Plugin mycli-plugin-${name}`),
    );
    expect(stderr).toContain('Warning: Plugin mycli-plugin-errors: its mycli:backends hook failed: the hook gave up.');
  });

  test('are part of the error when the wanted backend is missing', async () => {
    await using bench = await createPluginBench(...failing);
    const {code, stdout, stderr} = await bench.mycli(['bundle:push', '--runtime-backend', 'acme', '--json']);
    expect(code).toBe(3);
    const {error} = JSON.parse(stdout) as {error: {code: string; suggestions: string[]}};
    expect(error.code).toBe('ERR_BACKEND_UNKNOWN');
    for (const name of failing) {
      expect(error.suggestions).toContainEqual(expect.stringContaining(`Plugin mycli-plugin-${name}: `));
    }
    expect(stderr).not.toContain('Warning');
  });

  test('that hang, when imported or when called, are given up without the others', async () => {
    await using bench = await createPluginBench('hangs', 'hangs-early', 'minimal');
    const {code, stdout} = await bench.mycli(['bundle:push', '--runtime-backend', 'minimal', '--json']);
    expect(code).toBe(0);
    const {warnings} = JSON.parse(stdout) as {warnings: string[]};
    expect(warnings).toEqual([
      'Plugin mycli-plugin-hangs: its mycli:backends hook failed: no answer within 10 s. The command continues without it.',
      'Plugin mycli-plugin-hangs-early: its mycli:backends hook failed: no answer within 10 s. The command continues without it.',
    ]);
  });

  test('to load one of their commands say which, where, and why', async () => {
    await using bench = await createPluginBench();
    const folder = join(bench.root, 'half');
    const manifest = {name: 'mycli-plugin-half', version: '1.0.0', type: 'module', oclif: {commands: './commands'}};
    await mkdir(join(folder, 'commands'), {recursive: true});
    await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
    await writeFile(join(folder, 'commands/hello.js'), 'throw new Error("no license");\n');
    await bench.mycli(['plugins:link', '--no-install', folder]);
    const {code, stdout} = await bench.mycli(['bundle:build', '--dry-run', '--json']);
    expect(code).toBe(0);
    const reason = `its command hello cannot be loaded: no license (${join(folder, 'commands')}).`;
    const problem = `Plugin mycli-plugin-half: ${reason}`;
    expect(JSON.parse(stdout)).toMatchObject({warnings: [`${problem} The command continues without it.`]});
    const paths = {pluginName: manifest.name, relativePath: ['commands', 'hello.js']};
    const hello = {id: 'hello', args: {}, flags: {}, aliases: [], isESM: true, ...paths};
    const listed = {version: manifest.version, commands: {hello}};
    await writeFile(join(folder, 'oclif.manifest.json'), JSON.stringify(listed));
    expect(await bench.mycli(['hello'])).toMatchObject({code: 1, stderr: `Error: ${problem}\n`});
  });

  test('to be there any more do not end a command', async () => {
    await using bench = await createPluginBench('never-was');
    const {code, stderr} = await bench.mycli(['bundle:build', '--dry-run']);
    expect(code).toBe(0);
    const file = `${fixturePlugin('never-was')}/package.json`;
    expect(stderr).toContain(`Warning: Plugin mycli-plugin-never-was is left out: ${file} does not exist.`);
  });

  test('are left out with MYCLI_SKIP_PLUGINS, which is said', async () => {
    await using bench = await createPluginBench('minimal');
    const env = {MYCLI_SKIP_PLUGINS: '1'};
    const {code, stderr} = await bench.mycli(['bundle:push', '--runtime-backend', 'minimal'], env);
    expect(code).toBe(3);
    expect(stderr).toContain('MYCLI_SKIP_PLUGINS is set');
    expect((await bench.mycli(['plugins'], env)).stdout).toContain('No plugins installed');
  });
});

describe('a plugin among the dependencies of a project', () => {
  test('brings its backend and its commands to every folder of the workspace, and none of ours is replaced', async () => {
    await using bench = await createPluginBench();
    const link = async (name: string, folder: string) => {
      await mkdir(join(bench.root, folder), {recursive: true});
      await symlink(fixturePlugin(name), join(bench.root, folder, `mycli-plugin-${name}`));
    };
    await link('minimal', 'project/node_modules');
    await link('other-core', 'node_modules');
    const manifests = {
      'package.json': {workspaces: ['project'], devDependencies: {'mycli-plugin-other-core': '1'}},
      'project/package.json': {dependencies: {'mycli-plugin-minimal': '1'}},
    };
    for (const [path, manifest] of Object.entries(manifests))
      await writeFile(join(bench.root, path), JSON.stringify(manifest));
    const names = async (args: readonly string[], env = {}) => {
      const {backends} = JSON.parse((await bench.mycli(['backend:list', '--json', ...args], env)).stdout) as {
        readonly backends: readonly {readonly name: string}[];
      };
      return backends.map(({name}) => name);
    };
    expect(await names([])).toEqual(['api', 'legacy', 'minimal', 'blind', 'old']);
    expect(await names(['--cwd', '..'])).toEqual(['api', 'legacy', 'old']);
    expect(await names([], {MYCLI_SKIP_PLUGINS: '1'})).toEqual(['api', 'legacy']);
    expect(JSON.parse((await bench.mycli(['old', '--json'])).stdout)).toEqual({how: 'well'});
    expect((await bench.mycli(['plugins'])).stdout).toContain('mycli-plugin-minimal');
  });
});

describe('a plugin on another major of oclif', () => {
  test('has no alias that is a command of ours, and its errors name its own help', async () => {
    await using bench = await createPluginBench('other-core');
    const all = await bench.mycli(['--help']);
    expect(all.stdout).toMatch(/^ {2}old\b/m);
    expect(all.stdout).toMatch(/^ {2}push, bundle:push\b/m);
    expect((await bench.mycli(['push', '-h'])).stdout).toContain('mycli bundle:push --help for all');
    expect((await bench.mycli(['old', '--help'])).stdout).not.toContain('push');
    const wrong = await bench.mycli(['old', '--nope']);
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain('Unknown flag: --nope');
    expect(wrong.stderr).toContain('mycli old --help');
  });

  test('brings its backend, and its errors are those of a backend', async () => {
    await using bench = await createPluginBench('other-core');
    const {code, stderr} = await bench.mycli(['bundle:push', '--runtime-backend', 'old']);
    expect(code).toBe(7);
    expect(stderr).toContain('The old backend failed while uploading the bundle: the old one is closed.');
  });

  test('brings commands, whose --json is their own', async () => {
    await using bench = await createPluginBench('other-core');
    expect(JSON.parse((await bench.mycli(['old', '--json'])).stdout)).toEqual({how: 'well'});
    const json = await bench.mycli(['old', '--how', 'badly', '--json']);
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toHaveProperty('error');
    expect(await bench.mycli(['old', '--how', 'badly'])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'Error: the old one fell\n',
    });
  });

  test('brings commands whose errors keep their suggestions, reference and exit code', async () => {
    await using bench = await createPluginBench('other-core');
    const {code, stderr} = await bench.mycli(['old', '--how', 'lost']);
    expect(code).toBe(9);
    expect(stderr).toBe('Error: the old one is lost\n  Look in the cellar.\n  See https://old.example\n');
  });

  test('brings commands whose flags and arguments have the shape of the first one', async () => {
    await using bench = await createPluginBench('other-core');
    const given = ['x', '-n', 'me', '--no-force', '--nope'];
    const {code, stdout, stderr} = await bench.mycli(['oldest', ...given]);
    expect({code, stderr}).toEqual({code: 0, stderr: ''});
    expect(JSON.parse(stdout)).toEqual({argv: given, bin: 'mycli'});
    const help = await bench.mycli(['oldest', '--help']);
    expect(help.stdout).toMatch(/\[FIRST\].*-n, --name=<value> +A name.*--\[no-\]force/s);
  });
});

test('an interrupted upload is cleaned up before the process ends, with a client of its own', async () => {
  await using bench = await createPluginBench('tidy');
  const asked: string[] = [];
  let interrupt = () => undefined as unknown;
  await using server = await startRecordingServer(async ({method, path}) => {
    asked.push(`${method} ${path}`);
    if (method === 'PUT') {
      interrupt();
      return new Promise(() => undefined);
    }
    // Longer than a command has without cleanups.
    await delay(1000);
    asked.push('cleaned up');
    return {status: 204};
  });
  const args = ['bundle:push', '--json', '--runtime-backend', 'tidy', '--backend-option', `origin=${server.origin}`];
  const running = start(binary, args, {cwd: bench.project, env: bench.env});
  interrupt = () => running.child.kill('SIGINT');
  const {code, stdout} = await running.ended;
  expect(code).toBe(130);
  // The command has had no time to end, and its ledger tells all the same.
  const message = 'Interrupted by SIGINT. The bundle may have been uploaded.';
  expect(JSON.parse(stdout)).toMatchObject({error: {code: 'ERR_INTERRUPTED', message}});
  expect(asked).toEqual(['PUT /parts', 'DELETE /parts', 'cleaned up']);
});

describe('code of plugins', () => {
  /** Runs something, and tells whether the code of a plugin was loaded. */
  async function loads(args: readonly string[], stop = false): Promise<boolean> {
    await using bench = await createPluginBench('acme');
    const marker = join(bench.root, 'marker');
    const running = start(binary, args, {cwd: bench.project, env: {...bench.env, ACME_MARKER: marker}});
    if (stop && running.child.stdout) {
      await once(running.child.stdout, 'data');
      running.child.kill('SIGINT');
    }
    await running.ended;
    return existsSync(marker);
  }

  test.each([[['--help']], [['plugins']], [['bundle:push']], [['bundle:push', '--runtime-backend', 'legacy']]])(
    'is not loaded by %j',
    async (args) => {
      expect(await loads(args)).toBe(false);
    },
  );

  test('is not loaded by runtime:start', async () => {
    expect(await loads(['runtime:start'], true)).toBe(false);
  });

  test.each([[['bundle:push', '--runtime-backend', 'acme']], [['backend:list']]])('is loaded by %j', async (args) => {
    expect(await loads(args)).toBe(true);
  });
});

describe('plugins of the user', () => {
  test('are linked, listed, inspected and uninstalled', async () => {
    await using bench = await createPluginBench();
    const push = ['bundle:push', '--dry-run', '--runtime-backend', 'acme'];
    const options = {MYCLI_BACKEND_OPTION: 'memory=m,token=t'};
    expect(await bench.mycli(['plugins:link', fixturePlugin('acme'), '--no-install'])).toMatchObject({code: 0});
    expect((await bench.mycli(['plugins'])).stdout).toContain('mycli-plugin-acme 1.2.3 (link)');
    expect((await bench.mycli(['plugins:inspect', 'mycli-plugin-acme'])).stdout).toContain('version 1.2.3');
    expect(await bench.mycli(push, options)).toMatchObject({code: 0});
    expect(await bench.mycli(['plugins:uninstall', 'mycli-plugin-acme'])).toMatchObject({code: 0});
    expect(await bench.mycli(push, options)).toMatchObject({code: 3});
  });

  test('that are not there are an error as all errors are', async () => {
    await using bench = await createPluginBench();
    const {code, stderr} = await bench.mycli(['plugins:inspect', 'nowhere']);
    expect(code).toBe(1);
    expect(stderr).toBe('Error: nowhere not installed\n');
    expect(await bench.mycli(['plugins:link', '/nowhere/at/all'])).toMatchObject({code: 2});
    const {stderr: refusal} = await bench.mycli(['plugins:link', '.']);
    expect(refusal).toMatch(/^Error: This is not a plugin: .*\/project\/package\.json does not exist\.\n/);
  });

  test('cannot be linked or installed where they cannot be stored, which says where that is', async () => {
    await using bench = await createPluginBench();
    const file = join(bench.project, 'file');
    await writeFile(file, '');
    for (const args of [
      ['plugins:link', fixturePlugin('acme'), '--no-install'],
      ['plugins:install', 'acme'],
    ]) {
      const {code, stderr} = await bench.mycli(args, {XDG_DATA_HOME: file});
      expect([code, stderr]).toEqual([3, expect.stringContaining(`${file}/mycli cannot be written: not a directory.`)]);
      expect(stderr).toContain('Plugins are stored in HOME, or in XDG_DATA_HOME if it is set.');
      expect(stderr).not.toContain('ENOTDIR');
    }
  });

  test('are a short list in JSON', async () => {
    await using bench = await createPluginBench('zebra');
    const plugins = JSON.parse((await bench.mycli(['plugins', '--json'])).stdout) as readonly object[];
    const {name, root, type} = {name: 'mycli-plugin-zebra', root: fixturePlugin('zebra'), type: 'link'};
    const expected = {name, version: '1.0.0', type, root, commands: [], hooks: ['mycli:backends']};
    expect(plugins).toContainEqual(expected);
  });
});

test('a push says that another one has deployed after it, and does not advise to roll that back', async () => {
  await using bench = await createPluginBench();
  const root = join(bench.root, 'mycli-plugin-shared');
  const oclif = {hooks: {'mycli:backends': './hook.js'}};
  const hook = `
    const of = (id, more) => ({deployment: {deploymentId: id}, bundleId: 'b' + id, status: 'finished', ...more});
    const backend = {apiVersion: 1, name: 'shared', summary: 'Shared', formats: ['v2'],
      upload: async () => ({bundleId: 'b2', raw: {}}),
      deploy: async () => ({...of(2), raw: {}}),
      listDeployments: async () => ({items: (process.env.LATER ? [3, 2, 1] : [2, 1]).map((id) => of(id))}),
    };
    export default async () => ({backends: [backend]});`;
  await mkdir(root);
  await writeFile(join(root, 'package.json'), JSON.stringify({name: 'mycli-plugin-shared', type: 'module', oclif}));
  await writeFile(join(root, 'hook.js'), hook);
  const plugins = [{name: 'mycli-plugin-shared', root, type: 'link'}];
  await writeFile(join(bench.root, 'data/mycli/package.json'), JSON.stringify({oclif: {schema: 1, plugins}}));
  const push = (env = {}) => bench.mycli(['bundle:push', '--runtime-backend', 'shared', '-t', 'qa'], env);
  const alone = await push();
  expect([alone.code, alone.stdout, alone.stderr]).toEqual([
    0,
    expect.stringContaining('Roll back: '),
    expect.not.stringContaining('after this one'),
  ]);
  const overtaken = await push({LATER: '1'});
  expect([overtaken.code, overtaken.stdout]).toEqual([0, expect.not.stringContaining('Roll back: ')]);
  expect(overtaken.stderr).toContain('Warning: qa runs bundle b3, which was deployed after this one.');
});

test.each(['module', 'commonjs'])('a linked plugin in TypeScript runs without a build (%s)', async (type) => {
  await using bench = await createPluginBench();
  const root = join(bench.root, 'mycli-plugin-typed');
  const files = {
    'package.json': JSON.stringify({
      ...{name: 'mycli-plugin-typed', version: '1.0.0', type},
      oclif: {commands: './dist/commands', hooks: {'mycli:backends': './dist/src/hook.js'}},
    }),
    'src/hook.ts': `
      import {name} from './name.js';
      import type {Nothing} from 'mycli-typed-nothing';
      const upload = async (bundle: {size: number}): Promise<object> => ({bundleId: 'b' + name, raw: {}});
      export default async () => ({backends: [{apiVersion: 1, name, summary: 'Typed', formats: ['v2'], upload}]});`,
    'src/name.ts': "enum Names {typed = 'typed'}\nexport const name: string = Names.typed;\n",
  };
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), {recursive: true});
    await writeFile(join(root, path), content);
  }
  const unbuilt = 'mycli-plugin-typed is linked but not built: ./dist/commands does not exist. Build it in ';
  const linked = await bench.mycli(['plugins:link', '--no-install', root]);
  expect(linked.stderr.replaceAll(/[\s›]+/g, ' ')).toContain(unbuilt);
  const pushed = await bench.mycli(['bundle:push', '--runtime-backend', 'typed']);
  expect(pushed).toMatchObject({code: 0, stdout: expect.stringContaining('Pushed bundle btyped') as string});
  const command = await bench.mycli(['typed:greet']);
  expect(command).toMatchObject({code: 2, stderr: expect.stringContaining(unbuilt) as string});
  await symlink(join(dirname(dirname(binary)), 'node_modules'), join(root, 'node_modules'));
  await mkdir(join(root, 'src/commands/typed'), {recursive: true});
  for (const file of ['typed/greet.ts', 'typed/index.ts']) {
    await writeFile(
      join(root, 'src/commands', file),
      `import {Command, Flags} from '@oclif/core';
      import {name} from '../../name.js';
      export default class Greet extends Command {
        static override flags = {name: Flags.string({default: name})};
        async run(): Promise<void> { this.log('${file} ' + (await this.parse(Greet)).flags.name); }
      }`,
    );
  }
  expect(await bench.mycli(['typed:greet'])).toMatchObject({code: 0, stdout: 'typed/greet.ts typed\n', stderr: ''});
  expect((await bench.mycli(['typed', 'greet', '--name', 'me'])).stdout).toBe('typed/greet.ts me\n');
  expect((await bench.mycli(['typed'])).stdout).toBe('typed/index.ts typed\n');
  expect((await bench.mycli(['typed:greet', '--help'])).stdout).toContain('--name=<value>');
  expect((await bench.mycli(['typed:greet', '--nome', 'x'])).code).toBe(2);
  // What is built is what runs.
  await mkdir(join(root, 'dist/src'), {recursive: true});
  await writeFile(join(root, 'dist/src/hook.js'), 'throw new Error("the built hook");\n');
  expect((await bench.mycli(['bundle:push', '--runtime-backend', 'typed'])).stderr).toContain('the built hook');
});

test('a plugin that a package depends on beside mycli needs no link', async () => {
  await using bench = await createPluginBench();
  const root = dirname(dirname(binary));
  const modules = join(bench.project, 'node_modules');
  await mkdir(join(modules, 'mycli'), {recursive: true});
  for (const name of ['bin', 'dist', 'package.json', 'oclif.manifest.json']) {
    await cp(join(root, name), join(modules, 'mycli', name), {recursive: true});
  }
  await symlink(join(root, 'node_modules'), join(modules, 'mycli/node_modules'));
  await cp(fixturePlugin('minimal'), join(modules, 'mycli-plugin-minimal'), {recursive: true});
  const push = () =>
    runCli(join(modules, 'mycli/bin/run.js'), ['bundle:push', '--dry-run', '--runtime-backend', 'minimal'], {
      cwd: bench.project,
      env: bench.env,
    });
  await writeFile(join(bench.project, 'package.json'), '{"dependencies": {"mycli": "*"}}');
  expect(await push()).toMatchObject({code: 3});
  const dependencies = {mycli: '*', 'mycli-plugin-minimal': '*'};
  await writeFile(join(bench.project, 'package.json'), JSON.stringify({dependencies}));
  expect(await push()).toMatchObject({code: 0});
});

test('bundle:prune keeps what a plugin lists as in use, whatever the histories say', async () => {
  await using bench = await createPluginBench('uses');
  const deletions = join(bench.root, 'deletions');
  const prune = ['bundle:prune', '--keep', '1', '--yes', '--runtime-backend', 'uses', '--json'];
  const {code, stdout, stderr} = await bench.mycli(prune, {MYCLI_BACKEND_OPTION: `deletions=${deletions}`});
  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({kept: 3, deleted: ['unsaid', 'unused']});
  expect(await readFile(deletions, 'utf8')).toBe('unsaid\nunused\n');
});
