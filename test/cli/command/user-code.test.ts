import {execFile, execFileSync} from 'node:child_process';
import {randomBytes} from 'node:crypto';
import {chown, mkdir, readdir, realpath, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {beforeEach, describe, expect, test} from 'vitest';
import {binary, runCli, type Ended} from '../spawn-cli.js';
import {makeFolder, writeTree} from '../../folder.js';
import {shellWords} from '../shell-words.js';

let project: string;
beforeEach(async () => {
  project = await makeFolder();
  await mkdir(join(project, 'build'));
  await writeFile(join(project, 'build/ssr.js'), 'export default 1;\n');
});

const mycli = (...args: readonly string[]): Promise<Ended> => runCli(binary, args, {cwd: project});
const write = (name: string, text: string): Promise<void> => writeFile(join(project, name), text);

describe.each(['config.server.js', 'mycli.config.js'])('code in %s', (name) => {
  test.each([
    ['that never settles', 'await new Promise(() => {});\nexport const config = {};\n'],
    ['that ends the process as if all were well', 'process.exit(0);\n'],
  ])('%s is an error, not a success', async (_, text) => {
    await write(name, text);
    const {code, stdout} = await mycli('bundle:build', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({error: {code: 'ERR_ENDED_EARLY', exitCode: 1}});
    expect(await readdir(project)).not.toContain('bundle.tar.gz');
  });

  test('that prints does not get into the document or the archive on stdout', async () => {
    await write(name, 'console.log("chatter");\nexport const config = {ssrOnly: ["ssr.js"]};\n');
    const {stdout, stderr} = await mycli('bundle:build', '--json');
    expect(JSON.parse(stdout)).toMatchObject({archive: {files: 1}});
    expect(stderr).toContain('chatter');
    const options = {cwd: project, encoding: 'buffer'} as const;
    const archive = await promisify(execFile)(process.execPath, [binary, 'bundle:build', '-o', '-'], options);
    expect(String(execFileSync('tar', ['-tz'], {input: archive.stdout}))).toBe(
      'bld/.runtime/config.json\nbld/ssr.js\n',
    );
  });
});

test('an archive on stdout whose reader has closed the pipe was stopped, and has not failed', async () => {
  await writeFile(join(project, 'build/large.bin'), randomBytes(1_000_000));
  const script = '"$0" "$1" bundle:build -o - | true; exit "${PIPESTATUS[0]}"';
  const ended = await promisify(execFile)('bash', ['-c', script, process.execPath, binary], {cwd: project});
  expect(ended.stderr).toContain('Stopped: the reader of the archive has closed the pipe');
  expect(ended.stderr).not.toContain('failed');
});

test('a syntax error in config.server is told in one line', async () => {
  await write('config.server.ts', 'export const config = {{;\n');
  const {code, stdout} = await mycli('bundle:build', '--json');
  expect(code).toBe(3);
  const {error} = JSON.parse(stdout) as {error: {message: string}};
  expect(error.message).toContain('config.server.ts');
  expect(error.message).not.toContain('\n');
});

test.each([
  ['an archive', ['bundle:push', '-p', 'shop', '--runtime-backend', 'legacy', '--archive', 'pipe']],
  ['a configuration file', ['bundle:build', '--config', 'pipe']],
])('a named pipe in the place of %s is refused, not waited for', async (_, args) => {
  execFileSync('mkfifo', [join(project, 'pipe')]);
  const env = {MYCLI_RUNTIME_ORIGIN: 'http://127.0.0.1:9', MYCLI_API_KEY: 'key'};
  const {code, stderr} = await runCli(binary, args, {cwd: project, env});
  expect(code).toBe(3);
  expect(stderr).toContain('not a regular file');
});

test('an archive is not written into the build that it is made of', async () => {
  const {code, stderr} = await mycli('bundle:build', '-o', 'build/bundle.tar.gz');
  expect(code).toBe(3);
  expect(stderr).toContain('build folder');
  expect(await readdir(join(project, 'build'))).toEqual(['ssr.js']);
});

const rejected = (value: string) => `export default Promise.reject(${value});\n`;
const stray = (value: string) => `Promise.reject(${value});\nexport default {};\n`;
const closed = 'new Error("the vault is closed")';

test.each([
  ['mycli.config.js', rejected('null'), /mycli\.config\.js could not be loaded: null/],
  ['mycli.config.mjs', rejected('undefined'), /mycli\.config\.mjs could not be loaded: undefined/],
  ['mycli.config.ts', rejected(closed), /mycli\.config\.ts could not be loaded: the vault is closed/],
  ['config.server.js', rejected(closed), /config\.server\.js could not be loaded: the vault is closed/],
  ['mycli.config.js', stray(closed), /^Code in .*mycli\.config\.js failed: the vault is closed.$/],
  ['mycli.config.ts', stray(closed), /^Code in .*mycli\.config\.ts failed: the vault is closed.$/],
  ['config.server.js', stray(closed), /^Code in .*config\.server\.js failed: the vault is closed.$/],
  ['mycli.config.js', stray('"plain"'), /^Code of a configuration file or a plugin failed: plain\.$/],
])('code in %s that rejects a promise is to blame for it: %j', async (name, text, reason) => {
  await write(name, text);
  const {code, stdout} = await mycli('bundle:build', '--json');
  expect(code).toBe(3);
  const message = expect.stringMatching(reason) as string;
  expect(JSON.parse(stdout)).toMatchObject({error: {code: 'ERR_CONFIG_INVALID', message}});
});

test.each(['a (b)', 'node_modules/shop'])(
  'code in a project below %j is to blame for what it throws',
  async (folder) => {
    for (const name of ['mycli.config.mjs', 'mycli.config.ts']) {
      const root = join(project, `${folder} ${name}`);
      await writeTree(root, {[name]: stray(closed), 'build/ssr.js': ''});
      const {code, stderr} = await runCli(binary, ['bundle:build', '--cwd', root], {cwd: project});
      expect(stderr).toContain(`Code in ${join(root, name)} failed: the vault is closed.`);
      expect(code).toBe(3);
    }
  },
);

describe.each(['mycli.config.js', 'mycli.config.ts', 'config.server.js'])('%s', (name) => {
  test.runIf(process.getuid?.() === 0)('is not run if it belongs to another user, unless it is named', async () => {
    await write(name, 'export const config = {};\n');
    await chown(join(project, name), 4242, 4242);
    const env = {MYCLI_RUNTIME_ORIGIN: 'http://127.0.0.1:9', MYCLI_API_KEY: 'key', MYCLI_PROJECT: 'shop'};
    const push = (...args: readonly string[]) => runCli(binary, ['push', '--dry-run', ...args], {cwd: project, env});
    const {code, stderr} = await push();
    expect(code).toBe(3);
    expect(stderr).toContain(`${join(await realpath(project), name)} belongs to another user (4242)`);
    const [, flags = ''] = / (--[a-z-]+ .+?)\.?$/m.exec(stderr.slice(stderr.indexOf('If you trust'))) ?? [];
    expect((await push(...shellWords(flags))).code).toBe(0);
  });
});
