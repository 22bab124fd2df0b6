import {basename, dirname, join} from 'node:path';
import {beforeEach, describe, expect, test} from 'vitest';
import {runWarm} from '../warm-cli.js';
import {makeFolder, writeTree} from '../../folder.js';
import {commit, git} from '../../bundle/provenance/repository.js';
import {shellLine} from '../../../src/text/suggest.js';
import {shellWords} from '../shell-words.js';

let project: string;
beforeEach(async () => {
  project = await makeFolder();
});

async function write(files: Readonly<Record<string, string>>) {
  await writeTree(project, files);
}

const build = (...args: readonly string[]) => runWarm(['build', '--dry-run', ...args], {cwd: project, env: {}});

const vite = {
  'package.json': '{"scripts": {"build": "vite build"}, "devDependencies": {"vite": "8"}}',
  'index.html': '<script src="/src/main.js"></script>',
  'src/main.js': '',
};

describe('the folder to push', () => {
  test('push: takes what the framework built, as the static site that it is', async () => {
    await write({...vite, 'dist/index.html': '', 'dist/assets/app.js': ''});
    const {code, stdout, stderr} = await build('--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({files: [{category: 'shared'}, {category: 'shared'}]});
    expect(stderr).toContain('Using dist, the build of Vite.\n');
    expect(stderr).toContain('The build has no server code: bundling it as a static site.');
  });

  test('push: never takes the sources of an application that was not built', async () => {
    await write(vite);
    const {code, stderr} = await build();
    expect(code).toBe(3);
    expect(stderr).toContain('Build the application first: npm run build\n');
    expect(stderr).not.toContain('--build-directory');
    expect((await build('dist')).stderr).toContain('Build the application first: npm run build\n');
  });

  test('push: what builds an application elsewhere is named with its folder', async () => {
    const files = Object.entries(vite).map(([path, text]) => [`apps/a/${path}`, text] as const);
    await write({...Object.fromEntries(files), 'package.json': '{"workspaces": ["apps/*"]}'});
    for (const args of [
      ['push', '-C', 'apps/a', '--project', 'a'],
      ['push', '--project-directory', 'apps/a', '--project', 'a'],
      ['push', '--build-directory', 'apps/a/dist', '--project', 'a'],
      ['push', 'apps/a/dist', '--project', 'a'],
      ['build', 'apps/a/dist'],
      ['build', '-C', 'apps/a'],
      ['diff', 'running:staging', '-C', 'apps/a'],
    ]) {
      const {stderr} = await runWarm(args, {cwd: project, env: {}});
      expect(stderr).toContain(`Build the application first, in ${join('apps', 'a')}: npm run build\n`);
    }
    const {stdout} = await runWarm(['doctor', '-C', 'apps/a'], {cwd: project, env: {}});
    expect(stdout).toContain(`Build the application first, in ${join('apps', 'a')}: npm run build\n`);
    // Others that are built are not meant.
    await write({'apps/b/package.json': '{"devDependencies": {"vite": "5"}}', 'apps/b/dist/index.html': ''});
    const {stderr} = await runWarm(['push', 'apps/a/dist', '--project', 'a'], {cwd: project, env: {}});
    expect(stderr).toContain('Build the application first, in');
    const inside = await runWarm(['build'], {cwd: join(project, 'apps/a'), env: {}});
    expect(inside.stderr).toContain('Build the application first: npm run build\n');
  });

  test('push: names the project below, with a configuration, that a folder is of', async () => {
    await write({'apps/a/mycli.config.json': '{"projectSlug": "a"}', 'apps/a/build/ssr.js': ''});
    const push = (...args: readonly string[]) => runWarm(['push', ...args], {cwd: project, env: {}});
    const {code, stderr} = await push('apps/a/build', '--wait');
    expect(code).toBe(2);
    expect(stderr).toBe(
      'Error: apps/a/build belongs to the project in apps/a.\n  Run mycli push build --wait -C apps/a\n',
    );
    const inProject = await push('-C', 'apps/a', 'build', '--dry-run');
    expect(inProject.stderr).not.toContain('belongs to the project');
    expect((await push('apps/a/build', '--project', 'b', '--dry-run')).stderr).not.toContain('belongs to the project');
  });

  test('push: leaves an application with its own configuration to that, although the root has one', async () => {
    const app = {'package.json': '{"devDependencies": {"vite": "5"}}', 'dist/index.html': ''};
    const below = (name: string) => Object.entries(app).map(([path, text]) => [`apps/${name}/${path}`, text] as const);
    await write({
      ...Object.fromEntries([...below('own'), ...below('shared')]),
      'package.json': '{"workspaces": ["apps/*"]}',
      'mycli.config.json': '{"projectSlug": "root"}',
      'apps/own/mycli.config.json': '{"projectSlug": "own"}',
    });
    const run = (...args: readonly string[]) => runWarm([...args, '--dry-run'], {cwd: project, env: {}});
    for (const [args, folder, advised] of [
      [['push', 'apps/own/dist'], 'apps/own/dist', 'push dist --dry-run'],
      [['push', 'apps/own'], 'apps/own', 'push --dry-run'],
      [['push', '--project-directory', 'apps/own'], 'apps/own', 'push --dry-run'],
      [['preview:up', 'x', '--build-directory', 'apps/own'], 'apps/own', 'preview:up x --dry-run'],
    ] as const) {
      expect(await run(...args)).toMatchObject({
        code: 2,
        stderr: `Error: ${folder} belongs to the project in apps/own.\n  Run mycli ${advised} -C apps/own\n`,
      });
    }
    expect((await run('push', 'apps/own/dist', '--project', 'root')).stdout).toContain('Dry run: would push to root');
    const {stderr} = await run('push');
    const advice = [
      ...['push --dry-run -C apps/own', 'push --project-directory apps/shared --dry-run'],
      ...['preview:up x --dry-run -C apps/own', 'preview:up x --project-directory apps/shared --dry-run'],
    ];
    expect(stderr).toContain(`run mycli ${String(advice[0])} or mycli ${String(advice[1])}\n`);
    expect((await run('preview:up', 'x')).stderr).toContain(
      `run mycli ${String(advice[2])} or mycli ${String(advice[3])}`,
    );
    expect((await run('push', '-C', 'apps/own')).stdout).toContain('Dry run: would push to own');
    expect((await run('push', '--project-directory', 'apps/shared')).stdout).toContain('Dry run: would push to root');
  });

  test('push: refuses the sources of a project, and names the command with its build', async () => {
    await write({...vite, 'dist/index.html': '', 'packages/b/package.json': '{}'});
    const run = (cwd: string, ...args: readonly string[]) => runWarm(args, {cwd, env: {}});
    const refused = await run(project, 'push', '.', '--static', '--dry-run', '--project', 'a');
    expect(refused).toMatchObject({code: 3, stdout: ''});
    expect(refused.stderr).toBe(
      'Error: This folder has the sources of a project, whose build is in dist.\n' +
        '  To use it, run mycli push dist --static --dry-run --project a\n',
    );
    const above = await run(dirname(project), 'push', basename(project), '--project', 'a');
    expect(above.stderr).toContain(`${basename(project)} has the sources of a project`);
    expect(above.stderr).toContain(`run mycli push ${basename(project)}/dist --project a\n`);
    expect((await run(project, 'build', '--build-directory', '.')).stderr).toContain('run mycli build dist\n');
    expect((await run(project, 'diff', 'dist', '.')).stderr).toContain('run mycli diff dist dist\n');
    expect((await build('dist')).code).toBe(0);
    await write({'mycli.config.json': '{"buildDirectory": ".", "ignore": ["*.tar*"]}'});
    for (const args of [['--static'], ['.', '--static']])
      expect((await build(...args)).stdout, 'what the configuration says counts').toContain('dist/index.html');
  });

  test('push: refuses the folder around the configured build', async () => {
    await write({'mycli.config.json': '{"buildDirectory": "public/site", "projectSlug": "a"}', 'notes.md': ''});
    for (const given of ['.', 'public']) {
      await write({'public/site/index.html': ''});
      const {code, stderr} = await build(given, '--static');
      expect(code).toBe(3);
      expect(stderr).toContain('has the sources of a project, whose build is in public/site.\n');
      expect(stderr).toContain('run mycli build public/site --dry-run --static\n');
    }
  });

  test('push: refuses the root of a workspace as the build of an application in it', async () => {
    await write({
      'package.json': '{"workspaces": ["apps/*"]}',
      'apps/a/package.json': '{}',
      'apps/a/dist/index.html': '',
    });
    const {code, stderr} = await build('.', '--static');
    expect(code).toBe(3);
    expect(stderr).toContain('there are builds in apps/a.\n');
  });

  const tools = '{"scripts": {"test": "playwright test"}, "devDependencies": {"vite": "8", "storybook": "9"}}';
  const server = "import express from 'express';\nexport default express();";
  test.each([
    ['a site with a package.json for tools', {'package.json': tools, 'index.html': ''}],
    ['a site with its own documentation', {'package.json': tools, 'index.html': '', 'storybook-static/index.html': ''}],
    ['a site with pages about builds', {'index.html': '', 'build/index.html': '', 'out/index.html': ''}],
    ['a site with pages about output', {'index.html': '', 'dist/index.html': '', 'out/index.html': ''}],
    [
      'a site with the styles that it builds',
      {'package.json': vite['package.json'], 'index.html': '', 'dist/a.css': ''},
    ],
    ['a server with its client', {...vite, 'ssr.js': server, 'dist/index.html': ''}],
    ['a server with the client of another tool', {...vite, 'server.mjs': server, 'dist/index.html': ''}],
  ])('push: takes the folder of a project that is what is to be pushed: %s', async (_, files) => {
    await write({...files, 'mycli.config.json': '{"allowSensitiveFiles": true, "ignore": ["*.tar*"]}'});
    expect(await build('.', '--static', '--json')).toMatchObject({code: 0});
  });

  test('push: at the root of a workspace, names its applications by their folders', async () => {
    const app = {
      'apps/a/package.json': '{}',
      'apps/a/mycli.config.json': '{"projectSlug": "a"}',
      'apps/a/build/ssr.js': '',
    };
    await write({...app, 'package.json': '{"workspaces": ["apps/*"]}'});
    const push = (cwd: string, ...args: readonly string[]) => runWarm(['push', '--dry-run', ...args], {cwd, env: {}});
    const here = await push(project, '--message', 'x');
    expect(here).toMatchObject({code: 3, stdout: ''});
    expect(here.stderr).toBe(
      'Error: This is the root of a workspace with applications in apps/a.\n' +
        '  Choose one of them: run mycli push --dry-run --message x -C apps/a\n' +
        '  To set up the root instead, run mycli init\n',
    );
    expect((await push(project, '-C', 'apps/a')).stderr).not.toContain('workspace');
    const above = await push(dirname(project), '-C', basename(project));
    expect(above.stderr).toContain(`run mycli push --dry-run -C ${shellLine(join(project, 'apps/a'))}\n`);
    expect(above.stderr).toContain(`run mycli init -C ${shellLine(project)}\n`);
    const named = await push(project, '--build-directory', 'apps/a/build');
    expect(named.stderr).toContain('Run mycli push build --dry-run -C apps/a\n');
    expect((await push(project, '--project', 'b')).stderr).not.toContain('workspace');
  });

  test('push: takes the folder that is an argument', async () => {
    await write({'site/index.html': '', 'build/ssr.js': ''});
    expect(JSON.parse((await build('site', '--json')).stdout)).toMatchObject({files: [{path: 'index.html'}]});
    expect((await build('site', '--build-directory', 'build')).stderr).toContain('Pass the build folder once');
    expect((await build('site/index.html')).stderr).toContain('pass --archive site/index.html');
  });

  test('push: stops between a project and that of a configuration above it, and each way out works', async () => {
    const files = {
      'build/ssr.js': '',
      'packages/b/package.json': '{}',
      'packages/b/build/ssr.mjs': '',
      'scripts/x': '',
    };
    await write({...files, '.git/HEAD': '', 'mycli.config.json': '{"projectSlug": "root"}', '.bundleignore': 'static'});
    const from = async (folder: string, ...args: readonly string[]) => {
      const {code, stdout} = await runWarm(['build', '--dry-run', '--json', ...args], {
        cwd: join(project, folder),
        env: {},
      });
      const {files = [], error} = JSON.parse(stdout) as {
        files?: readonly {path: string}[];
        error?: {code: string; suggestions: readonly string[]; details?: object};
      };
      return {code, paths: files.map(({path}) => path), error};
    };
    expect(await from('scripts')).toMatchObject({paths: ['ssr.js']});
    const {code, error} = await from('packages/b');
    expect([code, error?.code]).toEqual([3, 'ERR_CONFIG_INVALID']);
    expect(error?.details).toMatchObject({otherProject: expect.stringMatching(/b$/)});
    const flags = (error?.suggestions ?? []).flatMap((advice) => shellWords(/ pass (-.+)$/.exec(advice)?.[1] ?? ''));
    expect(await from('packages/b', ...flags.slice(0, 2))).toMatchObject({paths: ['ssr.js']});
    expect(await from('packages/b', ...flags.slice(2))).toMatchObject({paths: ['ssr.mjs']});
  });

  test.each(
    [
      ['env:set', 'A=b'],
      ['env:unset', 'A'],
      ['rollback'],
      ['deploy', '1'],
      ['promote', '--from', 'qa'],
      ['target:create', 'qa'],
      ['target:delete', 'qa', '--yes'],
      ['target:invalidate', '/a'],
      ['preview:up', 'b'],
      ['preview:down', 'b', '--yes'],
      ['preview:prune', '--yes'],
      ['bundle:delete', '1', '--yes'],
      ['bundle:prune', '--yes'],
      ['push'],
    ].map((args) => [args.join(' '), args] as const),
  )('a change from another project than that of the configuration is refused: %s', async (_, args) => {
    const config = {projectSlug: 'root', targetSlug: 'staging', origin: 'http://127.0.0.1:1'};
    await write({
      ...{'.git/HEAD': '', 'mycli.config.json': JSON.stringify(config)},
      ...{'other/package.json': '{}', 'other/build/ssr.js': ''},
    });
    const env = {MYCLI_API_KEY: 'key'};
    const {code, stdout} = await runWarm(['-C', 'other', ...args, '--json'], {cwd: project, env});
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({
      error: {code: 'ERR_CONFIG_INVALID', details: {otherProject: join(project, 'other')}},
    });
  });

  test('push: names a folder that does not exist', async () => {
    const {code, stderr} = await build('Build');
    expect(code).toBe(2);
    expect(stderr).toContain('There is no folder Build to bundle.');
    expect(stderr).toContain('If it is a target, leave it out: a build has none.');
    expect(stderr).toContain('If it is the project, pass --project Build.');
    expect(stderr).not.toContain('--target');
  });

  test('push: calls what does not go together by the flags', async () => {
    await write({'build/ssr.js': ''});
    const {stderr} = await build('--static', '--ssr-only', 'a');
    expect(stderr).toContain('--static cannot be combined with patterns, because it shares every file; --ssr-only is');
  });

  test('push: says who gets the files of each category', async () => {
    await write({'build/ssr.js': '', 'build/a.css': ''});
    expect((await build()).stdout).toContain('Anyone can download what is shared or other. The server gets what is');
  });

  test('push: leaves a build to its configuration', async () => {
    await write({'dist/index.html': '', 'dist/app.js': ''});
    await write({'config.server.js': "export default {ssrOnly: ['app.js'], ssrShared: ['index.html']};"});
    const {files} = JSON.parse((await build('dist', '--json')).stdout) as {files: object[]};
    expect(files).toContainEqual(expect.objectContaining({path: 'app.js', category: 'ssrOnly'}));
  });

  test('push: keeps the usual folder where no framework is known', async () => {
    await write({'build/ssr.js': '', 'build/static/a.js': '', 'dist/index.html': ''});
    const {stdout, stderr} = await build('--json');
    expect(JSON.parse(stdout)).toMatchObject({files: [{path: 'ssr.js', category: 'ssrOnly'}, {path: 'static/a.js'}]});
    expect(stderr).not.toContain('Pushing');
  });

  test('push: takes a site beside a build folder of scripts, unless something says what is for the server', async () => {
    await write({'build/webpack.prod.js': '', 'dist/index.html': ''});
    const {stdout, stderr} = await build('--json');
    expect(JSON.parse(stdout)).toMatchObject({files: [{path: 'index.html', category: 'shared'}]});
    expect(stderr).toContain('Using dist, the build of this project.\n');
    expect(JSON.parse((await build('--json', '--ssr-only', '*.js')).stdout)).toMatchObject({
      files: [{path: 'webpack.prod.js', category: 'ssrOnly'}],
    });
  });

  test('push: takes a site with a folder for each language, as init does', async () => {
    await write({'package.json': '{"dependencies": {"@angular/core": "22"}}'});
    await write({'dist/shop/browser/de/index.html': '', 'dist/shop/browser/en/index.html': ''});
    for (const args of [[], ['dist/shop/browser']]) {
      const {files} = JSON.parse((await build('--json', ...args)).stdout) as {files: object[]};
      expect(files).toMatchObject([{category: 'shared'}, {category: 'shared'}]);
    }
  });

  test('bundle:build: a folder that only may be the site has to be named', async () => {
    await write({'public/index.html': '', 'hugo.toml': ''});
    const {code, stderr} = await build();
    expect(code).toBe(3);
    expect(stderr).toContain('To use it, run mycli build public --dry-run\n');
    expect((await build('public')).code).toBe(0);
  });

  test('push: the advice to exclude files, followed, keeps the list of the configuration', async () => {
    await write({
      'index.html': '',
      '.env': 'KEY=1',
      'node_modules/a/index.js': '',
      'mycli.config.json': '{"buildDirectory": ".", "static": true, "ignore": ["node_modules"]}',
    });
    const {code, stderr} = await build();
    expect(code).toBe(3);
    expect(stderr).toContain('Exclude them in .bundleignore.');
    await write({'.bundleignore': '.env\n'});
    const {stdout} = await build('--output', '../bundle.tar.gz', '--json');
    expect(JSON.parse(stdout)).toMatchObject({files: [{path: 'index.html'}]});
  });

  test('build: an archive inside the build is refused with two ways out, both of which work', async () => {
    await write({'index.html': '', 'mycli.config.json': '{"buildDirectory": ".", "static": true}'});
    const run = (...args: readonly string[]) => runWarm(['build', ...args], {cwd: project, env: {}});
    const {code, stderr} = await run();
    expect(code).toBe(3);
    const [, elsewhere = ''] = /Add bundle\.tar\.gz\* to \.bundleignore, or pass (.+)\n/.exec(stderr) ?? [];
    expect(shellWords(elsewhere)).toEqual(['--output', join(dirname(project), 'bundle.tar.gz')]);
    expect((await run('--dry-run', ...shellWords(elsewhere))).code).toBe(0);
    await write({'.bundleignore': 'bundle.tar.gz\n'});
    expect((await run()).code, 'the manifest is not excluded').toBe(3);
    await write({'.bundleignore': 'bundle.tar.gz*\n'});
    expect((await run()).code).toBe(0);
    const again = await run('--json');
    expect(JSON.parse(again.stdout)).toMatchObject({archive: {files: 1}, warnings: []});
  });

  test('push: the command to type has every flag that was typed, but no secret', async () => {
    await write({'public/index.html': '', 'hugo.toml': ''});
    const typed = ['--no-create', '--ignore', 'internal-*', '--ignore=*.map', '-m', 'a b', '--check', '/health'];
    const secret = ['--api-key', 'canary-key-1'];
    const all = [...typed, ...secret, '--project', 'shop', '--target', 'qa', '--origin', 'http://127.0.0.1:1'];
    const {stderr} = await runWarm(['push', ...all, '--idle-timeout', '9', '-w'], {cwd: project, env: {}});
    expect(stderr).toContain(
      "run mycli push public --no-create --ignore 'internal-*' --ignore '*.map' --message 'a b' --check /health " +
        '--idle-timeout 9 --wait --project shop --target qa --origin http://127.0.0.1:1',
    );
    expect(stderr).not.toContain('canary');
  });

  test('bundle:diff reads a folder that it is given as a push would: a static site is one', async () => {
    await write({'dist/index.html': '', 'dist/assets/app.js': ''});
    const run = (...args: readonly string[]) => runWarm(args, {cwd: project, env: {}});
    expect((await run('build', 'dist')).code).toBe(0);
    for (const sources of [
      ['bundle.tar.gz', 'dist'],
      ['dist', 'bundle.tar.gz'],
    ]) {
      const {code, stdout, stderr} = await run('diff', ...sources, '--json');
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({identical: true});
      expect(stderr).toContain('The build has no server code: bundling it as a static site.');
    }
    expect((await run('diff', 'running:a/b', 'dist')).stderr).toContain('Error: running must not contain / or');
  });

  test('bundle:diff refuses to compare the build with itself, and names what it can be compared with', async () => {
    await write({...vite, 'dist/index.html': ''});
    const run = (...args: readonly string[]) => runWarm(['diff', ...args], {cwd: project, env: {}});
    const {code, stderr} = await run('dist', '--exit-code');
    expect(code).toBe(2);
    expect(stderr).toContain('dist is the build that a push would send: it would be compared with itself.\n');
    expect(stderr).toContain('run mycli diff running:TARGET --exit-code\n');
    await write({'mycli.config.json': '{"projectSlug": "shop", "targetSlug": "staging"}'});
    expect((await run('./dist')).stderr).toContain('run mycli diff running:\n');
  });

  test('bundle:diff names itself with the folder that may be the site, doctor nothing that it cannot run', async () => {
    await write({'public/index.html': '', 'hugo.toml': ''});
    const diff = await runWarm(['diff', 'old.tar.gz'], {cwd: project, env: {}});
    expect(diff.stderr).toContain('To use it, run mycli diff old.tar.gz public');
    const doctor = await runWarm(['doctor'], {cwd: project, env: {}});
    expect(doctor.stdout).toContain('The folder public looks like a static site.\n');
    expect(doctor.stdout).not.toContain('mycli push');
  });

  test.each([
    [[], 'mycli preview:up --build-directory public --project shop'],
    [['a b'], "mycli preview:up 'a b' --build-directory public --project shop"],
  ])('preview:up: names itself with the folder that may be the site: %j', async (branch, command) => {
    await write({'public/index.html': ''});
    git(project, 'init', '-q', '-b', 'main');
    commit(project, 'one');
    const env = {MYCLI_API_KEY: 'key', MYCLI_RUNTIME_ORIGIN: 'http://127.0.0.1:1', PATH: process.env['PATH'] ?? ''};
    const {stderr} = await runWarm(['preview:up', ...branch, '--project', 'shop'], {cwd: project, env});
    expect(stderr).toContain(`To use it, run ${command}`);
  });

  test('push: what is missing beside the folder is told in whole sentences, and nothing follows a command', async () => {
    await write({'public/index.html': ''});
    const {stderr} = await runWarm(['push', '--project', 'shop'], {cwd: project, env: {}});
    expect(stderr).toContain(
      'run mycli push public --project shop\n  To use it always, set buildDirectory in mycli.config.\n',
    );
  });
});
