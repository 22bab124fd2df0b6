import {reasonOf} from '../../errors/system-failure.js';
import {createError} from '../../errors/index.js';
import {readTextFile} from '../../modules/index.js';
import {isRecord} from '../settings/parsers.js';

/**
 * Reads a JSON file that holds an object.
 * @throws RuntimeCliError `ERR_CONFIG_INVALID` when it cannot be read or holds something else.
 */
export async function readJsonObject(path: string): Promise<Readonly<Record<string, unknown>>> {
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
