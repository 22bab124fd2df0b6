import {spawnSync} from 'node:child_process';
import {mkdir, readdir, readFile, utimes, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import process from 'node:process';
import {expect, test} from 'vitest';
import {withLock} from '../../src/files/lock.js';
import {ownPidSpace} from '../../src/files/ownership.js';
import {makeFolder} from '../folder.js';

test('a file that 30 change at the same time has all their changes', async () => {
  const folder = await makeFolder({numbers: ''});
  const path = join(folder, 'numbers');
  const numbers = Array.from({length: 30}, (_, index) => String(index));
  const add = (number: string) =>
    withLock(path, async () => {
      const before = await readFile(path, 'utf8');
      await writeFile(path, `${before}${number}\n`);
    });
  await Promise.all(numbers.map(add));
  expect((await readFile(path, 'utf8')).trim().split('\n').toSorted()).toEqual(numbers.toSorted());
  expect(await readdir(folder)).toEqual(['numbers']);
});

test('a lock of a process that has died does not count', async () => {
  const {pid} = spawnSync(process.execPath, ['--version']);
  const folder = await makeFolder();
  await mkdir(join(folder, `.file.lock-${String(pid)}-${ownPidSpace()}-abcdef`));
  expect(await withLock(join(folder, 'file'), () => Promise.resolve('done'), {patienceMs: 0})).toBe('done');
  expect(await readdir(folder)).toEqual([]);
});

test('a lock of a container that nobody renews does not count, one that somebody renews does', async () => {
  const folder = await makeFolder();
  const theirs = join(folder, '.file.lock-1-00000000-abcdef');
  await mkdir(theirs);
  const attempt = () => withLock(join(folder, 'file'), () => Promise.resolve('done'), {patienceMs: 0});
  await expect(attempt()).rejects.toMatchObject({code: 'ERR_OUTPUT'});
  const minutesAgo = new Date(Date.now() - 120_000);
  await utimes(theirs, minutesAgo, minutesAgo);
  expect(await attempt()).toBe('done');
});

test('a lock that another process keeps is an error that names it, and the work is not done', async () => {
  const folder = await makeFolder();
  const path = join(folder, 'file');
  await withLock(path, async () => {
    const [theirs = ''] = await readdir(folder);
    const refused = withLock(path, () => Promise.reject(new Error('done')), {patienceMs: 0});
    await expect(refused).rejects.toMatchObject({
      message: `${path} cannot be written: another mycli is changing it.`,
      suggestions: [`Wait until it has ended. If no mycli is running, remove ${join(folder, theirs)}.`],
    });
  });
  expect(await readdir(folder)).toEqual([]);
});

test('a lock is gone when the work has failed', async () => {
  const folder = await makeFolder();
  const failed = withLock(join(folder, 'file'), () => Promise.reject(new Error('no')));
  await expect(failed).rejects.toThrow('no');
  expect(await readdir(folder)).toEqual([]);
});

test('locks of other files beside it do not matter', async () => {
  const folder = await makeFolder();
  const inner = () => withLock(join(folder, 'file.json'), () => Promise.resolve('both'), {patienceMs: 0});
  expect(await withLock(join(folder, 'file'), inner)).toBe('both');
});
