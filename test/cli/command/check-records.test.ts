import {mkdtemp, readdir, readFile, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {checkRecordFiles} from '../../../src/cli/command/check-records.js';

const place = {backend: 'legacy', origin: 'https://runtime.example', projectSlug: 'shop', targetSlug: 'staging'};
const failed = {bundleId: 42, failedAt: '2026-11-21T10:00:00.000Z'};

test('records of checks are kept for each target, newest first, and a damaged one is replaced', async () => {
  const data = await mkdtemp(join(tmpdir(), 'mycli-records-'));
  try {
    const records = checkRecordFiles(data);
    expect(await records.read(place)).toEqual([]);
    await records.add(place, failed);
    await records.add(place, {...failed, bundleId: 'forty-three'});
    expect(await records.read(place)).toEqual([{...failed, bundleId: 'forty-three'}, failed]);
    expect(await records.read({...place, targetSlug: 'production'})).toEqual([]);
    const [name = ''] = await readdir(join(data, 'checks'));
    const path = join(data, 'checks', name);
    expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({version: 1, place});
    await writeFile(path, '{"version": 2}');
    await expect(records.read(place)).rejects.toMatchObject({code: 'ERR_CONFIG_INVALID'});
    await records.add(place, failed);
    expect(await records.read(place)).toEqual([failed]);
  } finally {
    await rm(data, {recursive: true});
  }
});
