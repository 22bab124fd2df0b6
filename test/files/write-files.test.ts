import {rm, stat, symlink, writeFile, readFile, readdir} from 'node:fs/promises';
import {join} from 'node:path';
import type {Writable} from 'node:stream';
import {pipeline} from 'node:stream/promises';
import {beforeEach, expect, test} from 'vitest';
import {makePrivateDirectory, stageFile} from '../../src/files/write-files.js';
import {makeFolder, masked} from '../folder.js';

let root: string;
beforeEach(async () => {
  root = await makeFolder();
});

test('makes a folder and those above it, for their owner only', async () => {
  await makePrivateDirectory(join(root, 'a/b/c'));
  for (const path of ['a', 'a/b', 'a/b/c']) expect((await stat(join(root, path))).mode & 0o777).toBe(0o700);
});

test('accepts an existing folder, also through a link, and one that another process creates', async () => {
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

const write = (stream: Writable): Promise<void> => pipeline(['new'], stream);

test('a file is in its place when it is placed, no sooner, and nothing is left beside it', async () => {
  const folder = await makeFolder({file: 'old'});
  const path = join(folder, 'file');
  const staged = await stageFile(path, 0o640, write);
  expect(await readFile(path, 'utf8')).toBe('old');
  expect(await readdir(folder)).toEqual(['file', expect.stringMatching(/^mycli-\d+-/)]);
  await staged.place();
  await staged.discard();
  expect(await readFile(path, 'utf8')).toBe('new');
  expect((await stat(path)).mode & 0o777).toBe(await masked(0o640));
  expect(await readdir(folder)).toEqual(['file']);
});

test('a file that is discarded was never there', async () => {
  const folder = await makeFolder();
  const staged = await stageFile(join(folder, 'file'), 0o600, async (stream) => {
    await write(stream);
    return 'result';
  });
  expect(staged.result).toBe('result');
  await staged.discard();
  expect(await readdir(folder)).toEqual([]);
});

test('a file that fails while it is written leaves nothing, and the failure is passed on', async () => {
  const folder = await makeFolder({file: 'old'});
  const path = join(folder, 'file');
  const broken = new Error('broken');
  await expect(stageFile(path, 0o600, () => Promise.reject(broken))).rejects.toBe(broken);
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), {code: 'ENOSPC', syscall: 'write'});
  await expect(stageFile(path, 0o600, () => Promise.reject(full))).rejects.toMatchObject({
    code: 'ERR_OUTPUT',
    message: `${path} cannot be written: no space left on device.`,
    cause: full,
  });
  expect(await readdir(folder)).toEqual(['file']);
  expect(await readFile(path, 'utf8')).toBe('old');
});

test('a place that is gone is an error that names it', async () => {
  const folder = await makeFolder();
  const path = join(folder, 'file');
  const staged = await stageFile(path, 0o600, write);
  await rm(folder, {recursive: true});
  await expect(staged.place()).rejects.toMatchObject({
    code: 'ERR_OUTPUT',
    message: `${path} cannot be written: no such file or directory.`,
  });
});
