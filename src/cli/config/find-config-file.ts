import {lstat, realpath, stat} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {readJsonObject} from './read-json-object.js';

/** Names of configuration files, the strongest first. */
export const configFileNames: readonly string[] = [
  'mycli.config.ts',
  'mycli.config.mts',
  'mycli.config.js',
  'mycli.config.mjs',
  'mycli.config.json',
];

/** Where to look for a configuration file. */
export interface ConfigSearch {
  /** Absolute. */
  readonly cwd: string;
  /** Id of the user; files of others are passed over. None on platforms without user ids. */
  readonly uid: number | undefined;
  /** Told of a file that was passed over. */
  readonly warn: (message: string) => void;
}

/**
 * The configuration file: the nearest from the working directory up to the repository's root, without a repository only
 * in the working directory. It is code: one that another user owns is never taken.
 * @throws RuntimeCliError `ERR_CONFIG_INVALID` when a package.json on the way cannot be read.
 */
export async function findConfigFile(search: ConfigSearch): Promise<string | undefined> {
  for (const directory of await directoriesToSearch(search.cwd)) {
    for (const name of configFileNames) {
      const path = join(directory, name);
      if (await isUsable(path, search)) return path;
    }
    const manifest = join(directory, 'package.json');
    if ((await hasConfig(manifest)) && (await isUsable(manifest, search))) return manifest;
  }
  return undefined;
}

async function directoriesToSearch(cwd: string): Promise<readonly string[]> {
  // The folder itself, not a link to it: what lies above the link is somebody else's.
  const start = await realpath(cwd);
  const directories = [start];
  for (let directory = start; ; directory = dirname(directory)) {
    if (directory !== start) directories.push(directory);
    // A folder, or a file in work trees and submodules.
    if (await exists(join(directory, '.git'))) return directories;
    if (dirname(directory) === directory) return [start];
  }
}

async function isUsable(path: string, {uid, warn}: ConfigSearch): Promise<boolean> {
  if (!(await exists(path))) return false;
  // Both the link and what it leads to: either lets its owner choose the code.
  const owners = [(await lstat(path)).uid, (await stat(path)).uid];
  if (uid === undefined || owners.every((owner) => owner === uid)) return true;
  warn(`${path} is not read: another user owns it. Give --config ${path} to use it nevertheless.`);
  return false;
}

async function hasConfig(manifest: string): Promise<boolean> {
  if (!(await exists(manifest))) return false;
  return (await readJsonObject(manifest))['mycli'] !== undefined;
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch {
    return false;
  }
}
