import type {BackendError} from 'mycli/backend';

/** An error that mycli shows like its own, as `context.error` creates them, for where there is no context. */
export function failure(
  code: BackendError['code'],
  message: string,
  suggestions: readonly string[] = [],
): BackendError {
  return Object.assign(new Error(message), {code, suggestions});
}

/** The code of a system error, such as `ENOENT`; undefined for other errors. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return undefined;
  return String(error.code);
}

/** Converts system errors to mycli's. Other errors stay unchanged. */
export function toFailure(error: unknown): unknown {
  const code = systemCode(error);
  if (!(error instanceof Error) || code === undefined) return error;
  if (['EACCES', 'EPERM', 'EROFS'].includes(code)) {
    return failure('ERR_FORBIDDEN', error.message, ['Check the owner and permissions of the folder.']);
  }
  return failure('ERR_OUTPUT', error.message, ['Check the option "directory" and the free space on its disk.']);
}
