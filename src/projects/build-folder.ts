import {readdir} from 'node:fs/promises';
import {join} from 'node:path';
import {exists} from '../files/read-file.js';
import {namesIn} from './read-project.js';

/** Whether a path exists, in which a first `*` stands for any folder. */
export async function hasPath(directory: string, path: string): Promise<boolean> {
  if (!path.startsWith('*/')) return exists(join(directory, path));
  const names = await namesIn(directory);
  return (await firstOf(names, (name) => exists(join(directory, name, path.slice(2))))) !== undefined;
}

export async function foldersIn(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, {withFileTypes: true}).catch(() => []);
  const folders = entries.filter((entry) => entry.isDirectory()).map(({name}) => name);
  return folders.filter((name) => name !== 'node_modules' && !name.startsWith('.'));
}

/** The files of a folder, but for packages: they are no part of a site. */
export async function filesIn(directory: string, folder = ''): Promise<readonly string[]> {
  const entries = await readdir(join(directory, folder), {withFileTypes: true}).catch(() => []);
  const found: string[] = [];
  for (const entry of entries) {
    const path = `${folder}${entry.name}`;
    if (entry.isFile() || entry.isSymbolicLink()) found.push(path);
    else if (entry.isDirectory() && entry.name !== 'node_modules' && entry.name !== '.git')
      found.push(...(await filesIn(directory, `${path}/`)));
  }
  return found;
}

export async function firstOf<Value>(
  values: readonly Value[],
  isTrue: (value: Value) => Promise<boolean>,
): Promise<Value | undefined> {
  for (const value of values) {
    if (await isTrue(value)) return value;
  }
  return undefined;
}
