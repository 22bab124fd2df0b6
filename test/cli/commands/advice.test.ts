import {mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {beforeEach, describe, expect, test} from 'vitest';
import type {LocalRuntime, LocalRuntimeOptions} from '../../../src/testing.js';
import type {Ended} from '../spawn-cli.js';
import {runWarm} from '../warm-cli.js';
import {makeFolder} from '../../folder.js';
import {startRuntime} from '../../local-runtime/with-runtime.js';

// What commands say when something is missing, and what they say to type next: true, complete, and once.

let root: string;
let project: string;
let runtime: LocalRuntime;

beforeEach(async () => {
  root = await makeFolder({'project/build/ssr.js': 'export default 1;\n'});
  project = join(root, 'project');
  await serve();
});

async function serve(options: LocalRuntimeOptions = {}): Promise<void> {
  ({runtime} = await startRuntime(options));
}

function environment(): Readonly<Record<string, string>> {
  return {
    ...{HOME: root, XDG_DATA_HOME: join(root, 'data'), MYCLI_PROJECT: 'shop', MYCLI_TARGET: 'staging'},
    ...{MYCLI_RUNTIME_ORIGIN: runtime.origin, MYCLI_API_KEY: runtime.credentials.apiKey, MYCLI_POLL_INTERVAL: '0.05'},
  };
}

function mycli(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  return runWarm(args, {cwd: project, env: {...environment(), ...env}});
}

describe('a command to paste', () => {
  test.each([
    ["--project 'shop; touch pwned #'", 'shop; touch pwned #'],
    ['--project=--force', '--force'],
  ])('keeps what a configuration file says one argument: %s', async (quoted, projectSlug) => {
    await writeFile(join(project, 'mycli.config.json'), JSON.stringify({projectSlug}));
    for (const args of [['bundle:deploy', 'latest'], ['bundle:rollback'], ['open'], ['bundle:inspect', '9']]) {
      const {code, stdout} = await mycli([...args, '--json'], {MYCLI_PROJECT: ''});
      const {error} = JSON.parse(stdout) as {readonly error: {readonly suggestions: readonly string[]}};
      const hints = error.suggestions.filter((line) => line.includes('mycli bundle:'));
      expect({args, code, hints}).toEqual({args, code: 7, hints: [expect.stringContaining(quoted)]});
    }
  });
});

describe('an argument', () => {
  test('that is too many is named, and may be the project', async () => {
    const {code, stderr} = await mycli(['list', 'my-shop']);
    expect(code).toBe(2);
    expect(stderr).toContain('Error: Unexpected argument: my-shop\n');
    expect(stderr).toContain('  If it is the project or the target, pass --project my-shop or --target my-shop.\n');
  });

  test.each([['push'], ['bundle:list'], ['bundle'], ['runtime:start'], []])(
    'that looks like a secret is not repeated: %s',
    async (...command) => {
      const secret = 'c4n4ry0123456789abcdef0123456789abcdef01';
      const {code, stdout, stderr} = await mycli([...command, secret, '--json']);
      expect([code, stdout + stderr]).toEqual([
        2,
        expect.stringMatching(/"message": "(?:Unexpected argument|Unknown command|There is no such folder)/),
      ]);
      expect(stdout + stderr).not.toContain(secret);
    },
  );
});

describe('a bundle that is not there', () => {
  const bundleList = '  Run: mycli list';

  test.each([
    ['bundle:deploy', ['bundle:deploy', '99']],
    ['bundle:download', ['bundle:download', '99']],
    ['bundle:inspect', ['bundle:inspect', '99']],
    ['bundle:rollback', ['bundle:rollback', '--to', '99']],
  ])('is named once by %s, with the command that lists those that are', async (_, args) => {
    const {code, stderr} = await mycli([...args, '--quiet']);
    expect(code).toBe(7);
    expect(stderr.split('\n').slice(0, 2)).toEqual(['Error: The project "shop" has no bundle 99.', bundleList]);
    expect(stderr).not.toMatch(/\b404\b/);
  });

  test('is no reason given for a project that the server does not show', async () => {
    await serve({faults: ['404:route=list', '404:route=deploy']});
    const {stderr} = await mycli(['bundle:deploy', '1', '--quiet']);
    expect(stderr).toContain('/target/staging/deploy/: not found (404)');
    expect(stderr).not.toContain('404 Not Found');
  });
});

describe('latest', () => {
  test('is understood wherever a bundle is named', async () => {
    await mycli(['bundle:push', '--v2', '--wait']);
    await mycli(['bundle:push', '--wait']);
    expect((await mycli(['bundle:download', 'latest'])).stdout).toContain(`${join(project, 'bundle-2.tar')}\n`);
    expect(JSON.parse((await mycli(['bundle:inspect', 'latest', '--json'])).stdout)).toMatchObject({bundleId: 2});
    expect(JSON.parse((await mycli(['bundle:rollback', '--json'])).stdout)).toMatchObject({bundleId: 1});
    expect(JSON.parse((await mycli(['bundle:rollback', '--to', 'latest', '--json'])).stdout)).toMatchObject({
      bundleId: 2,
    });
    await mycli(['bundle:push', '--target', 'other']);
    await mycli(['bundle:rollback', '--to', '1', '--target', 'other']);
    const deleted = await mycli(['bundle:delete', 'latest', '--yes', '--json']);
    expect(JSON.parse(deleted.stdout)).toMatchObject({deleted: [3]});
  });
});

describe('what to type next', () => {
  test('is a rollback only where there is something to roll back to', async () => {
    const first = await mycli(['bundle:push', '--wait']);
    expect(first.stdout).not.toContain('Roll back');
    const second = await mycli(['bundle:push', '--wait']);
    expect(second.stdout).toContain('Roll back: mycli rollback\n');
  });

  test('repeats the flags that lead to the backend, and no secret', async () => {
    const {MYCLI_RUNTIME_ORIGIN: origin = '', MYCLI_API_KEY: key = '', ...env} = environment();
    await writeFile(join(project, 'empty.json'), '{}');
    const flags = ['--origin', origin, '--config', 'empty.json', '--runtime-backend', 'legacy'];
    const push = ['bundle:push', '--api-key', key, '--target', 'my target'];
    const {stdout} = await runWarm([...push, ...flags, '--json'], {cwd: project, env});
    expect(JSON.parse(stdout)).toMatchObject({deployed: true, status: 'queued'});
    const quiet = await runWarm([...push, ...flags, '--quiet'], {cwd: project, env});
    expect(quiet.stdout.split('\n')).toEqual([
      expect.stringMatching(/^Pushed bundle 2 to shop in /),
      expect.stringMatching(/^The deployment to my target is queued, not live yet\.$/),
      `${runtime.appsOrigin}/shop/my%20target/`,
      '',
    ]);
    const told = await runWarm([...push, ...flags], {cwd: project, env});
    expect(told.stdout).toContain(
      `mycli status --target 'my target' --runtime-backend legacy --origin ${origin} --config empty.json\n`,
    );
    expect(told.stdout).not.toContain(key);
  });

  test('after a build is the whole command, which needs no --v2', async () => {
    const {stdout} = await mycli(['bundle:build', '--project', 'other-shop']);
    const path = join(project, 'bundle.tar.gz');
    expect(stdout).toContain(`Push it: mycli push --archive ${path} --project other-shop\n`);
    const pushed = await mycli(['bundle:push', '--archive', path, '--project', 'other-shop', '--json']);
    expect(JSON.parse(pushed.stdout)).toMatchObject({archive: {format: 'v2'}, backend: 'legacy'});
  });

  test('after a failed deployment of an unchanged bundle does not claim an upload', async () => {
    await mycli(['bundle:push']);
    await serve({faults: ['500:route=deploy'], dataDirectory: join(root, 'runtime')});
    const again = {...environment(), MYCLI_IF_CHANGED: '1'};
    await runWarm(['bundle:push', '--quiet'], {cwd: project, env: {...again, MYCLI_TARGET: ''}});
    const {code, stderr} = await mycli(['bundle:push', '--quiet'], {MYCLI_IF_CHANGED: '1'});
    expect(code).toBe(7);
    expect(stderr).toContain('Bundle 1 is unchanged, but deploying it to staging failed:');
    expect(stderr).toContain('  To deploy it without another upload, run:\n  mycli deploy 1\n');
  });
});

describe('wrong input', () => {
  test('an option for no backend is refused, and so is a backend that is not there', async () => {
    const unused = await mycli(['bundle:list', '--backend-option', 'region=eu', '--quiet']);
    expect(unused.code).toBe(2);
    expect(unused.stderr).toContain(
      "Error: --backend-option only applies to a plugin's backend, and none is chosen.\n",
    );
    const unknown = await mycli(['backend:list', '--runtime-backend', 'nope', '--quiet']);
    expect(unknown.code).toBe(3);
    expect(unknown.stderr).toContain('Error: Unknown backend: "nope".');
    expect(unknown.stderr).toContain('If a plugin adds it, install the plugin: mycli plugins:install PLUGIN\n');
  });

  test.each([
    ['throws in what it imports', 'mycli.config.ts', 'import "./other.ts";\nexport default {};\n', '(other.ts:2)'],
    [
      'cannot be parsed',
      'mycli.config.ts',
      'export default {\n  target: ,\n};\n',
      'Unexpected token (mycli.config.ts:2:10)',
    ],
  ])('a configuration file that %s is shown with the place', async (_, name, text, place) => {
    await writeFile(join(project, 'other.ts'), '\nthrow new Error("other");\n');
    await writeFile(join(project, name), text);
    const {code, stderr} = await mycli(['bundle:list', '--quiet']);
    expect(code).toBe(3);
    expect(stderr.split('\n')[0]).toContain(place);
  });

  test.each([
    [
      'is not built',
      {oclif: {hooks: {'mycli:backends': './dist/hook.js'}}},
      'mycli-plugin-odd is linked but not built: ./dist/hook.js does not exist. Build it in ',
    ],
    [
      'has commands but no manifest',
      {oclif: {commands: './commands'}},
      'has commands but no oclif.manifest.json, so mycli loads all of them at every start. Run npx oclif manifest in ',
    ],
    [
      'is for another version of mycli',
      {oclif: {}, peerDependencies: {mycli: '>=99'}},
      /requires mycli >=99, but this is mycli \d\S*\. Update mycli, or install a version of the plugin that is made for it\./,
    ],
  ])('a plugin that %s is told apart when it is linked, and by doctor', async (_, more, problem) => {
    const plugin = join(root, 'mycli-plugin-odd');
    await mkdir(join(plugin, 'commands'), {recursive: true});
    await writeFile(
      join(plugin, 'package.json'),
      JSON.stringify({name: 'mycli-plugin-odd', version: '1.0.0', ...more}),
    );
    const {code, stderr} = await mycli(['plugins:link', '--no-install', plugin]);
    expect(code).toBe(0);
    expect(stderr.replaceAll(/[\s›]+/g, ' ')).toMatch(problem);
    const {stdout} = await mycli(['doctor']);
    expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(problem);
  });
});

describe('lists', () => {
  test('an empty list is said once, and an offset beyond the end is told apart', async () => {
    const empty = await mycli(['bundle:list']);
    expect(empty.stderr).toContain('Found no bundles in shop');
    expect(empty.stderr).not.toContain('No bundles');
    await mycli(['bundle:push']);
    const beyond = await mycli(['bundle:list', '--offset', '9']);
    expect(beyond.stderr).toContain('--offset is past the end: there are 1.');
  });
});
