import {execFileSync, spawn} from 'node:child_process';
import {once} from 'node:events';
import {unlinkSync} from 'node:fs';
import {mkdir, rm, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {followLink} from '../../../src/bundle/files/follow-link.js';
import {readIgnoreRules} from '../../../src/bundle/files/ignore-rules.js';
import {scanBuildDirectory} from '../../../src/bundle/files/scan.js';
import {planBundle, type BundlePlan, type BundlePlanOptions} from '../../../src/bundle/index.js';
import {isRuntimeCliError, type RuntimeCliError} from '../../../src/errors/index.js';
import {makeFolder, writeTree, type Tree} from '../../folder.js';
import {planOptions, smallBuild} from '../project.js';
import {shortenTimeLimit} from './shorten-time-limit.js';

const plan = (cwd: string, options: Partial<BundlePlanOptions> = {}): Promise<BundlePlan> =>
  planBundle(planOptions(cwd, options));

const pathsOf = ({files}: BundlePlan): string[] => files.map(({path}) => path);

describe('what is found', () => {
  test('dotfiles are, .git is not, and the order is that of the paths', async () => {
    const cwd = await makeFolder({
      'build/ssr.js': '1',
      'build/.htaccess': '',
      'build/.well-known/x.json': '',
      'build/.git/config': '',
      'build/sub/.git/config': '',
      'build/module/.git': 'gitdir: elsewhere',
      'build/.gitignore': 'ssr.js',
      'build/a/b.js': '',
      'build/a.js': '',
    });
    expect(pathsOf(await plan(cwd))).toEqual([
      '.gitignore',
      '.htaccess',
      '.well-known/x.json',
      'a.js',
      'a/b.js',
      'ssr.js',
    ]);
  });

  test('a folder with nothing in it is kept, unless a rule leaves it out', async () => {
    const cwd = await makeFolder({...smallBuild, 'build/ignored/file': '', 'build/.runtime/config.json': '{}'});
    for (const folder of ['build/logs', 'build/a/b', 'build/left-out'])
      await mkdir(join(cwd, folder), {recursive: true});
    const {emptyFolders, files} = await plan(cwd, {ignore: ['ignored/*', 'left-out']});
    expect(emptyFolders).toEqual(['a/b', 'logs']);
    expect(files).toHaveLength(3);
    await rm(join(cwd, 'build/.runtime/config.json'));
    expect((await plan(cwd)).emptyFolders).not.toContain('.runtime');
  });

  test('names that mean something to a glob are plain names', async () => {
    const names = ['(a)', '*.js', '[x].js', '{a,b}', '!not', '@(x)', 'C:x', '..twice', 'a b', 'café', 'ssr.js', '😀'];
    const cwd = await makeFolder(Object.fromEntries(names.map((name) => [`[b] {u}/!(x)/${name}`, 'x'])));
    const found = await plan(cwd, {buildDirectory: '[b] {u}/!(x)'});
    expect(pathsOf(found).sort()).toEqual(names.sort());
    expect(found.totalBytes).toBe(names.length);
  });

  test('the build folder may be a symbolic link', async () => {
    const cwd = await makeFolder({'elsewhere/ssr.js': '1'});
    await symlink('elsewhere', join(cwd, 'build'));
    await symlink(join(cwd, 'elsewhere/ssr.js'), join(cwd, 'elsewhere/link'));
    const {files} = await plan(cwd);
    expect(files.map(({path, linkTarget}) => [path, linkTarget])).toEqual([
      ['link', 'ssr.js'],
      ['ssr.js', undefined],
    ]);
  });

  test('links that stay inside are kept as links, and not followed', async () => {
    const cwd = await makeFolder(smallBuild);
    await symlink('../ssr.js', join(cwd, 'build/server/link.js'));
    await symlink('.', join(cwd, 'build/here'));
    await symlink('gone.js', join(cwd, 'build/dangling'));
    await symlink(join(cwd, 'build/ssr.js'), join(cwd, 'build/server/absolute.js'));
    await symlink(join(cwd, 'build/'), join(cwd, 'build/root'));
    // A rule for folders is not for links to them.
    const {files, warnings} = await plan(cwd, {ignore: ['here/']});
    const links = files.filter(({linkTarget}) => linkTarget !== undefined);
    expect(links.map(({path, linkTarget, size}) => [path, linkTarget, size])).toEqual([
      ['dangling', 'gone.js', 0],
      ['here', '.', 0],
      ['root', '.', 0],
      ['server/absolute.js', '../ssr.js', 0],
      ['server/link.js', '../ssr.js', 0],
    ]);
    expect(files).toHaveLength(8);
    expect(warnings).toEqual([expect.stringContaining('dangling is a symbolic link to gone.js')]);
  });
});

describe('what mycli wrote is left out, and told', () => {
  test('of this run and of earlier ones, by what it begins with', async () => {
    const data = {bundles: '1/archive', sites: 'a/b', temporary: 'x'};
    const cwd = await makeFolder({
      ...smallBuild,
      'build/now.txt': '',
      'build/run.log': '{"version":1,"sequence":1,"time":"2026-01-02T03:04:05.678Z","type":"step"}\n',
      'build/access.txt': `mycli-access-${'Aa0-_'.repeat(6)}xy\n`,
      'build/shown.out': `It is:\nx-sfdc-access-control: mycli-access-${'x'.repeat(32)}\n`,
      'build/vars.sh': 'MYCLI_API_KEY=1\n',
      'build/deploy.env': '# of CI\nOTHER="two\nlines"\nMYCLI_BUNDLE_ID=1\n',
      'build/out/site.tgz': 'an archive',
      'build/out/site.tgz.json': '{\n  "schemaVersion": 1,\n  "format": "v2"\n}',
      ...Object.fromEntries(Object.entries(data).map(([folder, file]) => [`build/runtime/${folder}/${file}`, ''])),
      'build/runtime/credentials.json': '{}',
      'build/notes.txt': 'Set MYCLI_ORIGIN.\nMYCLI_URL=x\n',
      'build/schema.json': '{"schemaVersion": 1}',
      'build/bundles/sites': '',
    });
    const {files, emptyFolders, warnings} = await plan(cwd, {ownFiles: [join(cwd, 'build/now.txt')]});
    expect(files.map(({path}) => path)).toEqual([
      ...['bundles/sites', 'notes.txt', 'schema.json', 'server/render.js', 'ssr.js', 'static/app.js'],
    ]);
    expect(emptyFolders).toEqual([]);
    expect(warnings).toEqual([
      expect.stringMatching(
        /^Left out what mycli wrote: access\.txt, deploy\.env, now\.txt, out\/site\.tgz\.json, run\.log.*/,
      ),
      'Left out the data of a local runtime: runtime.',
    ]);
  });

  test('what mycli reads in the root of the build is left out without a word', async () => {
    const names = ['.bundleignore', 'mycli.config.ts', 'mycli.config.cjs', 'mycli.config.json'];
    const own = Object.fromEntries(names.map((name) => [`build/${name}`, name === '.bundleignore' ? '*.map' : '']));
    const cwd = await makeFolder({...smallBuild, ...own, 'build/a/.bundleignore': '', 'build/mycli.config.d': ''});
    const {files, warnings} = await plan(cwd);
    expect(files.map(({path}) => path)).toEqual([
      ...['a/.bundleignore', 'mycli.config.d', 'server/render.js', 'ssr.js', 'static/app.js'],
    ]);
    expect(warnings).toEqual([]);
  });
});

test('version control data is left out; that of Subversion and Mercurial is told', async () => {
  const cwd = await makeFolder({...smallBuild, 'build/.git/x': '', 'build/.hg/x/y': '', 'build/static/.svn/z': ''});
  const {files, warnings} = await plan(cwd);
  expect(files).toHaveLength(3);
  expect(warnings).toEqual([expect.stringMatching(/^Left out version control data: (?=.*\.hg)(?=.*static\/\.svn)/)]);
});

describe('what cannot be archived is named, all of it at once', () => {
  test('links that leave, that lead in a circle, and that other systems read differently', async () => {
    const cwd = await makeFolder({...smallBuild, 'secret.txt': 'x'});
    const links = {'a.js': '../secret.txt', 'b.js': '/etc/hosts', 'c/d': 'd', 'e.js': 'C:x.js', 'f.js': '..\\x'};
    await mkdir(join(cwd, 'build/c'));
    for (const [name, target] of Object.entries(links)) await symlink(target, join(cwd, 'build', name));
    for (let hop = 0; hop <= 40; hop += 1) await symlink(`h${String(hop + 1)}`, join(cwd, `build/h${String(hop)}`));
    const unsupported = await plan(cwd).catch((error: unknown) => error);
    expect(unsupported).toMatchObject({code: 'ERR_FILE_UNSUPPORTED', exitCode: 3});
    expect((unsupported as RuntimeCliError).details).toEqual({
      files: [
        {path: 'a.js', reason: 'is a symbolic link to ../secret.txt, which leads outside the build folder'},
        {path: 'b.js', reason: 'is a symbolic link to /etc/hosts, which leads outside the build folder'},
        {path: 'c/d', reason: 'is a symbolic link to d, which loops, or leads through too many others'},
        {path: 'e.js', reason: 'is a symbolic link to C:x.js, a target that other systems read differently'},
        {path: 'f.js', reason: 'is a symbolic link to ..\\x, a target that other systems read differently'},
        {path: 'h0', reason: 'is a symbolic link to h1, which loops, or leads through too many others'},
      ],
    });
  });

  test('pipes and sockets, without waiting for them', async () => {
    const cwd = await makeFolder(smallBuild);
    execFileSync('mkfifo', [join(cwd, 'build/pipe')]);
    // From its folder, because the path of a socket has at most 108 bytes.
    const listen = "require('node:net').createServer().listen('socket', () => console.log('listening'))";
    const server = spawn(process.execPath, ['--eval', listen], {cwd: join(cwd, 'build')});
    onTestFinished(() => void server.kill());
    await once(server.stdout, 'data');
    await expect(plan(cwd)).rejects.toMatchObject({
      code: 'ERR_FILE_UNSUPPORTED',
      message: expect.stringMatching(/pipe is a named pipe; socket is a socket/),
      suggestions: [expect.stringContaining('.bundleignore')],
    });
    expect(pathsOf(await plan(cwd, {ignore: ['pipe', 'socket']}))).toHaveLength(3);
  });

  test.each([
    ['a backslash', 'a\\b.js', 'a\\b.js has a backslash'],
    ['a line break', 'a\nb.js', '"a\\nb.js" has a control character'],
    ['a line separator', 'a\u2028b.js', 'a control character or line break'],
    ['a line break in the name of its directory', 'a\nb/c.js', '"a\\nb" has a control character'],
  ])('a name with %s', async (_what, name, message) => {
    const cwd = await makeFolder({...smallBuild, [`build/${name}`]: ''});
    await expect(plan(cwd)).rejects.toMatchObject({
      code: 'ERR_FILE_UNSUPPORTED',
      message: expect.stringContaining(message),
    });
    expect(pathsOf(await plan(cwd, {ignore: ['a?b*']}))).toHaveLength(3);
  });

  test('ten of them, and how many more there are', async () => {
    const names = Array.from({length: 12}, (_, index) => `build/${String(index)}\\.js`);
    const cwd = await makeFolder({...smallBuild, ...Object.fromEntries(names.map((name) => [name, '']))});
    await expect(plan(cwd)).rejects.toMatchObject({
      message: expect.stringMatching(/: (?:\d+\\\.js has a backslash[^;]*; ){10}and 2 more\.$/),
      details: {files: expect.objectContaining({length: 12})},
    });
  });

  test.each(['**/a'.repeat(6), 'a'.repeat(1001)])('an ignore rule that could take too long: %s', async (rule) => {
    const problem = 'has more than 5 ** or 1000 characters';
    const cwd = await makeFolder({...smallBuild, '.bundleignore': `# one\n\n*.map\n${rule}\n`});
    await expect(plan(cwd)).rejects.toMatchObject({
      code: 'ERR_PATTERN_INVALID',
      exitCode: 3,
      message: expect.stringContaining(`in ${join(cwd, '.bundleignore')}, line 4, ${problem}.`),
    });
    await rm(join(cwd, '.bundleignore'));
    await expect(plan(cwd, {ignore: [rule]})).rejects.toMatchObject({message: expect.stringContaining(` ${problem}.`)});
  });

  test('ignore rules that do take too long', async () => {
    shortenTimeLimit();
    const cwd = await makeFolder({...smallBuild, [`build/${'x/'.repeat(100)}q`]: ''});
    const ignore = ['**/*x/**/*x/**/*x/**/*x/**/*x/y'];
    await expect(plan(cwd, {ignore})).rejects.toMatchObject({
      code: 'ERR_PATTERN_INVALID',
      message: 'Matching the ignore rules against all files takes too long.',
    });
  });

  test('but what is in a directory that is left out is not', async () => {
    const cwd = await makeFolder({...smallBuild, 'build/a\\b/c.js': ''});
    expect(pathsOf(await plan(cwd, {ignore: ['a?b/']}))).toHaveLength(3);
  });

  test.skipIf(process.getuid?.() !== 0)('devices', async () => {
    const cwd = await makeFolder(smallBuild);
    execFileSync('mknod', [join(cwd, 'build/null'), 'c', '1', '3']);
    await expect(plan(cwd)).rejects.toMatchObject({
      code: 'ERR_FILE_UNSUPPORTED',
      message: expect.stringMatching(/: null is a device\.$/),
    });
  });

  test('names that are not UTF-8, of files and directories', async () => {
    const cwd = await makeFolder(smallBuild);
    await writeFile(Buffer.concat([Buffer.from(join(cwd, 'build/bad')), Buffer.from([0xff])]), '');
    await mkdir(Buffer.concat([Buffer.from(join(cwd, 'build/dir')), Buffer.from([0xff])]));
    await expect(plan(cwd)).rejects.toMatchObject({
      code: 'ERR_FILE_UNSUPPORTED',
      message: expect.stringMatching(/bad\uFFFD has a name that is not UTF-8.*dir\uFFFD|dir\uFFFD.*bad\uFFFD/s),
    });
  });
});

describe('the build folder', () => {
  test('must be there', async () => {
    const cwd = await makeFolder();
    await expect(plan(cwd)).rejects.toMatchObject({
      code: 'ERR_BUILD_DIRECTORY',
      message: `The build folder ${join(cwd, 'build')} does not exist.`,
      suggestions: [expect.stringContaining('buildDirectory')],
    });
  });

  test.each(['dist', 'out', '.output', '.next/standalone'])('is missed beside %s, which is named', async (folder) => {
    const cwd = await makeFolder({[`app/${folder}/index.html`]: '', 'app/_site/.gitignore': '*'});
    await expect(plan(join(cwd, 'app'))).rejects.toMatchObject({
      code: 'ERR_BUILD_DIRECTORY',
      suggestions: [
        `The folder ${folder} looks like a static site. To use it, run mycli bundle:push ${folder}`,
        'To use it always, set buildDirectory in mycli.config.',
      ],
    });
    await expect(plan(cwd, {buildDirectory: 'app/build'})).rejects.toMatchObject({
      suggestions: [
        `The folder app/${folder} looks like a static site. To use it, run mycli bundle:push app/${folder}`,
        expect.anything(),
      ],
    });
  });

  test('must be a directory', async () => {
    const cwd = await makeFolder({build: 'a file'});
    await expect(plan(cwd)).rejects.toMatchObject({
      code: 'ERR_BUILD_DIRECTORY',
      message: `The build folder ${join(cwd, 'build')} is a file.`,
      suggestions: [expect.stringContaining('buildDirectory')],
    });
    await expect(plan(cwd, {buildDirectory: 'build/below'})).rejects.toMatchObject({
      code: 'ERR_BUILD_DIRECTORY',
      message: `The build folder ${join(cwd, 'build/below')} can't be read: not a directory.`,
    });
  });

  test('must not be empty', async () => {
    const cwd = await makeFolder();
    await mkdir(join(cwd, 'build/empty'), {recursive: true});
    await expect(plan(cwd)).rejects.toMatchObject({
      code: 'ERR_BUILD_DIRECTORY',
      message: expect.stringContaining('is empty'),
      suggestions: [expect.stringContaining('Build the application first')],
    });
  });

  test('must have more than what mycli wrote', async () => {
    const cwd = await makeFolder({'build/vars.sh': 'MYCLI_API_KEY=1\n'});
    await expect(plan(cwd)).rejects.toMatchObject({
      code: 'ERR_BUILD_DIRECTORY',
      message: `The build folder ${join(cwd, 'build')} contains only what mycli wrote: vars.sh.`,
    });
  });

  test('must not be the data folder of a local runtime', async () => {
    const cwd = await makeFolder(smallBuild);
    for (const name of ['bundles', 'sites', 'temporary']) await mkdir(join(cwd, 'build', name));
    await writeFile(join(cwd, 'build/credentials.json'), '{}');
    await expect(plan(cwd)).rejects.toMatchObject({
      code: 'ERR_BUILD_DIRECTORY',
      message: `The build folder ${join(cwd, 'build')} has the data of a local runtime, which is never pushed.`,
      suggestions: [
        expect.stringMatching(/^Remove bundles, sites, temporary, credentials\.json, port\.json, state\.json from it/),
      ],
    });
  });

  test('must have something that is not ignored', async () => {
    const cwd = await makeFolder({'build/sub/a.map': ''});
    await expect(plan(cwd, {ignore: ['sub/']})).rejects.toMatchObject({
      code: 'ERR_BUILD_DIRECTORY',
      message: expect.stringContaining('only ignored files (1)'),
    });
  });
});

describe('ignoring', () => {
  const build = {
    ...smallBuild,
    'build/static/app.js.map': '',
    'build/static/keep.map': '',
    'build/static/App.MAP': '',
    'build/notes/a.md': '',
  };

  test('a rule that begins with the build folder is told once, with the right one', async () => {
    const cwd = await makeFolder({...build, '.bundleignore': '/build/static/*.map\nnothing-of-it\n'});
    const {warnings} = await plan(cwd);
    expect(warnings.filter((warning) => warning.includes('ignore rule'))).toEqual([
      'The ignore rule "/build/static/*.map" matches nothing: rules are relative to the build folder. Write "/static/*.map".',
    ]);
  });

  test('.bundleignore of the project, then of the build, then --ignore; the last rule wins', async () => {
    const cwd = await makeFolder({
      ...build,
      '.bundleignore': '\uFEFF# maps\r\n*.map\r\n/notes/\r\n',
      'build/.bundleignore': '!keep.map\n.bundleignore\n',
    });
    expect(pathsOf(await plan(cwd))).toEqual([
      'server/render.js',
      'ssr.js',
      'static/App.MAP',
      'static/app.js',
      'static/keep.map',
    ]);
    expect(pathsOf(await plan(cwd, {ignore: ['static/keep.map', '*.MAP']}))).toEqual([
      'server/render.js',
      'ssr.js',
      'static/app.js',
    ]);
  });

  test('rules of the project are about paths in the build', async () => {
    const cwd = await makeFolder({...build, 'app/.bundleignore': '/static/*.map\n'});
    expect(pathsOf(await plan(cwd, {projectDirectory: 'app'}))).not.toContain('static/app.js.map');
  });

  test('rules match names in either Unicode form', async () => {
    const [composed, decomposed] = ['Gr\u00fc\u00dfe.md', 'Gru\u0308\u00dfe.md'];
    const cwd = await makeFolder({...smallBuild, [`build/a/${composed}`]: '', [`build/b/${decomposed}`]: ''});
    for (const rule of [composed, decomposed]) expect(pathsOf(await plan(cwd, {ignore: [rule]}))).toHaveLength(3);
  });

  test('a folder that a rule excludes is never entered', async () => {
    const cwd = await makeFolder({...smallBuild, 'build/lost+found/x': '', 'build/a/lost+found': 'a file'});
    const entered: string[] = [];
    const rules = await readIgnoreRules([], ['lost+found/']);
    await scanBuildDirectory(join(cwd, 'build'), {
      patterns: [],
      mark(found) {
        entered.push(...found.map(({path}) => path));
        return rules.mark(found);
      },
    });
    expect(entered).toContain('a/lost+found');
    expect(entered).not.toContain('lost+found/x');
  });

  test('a .bundleignore that cannot be read is an error', async () => {
    const cwd = await makeFolder({...build, '.bundleignore/x': ''});
    await expect(plan(cwd)).rejects.toMatchObject({
      code: 'ERR_CONFIG_INVALID',
      message: `${join(cwd, '.bundleignore')} cannot be read: it is not a regular file.`,
      cause: expect.any(Error),
    });
  });

  test.each([
    ['a default entry point', {ignore: ['ssr.*']}, '"ssr.*" excludes ssr.js'],
    ['a given one', {ssrOnly: ['server/render.js', 'ssr.js'], ignore: ['render.js']}, 'excludes server/render.js'],
    ['all that a pattern matches', {ssrOnly: ['server/*.js', 'ssr.js'], ignore: ['server/']}, '"server/*.js"'],
  ])('a rule that hits %s is an error', async (_what, options, message) => {
    const cwd = await makeFolder(build);
    await expect(plan(cwd, options)).rejects.toMatchObject({
      code: 'ERR_SSR_ENTRY_MISSING',
      message: expect.stringContaining(message),
      suggestions: [expect.stringMatching(/\.bundleignore or --ignore.*--ssr-only/)],
      details: expect.objectContaining({
        rule: expect.any(String),
        pattern: expect.any(String),
        path: expect.any(String),
      }),
    });
  });
});

test('a rule that hits source maps, which a framework lists among its server files, is fine', async () => {
  const files = {'package.json': '{"dependencies": {"@a/pwa-kit-dev": "3"}}', '.bundleignore': '*.map\n'};
  const cwd = await makeFolder({...files, 'build/ssr.js': '', 'build/ssr.js.map': '', 'build/static/a.js': ''});
  expect((await plan(cwd)).files.map(({path}) => path)).toEqual(['ssr.js', 'static/a.js']);
  await expect(plan(cwd, {ignore: ['ssr.js']})).rejects.toMatchObject({
    code: 'ERR_SSR_ENTRY_MISSING',
    details: {rule: 'ssr.js'},
  });
});

test('a rule that hits a folder with the entry of a framework is an error, one that hits dot files is not', async () => {
  const files = {'package.json': '{"dependencies": {"nuxt": "4"}}', 'build/nitro.json': '{}'};
  const nuxt = await makeFolder({...files, 'build/server/index.mjs': '', 'build/public/a.js': ''});
  await expect(plan(nuxt, {ignore: ['server/']})).rejects.toMatchObject({
    code: 'ERR_SSR_ENTRY_MISSING',
    details: {path: 'server/', rule: 'server/'},
  });
  const cwd = await makeFolder({...smallBuild, 'build/server/.cache': ''});
  expect(pathsOf(await plan(cwd, {ignore: ['.cache']}))).toHaveLength(3);
});

describe('files that may hold secrets', () => {
  const failure = async (cwd: string, options: Partial<BundlePlanOptions> = {}): Promise<RuntimeCliError> => {
    const error: unknown = await plan(cwd, options).catch((reason: unknown) => reason);
    if (!isRuntimeCliError(error)) throw new Error('it did not fail', {cause: error});
    return error;
  };
  const secret = [
    '.env',
    '.env.production',
    'conf/.npmrc',
    'conf/id_rsa',
    'conf/tls.key',
    'conf/tls.pem',
    'a.p12',
    'ID_RSA',
    ...['prod.env', '.dev.vars', '.netrc', 'a/_netrc', '.git-credentials', '.pgpass', 'a/.aws/credentials', 'a/.boto'],
    ...['.docker/config.json', '.kube/config', 'dw.json', '.mobify', '.mobify--cloud.example', 'a.tfstate', 'a.tfvars'],
    ...['contact.php', 'api/mail.phtml'],
  ];
  const harmless = [
    ...['.env.example', '.env.production.sample', 'monkey', 'id_rsa.pub', 'key.js', 'x.npmrc', 'example.env'],
    ...['.dev.vars.example', 'aws/credential', 'docker/conf.json', 'sub.dw.json', 'app-key.json', 'environment.ts'],
    'node_modules/a/b.php',
  ];
  const treeOf = (names: readonly string[], content = ''): Tree =>
    Object.fromEntries([...names, 'ssr.js'].map((name) => [`build/${name}`, content]));

  test('are an error that names all of them where they are not server-only', async () => {
    const cwd = await makeFolder(treeOf([...secret, ...harmless]));
    const error = await failure(cwd);
    expect(error).toMatchObject({
      code: 'ERR_SENSITIVE_FILES',
      exitCode: 3,
      details: {files: secret.toSorted(), count: secret.length},
    });
    expect(error.message).toMatch(/: \.dev\.vars \(an application's settings\), .* and 15 more\.$/);
    for (const name of harmless) expect(error.message).not.toContain(name);
    expect(error.suggestions.join(' ')).toMatch(
      /Exclude them in \.bundleignore.*--ssr-only.*allowSensitiveFiles: true/,
    );
  });

  test('are a warning where they are server-only, and where they are allowed', async () => {
    const cwd = await makeFolder(treeOf(secret));
    const patterns = {ssrOnly: ['**/*', '**/.*', '**/.*/**'], ssrShared: []};
    for (const {warnings, files} of [
      await plan(cwd, patterns),
      await plan(cwd, {ssrOnly: ['ssr.js'], ssrShared: [], allowSensitiveFiles: true}),
    ]) {
      expect(files).toHaveLength(secret.length + 1);
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toMatch(/: \.dev\.vars, .* and 15 more\..* Exclude them in \.bundleignore/);
    }
  });

  test.each([
    ['a certificate', '-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----\n', true],
    ['a public key', '-----BEGIN PUBLIC KEY-----\n', true],
    ['a private key', '-----BEGIN PRIVATE KEY-----\n', false],
    ['a private key behind a chain', '-----BEGIN CERTIFICATE-----\n\n-----BEGIN RSA PRIVATE KEY-----\n', false],
    ['something unreadable', '\0 bytes', false],
    ['more than anyone reads', `-----BEGIN CERTIFICATE-----${'\n'.repeat(300_000)}`, false],
  ])('are told from %s of the same name by what they hold', async (_what, content, harmlessContent) => {
    const cwd = await makeFolder({...smallBuild, 'build/tls.pem': content});
    if (harmlessContent) expect((await plan(cwd)).warnings).toEqual([]);
    else expect(await failure(cwd)).toMatchObject({code: 'ERR_SENSITIVE_FILES'});
  });

  test.each(['app-key.json', 'static/service_account.json', 'shop-0a1b2c3d4e5f.json', 'credentials.json'])(
    '%s is one if it has a private key',
    async (name) => {
      const cwd = await makeFolder({
        ...smallBuild,
        [`build/${name}`]: '{"type": "service_account", "private_key": "x"}',
      });
      expect((await failure(cwd)).message).toContain(`${name} (a service account key)`);
      await writeTree(cwd, {[`build/${name}`]: '{"key": "x"}'});
      expect((await plan(cwd)).warnings).toEqual([]);
    },
  );

  test('have advice that, followed, keeps the server private', async () => {
    const cwd = await makeFolder({...smallBuild, 'build/.env': 'KEY=1', 'build/static/tls.key': 'KEY'});
    const {suggestions} = await failure(cwd);
    const [, list = ''] = /--ssr-only '([^']+)'/.exec(suggestions.join(' ')) ?? [];
    const {files} = await plan(cwd, {ssrOnly: list.split(',')});
    expect(files.filter(({ssrOnly}) => !ssrOnly).map(({path}) => path)).toEqual(['static/app.js']);
    expect(
      (await failure(cwd, {static: true, allowSensitiveFiles: false, ignore: ['*.js']})).suggestions.join(' '),
    ).not.toMatch(/--ssr-only/);
  });
});

test('executable files are told by the bit of their owner', async () => {
  const cwd = await makeFolder(smallBuild);
  await writeTree(cwd, {'build/bin.sh': '#!/bin/sh\n'});
  execFileSync('chmod', ['0700', join(cwd, 'build/bin.sh')]);
  execFileSync('chmod', ['0611', join(cwd, 'build/ssr.js')]);
  const {files} = await plan(cwd);
  expect(files.filter(({executable}) => executable).map(({path}) => path)).toEqual(['bin.sh']);
});

test('executable files are told by their contents where every file has the same mode, as on a drive of Windows', async () => {
  const cwd = await makeFolder(smallBuild);
  await writeTree(cwd, {'build/bin.sh': '#!/bin/sh\n', 'build/run': '\x7FELF\x02\x01', 'build/empty': ''});
  await symlink('bin.sh', join(cwd, 'build/link'));
  execFileSync('chmod', ['-R', '0777', join(cwd, 'build')]);
  const executables = async () => {
    const {files} = await plan(cwd);
    return files.filter(({executable}) => executable).map(({path}) => path);
  };
  expect(await executables()).toEqual(['bin.sh', 'run']);
  // One file that differs, and the modes are somebody's.
  execFileSync('chmod', ['0666', join(cwd, 'build/bin.sh')]);
  expect(await executables()).not.toContain('bin.sh');
  expect(await executables()).toContain('ssr.js');
});

test('an entry of the server in UTF-16, as PowerShell 5 writes it, is told', async () => {
  const cwd = await makeFolder(smallBuild);
  await writeFile(join(cwd, 'build/ssr.js'), Buffer.from('\uFEFFexport default 1;', 'utf16le'));
  const {warnings} = await plan(cwd);
  expect(warnings.join()).toContain("ssr.js is in UTF-16, which Node.js can't run. Save it as UTF-8.");
  await writeFile(join(cwd, 'build/ssr.js'), '\uFEFFexport default 1;');
  expect((await plan(cwd)).warnings.join()).not.toContain('UTF-16');
});

test('an aborted signal ends planning with its reason', async () => {
  const cwd = await makeFolder(smallBuild);
  const reason = new Error('stopped');
  await expect(plan(cwd, {ssrOnly: [], signal: AbortSignal.abort(reason)})).rejects.toBe(reason);
  const controller = new AbortController();
  const planning = plan(cwd, {signal: controller.signal});
  controller.abort(reason);
  await expect(planning).rejects.toBe(reason);
  const late = new AbortController();
  const now = (): Date => {
    late.abort(reason);
    return new Date();
  };
  await expect(plan(cwd, {message: undefined, now, signal: late.signal})).rejects.toBe(reason);
});

describe('while the build folder is looked through', () => {
  /** Does something once, when one of some paths was found. */
  const scanWhile = async (cwd: string, isMeant: RegExp, change: (path: string) => void): Promise<unknown> => {
    return scanBuildDirectory(join(cwd, 'build'), {
      patterns: [],
      mark: async (found) => {
        const path = found.find((one) => isMeant.test(one.isFolder ? `${one.path}/` : one.path))?.path;
        if (path !== undefined) change(path);
      },
    });
  };

  test('a file that vanishes is an error that names it', async () => {
    const cwd = await makeFolder({'build/a': '', 'build/b': ''});
    let gone = '';
    const vanish = (path: string): void => {
      gone = join(cwd, 'build', path === 'a' ? 'b' : 'a');
      unlinkSync(gone);
    };
    const scanning = scanWhile(cwd, /^/, vanish);
    await expect(scanning).rejects.toMatchObject({code: 'ERR_FILE_CHANGED'});
    await expect(scanning).rejects.toThrow(`${gone} disappeared while the build was being scanned.`);
  });
});

const files = new Set(['', 'ssr.js', 'sub', 'sub/deep', 'sub/a.js']);

function follow(links: Readonly<Record<string, string>>, path = 'sub/link'): string {
  const targets = new Map(Object.entries(links));
  return followLink(path, targets, (candidate) => files.has(candidate) || targets.has(candidate));
}

test.each([
  ['a.js', 'inside'],
  ['./a.js', 'inside'],
  ['../ssr.js', 'inside'],
  ['../sub/../ssr.js', 'inside'],
  ['..//sub//a.js', 'inside'],
  ['..', 'inside'],
  ['gone.js', 'nowhere'],
  ['../../ssr.js', 'outside'],
  ['../../build/ssr.js', 'outside'],
  ['/etc/passwd', 'outside'],
  ['link', 'nowhere'],
])('a link in sub to %s leads %s', (target, expected) => {
  expect(follow({'sub/link': target})).toBe(expected);
});

test('a link is followed through other links', () => {
  expect(follow({'sub/link': '../other/a.js', other: 'sub'})).toBe('inside');
  expect(follow({'sub/link': '../other', other: '../outside'})).toBe('outside');
});

test('.. after a link steps back from where the link leads, not from where it stands', () => {
  expect(follow({'sub/link': '../up/../x', up: '.'})).toBe('outside');
  expect(follow({'sub/link': '../down/../a.js', down: 'sub/deep'})).toBe('inside');
});

test('links in a circle lead nowhere', () => {
  expect(follow({'sub/link': '../one', one: 'two', two: 'one'})).toBe('nowhere');
});

test('forty links on one way are followed, one more is as good as a circle', () => {
  const chain = (length: number): Record<string, string> =>
    Object.fromEntries(
      Array.from({length}, (_, index) => [
        `l${String(index)}`,
        index + 1 === length ? 'ssr.js' : `l${String(index + 1)}`,
      ]),
    );
  expect(follow(chain(40), 'l0')).toBe('inside');
  expect(follow(chain(41), 'l0')).toBe('nowhere');
});
