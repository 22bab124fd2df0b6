import {spawnSync} from 'node:child_process';
import {mkdir, readdir, readFile, rm, stat, utimes, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {beforeEach, expect, test} from 'vitest';
import {checkRecordFiles, pushRecordFiles, uploadStateFiles} from '../../../src/cli/command/records.js';
import {ownPidSpace} from '../../../src/files/ownership.js';
import {makeFolder} from '../../folder.js';
import type {PushPlace, PushRecord} from '../../../src/operations/push/options.js';

const place: PushPlace = {backend: 'legacy', origin: 'https://runtime.example', projectSlug: 'shop'};
const record: PushRecord = {
  bundleId: 42,
  fingerprint: 'a'.repeat(64),
  fileBytes: 1000,
  size: 300,
  sha256: 'b'.repeat(64),
  pushedAt: '2026-11-21T10:00:00.000Z',
};
const failed = {bundleId: 42, failedAt: record.pushedAt};
const upload = {...place, backend: 'acme', sha256: record.sha256};
const target = {...place, targetSlug: 'staging'};

let data: string;
beforeEach(async () => {
  data = join(await makeFolder(), 'not/there/yet');
});

async function onlyFile(folder: string): Promise<string> {
  const [name = '', ...more] = await readdir(join(data, folder));
  expect(more).toEqual([]);
  return join(data, folder, name);
}

test('records: are kept for each place, in files that only their owner can read', async () => {
  const records = pushRecordFiles(data);
  const others: readonly PushPlace[] = [
    {...place, projectSlug: 'other'},
    {...place, origin: 'https://other.example'},
    {...place, organizationId: 'one'},
    {...place, optionsSha256: 'c'.repeat(64)},
  ];
  await records.write(place, record);
  for (const [bundleId, other] of others.entries()) {
    expect(await records.read(other)).toBeUndefined();
    await records.write(other, {...record, bundleId});
  }
  expect(await records.read(place)).toMatchObject(record);
  expect(await records.read({...place, organizationId: 'one'})).toMatchObject({bundleId: 2});
  const folder = join(data, 'pushes');
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  for (const name of await readdir(folder)) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
});

test('records: written at the same time are whole, and leave nothing beside them', async () => {
  const records = pushRecordFiles(data);
  await Promise.all([...Array(20).keys()].map((bundleId) => records.write(place, {...record, bundleId})));
  expect(JSON.parse(await readFile(await onlyFile('pushes'), 'utf8'))).toMatchObject({version: 1, place});
});

test('records: of failed checks that are added at the same time, none is lost', async () => {
  const records = checkRecordFiles(data);
  const ids = [...Array(10).keys()];
  await Promise.all(ids.map((bundleId) => records.add(target, {...failed, bundleId})));
  expect((await records.read(target)).map(({bundleId}) => bundleId).toSorted()).toEqual(ids);
});

test('records: a push that uploaded earlier does not replace a later one, whenever it ends', async () => {
  const records = pushRecordFiles(data);
  await records.write(place, {...record, bundleId: 8, pushedAt: '2026-01-02T00:00:00.000Z'});
  await records.write(place, {...record, bundleId: 7, pushedAt: '2026-01-01T00:00:00.000Z'});
  expect(await records.read(place)).toMatchObject({bundleId: 8});
});

test.each(['', '{', 'null', '{"version": 2}', '{"version": 1, "bundleId": null}'])(
  'records: a damaged one is an error that names its file, until it is replaced: %j',
  async (content) => {
    const [pushes, checks, states] = [pushRecordFiles(data), checkRecordFiles(data), uploadStateFiles(data)];
    await pushes.write(place, record);
    await checks.add(target, failed);
    await states.write(upload, 1);
    for (const folder of ['pushes', 'checks', 'uploads']) await writeFile(await onlyFile(folder), content);
    await expect(pushes.read(place)).rejects.toThrow(`${await onlyFile('pushes')} is not a record of a push.`);
    await expect(checks.read(target)).rejects.toThrow(`${await onlyFile('checks')} is not a record of checks.`);
    await pushes.write(place, record);
    await checks.add(target, failed);
    await states.write(upload, 2);
    expect(await pushes.read(place)).toMatchObject(record);
    expect(await checks.read(target)).toEqual([failed]);
    expect(await states.read(upload)).toBe(2);
  },
);

test('records: one that cannot be read is an error', async () => {
  const records = pushRecordFiles(data);
  await records.write(place, record);
  const path = await onlyFile('pushes');
  await rm(path);
  await mkdir(path);
  await expect(records.read(place)).rejects.toThrow('it is not a regular file');
});

test('records: failed checks are kept for each target, newest first', async () => {
  const records = checkRecordFiles(data);
  expect(await records.read(target)).toEqual([]);
  await records.add(target, failed);
  await records.add(target, {...failed, bundleId: 'forty-three'});
  expect(await records.read(target)).toEqual([{...failed, bundleId: 'forty-three'}, failed]);
  expect(await records.read({...target, targetSlug: 'production'})).toEqual([]);
});

test('records: the state of an upload is for one push at a time, and for the next one after a kill', async () => {
  const [first, next] = [uploadStateFiles(data), uploadStateFiles(data)];
  const release = await first.lock(upload);
  await first.write(upload, 1);
  expect(await next.lock(upload)).toBeUndefined();
  expect(await next.lock({...upload, projectSlug: 'other'})).toBeDefined();
  await release?.();
  const folder = join(data, 'uploads');
  const file = (await readdir(folder)).find((name) => name.endsWith('.json')) ?? '';
  await mkdir(join(folder, `.${file}.lock-${String(spawnSync('true').pid)}-${ownPidSpace()}-abcdef`));
  expect(await next.lock(upload)).toBeDefined();
  expect(await next.read(upload)).toBe(1);
});

test('records: states of uploads are kept for each archive, and dropped after seven days', async () => {
  const states = uploadStateFiles(data);
  await states.write(upload, 'old');
  expect(await states.read({...upload, sha256: 'c'.repeat(64)})).toBeUndefined();
  const [path, now] = [await onlyFile('uploads'), Date.now()];
  const readAfter = async (days: number) => {
    const then = new Date(now - days * 24 * 60 * 60_000);
    await utimes(path, then, then);
    await (
      await states.lock(upload)
    )?.();
    return states.read(upload);
  };
  expect(await readAfter(6.9)).toBe('old');
  expect(await readAfter(7.1)).toBeUndefined();
  await states.write(upload, 'new');
  await states.remove(upload);
  expect(await readdir(join(data, 'uploads'))).toEqual([]);
});
