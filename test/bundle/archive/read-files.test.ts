import {execFileSync} from 'node:child_process';
import {randomBytes} from 'node:crypto';
import {appendFileSync, renameSync, statSync, truncateSync, utimesSync, writeFileSync} from 'node:fs';
import {appendFile, readdir, readlink, rm, symlink, utimes} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {readFile, type PlannedFile} from '../../../src/bundle/archive/read-files.js';
import {makeFolder} from '../../folder.js';

async function plannedFile(content: string | Buffer): Promise<PlannedFile> {
  return planned(join(await makeFolder({'sub/file': content}), 'sub/file'));
}

function planned(source: string): PlannedFile {
  const {size, mtimeMs} = statSync(source);
  return {source, size, modifiedMs: mtimeMs};
}

/** The most that is read at a time. */
const pieceBytes = 256 * 1024;

/** Reads to the end. Returns the content. */
function read(file: PlannedFile): Buffer {
  return Buffer.concat([...readFile(file)]);
}

const changed = (file: PlannedFile, what: string) => ({
  code: 'ERR_FILE_CHANGED',
  message: `${file.source} changed while the bundle was being built: ${what}.`,
  suggestions: [expect.stringContaining('try again')],
  details: {file: file.source},
});

test('an unchanged file is read completely, piece by piece', async () => {
  for (const content of ['', 'content']) expect(read(await plannedFile(content)).toString()).toBe(content);
  const content = randomBytes(600_000);
  const pieces = [...readFile(await plannedFile(content))];
  expect(Buffer.concat(pieces).equals(content)).toBe(true);
  expect(pieces.map(({length}) => length)).toEqual([pieceBytes, pieceBytes, 600_000 - 2 * pieceBytes]);
});

describe('a file', () => {
  const failing = (file: PlannedFile): unknown => {
    try {
      read(file);
      return undefined;
    } catch (error) {
      return error;
    }
  };

  test('must have the planned size', async () => {
    const file = await plannedFile('content');
    const longer = {...file, size: file.size + 1};
    expect(failing(longer)).toMatchObject(changed(file, 'it shrank from 8 bytes'));
    const shorter = {...file, size: file.size - 1};
    expect(failing(shorter)).toMatchObject(changed(file, 'it grew from 6 bytes'));
  });

  test('must not have been modified, even if the size is the same', async () => {
    const file = await plannedFile('content');
    await utimes(file.source, 1, 1);
    expect(failing(file)).toMatchObject(changed(file, 'it was modified after the build was scanned'));
  });

  test('must still exist, as a file', async () => {
    const file = await plannedFile('content');
    await rm(file.source);
    expect(failing(file)).toMatchObject(changed(file, 'it disappeared'));
    await symlink('/etc/hostname', file.source);
    expect(failing(file)).toMatchObject(changed(file, 'it became a symbolic link'));
    for (const command of ['mkfifo', 'mkdir']) {
      await rm(file.source, {recursive: true});
      execFileSync(command, [file.source]);
      expect(failing(file)).toMatchObject(changed(file, 'it is no longer a regular file'));
    }
    await rm(join(file.source, '..'), {recursive: true});
    await appendFile(join(file.source, '..'), 'a file in the place of the folder');
    expect(failing(file)).toMatchObject(changed(file, 'it disappeared'));
  });

  test('must be readable', async () => {
    const file = {source: `/${'n'.repeat(300)}`, size: 1, modifiedMs: 0};
    expect(failing(file)).toMatchObject({
      code: 'ERR_FILE_CHANGED',
      message: `${file.source} cannot be read: name too long.`,
      suggestions: [expect.stringContaining('.bundleignore')],
    });
  });
});

test.each([
  ['grows', (path: string) => appendFileSync(path, 'x'), 'it grew from 600000 bytes', 2 * pieceBytes],
  ['shrinks', (path: string) => truncateSync(path, 599_999), 'it shrank from 600000 bytes', 599_999],
])(
  'a file that %s between two pieces is an error, and never exceeds the planned size',
  async (_what, change, message, bytes) => {
    const file = await plannedFile(Buffer.alloc(600_000));
    let size = 0;
    const pieces = readFile(file);
    const readAll = (): void => {
      for (const piece of pieces) {
        if (size === 0) change(file.source);
        size += piece.length;
      }
    };
    expect(readAll).toThrow(
      expect.objectContaining({code: 'ERR_FILE_CHANGED', message: expect.stringContaining(message)}) as Error,
    );
    expect(size).toBe(bytes);
  },
);

test('a file that grows once the planned bytes are read is an error', async () => {
  const file = await plannedFile('content');
  const pieces = readFile(file);
  expect(pieces.next().value).toHaveLength(7);
  appendFileSync(file.source, 'x');
  expect(() => pieces.next()).toThrow('it grew from 7 bytes');
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

  test('between two pieces', async () => {
    const file = planned(await old(2 * pieceBytes));
    const pieces = readFile(file);
    pieces.next();
    rewrite(file.source);
    expect(() => [...pieces]).toThrow(
      expect.objectContaining(changed(file, 'it was modified while it was being read')) as Error,
    );
  });
});

test('a file is closed once it was read, changed, or is not read any further', async () => {
  const file = await plannedFile('content');
  read(file);
  expect(() => read({...file, size: 1})).toThrow('it grew');
  for (const piece of readFile(file)) {
    expect(piece.length).toBe(7);
    break;
  }
  const descriptors = await readdir('/proc/self/fd');
  const open = await Promise.all(descriptors.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
  expect(open).not.toContain(file.source);
});
