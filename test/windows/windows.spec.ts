import {execFileSync} from 'node:child_process';
import {chmod, copyFile, mkdir, readdir, readFile, rm, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test} from 'vitest';
import {startLocalRuntime} from '../../src/testing.js';
import {binary, runCli} from '../cli/spawn-cli.js';
import {makeFolder, writeTree} from '../folder.js';
import {startWindows, windowsNode, windowsPath, type WindowsMachine} from './wine.js';

const build = {
  'build/ssr.js': 'export default () => "hello";\n',
  'build/start.sh': '#!/bin/sh\necho hello\n',
  'build/server/data.json': '{"one": 1}\n',
  'build/static/Größe & more.html': '<h1>hello</h1>\n',
};

let machine: WindowsMachine;
beforeAll(async () => {
  machine = await startWindows();
});
afterAll(() => machine[Symbol.asyncDispose]());

let folder: string;
let data: string;
beforeEach(async () => {
  folder = await makeFolder(build);
  data = windowsPath(await makeFolder());
});

/** Runs mycli in the folder. */
const mycli = (args: readonly string[], env: Readonly<Record<string, string>> = {}, stdin = '') =>
  machine.mycli(args, {cwd: folder, env: {XDG_CONFIG_HOME: data, XDG_DATA_HOME: data, ...env}, stdin});

async function runtime() {
  const started = await startLocalRuntime({deploymentSeconds: 0});
  onTestFinished(() => started.close());
  return started;
}

test('the daily path: set up, build, push, look, compare, download and roll back', async () => {
  const {origin, credentials} = await runtime();
  const service = ['--origin', origin, '--project', 'shop', '--target', 'staging', '--runtime-backend', 'legacy'];
  const set = await mycli(['init', '--yes', ...service, '--build-directory', 'build'], {
    MYCLI_API_KEY: credentials.apiKey,
  });
  expect(set).toMatchObject({code: 0});
  expect(await readdir(folder)).toContain('mycli.config.ts');
  expect(await mycli(['login'], {}, credentials.apiKey)).toMatchObject({code: 0});
  const poll = {MYCLI_POLL_INTERVAL: '0.05'};
  for (const message of ['first', 'second']) {
    await writeFile(join(folder, 'build/static/page.html'), message);
    expect(await mycli(['push', '--v2', '--message', message, '--wait'], poll)).toMatchObject({code: 0});
  }
  expect((await mycli(['status', '--json'])).stdout).toContain('"bundleId": 2');
  expect((await mycli(['bundle:diff', '1', '2'])).stdout).toContain('static/page.html');
  expect(await mycli(['bundle:download', '1', '--output', 'one.tgz'])).toMatchObject({code: 0});
  expect((await mycli(['bundle:inspect', '1'])).stdout).toContain('start.sh');
  expect(await mycli(['bundle:rollback', '--wait'], poll)).toMatchObject({code: 0});
  expect((await mycli(['status', '--json'])).stdout).toContain('"bundleId": 1');
  expect((await readdir(folder)).sort()).toEqual(['build', 'mycli.config.ts', 'one.tgz']);
});

test('Getting started works with its commands of PowerShell, as far as they need none', async () => {
  const guide = await readFile(new URL('../../docs/guides/getting-started.md', import.meta.url), 'utf8');
  const {origin, credentials} = await runtime();
  const env = new Map([
    ['MYCLI_RUNTIME_ORIGIN', origin],
    ['MYCLI_API_KEY', credentials.apiKey],
    ['MYCLI_POLL_INTERVAL', '0.05'],
  ]);
  const given = (text: string) => text.replaceAll(/\$env:(\w+)/g, (_, name: string) => env.get(name) ?? '');
  /** What PowerShell itself would do, and otherwise mycli. */
  const paste = async (line: string): Promise<void> => {
    const [, path = '', content = ''] = /Set-Content (?:-Encoding ascii )?(\S+) '([^']*)'/.exec(line) ?? [];
    const [, removed = ''] = /^Remove-Item Env:(\w+)$/.exec(line) ?? [];
    const [, input = '', typed = ''] = /^(?:(\$env:\w+) \| )?mycli (.*)$/.exec(line) ?? [];
    if (path !== '') await writeTree(folder, {[path]: `${content}\r\n`});
    else if (removed !== '') env.delete(removed);
    else if (typed === '') expect(line).toBe('mkdir build/static');
    else {
      const args = given(typed)
        .split(' ')
        .map((word) => word.replaceAll('"', ''));
      expect([line, await mycli(args, Object.fromEntries(env), given(input))]).toMatchObject([line, {code: 0}]);
    }
  };
  await rm(join(folder, 'build'), {recursive: true});
  const blocks = [...guide.matchAll(/^```(sh|powershell)\n(.*?)^```$/gms)];
  const lines = blocks.flatMap(([, shell, text = ''], at) =>
    shell === 'sh' && blocks[at + 1]?.[1] === 'powershell' ? [] : text.trim().split('\n'),
  );
  const ofServices = /^mycli runtime:start|^mycli completion/;
  for (const line of lines.filter((text) => !ofServices.test(text))) await paste(line);
  expect((await mycli(['status', '--json'])).stdout).toContain('"bundleId": 1');
});

