import {inspect} from 'node:util';
import {createError, isRuntimeCliError, type RuntimeCliError} from './runtime-cli-error.js';
import {asClause, asSentence} from '../text/sentence.js';

/** The code of a failed system call, such as `ENOENT`; undefined for other failures. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || !('syscall' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** What an error says. That of `fetch` says why only in its cause, which may be several errors and only have a code. */
export function messageOf(error: unknown): string {
  // Plugins throw anything, also what has no text.
  if (!(error instanceof Error)) return typeof error === 'string' ? error : inspect(error);
  const {message, cause} = error;
  if (message !== 'fetch failed' || !(cause instanceof Error)) return message;
  return `${message}: ${cause.message || String(Reflect.get(cause, 'code'))}`;
}

/** What went wrong, to finish a sentence that names the file: `no such file or directory`. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return asClause(messageOf(error));
  const system = systemCode(error) === undefined ? undefined : /^[A-Z0-9]+: ([^,]+)/.exec(error.message);
  return system?.[1] ?? asClause(error.message);
}

/** The error for a limit of open files, if that is what failed. */
export function openFilesError(error: unknown): RuntimeCliError | undefined {
  const code = systemCode(error);
  if (code !== 'EMFILE' && code !== 'ENFILE') return undefined;
  return createError('ERR_TOO_MANY_FILES', 'The system allows no more open files.', {
    suggestions: ['Allow more with ulimit -n, or close other programs.'],
    cause: error,
  });
}

/** The error about a file of the configuration or of the rules for a bundle that cannot be read. */
export function unreadable(file: string, error: unknown): RuntimeCliError {
  return createError('ERR_CONFIG_INVALID', asSentence(`${file} cannot be read: ${reasonOf(error)}`), {cause: error});
}

export function outputError(path: string, error: unknown): RuntimeCliError {
  // Unwrap: the folder's error repeats this.
  const reason = isRuntimeCliError(error) ? (error.cause ?? error) : error;
  return createError('ERR_OUTPUT', asSentence(`${path} cannot be written: ${reasonOf(reason)}`), {
    suggestions: ['Check that its folder exists and is writable, and that the disk is not full.'],
    cause: error,
  });
}

/** For `catch` of what writes a file: throws `outputError`. */
export function cannotWrite(path: string): (error: unknown) => never {
  return (error) => {
    throw outputError(path, error);
  };
}
