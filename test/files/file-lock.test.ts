import {spawnSync} from 'node:child_process';
import {readdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {afterEach, expect, test, vi} from 'vitest';
import {withFileLock} from '../../src/files/file-lock.js';
import {processSpace} from '../../src/files/ownership.js';
import {makeFolder} from '../bundle/project.js';

afterEach(() => {
  vi.restoreAllMocks();
});

async function lockOfTheDead(path: string): Promise<void> {
  const {pid} = spawnSync('true');
  await writeFile(path, JSON.stringify({token: 'gone', pid, where: await processSpace()}));
}

test('a lock of a process that is dead is taken over, and none is left', async () => {
  const folder = await makeFolder();
  const path = join(folder, 'lock');
  await lockOfTheDead(path);
  expect(await withFileLock(path, process.pid, async () => readdir(folder))).toEqual(['lock']);
  expect(await readdir(folder)).toEqual([]);
});

test('a lock that is left behind and cannot be removed is an error in the end, not a loop', async () => {
  // Its name can have nothing added to it.
  const path = join(await makeFolder(), 'x'.repeat(250));
  await lockOfTheDead(path);
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => (now += 1000));
  await expect(withFileLock(path, process.pid, async () => undefined)).rejects.toMatchObject({
    code: 'ERR_OUTPUT',
    suggestions: [`If no other mycli is running, remove ${path}.`],
  });
});