test.each([['v1'], ['v2']])('a %s archive is that of Linux, byte for byte', async (format) => {
  await chmod(join(folder, 'build/start.sh'), 0o755);
  const args = (output: string) => ['bundle:build', '--format', format, '--project', 'shop', '--output', output];
  const shown = await mycli(args('windows.tgz'));
  expect(shown).toMatchObject({code: 0});
  expect(await runCli(binary, args('linux.tgz'), {cwd: folder})).toMatchObject({code: 0});
  const [windows, linux] = await Promise.all(['windows.tgz', 'linux.tgz'].map((name) => readFile(join(folder, name))));
  expect(windows?.equals(linux ?? Buffer.of())).toBe(true);
  expect(execFileSync('tar', ['-tvf', join(folder, 'windows.tgz')], {encoding: 'utf8'})).toMatch(
    /^-rwxr-xr-x .*start.sh$/m,
  );
});

describe('runtime:start', () => {
  const run = (...command: string[]) => mycli(['runtime:start', '--', ...command]);

  test('runs a program with its arguments as they are, against itself', async () => {
    const script =
      'process.stdout.write(JSON.stringify(process.argv.slice(1))); process.exitCode = process.env.MYCLI_API_KEY ? 7 : 1';
    const args = ['a b', 'x&y', '%PATH%', 'say "hi"', '', 'end\\'];
    expect(await run(windowsPath(windowsNode), '-e', script, ...args)).toMatchObject({
      code: 7,
      stdout: JSON.stringify(args),
    });
  });

  test('runs a batch file, in a folder with a blank, with its arguments as they are', async () => {
    await writeTree(folder, {
      'my tools/show.cmd': `@"${windowsPath(windowsNode)}" "%~dp0show.js" %*\r\n`,
      'my tools/show.js': 'process.stdout.write(JSON.stringify(process.argv.slice(2)))',
    });
    const args = ['plain', 'a b', 'x&y', 'a|b>c', 'say "hi" & dir', '^', 'end \\'];
    expect(await run(String.raw`my tools\show`, ...args)).toMatchObject({code: 0, stdout: JSON.stringify(args)});
  });

  test('gives a command no setting of another service, however its name is written', async () => {
    const script = 'process.stdout.write(String([process.env.MYCLI_API_USER, process.env.MYCLI_PROJECT]))';
    const env = {mycli_api_user: 'ann', Mycli_Project: 'shop'};
    expect(await mycli(['runtime:start', '--', windowsPath(windowsNode), '-e', script], env)).toMatchObject({
      code: 0,
      stdout: ',shop',
    });
  });

  // Wine ends no tree: what would is started.
  test('ends a command with all that it has started', async () => {
    await writeTree(folder, {
      'ending.cjs': `
        const childProcess = require('node:child_process');
        const {spawn} = childProcess;
        childProcess.spawn = (...args) => {
          setTimeout(() => process.exit(), 100);
          return spawn(...args);
        };
        childProcess.spawnSync = (...args) => require('node:fs').writeFileSync('ended.json', JSON.stringify(args));
        require('node:module').syncBuiltinESMExports();`,
    });
    const command = [windowsPath(windowsNode), '-e', 'setInterval(() => undefined, 1000)'];
    const args = ['--require', './ending.cjs', windowsPath(binary), 'runtime:start', '--', ...command];
    await machine.node(args, {cwd: folder, env: {XDG_DATA_HOME: data}});
    expect(JSON.parse(await readFile(join(folder, 'ended.json'), 'utf8'))).toEqual([
      expect.stringMatching(/^C:\\windows\\System32\\taskkill\.exe$/i),
      ['/pid', expect.stringMatching(/^\d+$/), '/t', '/f'],
      {stdio: 'ignore'},
    ]);
  });

  test('does not find a program that is only in the working directory', async () => {
    await copyFile(windowsNode, join(folder, 'tool.exe'));
    expect(await run('tool', '--version')).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringContaining('tool cannot be started: it was not found') as string,
    });
    const inPath = {WINEPATH: windowsPath(dirname(windowsNode))};
    const ended = await mycli(['runtime:start', '--', 'node', '--version'], inPath);
    expect(ended).toMatchObject({code: 0, stdout: expect.stringMatching(/^v20\./) as string});
  });

  test('serves what is pushed to it', async () => {
    const push = ['push', '--project', 'shop', '--target', 'staging', '--wait'];
    const command = [windowsPath(windowsNode), windowsPath(binary), ...push];
    const ended = await mycli(['runtime:start', '--data', 'data', '--', ...command]);
    expect(ended).toMatchObject({code: 0});
    expect(await readdir(join(folder, 'data/bundles'))).toEqual(['1']);
  });
});

