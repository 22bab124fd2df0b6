import {mkdtemp, rm, stat, symlink, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterEach, beforeEach, expect, test} from 'vitest';
import {makePrivateDirectory} from '../../src/files/make-directory.js';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'mycli-make-directory-'));
});
afterEach(() => rm(root, {recursive: true}));

test('makes a folder and those above it, for their owner only', async () => {
  await makePrivateDirectory(join(root, 'a/b/c'));
  for (const path of ['a', 'a/b', 'a/b/c']) expect((await stat(join(root, path))).mode & 0o777).toBe(0o700);
});

test('is content with a folder that is there, also by a link, and with another process that makes it', async () => {
  await symlink(root, join(root, 'link'));
  await makePrivateDirectory(join(root, 'link'));
  await Promise.all(Array.from({length: 20}, () => makePrivateDirectory(join(root, 'x/y/z'))));
  expect((await stat(join(root, 'x/y/z'))).isDirectory()).toBe(true);
});

test('fails where a file is in the way', async () => {
  await writeFile(join(root, 'file'), '');
  await expect(makePrivateDirectory(join(root, 'file'))).rejects.toMatchObject({code: 'EEXIST'});
  await expect(makePrivateDirectory(join(root, 'file/below'))).rejects.toMatchObject({code: 'ENOTDIR'});
});

// Node's recursive `mkdir` does not come to an end there.
test.runIf(process.platform === 'linux')('fails where nothing can be made, such as under /proc', async () => {
  await expect(makePrivateDirectory('/proc/nope/a/b')).rejects.toMatchObject({code: 'ENOENT'});
});
