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

/** Time passes fast: each look at the clock is a second after the one before. */
function hurry(): void {
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => (now += 1000));
}

test('a lock that does not say whose it is is taken over once it has not changed for a while', async () => {
  const folder = await makeFolder({lock: ''});
  hurry();
  const work = async (): Promise<readonly string[]> => readdir(folder);
  expect(await withFileLock(join(folder, 'lock'), process.pid, work)).toEqual(['lock']);
  expect(await readdir(folder)).toEqual([]);
});

test('a lock that is left behind and cannot be removed is an error in the end, not a loop', async () => {
  // Its name can have nothing added to it.
  const path = join(await makeFolder(), 'x'.repeat(250));
  await lockOfTheDead(path);
  hurry();
  await expect(withFileLock(path, process.pid, async () => undefined)).rejects.toMatchObject({
    code: 'ERR_OUTPUT',
    suggestions: [`If no other mycli is running, remove ${path}.`],
  });
});