test('git in the working directory is not run, and one that is missing is told', async () => {
  execFileSync('git', ['init', '--quiet', folder]);
  await copyFile(windowsNode, join(folder, 'git.exe'));
  const {code, stderr} = await mycli(['push', '--dry-run', '--project', 'shop']);
  expect([code, stderr]).toEqual([0, expect.stringContaining('git cannot be run') as string]);
});

test.each([
  ['mycli.config.ts', 'export default {projectSlug: "of-ts" as string};'],
  ['mycli.config.mjs', 'export default {projectSlug: "of-mjs"};'],
  ['mycli.config.js', 'module.exports = {projectSlug: "of-js"};'],
  ['mycli.config.json', '\uFEFF{\r\n"projectSlug": "of-json"}\r\n'],
])('%s is read', async (name, text) => {
  await writeTree(folder, {[name]: text});
  const {stdout} = await mycli(['config:show', '--json']);
  expect(stdout).toContain(`"of-${name.split('.').at(-1) ?? ''}"`);
});

test('config.server.ts is run, and reads what is beside it', async () => {
  await writeTree(folder, {
    'config.server.ts': 'import {only} from "./lists.js";\nexport default {ssrOnly: only, ssrShared: ["static/**"]};',
    'lists.js': 'export const only: readonly string[] = ["ssr.js", "server/**"];',
  });
  await writeTree(folder, {
    'lists.js': 'export const only = ["ssr.js", "server/**"];',
    'package.json': '{"type": "module"}',
  });
  const {code, stdout} = await mycli(['push', '--dry-run', '--project', 'shop']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/server-only.*server\/data\.json/);
});

describe('a pattern with backslashes is refused, with the one that works,', () => {
  const refused = {code: 3, stderr: expect.stringContaining('write "server/**"') as string};

  test('in a flag', async () => {
    const lists = ['--ssr-only', String.raw`server\**`, '--ssr-shared', '**/*'];
    expect(await mycli(['push', '--dry-run', '--project', 'shop', ...lists])).toMatchObject(refused);
  });

  test('in the configuration', async () => {
    const settings = {projectSlug: 'shop', ssrOnly: [String.raw`server\**`], ssrShared: ['**/*']};
    await writeTree(folder, {'mycli.config.json': JSON.stringify(settings)});
    expect(await mycli(['push', '--dry-run'])).toMatchObject(refused);
  });

  test('in .bundleignore', async () => {
    await writeTree(folder, {'.bundleignore': 'server\\**\r\n'});
    expect(await mycli(['push', '--dry-run', '--project', 'shop'])).toMatchObject(refused);
  });
});

test('paths are those of Windows: relative, absolute, and with blanks and #', async () => {
  const other = join(folder, 'my #1 project');
  await mkdir(other);
  await writeTree(other, {'out/index.html': '<h1>hello</h1>'});
  for (const args of [
    ['--build-directory', String.raw`.\my #1 project\out`],
    ['--build-directory', windowsPath(join(other, 'out'))],
    ['--cwd', 'my #1 project', '--build-directory', 'out'],
  ]) {
    const {code, stdout} = await mycli(['push', '--dry-run', '--static', '--project', 'shop', ...args]);
    expect([code, stdout]).toEqual([0, expect.stringContaining('index.html') as string]);
  }
});

