import {randomUUID} from 'node:crypto';
import {open, rename, rm} from 'node:fs/promises';

/** Replaces a file, at once or not at all, with one that only its owner can read. Its folder is there. */
export async function replacePrivateFile(path: string, content: string): Promise<void> {
  const temporary = `${path}.${randomUUID()}`;
  try {
    const handle = await open(temporary, 'wx', 0o600);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, {force: true});
    throw error;
  }
}
