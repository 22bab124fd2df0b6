import {open, readFile, rename} from 'node:fs/promises';
import {basename, dirname, join} from 'node:path';

/**
 * Replaces a file, at once or not at all, with one that only its owner can read. Its folder is there; what killed runs
 * left in that is removed.
 * @param beforeReplacing what may still stop it, with nothing changed
 */
export async function replacePrivateFile(
  path: string,
  content: string,
  beforeReplacing: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const {createSiblingDirectory} = await import('./temporary-directory.js');
  const directory = await createSiblingDirectory(dirname(path));
  const temporary = join(directory.path, basename(path));
  try {
    const handle = await open(temporary, 'wx', 0o600);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await beforeReplacing();
    await rename(temporary, path);
  } finally {
    await directory.remove();
  }
}

/**
 * Reads such a file, which holds JSON; nothing when there is none. What is no JSON is `undefined`: JSON's own complaint
 * would repeat a part of it.
 * @throws Error of the system when it cannot be read.
 */
export async function readPrivateFile(path: string): Promise<{readonly value: unknown} | undefined> {
  let content: string;
  try {
    content = await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return {value: JSON.parse(content)};
  } catch {
    return {value: undefined};
  }
}