test('logins at the same time are all kept', async () => {
  const all = await Promise.all([runtime(), runtime(), runtime()]);
  const ended = await Promise.all(
    all.map(({origin, credentials}) =>
      mycli(['login', '--runtime-backend', 'legacy', '--origin', origin], {}, credentials.apiKey),
    ),
  );
  expect(ended.map(({code, stderr}) => [code, code === 0 ? '' : stderr])).toEqual(all.map(() => [0, '']));
  for (const {origin} of all) {
    const {code, stdout} = await mycli([
      'bundle:list',
      '--project',
      'shop',
      '--runtime-backend',
      'legacy',
      '--origin',
      origin,
    ]);
    expect([code, stdout]).toEqual([0, '']);
  }
});

test('commands to paste are quoted for PowerShell and cmd', async () => {
  const {stderr} = await mycli(['push', String.raw`C:\my $HOME`]);
  expect(stderr).toContain('--project "C:\\my `$HOME"');
});

test('a command that completes a build is one of Windows', async () => {
  await writeTree(folder, {
    'package.json': '{"dependencies": {"express": "5"}}',
    'build/ssr.js': 'app.set("views", path.join(__dirname, "views"));',
    'views/home.ejs': '',
  });
  const {stderr} = await mycli(['push', '--dry-run', '--project', 'shop']);
  expect(stderr).toContain('run: xcopy /e /i /y views build\\views');
});

test('files of the user are below LOCALAPPDATA and ~', async () => {
  const at = {cwd: folder, env: {}};
  const origin = ['--origin', 'https://runtime.example'];
  const login = await machine.mycli(['login', '--no-verify', ...origin], {...at, stdin: 'canary'});
  expect(login).toMatchObject({code: 0});
  // Wine sets the variables of its own user.
  const script = String.raw`
    fs.writeFileSync(os.homedir() + '\\key.txt', 'canary');
    console.log(fs.readFileSync(process.env.LOCALAPPDATA + '\\mycli\\credentials.json', 'utf8'));`;
  expect((await machine.node(['-e', script], at)).stdout).toContain('canary');
  const push = ['push', '--dry-run', '--project', 'shop', ...origin];
  expect(await machine.mycli([...push, '--api-key', String.raw`@~\key.txt`], at)).toMatchObject({code: 0});
  expect(await machine.mycli([...push, '--api-key', String.raw`@~\none.txt`], at)).toMatchObject({code: 3});
});

test.each([
  [['static/App.js', 'static/app.js'], '"static/App.js" and "static/app.js" would be the same file'],
  [['static/what?.html'], 'no file can be named "static/what?.html"'],
])(
  'a local runtime refuses a bundle with %j, which its disk cannot hold, and keeps nothing',
  async (paths, message) => {
    await writeTree(folder, Object.fromEntries(paths.map((path) => [`build/${path}`, ''])));
    expect(await runCli(binary, ['bundle:build'], {cwd: folder})).toMatchObject({code: 0});
    const push = ['push', '--archive', 'bundle.tar.gz', '--project', 'shop'];
    const command = [windowsPath(windowsNode), windowsPath(binary), ...push];
    const {code, stderr} = await mycli(['runtime:start', '--data', 'data', '--', ...command]);
    expect([code, stderr]).toEqual([7, expect.stringContaining(message) as string]);
    expect(await readdir(join(folder, 'data/bundles'))).toEqual([]);
  },
);

describe('what is said', () => {
  test('of a device as an output is that it is no file', async () => {
    const {code, stderr} = await mycli(['bundle:build', '--output', 'NUL']);
    expect([code, stderr]).toEqual([3, expect.stringContaining('is not a regular file') as string]);
  });

  test('of a syntax error begins with it', async () => {
    await writeTree(folder, {'mycli.config.ts': 'export default {projectSlug: ;'});
    const {code, stderr} = await mycli(['config:show']);
    expect([code, stderr]).toEqual([3, expect.stringMatching(/could not be loaded: Unexpected token/) as string]);
  });

  test('by doctor is whose folders nothing protects', async () => {
    await writeTree(folder, {'mycli.config.json': '{"projectSlug": "shop"}'});
    const {stdout, stderr} = await mycli(['doctor']);
    expect(stdout + stderr).toContain(`anyone who can write to ${windowsPath(folder)} controls what it runs`);
  });
});
