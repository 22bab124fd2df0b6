import {constants} from 'node:fs';
import {appendFile, open} from 'node:fs/promises';
import {createError, isRuntimeCliError} from '../../errors/index.js';
import {reasonOf, systemCode} from '../../errors/system-failure.js';

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
 * Creates or empties the dotenv file of `--output-env`. With `isSecret`, only its owner can read it afterwards, and a
 * symlink in its place is not followed.
 * @param path absolute.
 * @param names the variables that mycli writes there
 * @throws RuntimeCliError `ERR_OUTPUT` when it cannot be written or holds anything else: a `.env` must not be emptied.
 */
export async function clearEnvFile(path: string, names: readonly string[], {isSecret = false} = {}): Promise<void> {
  const {O_CREAT, O_NOFOLLOW, O_RDWR} = constants;
  try {
    const handle = await open(path, O_RDWR | O_CREAT | (isSecret ? O_NOFOLLOW : 0), isSecret ? 0o600 : 0o666);
    try {
      const stats = await handle.stat();
      // A pipe or a terminal has no content to lose.
      if (!stats.isFile()) return;
      if (stats.size > largest || isForeign(await handle.readFile('utf8'), names)) throw foreignFile(path);
      if (isSecret) await handle.chmod(0o600);
      await handle.truncate(0);
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (isRuntimeCliError(error)) throw error;
    const isLink = systemCode(error) === 'ELOOP' && isSecret;
    const reason = isLink ? 'it is a symlink, and credentials are not written through one' : reasonOf(error);
    throw createError('ERR_OUTPUT', `The --output-env file cannot be written: ${reason}.`, {
      suggestions: ['Pass --output-env a path in an existing folder that you can write to.'],
      cause: error,
    });
  }
}

/** Adds lines to a dotenv file. Does not wait for the reader of a pipe. @throws Error of the system. */
export function writeEnvFile(path: string, lines: readonly string[]): Promise<void> {
  const {O_APPEND, O_NONBLOCK, O_WRONLY} = constants;
  return appendFile(path, lines.map((line) => `${line}\n`).join(''), {flag: O_APPEND | O_NONBLOCK | O_WRONLY});
}

function isForeign(content: string, names: readonly string[]): boolean {
  const lines = content.split('\n').filter((line) => line !== '');
  return !lines.every((line) => names.some((name) => line.startsWith(`${name}=`)));
}

function foreignFile(path: string): Error {
  const message = `${path} contains something other than mycli outputs, so --output-env does not overwrite it.`;
  return createError('ERR_OUTPUT', message, {
    suggestions: ['Pass a different file to --output-env, or remove this one.'],
  });
}
