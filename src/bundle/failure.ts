import {createError, type RuntimeCliError} from '../errors/index.js';

/** The code of a failed system call, such as `ENOENT`; nothing for any other failure. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || !('syscall' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** What went wrong, for a sentence. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The error of a file or folder that cannot be written. */
export function outputError(path: string, error: unknown): RuntimeCliError {
  return createError('ERR_OUTPUT', `${path} cannot be written: ${reasonOf(error)}`, {
    suggestions: ['Check that its folder exists, may be written to and has room.'],
    cause: error,
  });
}
