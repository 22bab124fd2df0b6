/** What `backendError` makes: a plain shape that the host turns into an error of its own. */
export interface BackendError extends Error {
  readonly backendError: true;
  readonly code: string;
  readonly status?: number | undefined;
  readonly suggestions?: readonly string[] | undefined;
}

/**
 * An error with a code of the catalogue (`ERR_...`), for a backend to throw. Unknown codes become `ERR_BACKEND_FAILED`.
 */
export function backendError(fields: {
  readonly code: string;
  readonly message: string;
  readonly status?: number | undefined;
  readonly suggestions?: readonly string[] | undefined;
}): BackendError {
  const {message, ...rest} = fields;
  return Object.assign(new Error(message), {backendError: true as const, ...rest});
}
