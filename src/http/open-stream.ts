import {once} from 'node:events';
import type {IncomingHttpHeaders} from 'node:http';
import {isRuntimeCliError} from '../errors/index.js';
import {maxRepeats} from './connection/call.js';
import type {FailedAttempt, HttpOptions, OpenedStream, StreamingClient} from './types.js';

/**
 * Requests something that is read as a stream. Like any GET, it is retried until a response begins, since got retries
 * no streams. Later failures are up to the reader.
 * @param waitToRetry waits before a retry
 * @throws RuntimeCliError for every status other than 2xx and every network failure.
 */
export async function openStream(
  http: StreamingClient,
  url: URL | string,
  headers: NonNullable<HttpOptions['headers']>,
  waitToRetry: (attempt: FailedAttempt) => Promise<boolean>,
): Promise<OpenedStream> {
  for (let retries = 0; ; retries += 1) {
    const body = http.stream(url, {headers});
    // A response can fail as soon as it has begun, before anyone listens for errors.
    const failures: unknown[] = [];
    body.on('error', (error) => failures.push(error));
    try {
      await once(body, 'response');
      if (failures.length > 0) throw failures[0];
      return {body, status: body.response?.statusCode ?? 0, headers: body.response?.headers ?? {}};
    } catch (error) {
      body.destroy();
      const attempt = failedAttempt(error, retries, body.response?.headers);
      if (attempt === undefined || !(await waitToRetry(attempt))) throw error;
    }
  }
}

function failedAttempt(
  error: unknown,
  retries: number,
  headers: IncomingHttpHeaders | undefined,
): FailedAttempt | undefined {
  if (!isRuntimeCliError(error)) return undefined;
  const {code, message: reason, status, cause} = error;
  const causeCode = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  const isUnsent = causeCode === 'ECONNREFUSED' || causeCode === 'EAI_AGAIN';
  const isLost =
    ['ERR_TIMEOUT', 'ERR_SERVER', 'ERR_MAINTENANCE'].includes(code) ||
    (code === 'ERR_NETWORK' && status === undefined && causeCode !== 'ENOTFOUND');
  return {
    retries,
    reason,
    status,
    retryAfter: headers?.['retry-after'],
    retryable: isUnsent || (isLost && retries < maxRepeats),
  };
}
