import type {BackendError} from 'mycli/backend';

/**
 * An error that mycli shows as one of its own. The same as `backendError` of mycli/backend, which is not imported:
 * where the plugin is installed there may be no mycli beside it.
 */
export function failure(code: string, message: string, suggestions: readonly string[] = []): BackendError {
  return Object.assign(new Error(message), {backendError: true as const, code, suggestions});
}

/** The code of an error of the operating system, `ENOENT` for example; none of other errors. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return undefined;
  return String(error.code);
}

/** What the operating system failed with, in mycli's terms. Other errors stay what they are. */
export function toFailure(error: unknown): unknown {
  const code = systemCode(error);
  if (!(error instanceof Error) || code === undefined) return error;
  if (['EACCES', 'EPERM', 'EROFS'].includes(code)) {
    return failure('ERR_FORBIDDEN', error.message, ['Check who owns the folder and who may write to it.']);
  }
  return failure('ERR_OUTPUT', error.message, ['Check the option "directory", and the space left on its disk.']);
}
