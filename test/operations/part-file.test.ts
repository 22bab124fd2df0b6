import {mkdir, mkdtemp, readdir, readlink, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {PartFile} from '../../src/operations/part-file.js';

test.skipIf(process.platform !== 'linux')('what a part belongs to cannot be kept: the part is closed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mycli-part-'));
  try {
    const path = join(folder, 'archive.part');
    await mkdir(`${path}.json`);
    const part = new PartFile(path, {backend: 'api', projectSlug: 'shop', bundleId: 1});
    const writer = part.write(() => undefined);
    writer.begin({offset: 0, validator: '"one"'});
    writer.write('bytes');
    await expect(writer.complete()).rejects.toMatchObject({code: 'ERR_OUTPUT'});
    await writer.abandon();
    const descriptors = await readdir('/proc/self/fd');
    const open = await Promise.all(descriptors.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')));
    expect(open).not.toContain(path);
  } finally {
    await rm(folder, {recursive: true});
  }
});
