import {readFile, stat, writeFile} from 'node:fs/promises';
import {createError, isRuntimeCliError} from '../../errors/index.js';
import {reasonOf} from '../../errors/system-failure.js';

/** Far more than any file of ours, in bytes. */
const largest = 64 * 1024;

/**
 * Whether a value can be written to a dotenv file. Parsers disagree about quotes and escapes, and shells execute what
 * they source, so only values that mean the same everywhere are allowed.
 */
export function fitsDotenv(value: string): boolean {
  return /^[\w.:@%+=,/[\]-]+$/.test(value);
}

/**
 * Empties the dotenv file of `--output-env` before it is written. With `isSecret`, a new file is readable only by its
 * owner.
 * @param names the variables that mycli writes there
 * @throws RuntimeCliError `ERR_OUTPUT` when it cannot be written or holds anything else: a `.env` must not be emptied.
 */
export async function emptyEnvFile(path: string, names: readonly string[], {isSecret = false} = {}): Promise<void> {
  try {
    if (await isForeign(path, names)) throw foreignFile(path);
    await writeFile(path, '', {mode: isSecret ? 0o600 : 0o666});
  } catch (error) {
    if (isRuntimeCliError(error)) throw error;
    throw createError('ERR_OUTPUT', `The --output-env file cannot be written: ${reasonOf(error)}.`, {
      suggestions: ['Pass --output-env a path in an existing folder that you can write to.'],
      cause: error,
    });
  }
}

async function isForeign(path: string, names: readonly string[]): Promise<boolean> {
  const stats = await stat(path).catch(() => undefined);
  // A pipe or a terminal has no content to lose.
  if (stats === undefined || !stats.isFile() || stats.size === 0) return false;
  if (stats.size > largest) return true;
  const lines = (await readFile(path, 'utf8')).split('\n').filter((line) => line !== '');
  return !lines.every((line) => names.some((name) => line.startsWith(`${name}=`)));
}

function foreignFile(path: string): Error {
  return createError(
    'ERR_OUTPUT',
    `${path} contains something other than mycli outputs, so --output-env does not overwrite it.`,
    {
      suggestions: ['Pass a different file to --output-env, or remove this one.'],
    },
  );
}
