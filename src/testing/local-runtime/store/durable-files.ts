import {createHash, randomUUID} from 'node:crypto';
import {createWriteStream} from 'node:fs';
import {open, rename, rm, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {pipeline} from 'node:stream/promises';

/** A file that was stored, hashed on the way. */
export interface StoredFile {
  /** Bytes. */
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
}

/** Streams `source` into the new file `file`, which is on the disk when this resolves. */
export async function storeStream(source: AsyncIterable<Buffer>, file: string): Promise<StoredFile> {
  const hash = createHash('sha256');
  let size = 0;
  async function* hashed(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      hash.update(chunk);
      size += chunk.length;
      yield chunk;
    }
  }
  await pipeline(source, hashed, createWriteStream(file, {flags: 'wx', mode: 0o600, flush: true}));
  return {size, sha256: hash.digest('hex')};
}

/** Writes JSON into `file`: after a crash there is either what was there before, or all of `value`. */
export async function writeJsonFile(file: string, value: unknown, temporaryFolder: string): Promise<void> {
  const temporary = path.join(temporaryFolder, `${randomUUID()}.json`);
  try {
    await writeFile(temporary, `${JSON.stringify(value, null, 2)}\n`, {flag: 'wx', mode: 0o600, flush: true});
    await moveIntoPlace(temporary, file);
  } catch (error) {
    await rm(temporary, {force: true});
    throw error;
  }
}

/** Renames, and makes the new name last. */
export async function moveIntoPlace(from: string, to: string): Promise<void> {
  await rename(from, to);
  // Windows knows no way to sync a folder.
  const folder = await open(path.dirname(to), 'r').catch(() => undefined);
  try {
    await folder?.sync().catch(() => undefined);
  } finally {
    await folder?.close();
  }
}
