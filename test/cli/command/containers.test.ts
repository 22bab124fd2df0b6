import {execFile} from 'node:child_process';
import {existsSync} from 'node:fs';
import {chmod, chown, cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {promisify} from 'node:util';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {sharedTemporary} from '../../folder.js';
import {binary} from '../spawn-cli.js';

// As in containers that run with any user ID: `docker run --user 54321`.
const user = {uid: 54_321, gid: 54_321};
const repository = join(binary, '../..');

interface Lockfile {
  readonly packages: Readonly<Record<string, {readonly dev?: boolean}>>;
}

let root: string;
let installed: string;
let project: string;
const execute = promisify(execFile);
const asUser = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  execute(process.execPath, args, {...user, cwd: project, env: {PATH: process.env['PATH'], ...env}});

describe.runIf(process.getuid?.() === 0)('a user without an entry in /etc/passwd', () => {
  beforeAll(async () => {
    root = await realpath(await mkdtemp(join(sharedTemporary(), 'mycli-container-')));
    installed = join(root, 'mycli');
    project = join(root, 'project');
    // What users get, because this clone may be in a folder that others cannot enter.
    const {packages} = JSON.parse(await readFile(join(repository, 'package-lock.json'), 'utf8')) as Lockfile;
    const used = Object.keys(packages).filter((path) => path !== '' && packages[path]?.dev !== true);
    for (const path of ['package.json', 'oclif.manifest.json', 'bin', 'dist', ...used]) {
      // Optional ones are for other platforms.
      if (existsSync(join(repository, path)))
        await cp(join(repository, path), join(installed, path), {recursive: true});
    }
    await mkdir(join(project, 'build/static'), {recursive: true});
    await writeFile(join(project, 'build/ssr.js'), 'export default 1;\n');
    await writeFile(join(project, 'build/static/index.html'), '<h1>hello</h1>\n');
    // Whatever the umask.
    await execute('chmod', ['-R', 'a+rX', root]);
    for (const path of [root, project]) await chown(path, user.uid, user.gid);
  });
  afterAll(() => rm(root, {recursive: true}));

  test('goes through a day without a home', async () => {
    const day = `
      mycli() { "$NODE" "$MYCLI" "$@"; }
      mycli init --yes --project shop
      mycli push --target staging --wait --message one
      mycli push --target staging --wait --message two --if-changed
      mycli status --target staging
      mycli history --target staging
      mycli rollback --target staging --wait`;
    const mycli = join(installed, 'bin/run.js');
    const start = [mycli, 'runtime:start', '--deployment-seconds', '0', '--', 'sh', '-ec', day];
    const {stdout, stderr} = await asUser(start, {NODE: process.execPath, MYCLI: mycli});
    expect(stdout).toContain('Deployed bundle 1 to staging of shop');
    expect(stderr).toContain('Warning: Bundle 2 could not be recorded for the next push: permission denied.');
    expect(await readdir(project)).toEqual(['build', 'mycli.config.ts']);
  });

  test('imports the library without a home', async () => {
    const imports = ['index.js', 'testing.js'].map(
      (name) => `import '${pathToFileURL(join(installed, 'dist', name)).href}';`,
    );
    expect(await asUser(['--input-type=module', '--eval', imports.join('')])).toMatchObject({stderr: ''});
  });

  test("takes root's configuration file", async () => {
    await writeFile(join(root, 'mycli.config.json'), '{"projectSlug": "of-root"}');
    await chmod(join(root, 'mycli.config.json'), 0o644);
    const {stdout} = await asUser([join(installed, 'bin/run.js'), 'config:show', '-C', root]);
    expect(stdout).toMatch(/projectSlug +of-root +mycli\.config\.json/);
  });

  test.each([
    ['no HOME', {}, '/'],
    ['an empty HOME', {HOME: ''}, '/'],
    ['a relative HOME', {HOME: 'home'}, '/'],
    ['relative XDG folders', {XDG_CONFIG_HOME: '.', MYCLI_CONFIG_DIR: 'config', XDG_DATA_HOME: 'data'}, '/'],
    ['a HOME that it cannot write to', {HOME: '/proc'}, '/proc'],
  ])('with %s: no folder that others can write to has credentials', async (_what, env, home) => {
    const {stdout} = await asUser([join(installed, 'bin/run.js'), 'auth:status'], env);
    expect(stdout).toContain(`No credentials are stored in ${join(home, '.config/mycli/credentials.json')}.`);
  });
});
