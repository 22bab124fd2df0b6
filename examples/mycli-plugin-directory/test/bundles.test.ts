import {createHash} from 'node:crypto';
import {mkdir, readdir, readFile, utimes, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {PassThrough} from 'node:stream';
import {text} from 'node:stream/consumers';
import type {DownloadStart} from 'mycli/backend';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {copyBundle, readBundle, readBundles, removeBundle, storeBundle} from '../src/bundles.js';
import {createTestProject, quietly, type TestProject} from './project.js';

let project: TestProject;
beforeEach(async () => {
  project = await createTestProject();
});
afterEach(() => project.remove());

describe('storing', () => {
  test('puts each bundle into a folder of its own, numbered from 1', async () => {
    await project.store('first');
    await project.store('second');
    expect(await readFile(join(project.directory, 'shop/1/bundle.tar.gz'), 'utf8')).toBe('first');
    expect(await readFile(join(project.directory, 'shop/2/bundle.tar.gz'), 'utf8')).toBe('second');
  });

  test('gives bundles that are pushed side by side numbers of their own, each with its own bytes', async () => {
    const contents = Array.from({length: 20}, (_, index) => `content ${String(index)}`);
    const stored = await Promise.all(contents.map((content) => project.store(content)));
    expect(stored.map(({bundleId}) => bundleId).sort((a, b) => a - b)).toEqual(contents.map((_, index) => index + 1));
    for (const [index, {bundleId}] of stored.entries()) {
      const file = join(project.layout.bundles, String(bundleId), 'bundle.tar.gz');
      expect(await readFile(file, 'utf8')).toBe(contents[index]);
    }
  });

  test('tells its progress up to the last byte', async () => {
    const content = Buffer.alloc(1_000_000, 'x');
    const progress: number[] = [];
    const onProgress = ({transferred}: {transferred: number}) => progress.push(transferred);
    await storeBundle(project.layout, await project.bundle(content), {}, {...quietly(), onProgress});
    expect(progress.length).toBeGreaterThan(1);
    expect(progress).toEqual(progress.toSorted((a, b) => a - b));
    expect(progress.at(-1)).toBe(content.length);
  });

  test('leaves nothing of an archive that is not what its digest says', async () => {
    const bundle = await project.bundle('archive');
    await writeFile(bundle.path, 'changed');
    await expect(storeBundle(project.layout, bundle, {}, quietly())).rejects.toMatchObject({
      code: 'ERR_ARCHIVE_INVALID',
    });
    expect(await readdir(project.layout.bundles, {recursive: true})).toEqual(['incoming']);
  });

  test('ends with the reason of an abort and leaves nothing', async () => {
    const bundle = await project.bundle();
    const controller = new AbortController();
    const reason = new Error('enough');
    const createReadStream = () => {
      setImmediate(() => controller.abort(reason));
      return new PassThrough();
    };
    const stalling = {...bundle, createReadStream};
    const storing = storeBundle(project.layout, stalling, {}, {...quietly(), signal: controller.signal});
    await expect(storing).rejects.toBe(reason);
    expect(await readdir(project.layout.bundles, {recursive: true})).toEqual(['incoming']);
  });

  test('sweeps what a killed push left, and not what another one is writing', async () => {
    for (const [name, age] of [
      ['left', 2 * 60 * 60],
      ['live', 0],
    ] as const) {
      const folder = join(project.layout.incoming, name);
      await mkdir(folder, {recursive: true});
      await writeFile(join(folder, 'bundle.tar.gz'), 'half');
      const then = Date.now() / 1000 - age;
      await utimes(join(folder, 'bundle.tar.gz'), then, then);
      await utimes(folder, then, then);
    }
    await project.store();
    expect(await readdir(project.layout.incoming)).toEqual(['live']);
  });
});

describe('reading', () => {
  test('lists the newest first', async () => {
    for (let count = 0; count < 11; count += 1) await project.store();
    expect((await readBundles(project.layout)).map(({bundleId}) => bundleId)).toEqual([
      11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1,
    ]);
  });

  test.each(['0', '2', '../shop/1', '1/', 'latest', ''])('knows no bundle %j', async (bundleId) => {
    await project.store();
    await expect(readBundle(project.layout, bundleId)).rejects.toMatchObject({code: 'ERR_BUNDLE_UNKNOWN'});
  });

  test('copies the bytes that were stored', async () => {
    const {bundleId} = await project.store('first');
    const writeTo = new PassThrough();
    const starts: DownloadStart[] = [];
    const onStart = (start: DownloadStart) => void starts.push(start);
    await Promise.all([
      copyBundle(project.layout, {bundleId: String(bundleId), writeTo, onStart}, quietly()),
      expect(text(writeTo)).resolves.toBe('first'),
    ]);
    const sha256 = createHash('sha256').update('first').digest('hex');
    expect(starts).toEqual([{offset: 0, total: 5, sha256}]);
  });

  test('tells when the bytes are not the ones that were stored', async () => {
    const {bundleId} = await project.store('first');
    await writeFile(join(project.layout.bundles, String(bundleId), 'bundle.tar.gz'), 'other');
    const writeTo = new PassThrough().resume();
    const copying = copyBundle(project.layout, {bundleId, writeTo}, quietly());
    await expect(copying).rejects.toMatchObject({code: 'ERR_RESPONSE_INVALID'});
  });
});

describe('removing', () => {
  test('takes the archive, and never gives its number again', async () => {
    await project.store();
    const {bundleId} = await project.store();
    await removeBundle(project.layout, bundleId);
    expect(await readdir(join(project.layout.bundles, String(bundleId)))).toEqual(['bundle.json']);
    expect((await readBundles(project.layout)).map((bundle) => bundle.bundleId)).toEqual([1]);
    await expect(readBundle(project.layout, bundleId)).rejects.toThrow('Bundle 2 was deleted on');
    expect((await project.store()).bundleId).toBe(3);
  });
});
