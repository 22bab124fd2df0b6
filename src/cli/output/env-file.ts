import {constants} from 'node:fs';
import {open, stat, type FileHandle} from 'node:fs/promises';
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

/** The dotenv file of `--output-env`. */
export interface EnvFile {
  readonly path: string;
  /** Adds text. @throws Error of the system. */
  write(text: string): Promise<void>;
  close(): Promise<void>;
}

/** Paths of this process's own descriptors. What they lead to may be written to by others, too. */
const descriptorPath = /^\/(?:dev\/(?:stdout|stderr|fd\/\d+)|proc\/self\/fd\/\d+)$/;

/**
 * Opens and empties the dotenv file of `--output-env`. With `isSecret`, only its owner can read it afterwards, and a
 * symlink in its place is not followed. A pipe that no process reads from is an error instead of waiting for one.
 * @param path absolute.
 * @param names the variables that mycli writes there
 * @throws RuntimeCliError `ERR_OUTPUT` when it cannot be written or holds anything else: a `.env` must not be emptied.
 */
export async function openEnvFile(path: string, names: readonly string[], {isSecret = false} = {}): Promise<EnvFile> {
  const isDescriptor = descriptorPath.test(path);
  const isPrivate = isSecret && !isDescriptor;
  try {
    const handle = await openWithoutWaiting(path, {isDescriptor, isPrivate});
    try {
      await empty(handle, {path, names, isPrivate});
    } catch (error) {
      await handle.close();
      throw error;
    }
    return {path, write: (text) => handle.appendFile(text), close: () => handle.close()};
  } catch (error) {
    if (isRuntimeCliError(error)) throw error;
    throw createError('ERR_OUTPUT', `The --output-env file cannot be written: ${openReason(error, isPrivate)}.`, {
      suggestions: ['Pass --output-env a path in an existing folder that you can write to.'],
      cause: error,
    });
  }
}

async function openWithoutWaiting(
  path: string,
  {isDescriptor, isPrivate}: {readonly isDescriptor: boolean; readonly isPrivate: boolean},
): Promise<FileHandle> {
  const {O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDWR, O_WRONLY} = constants;
  const stats = await stat(path).catch(() => undefined);
  const isSpecial = stats !== undefined && !stats.isFile();
  const hasContent = stats !== undefined && stats.isFile() && stats.size > 0;
  const flags =
    (hasContent ? O_RDWR : O_WRONLY) |
    (isSpecial ? 0 : O_CREAT) |
    (isPrivate && !isSpecial ? O_NOFOLLOW : 0) |
    (isDescriptor ? O_APPEND : 0);
  return open(path, flags | O_NONBLOCK, isPrivate ? 0o600 : 0o666);
}

async function empty(
  handle: FileHandle,
  {path, names, isPrivate}: {readonly path: string; readonly names: readonly string[]; readonly isPrivate: boolean},
): Promise<void> {
  const stats = await handle.stat();
  // A pipe or a terminal has no content to lose.
  if (!stats.isFile()) return;
  if (stats.size > 0 && (await isForeign(handle, stats.size, names))) throw foreignFile(path);
  if (isPrivate) await handle.chmod(0o600);
  if (stats.size > 0) await handle.truncate(0);
}

async function isForeign(handle: FileHandle, size: number, names: readonly string[]): Promise<boolean> {
  if (size > largest) return true;
  // From a position, so that what is written later still starts at the beginning.
  const {buffer, bytesRead} = await handle.read(Buffer.alloc(size), 0, size, 0);
  const lines = buffer
    .toString('utf8', 0, bytesRead)
    .split('\n')
    .filter((line) => line !== '');
  return !lines.every((line) => names.some((name) => line.startsWith(`${name}=`)));
}

function openReason(error: unknown, isPrivate: boolean): string {
  const code = systemCode(error);
  if (code === 'ENXIO') return 'no process reads from it';
  if (code === 'ELOOP' && isPrivate) return 'it is a symlink, and credentials are not written through one';
  return reasonOf(error);
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
