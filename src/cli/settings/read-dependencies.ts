import {readFile} from 'node:fs/promises';
import {resolve} from 'node:path';
import * as v from 'valibot';
import {dependenciesSchema} from '../../bundle/option-schemas.js';
import {createError} from '../../errors/index.js';
import type {Dependencies, Setting, UnreadSettings} from './settings.js';

/**
 * Reads `--dependencies`: a JSON object of names and version ranges, `@FILE` with one, or `auto`.
 * @throws RuntimeCliError `ERR_OPTION_INVALID`.
 */
export async function readDependencies(
  setting: NonNullable<UnreadSettings['dependencies']>,
  cwd: string,
): Promise<Setting<Dependencies>> {
  const {value, source} = setting;
  if (typeof value !== 'string') return {value, source};
  if (value.trim() === 'auto') return {value: 'auto', source};
  return {value: await readObject(value.trim(), source.name, cwd), source};
}

async function readObject(value: string, name: string, cwd: string): Promise<Readonly<Record<string, string>>> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(value.startsWith('@') ? await readFile(resolve(cwd, value.slice(1)), 'utf8') : value);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw createError('ERR_OPTION_INVALID', `${name} cannot be read: ${reason}.`, {
      suggestions: [`Set ${name} to a JSON object such as '{"name": "^1.2.3"}', @FILE, or auto.`],
      cause: error,
    });
  }
  const result = v.safeParse(dependenciesSchema, parsed);
  if (result.success) return result.output;
  throw createError('ERR_OPTION_INVALID', `${name} must be a JSON object of package names and version ranges.`);
}
