import {spawnSync} from 'node:child_process';
import {mkdtemp, readdir, readFile, rm, stat, utimes, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {uploadStateFiles} from '../../../src/cli/command/upload-states.js';
import {processSpace} from '../../../src/files/ownership.js';
import type {OpenUploadState, UploadPlace} from '../../../src/operations/push/records.js';

const place: UploadPlace = {
  ...{backend: 'acme', optionsSha256: 'b'.repeat(64), projectSlug: 'shop', sha256: 'a'.repeat(64)},
};

let data: string;
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'mycli-states-'));
});
afterEach(() => rm(data, {recursive: true}));

const filesOf = (directory: string): Promise<string[]> => readdir(join(directory, 'uploads'));

async function opened(which: UploadPlace = place): Promise<OpenUploadState> {
  const state = await uploadStateFiles(data, process.pid).open(which);
  if (state === undefined) throw new Error('another push has it');
  return state;
}

async function save(value: unknown, which: UploadPlace = place): Promise<void> {
  const state = await opened(which);
  await state.write(value);
  await state.close();
}

async function onlyFile(): Promise<string> {
  const [name = '', ...more] = await filesOf(data);
  expect(more).toEqual([]);
  return join(data, 'uploads', name);
}

describe('states of uploads', () => {
  test('are not kept where a lock is no file', async () => {
    await save({uploadId: 1});
    const lock = `${await onlyFile()}.lock`;
    // Reading it would wait for ever.
    spawnSync('mkfifo', [lock]);
    await expect(opened()).rejects.toMatchObject({code: 'ERR_OUTPUT', suggestions: [`Remove ${lock}.`]});
  });

  test('are kept for each place and archive, in files that only their owner can read', async () => {
    await save({uploadId: 1});
    for (const other of [
      {...place, sha256: 'c'.repeat(64)},
      {...place, projectSlug: 'other'},
      {...place, backend: 'other'},
      {...place, optionsSha256: 'c'.repeat(64)},
    ]) {
      const state = await opened(other);
      expect(await state.read()).toBeUndefined();
      await state.close();
      await save('other', other);
    }
    const state = await opened();
    expect(await state.read()).toEqual({uploadId: 1});
    const folder = join(data, 'uploads');
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    for (const name of await readdir(folder)) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
    await state.remove();
    expect(await state.read()).toBeUndefined();
    await state.close();
    expect(await filesOf(data)).toHaveLength(4);
  });

  test('belong to one push at a time, and to the next one when it has ended', async () => {
    const first = await opened();
    expect(await uploadStateFiles(data, process.pid).open(place)).toBeUndefined();
    await first.write('first');
    await first.close();
    expect(JSON.parse(await readFile(await onlyFile(), 'utf8'))).toEqual({version: 1, place, state: 'first'});
    const second = await opened();
    expect(await second.read()).toBe('first');
    await second.close();
  });

  test('of a push that was killed are there for the next one', async () => {
    await save('killed');
    const lock = `${await onlyFile()}.lock`;
    const {pid} = spawnSync('true');
    await writeFile(lock, JSON.stringify({token: 'gone', pid, where: await processSpace()}));
    expect(await (await opened()).read()).toBe('killed');
  });

  test('of a push in another container are not, until its lock has not been touched for 30 seconds', async () => {
    await save('elsewhere');
    const lock = `${await onlyFile()}.lock`;
    await writeFile(lock, JSON.stringify({token: 'other', pid: 1, where: 'elsewhere'}));
    expect(await uploadStateFiles(data, process.pid).open(place)).toBeUndefined();
    const earlier = new Date(Date.now() - 31_000);
    await utimes(lock, earlier, earlier);
    const state = await opened();
    expect(await state.read()).toBe('elsewhere');
    await state.close();
    expect(await filesOf(data)).toHaveLength(1);
  });

  test('are dropped after seven days', async () => {
    await save('old');
    const [path, now] = [await onlyFile(), Date.now()];
    const age = async (days: number) => {
      const then = new Date(now - days * 24 * 60 * 60_000);
      await utimes(path, then, then);
      const state = await opened();
      const found = await state.read();
      await state.close();
      return found;
    };
    expect(await age(6.9)).toBe('old');
    expect(await age(7.1)).toBeUndefined();
    expect(await filesOf(data)).toEqual([]);
  });

  test.each(['', '{', 'null', '{"version": 2, "state": 1}'])(
    'that are damaged are an error that names the file, and are replaced: %j',
    async (content) => {
      await save(1);
      const path = await onlyFile();
      await writeFile(path, content);
      const state = await opened();
      await expect(state.read()).rejects.toThrow(`${path} is not the state of an upload.`);
      await state.write(2);
      expect(await state.read()).toBe(2);
      await state.close();
    },
  );

  test('whose folder cannot be made cannot be opened', async () => {
    await writeFile(join(data, 'uploads'), '');
    await expect(opened()).rejects.toMatchObject({code: 'EEXIST'});
  });
});
