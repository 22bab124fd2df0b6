import {spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {existsSync} from 'node:fs';
import {chmod, chown, mkdir, readdir, rename, stat, symlink, utimes, writeFile} from 'node:fs/promises';
import {basename, join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {createTemporaryDirectory, sweepTemporaryDirectories} from '../../src/files/temporary-directory.js';
import {makeFolder} from '../folder.js';
import {smallBuild} from '../bundle/project.js';
import {binary} from '../cli/spawn-cli.js';

/** The id of a process that has ended. */
function deadPid(): number {
  return spawnSync('true').pid;
}

async function leftover(parent: string, pid: number): Promise<string> {
  const {path} = await createTemporaryDirectory(parent, pid);
  await writeFile(join(path, 'archive'), 'x');
  return path;
}

test('a temporary folder is private, named after its process, and removed with what is in it', async () => {
  const parent = await makeFolder();
  for (const way of ['remove', 'removeSync'] as const) {
    const directory = await createTemporaryDirectory(parent, 123);
    expect(basename(directory.path)).toMatch(/^mycli-123-[0-9a-f]{8}-\w{6}$/);
    expect((await stat(directory.path)).mode & 0o777).toBe(0o700);
    await writeFile(join(directory.path, 'file'), 'x');
    await directory[way]();
    await directory[way]();
    expect(await readdir(parent)).toEqual([]);
  }
});

test('a parent that is not there is an error that names it', async () => {
  const parent = join(await makeFolder(), 'gone');
  await expect(createTemporaryDirectory(parent, 1)).rejects.toMatchObject({
    code: 'ERR_OUTPUT',
    message: expect.stringContaining(parent),
  });
});

test('sweeping removes what dead processes left, and nothing of the living', async () => {
  const parent = await makeFolder();
  const sleeper = spawn('sleep', ['3600']);
  onTestFinished(() => void sleeper.kill());
  await once(sleeper, 'spawn');
  const living = [
    await leftover(parent, process.pid),
    await leftover(parent, sleeper.pid ?? 1),
    await leftover(parent, 1),
  ];
  await leftover(parent, deadPid());
  await sweepTemporaryDirectories(parent);
  expect((await readdir(parent)).sort()).toEqual(living.map((path) => basename(path)).sort());
});

test('sweeping leaves links, files, folders of other names and those that others can look into', async () => {
  const parent = await makeFolder({'elsewhere/file': 'x'});
  const pid = String(deadPid());
  await symlink('elsewhere', join(parent, `mycli-${pid}-aaaaaa`));
  await writeFile(join(parent, `mycli-${pid}-bbbbbb`), '');
  await mkdir(join(parent, `mycli-${pid}-notes-of-mine`), {mode: 0o700});
  await mkdir(join(parent, `mycli-${pid}-cccccc`));
  await chmod(join(parent, `mycli-${pid}-cccccc`), 0o755);
  await mkdir(join(parent, `mycli-${pid}-dddddd`));
  await chmod(join(parent, `mycli-${pid}-dddddd`), 0o701);
  await mkdir(join(parent, `not-mycli-${pid}-eeeeee`), {mode: 0o700});
  await mkdir(join(parent, 'mycli-99999999999999999999-ffffff'), {mode: 0o700});
  await writeFile(join(parent, `mycli-${pid}-gggggg`), '', {mode: 0o600});
  const before = await readdir(parent);
  await sweepTemporaryDirectories(parent);
  expect(await readdir(parent)).toEqual(before);
  expect(existsSync(join(parent, 'elsewhere/file'))).toBe(true);
});

test('sweeping leaves what processes of another container may be at work in, for a week', async () => {
  const parent = await makeFolder();
  const elsewhere = `mycli-${String(deadPid())}-0123abcd-aaaaaa`;
  const older = `mycli-${String(deadPid())}-bbbbbb`;
  for (const name of [elsewhere, older]) await rename(await leftover(parent, deadPid()), join(parent, name));
  await sweepTemporaryDirectories(parent);
  expect((await readdir(parent)).sort()).toEqual([elsewhere, older].sort());
  const age = async (hours: number) => {
    const longAgo = new Date(Date.now() - hours * 60 * 60 * 1000);
    for (const name of [elsewhere, older]) await utimes(join(parent, name), longAgo, longAgo);
    await sweepTemporaryDirectories(parent);
  };
  await age(7 * 24 - 1);
  expect(await readdir(parent)).toHaveLength(2);
  await age(7 * 24 + 1);
  expect(await readdir(parent)).toEqual([]);
});

const unshared = ['--pid', '--fork', '--mount-proc'];

test.skipIf(spawnSync('unshare', [...unshared, 'true']).status !== 0)(
  'a run in another PID namespace of this machine leaves the folders of the living',
  async () => {
    const parent = await makeFolder(smallBuild);
    const path = await leftover(parent, process.pid);
    const args = [...unshared, process.execPath, binary, 'bundle:build', '-m', 'm', '-o', 'bundle.tar.gz'];
    const {status} = spawnSync('unshare', args, {cwd: parent, stdio: 'ignore'});
    expect(status).toBe(0);
    expect(await readdir(parent)).toContain('bundle.tar.gz');
    expect(await readdir(parent)).toContain(basename(path));
  },
);

test.skipIf(process.getuid?.() !== 0)('sweeping leaves what others own', async () => {
  const parent = await makeFolder();
  const path = await leftover(parent, deadPid());
  await chown(path, 12_345, 12_345);
  await sweepTemporaryDirectories(parent);
  expect(await readdir(parent)).toEqual([basename(path)]);
});

test('sweeping where there is nothing is no error', async () => {
  await expect(sweepTemporaryDirectories(join(await makeFolder(), 'gone'))).resolves.toBeUndefined();
});
