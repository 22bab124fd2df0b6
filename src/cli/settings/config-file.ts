import {lstat, realpath, stat} from 'node:fs/promises';
import {basename, dirname, extname, join, resolve} from 'node:path';
import {createError} from '../../errors/index.js';
import {isRecord} from '../../errors/json.js';
import {reasonOf} from '../../errors/system-failure.js';
import {loadModule, readTextFile} from '../../modules/load-module.js';
import type {ConfigSettings} from './settings.js';
import {configSettings} from './config-settings.js';

/** Names of configuration files, the strongest first. */
const configFileNames: readonly string[] = [
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

/** A configuration file that was read. */
export interface LoadedConfig {
  /** Absolute. */
  readonly path: string;
  readonly settings: ConfigSettings;
}

/**
 * Reads the configuration file that `explicit` names (relative to the working directory), or the one that is found.
 * TypeScript and JavaScript files are run.
 * @throws RuntimeCliError `ERR_CONFIG_INVALID`, `ERR_CONFIG_SECRET`.
 */
export async function loadConfigFile(search: ConfigSearch, explicit?: string): Promise<LoadedConfig | undefined> {
  const path = explicit === undefined ? await findConfigFile(search) : resolve(search.cwd, explicit);
  if (path === undefined) return undefined;
  return {path, settings: configSettings(await readConfig(path), path)};
}

async function readConfig(path: string): Promise<Readonly<Record<string, unknown>>> {
  if (basename(path) === 'package.json') {
    const {mycli} = await readJsonObject(path);
    if (isRecord(mycli)) return mycli;
    throw createError('ERR_CONFIG_INVALID', `${path} has no object mycli.`);
  }
  if (extname(path) === '.json') return readJsonObject(path);
  const exported = await loadModule(path);
  const config = exported['config'] ?? exported['default'];
  if (isRecord(config)) return config;
  throw createError('ERR_CONFIG_INVALID', `${path} exports no configuration.`, {
    suggestions: ['Export an object, as the default export or as config.'],
  });
}

/**
 * Reads a JSON file that holds an object.
 * @throws RuntimeCliError `ERR_CONFIG_INVALID` when it cannot be read or holds something else.
 */
async function readJsonObject(path: string): Promise<Readonly<Record<string, unknown>>> {
  const value = await readJson(path);
  if (isRecord(value)) return value;
  throw createError('ERR_CONFIG_INVALID', `${path} does not hold a JSON object.`);
}

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readTextFile(path));
  } catch (error) {
    throw createError('ERR_CONFIG_INVALID', `${path} cannot be read: ${reasonOf(error)}.`, {cause: error});
  }
}

/**
 * The configuration file: the nearest from the working directory up to the repository's root, without a repository only
 * in the working directory. It is code: one that another user owns is never taken.
 * @throws RuntimeCliError `ERR_CONFIG_INVALID` when a package.json on the way cannot be read.
 */
async function findConfigFile(search: ConfigSearch): Promise<string | undefined> {
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
  warn(`Ignored ${path}: another user owns it. Pass --config ${path} to use it anyway.`);
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
