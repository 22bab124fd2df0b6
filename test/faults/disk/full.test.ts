import {execFileSync, spawnSync} from 'node:child_process';
import {randomBytes} from 'node:crypto';
import {readdir, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {startLocalRuntime} from '../../../src/testing.js';
import {makeFolder} from '../../folder.js';
import {smallBuild} from '../../bundle/project.js';
import {binary, runCli} from '../../cli/spawn-cli.js';
import {hostileArchive, v2Archive} from '../../local-runtime/archives.js';
import {clientOf} from '../../local-runtime/client.js';

/** A megabyte of disk, when this machine lets us have it. */
async function mountSmallDisk(): Promise<string> {
  const folder = await makeFolder();
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder], {stdio: 'ignore'});
  onTestFinished(() => void spawnSync('umount', ['-l', folder]));
  return folder;
}

const canMount =
  process.getuid?.() === 0 &&
  spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', '/mnt']).status === 0;

const large = (): Buffer => randomBytes(3_000_000);

async function service(env: Readonly<Record<string, string>> = {}) {
  const runtime = await startLocalRuntime();
  onTestFinished(() => runtime.close());
  const cwd = await makeFolder({...smallBuild, 'build/large.bin': large()});
  const all = {
    MYCLI_RUNTIME_ORIGIN: runtime.origin,
    MYCLI_API_KEY: runtime.credentials.apiKey,
    MYCLI_PROJECT: 'shop',
    ...env,
  };
  const mycli = (...args: readonly string[]) => runCli(binary, [...args, '--json'], {cwd, env: all});
  return {runtime, cwd, mycli};
}

describe.runIf(canMount)('on a full disk', () => {
  test('a push is an error when the temporary folder has no room, and nothing is sent', async () => {
    const {runtime, mycli} = await service({TMPDIR: await mountSmallDisk()});
    const {code, stdout} = await mycli('bundle:push', '-m', 'm', '--v2');
    expect(JSON.parse(stdout)).toMatchObject({
      error: {code: 'ERR_OUTPUT', message: expect.stringContaining('no space left on device') as string},
    });
    expect(code).toBe(3);
    expect(runtime.requests.filter(({method}) => method === 'POST')).toEqual([]);
  });

  test('a download fails, and resumes when there is space', async () => {
    const {mycli} = await service();
    expect((await mycli('bundle:push', '-m', 'm', '--v2')).code).toBe(0);
    const disk = await mountSmallDisk();
    const output = join(disk, 'copy');
    const {code, stdout} = await mycli('bundle:download', '1', '-o', output);
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({error: {code: 'ERR_OUTPUT'}});
    expect(await readdir(disk)).not.toContain('copy');
    execFileSync('mount', ['-o', 'remount,size=10m', disk]);
    expect((await mycli('bundle:download', '1', '-o', output)).code).toBe(0);
    expect(await readdir(disk)).toEqual(['copy']);
  });

  test('the local runtime reports it, keeps its data, and accepts what fits', async () => {
    const dataDirectory = join(await mountSmallDisk(), 'data');
    const runtime = await startLocalRuntime({dataDirectory});
    onTestFinished(() => runtime.close());
    const client = clientOf(runtime);
    const full = await client.pushV2(await hostileArchive({name: 'bld/large', content: large().toString('base64')}));
    expect(full).toMatchObject({status: 507, json: {detail: 'The disk of the local runtime is full.'}});
    expect(await readdir(join(dataDirectory, 'temporary'))).toEqual([]);
    expect((await client.pushV2(await v2Archive())).status).toBe(201);
  });
});

// Without the rights to mount anything, the largest file that a process may write.
test.skipIf(process.platform === 'win32')(
  'a file that may not grow is an error, and leaves what was there',
  async () => {
    const cwd = await makeFolder({...smallBuild, 'build/large.bin': large(), 'out/bundle': 'before'});
    const command = `ulimit -f 100 && exec "$0" "$@"`;
    const args = ['-c', command, process.execPath, binary, 'bundle:build', '-o', 'out/bundle', '--force', '--json'];
    const {stdout, status} = spawnSync('bash', args, {
      cwd,
      encoding: 'utf8',
      env: {PATH: process.env['PATH'], HOME: cwd},
    });
    expect(status).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({
      error: {code: 'ERR_OUTPUT', message: `${join(cwd, 'out/bundle')} cannot be written: file too large.`},
    });
    expect(await readdir(join(cwd, 'out'))).toEqual(['bundle']);
    expect(await readFile(join(cwd, 'out/bundle'), 'utf8')).toBe('before');
  },
);

test('an unusable temporary folder is an error that names it', async () => {
  const folder = await makeFolder({file: ''});
  const {mycli} = await service({TMPDIR: join(folder, 'file')});
  const {stdout, code} = await mycli('bundle:push', '-m', 'm', '--v2');
  expect(code).toBe(3);
  expect(JSON.parse(stdout)).toMatchObject({
    error: {code: 'ERR_OUTPUT', message: `${join(folder, 'file')} cannot be written: not a directory.`},
  });
});
