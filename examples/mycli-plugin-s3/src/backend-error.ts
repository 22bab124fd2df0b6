import type {BackendError} from 'mycli/backend';

/** An error that the host shows like its own, as `context.error` creates them, for where there is no context. */
export function backendError({message, ...fields}: Omit<BackendError, 'name' | 'stack' | 'cause'>): BackendError {
  return Object.assign(new Error(message), fields);
}

/** Whether `error` is one of ours. */
export function isBackendError(error: unknown): error is BackendError {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_');
}

/** Whether a conditional write was refused because the object does not match the condition. */
export function isConflict(error: unknown): error is BackendError {
  // 409: AWS detected a concurrent write. 404: there is no object to match.
  return isBackendError(error) && [404, 409, 412].includes(error.status ?? 0);
}

/**
 * Converts the SDK's errors to the host's. Errors that are neither responses nor network failures are bugs, and stay
 * unchanged.
 * @param doing what failed: `Writing shop/targets/staging.json`
 * @param isWrite whether it may have changed what others see although its answer was lost
 */
export function toBackendError(error: unknown, doing: string, isWrite: boolean): unknown {
  if (!(error instanceof Error) || isBackendError(error)) return error;
  if (error.name === 'CredentialsProviderError') {
    return backendError({
      code: 'ERR_CREDENTIALS_MISSING',
      message: 'The SDK found no credentials for the store.',
      suggestions: ['Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE.'],
    });
  }
  const status = statusOf(error);
  if (status !== undefined) {
    // Some stores send no message; the SDK then invents one.
    const said = ['', 'UnknownError', error.name].includes(error.message) ? '' : `: ${error.message}`;
    return backendError({
      code: codeOf(status, error.name),
      message: `${doing} failed with ${status} ${error.name}${said}`,
      status,
      suggestions: suggestionsFor(error.name),
    });
  }
  const code = failureCode(error);
  if (code === undefined) return error;
  if (isWrite) return backendError({code: 'ERR_OUTCOME_UNKNOWN', message: `${doing} may have succeeded: ${code}`});
  return backendError({
    code: code === 'ETIMEDOUT' || code === 'TimeoutError' ? 'ERR_TIMEOUT' : 'ERR_NETWORK',
    message: `${doing} failed: ${code}`,
    suggestions: ['Check the option endpoint (or AWS_ENDPOINT_URL_S3) and the connection to the store.'],
  });
}

/** The HTTP status of an SDK error; undefined if there was no response. */
export function statusOf(error: Error): number | undefined {
  const metadata = '$metadata' in error ? error.$metadata : undefined;
  if (typeof metadata !== 'object' || metadata === null || !('httpStatusCode' in metadata)) return undefined;
  return typeof metadata.httpStatusCode === 'number' ? metadata.httpStatusCode : undefined;
}

/** The system's code for a network failure: `ECONNREFUSED`. */
export function failureCode(error: Error): string | undefined {
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error.name === 'TimeoutError' ? error.name : undefined;
}

function codeOf(status: number, name: string): BackendError['code'] {
  if (status === 429 || name === 'SlowDown') return 'ERR_RATE_LIMITED';
  if (status === 401 || name === 'InvalidAccessKeyId' || name === 'SignatureDoesNotMatch') return 'ERR_UNAUTHORIZED';
  if (status === 403) return 'ERR_FORBIDDEN';
  return status >= 500 ? 'ERR_SERVER' : 'ERR_REJECTED';
}

function suggestionsFor(name: string): readonly string[] {
  switch (name) {
    case 'NoSuchBucket':
      return ['Create the bucket, or check the option bucket.'];
    case 'PermanentRedirect':
    case 'AuthorizationHeaderMalformed':
      return ['Check the option region (or AWS_REGION): the bucket is in another one.'];
    case 'AccessDenied':
      return ['The README of mycli-plugin-s3 lists the permissions that the credentials need.'];
    default:
      return [];
  }
}
