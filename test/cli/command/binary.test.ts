import {spawnSync} from 'node:child_process';
import {copyFile, mkdir, mkdtemp, readFile, realpath, rm, writeFile} from 'node:fs/promises';
import {tmpdir, userInfo} from 'node:os';
import {dirname, join} from 'node:path';
import ts from 'typescript';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {binary, runCli} from '../spawn-cli.js';

let cwd: string;
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'mycli-binary-'));
});
afterAll(() => rm(cwd, {recursive: true}));

describe('the binary', () => {
  test.skipIf(process.platform === 'win32')('a working directory that is gone is one clear error', async () => {
    await mkdir(join(cwd, 'gone'));
    const command = ['rmdir "$PWD"; exec "$@"', 'sh', process.execPath, binary, 'bundle:build', '--json'];
    const ended = spawnSync('sh', ['-c', ...command], {cwd: join(cwd, 'gone'), encoding: 'utf8'});
    expect([ended.status, ended.stderr]).toEqual([
      3,
      expect.stringContaining('The working directory no longer exists.'),
    ]);
    expect(JSON.parse(ended.stdout)).toMatchObject({error: {code: 'ERR_OPTION_INVALID'}});
  });

  test('refuses a configuration file with a secret', async () => {
    await writeFile(join(cwd, 'secret.json'), '{"apiKey": "canary-11"}');
    const ended = await runCli(binary, ['bundle:push', '--json', '--config', 'secret.json'], {cwd});
    expect(ended.code).toBe(3);
    expect(JSON.parse(ended.stdout)).toMatchObject({error: {code: 'ERR_CONFIG_INVALID'}});
    expect(ended.stdout + ended.stderr).not.toContain('canary');
  });

  test('an empty HOME is none: the home is the one that the system knows', async () => {
    const ended = await runCli(binary, ['auth:status'], {cwd, env: {HOME: ''}});
    expect(ended.stdout).toContain(join(userInfo().homedir, '.config/mycli/credentials.json'));
  });

  test('says how to build a clone that has not been built', async () => {
    const clone = join(cwd, 'a (b) clone');
    await mkdir(join(clone, 'bin'), {recursive: true});
    for (const name of ['run.js', 'package.json'])
      await copyFile(join(dirname(binary), name), join(clone, 'bin', name));
    const ended = await runCli(join(clone, 'bin/run.js'), ['push']);
    expect(ended).toMatchObject({
      code: 3,
      stderr: `mycli is not built. Run npm run build in ${await realpath(clone)}.\n`,
    });
  });

  test('rejects an old Node in one sentence, before it loads anything', async () => {
    const disguise = join(cwd, 'disguise.cjs');
    const pretence = "Object.defineProperty(process.versions, 'node', {value: '20.18.3'});";
    // Old ones know no modules whose names begin with `node:`.
    await writeFile(disguise, `${pretence} require('node:module').prototype.require = () => process.exit(1);`);
    expect(
      await runCli(binary, ['--version'], {cwd, env: {NODE_OPTIONS: `--require ${JSON.stringify(disguise)}`}}),
    ).toMatchObject({
      code: 3,
      stdout: '',
      stderr: 'mycli needs Node.js 20.19 or newer; this is 20.18.3.\n',
    });
  });
  test('is written so that Node 10 can read it: a translation for that changes nothing', async () => {
    const code = await readFile(binary, 'utf8');
    const [old, latest] = [ts.ScriptTarget.ES2018, ts.ScriptTarget.ESNext].map(
      (target) => ts.transpileModule(code, {fileName: 'run.cjs', compilerOptions: {target, allowJs: true}}).outputText,
    );
    expect(old).toBe(latest);
  });
});
