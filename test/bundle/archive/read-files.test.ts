import {existsSync, renameSync, statSync, utimesSync, writeFileSync} from 'node:fs';
import {appendFile, mkdir, readdir, readlink, rm, stat, symlink, truncate, utimes} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {ReadMemory, slabBytes} from '../../../src/bundle/archive/memory.js';
import {
  openFile,
  readChunks,
  readWholeFile,
  type OpenFile,
  type PlannedFile,
} from '../../../src/bundle/archive/read-files.js';
import {planBundle, streamBundle, type PackOptions} from '../../../src/bundle/index.js';
import {makeFolder, pack, planOptions, smallBuild} from '../project.js';

async function plannedFile(content: string | Buffer): Promise<PlannedFile> {
  return planned(join(await makeFolder({'sub/file': content}), 'sub/file'));
}

function planned(source: string): PlannedFile {
  const {size, mtimeMs} = statSync(source);
  return {source, size, modifiedMs: mtimeMs};
}

async function open(file: PlannedFile): Promise<OpenFile> {
  const opened = await openFile(file);
  onTestFinished(() => opened.handle.close());
  return opened;
}

/** Both ways of reading, small files and large ones. */
const ways: readonly (readonly [string, (file: PlannedFile) => unknown])[] = [
  ['read whole', (file) => readWholeFile(file, new ReadMemory())],
  ['opened', (file) => open(file)],
];
const changed = (file: PlannedFile, what: string) => ({
  code: 'ERR_FILE_CHANGED',
  message: `${file.source} changed while the bundle was being built: ${what}.`,
  suggestions: [expect.stringContaining('try again')],
  details: {file: file.source},
});

test('an unchanged file is read completely', async () => {
  for (const content of ['', 'content']) {
    expect(readWholeFile(await plannedFile(content), new ReadMemory()).toString()).toBe(content);
  }
});

describe.each(ways)('a file that is %s', (_what, read) => {
  const failing = async (file: PlannedFile): Promise<unknown> => {
    try {
      await read(file);
      return undefined;
    } catch (error) {
      return error;
    }
  };

  test('must have the planned size', async () => {
    const file = await plannedFile('content');
    const longer = {...file, size: file.size + 1};
    expect(await failing(longer)).toMatchObject(changed(file, 'it shrank from 8 bytes'));
    const shorter = {...file, size: file.size - 1};
    expect(await failing(shorter)).toMatchObject(changed(file, 'it grew from 6 bytes'));
  });

  test('must not have been modified, even if the size is the same', async () => {
    const file = await plannedFile('content');
    await utimes(file.source, 1, 1);
    expect(await failing(file)).toMatchObject(changed(file, 'it was modified after the build was scanned'));
  });

  test('must still exist, as a file', async () => {
    const file = await plannedFile('content');
    await rm(file.source);
    expect(await failing(file)).toMatchObject(changed(file, 'it disappeared'));
    await symlink('/etc/hostname', file.source);
    expect(await failing(file)).toMatchObject(changed(file, 'it became a symbolic link'));
    await rm(file.source);
    await mkdir(file.source);
    expect(await failing(file)).toMatchObject(changed(file, 'it is no longer a regular file'));
    await rm(join(file.source, '..'), {recursive: true});
    await appendFile(join(file.source, '..'), 'a file in the place of the folder');
    expect(await failing(file)).toMatchObject(changed(file, 'it disappeared'));
  });

  test('must be readable', async () => {
    const file = {source: `/${'n'.repeat(300)}`, size: 1, modifiedMs: 0};
    expect(await failing(file)).toMatchObject({
      code: 'ERR_FILE_CHANGED',
      message: `${file.source} cannot be read: name too long.`,
      suggestions: [expect.stringContaining('--ignore')],
    });
  });
});

/** Files of the kernel, that have other sizes than they say: as if they changed after they were looked at. */
const [longer, shorter] = ['/proc/version', '/sys/kernel/mm/transparent_hugepage/enabled'];

test.skipIf(!existsSync(longer))('a small file that grows while it is read is an error', () => {
  const file = planned(longer);
  expect(() => readWholeFile(file, new ReadMemory())).toThrow('it grew from 0 bytes');
});

test.skipIf(!existsSync(shorter))('a file that shrinks while it is read is an error', async () => {
  const file = planned(shorter);
  expect(() => readWholeFile(file, new ReadMemory())).toThrow(`it shrank from ${String(file.size)} bytes`);
  const opened = await open(file);
  const read = async (): Promise<void> => {
    for await (const chunk of readChunks(file, opened, new ReadMemory())) expect(chunk.length).toBeGreaterThan(0);
  };
  await expect(read()).rejects.toThrow('it shrank');
});

