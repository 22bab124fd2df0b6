import {open, rename, rm} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import type {MycliConfig} from '../../config.js';
import {createError} from '../../errors/index.js';
import {isRecord} from '../../errors/json.js';
import {outputError, systemCode} from '../../errors/system-failure.js';
import {createSweptDirectory} from '../../files/temporary-directory.js';
import {configIn} from '../settings/config-file.js';

/** The configuration file that is written. */
export const newConfigName = 'mycli.config.ts';

/**
 * Refuses to set up a project that is already set up.
 * @throws RuntimeCliError `ERR_OUTPUT` naming the configuration file.
 */
export async function refuseExistingConfig(directory: string): Promise<void> {
  const path = await configIn(directory);
  if (path !== undefined) throw existingError(path);
}

function existingError(path: string): Error {
  return createError('ERR_OUTPUT', `${path} already contains a configuration.`, {
    suggestions: [`Edit it, or pass --force to write a new ${newConfigName}.`],
  });
}

/**
 * Writes a typed configuration file. Returns its path.
 * @throws RuntimeCliError `ERR_OUTPUT` when it exists and `force` is not set, or it cannot be written.
 */
export async function writeConfig(directory: string, config: MycliConfig, force: boolean): Promise<string> {
  const path = join(directory, newConfigName);
  try {
    await (force ? replaceFile : createFile)(path, configSource(config));
  } catch (error) {
    if (systemCode(error) === 'EEXIST') throw existingError(path);
    throw outputError(path, error);
  }
  return path;
}

/** Never overwrites a file, or follows a link, that appeared in the meantime. */
async function createFile(path: string, source: string): Promise<void> {
  const file = await open(path, 'wx');
  try {
    await file.writeFile(source);
  } catch (error) {
    await rm(path, {force: true});
    throw error;
  } finally {
    await file.close();
  }
}

/** The file of before stays until the new one is complete. */
async function replaceFile(path: string, source: string): Promise<void> {
  const staging = await createSweptDirectory(dirname(path));
  try {
    const complete = join(staging.path, newConfigName);
    await createFile(complete, source);
    await rename(complete, path);
  } finally {
    await staging.remove();
  }
}

function configSource(config: MycliConfig): string {
  return `import {defineConfig} from 'mycli';\n\nexport default defineConfig(${literal(config, '')});\n`;
}

/** A value as TypeScript, formatted as Prettier would. */
function literal(value: unknown, indent: string): string {
  if (typeof value === 'string') return quoted(value);
  if (Array.isArray(value)) return `[${value.map((item) => literal(item, indent)).join(', ')}]`;
  if (!isRecord(value)) return JSON.stringify(value);
  const inner = `${indent}  `;
  const members = Object.entries(value).filter(([, item]) => item !== undefined);
  return `{\n${members.map(([key, item]) => `${inner}${key}: ${literal(item, inner)},\n`).join('')}${indent}}`;
}

function quoted(text: string): string {
  return /[\p{Cc}\u2028\u2029]/u.test(text) ? JSON.stringify(text) : `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`;
}
