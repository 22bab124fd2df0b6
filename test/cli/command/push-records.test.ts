import {mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {pushRecordFiles} from '../../../src/cli/command/push-records.js';
import type {PushPlace, PushRecord} from '../../../src/operations/push/records.js';

const place: PushPlace = {backend: 'legacy', origin: 'https://runtime.example', projectSlug: 'shop'};
const record: PushRecord = {
  ...{bundleId: 42, fingerprint: 'a'.repeat(64), fileBytes: 1000, size: 300, sha256: 'b'.repeat(64)},
  pushedAt: '2026-11-21T10:00:00.000Z',
};

let data: string;
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'mycli-records-'));
});
afterEach(() => rm(data, {recursive: true}));

async function onlyFile(): Promise<string> {
  const [name = '', ...more] = await readdir(join(data, 'pushes'));
  expect(more).toEqual([]);
  return join(data, 'pushes', name);
}

describe('records of pushes', () => {
  test('are kept for each place, in files that only their owner can read', async () => {
    const records = pushRecordFiles(join(data, 'not/there/yet'));
    await records.write(place, record);
    const others: readonly PushPlace[] = [
      {...place, projectSlug: 'other'},
      {...place, origin: 'https://other.example'},
      {...place, backend: 'api', organizationId: 'one'},
      {...place, backend: 'api', organizationId: 'two'},
    ];
    for (const [index, other] of others.entries()) {
      expect(await records.read(other)).toBeUndefined();
      await records.write(other, {...record, bundleId: `b-${String(index)}`});
    }
    expect(await records.read(place)).toMatchObject(record);
    expect(await records.read({...others[3], ...place, backend: 'api', organizationId: 'two'})).toMatchObject({
      bundleId: 'b-3',
    });
    const folder = join(data, 'not/there/yet/pushes');
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    for (const name of await readdir(folder)) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
  });

  test('written at the same time are whole, and leave nothing beside them', async () => {
    const records = pushRecordFiles(data);
    const ids = Array.from({length: 20}, (_, index) => index);
    await Promise.all(ids.map((bundleId) => records.write(place, {...record, bundleId})));
    expect(ids).toContain((await records.read(place))?.bundleId);
    expect(JSON.parse(await readFile(await onlyFile(), 'utf8'))).toMatchObject({version: 1, place});
  });

  test.each([
    '',
    '{',
    'null',
    '{"version": 2}',
    '{"version": 1, "bundleId": null, "fingerprint": "", "pushedAt": "yesterday"}',
  ])('that are damaged are an error that names the file: %j', async (content) => {
    const records = pushRecordFiles(data);
    await records.write(place, record);
    const file = await onlyFile();
    await writeFile(file, content);
    await expect(records.read(place)).rejects.toMatchObject({message: expect.stringContaining(file) as string});
    await records.write(place, record);
    expect(await records.read(place)).toMatchObject(record);
  });

  test('that cannot be read are an error', async () => {
    const records = pushRecordFiles(data);
    await records.write(place, record);
    const path = await onlyFile();
    await rm(path);
    await mkdir(path);
    await expect(records.read(place)).rejects.toThrow('it is not a regular file');
  });
});