describe('the chunks of an open file', () => {
  test('are its bytes, in pieces of at most 1 MiB', async () => {
    const content = Buffer.from(Array.from({length: 400_000}, (_, index) => String(index)).join(' '));
    const file = await plannedFile(content);
    const chunks: Buffer[] = [];
    for await (const chunk of readChunks(file, await open(file), new ReadMemory())) chunks.push(chunk);
    expect(Buffer.concat(chunks).equals(content)).toBe(true);
    expect(chunks.map(({length}) => length)).toEqual([slabBytes, slabBytes, content.length - 2 * slabBytes]);
  });

  test.each([
    ['grew', (path: string) => appendFile(path, 'x'), 'it grew from 600000 bytes', 600_000],
    ['shrank', (path: string) => truncate(path, 599_999), 'it shrank from 600000 bytes', 599_999],
  ])('end with an error if it %s, and never exceed the planned size', async (_what, change, message, bytes) => {
    const file = await plannedFile(Buffer.alloc(600_000));
    const opened = await open(file);
    await change(file.source);
    let size = 0;
    const read = async (): Promise<void> => {
      for await (const chunk of readChunks(file, opened, new ReadMemory())) size += chunk.length;
    };
    await expect(read()).rejects.toMatchObject({code: 'ERR_FILE_CHANGED', message: expect.stringContaining(message)});
    expect(size).toBe(bytes);
  });
});

/** Changes of a file that leave its size, and how the file system shows them. */
const rewrites: Readonly<Record<string, (path: string) => void>> = {
  'overwritten in place': (path) => {
    writeFileSync(path, Buffer.alloc(statSync(path).size, 'n'));
  },
  'overwritten in place, its time set back': (path) => {
    const {atimeMs, mtimeMs, ctimeMs, size} = statSync(path);
    do {
      writeFileSync(path, Buffer.alloc(size, 'n'));
      utimesSync(path, atimeMs / 1000, mtimeMs / 1000);
    } while (statSync(path).ctimeMs === ctimeMs);
  },
  'replaced by a rename, its time set back': (path) => {
    const {atimeMs, mtimeMs, size} = statSync(path);
    writeFileSync(`${path}.new`, Buffer.alloc(size, 'n'));
    utimesSync(`${path}.new`, atimeMs / 1000, mtimeMs / 1000);
    renameSync(`${path}.new`, path);
  },
};

describe.each(Object.keys(rewrites))('a file that is %s while it is read is an error', (name) => {
  const rewrite = (path: string): void => rewrites[name]?.(path);
  const old = async (size: number): Promise<string> => {
    const path = join(await makeFolder({file: Buffer.alloc(size, 'o')}), 'file');
    await utimes(path, 1, 1);
    return path;
  };

  test('read whole', async () => {
    const file = planned(await old(100_000));
    const memory = new (class extends ReadMemory {
      override take(size: number): Buffer {
        // It was looked at, and is read next.
        rewrite(file.source);
        return super.take(size);
      }
    })();
    expect(() => readWholeFile(file, memory)).toThrow(
      expect.objectContaining(changed(file, 'it was modified while it was being read')) as Error,
    );
  });

  test('in chunks', async () => {
    const file = planned(await old(3 * slabBytes));
    const opened = await open(file);
    let size = 0;
    const read = async (): Promise<void> => {
      for await (const chunk of readChunks(file, opened, new ReadMemory())) {
        if (size === 0) rewrite(file.source);
        size += chunk.length;
      }
    };
    await expect(read()).rejects.toMatchObject(changed(file, 'it was modified while it was being read'));
    expect(size).toBe(file.size);
  });

  test.each(['v1', 'v2'] as const)('when it is packed (%s), or sent while it is packed', async (format) => {
    const cwd = await makeFolder({...smallBuild, 'build/static/large.bin': Buffer.alloc(40 * slabBytes, 'o')});
    const path = join(cwd, 'build/static/large.bin');
    await utimes(path, 1, 1);
    const plan = await planBundle(planOptions(cwd, {format}));
    const error = {code: 'ERR_FILE_CHANGED', details: {file: path}};
    await expect(pack(plan, {onProgress: onceMoving(() => rewrite(path))})).rejects.toMatchObject(error);
    if (format === 'v2') return;
    await utimes(path, 1, 1);
    const {bundle} = await streamBundle(await planBundle(planOptions(cwd, {format})));
    const send = async (): Promise<void> => {
      let sent = 0;
      for await (const chunk of bundle.read()) {
        if (sent === 0) rewrite(path);
        sent += chunk.length;
      }
    };
    await expect(send()).rejects.toMatchObject(error);
  });
});

/** Calls `change` once, when some of the large file but not all of it was read. */
function onceMoving(change: () => void): PackOptions['onProgress'] {
  let done = false;
  return ({transferred}) => {
    if (done || transferred < slabBytes) return;
    done = true;
    change();
  };
}

test('a file that is read completely is closed, even if it changed', async () => {
  const file = await plannedFile('content');
  readWholeFile(file, new ReadMemory());
  expect(() => readWholeFile({...file, size: 1}, new ReadMemory())).toThrow('it grew');
  const descriptors = await readdir('/proc/self/fd');
  const open = await Promise.all(descriptors.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
  expect(open).not.toContain(file.source);
});

test('an opened file comes with its stats', async () => {
  const file = await plannedFile('content');
  const {handle, stats} = await openFile(file);
  await handle.close();
  expect(stats).toEqual(await stat(file.source));
});
