import {mkdtemp, readdir, rm, stat, utimes, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {uploadStateFiles} from '../../../src/cli/command/upload-states.js';
import type {UploadPlace} from '../../../src/operations/push/records.js';

const place: UploadPlace = {
  ...{backend: 'acme', optionsSha256: 'b'.repeat(64), projectSlug: 'shop', sha256: 'a'.repeat(64)},
};

let data: string;
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'mycli-states-'));
});
afterEach(() => rm(data, {recursive: true}));

const filesOf = (directory: string): Promise<string[]> => readdir(join(directory, 'uploads'));

const states = () => uploadStateFiles(data);

async function onlyFile(): Promise<string> {
  const [name = '', ...more] = await filesOf(data);
  expect(more).toEqual([]);
  return join(data, 'uploads', name);
}

describe('states of uploads', () => {
  test('are kept for each place and archive, in files that only their owner can read', async () => {
    await states().write(place, {uploadId: 1});
    for (const other of [
      {...place, sha256: 'c'.repeat(64)},
      {...place, projectSlug: 'other'},
      {...place, backend: 'other'},
      {...place, optionsSha256: 'c'.repeat(64)},
    ]) {
      expect(await states().read(other)).toBeUndefined();
      await states().write(other, 'other');
    }
    expect(await states().read(place)).toEqual({uploadId: 1});
    const folder = join(data, 'uploads');
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    for (const name of await readdir(folder)) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
    await states().remove(place);
    expect(await states().read(place)).toBeUndefined();
    expect(await filesOf(data)).toHaveLength(4);
  });

  test('are dropped after seven days', async () => {
    await states().write(place, 'old');
    const [path, now] = [await onlyFile(), Date.now()];
    const age = async (days: number) => {
      const then = new Date(now - days * 24 * 60 * 60_000);
      await utimes(path, then, then);
      return states().read(place);
    };
    expect(await age(6.9)).toBe('old');
    expect(await age(7.1)).toBeUndefined();
    expect(await filesOf(data)).toEqual([]);
  });

  test.each(['', '{', 'null', '{"version": 2, "state": 1}'])(
    'that are damaged are an error that names the file, and are replaced: %j',
    async (content) => {
      await states().write(place, 1);
      const path = await onlyFile();
      await writeFile(path, content);
      await expect(states().read(place)).rejects.toThrow(`${path} is not the state of an upload.`);
      await states().write(place, 2);
      expect(await states().read(place)).toBe(2);
    },
  );

  test('whose folder cannot be made cannot be read', async () => {
    await writeFile(join(data, 'uploads'), '');
    await expect(states().read(place)).rejects.toMatchObject({code: 'EEXIST'});
  });
});
