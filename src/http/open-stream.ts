import {once} from 'node:events';
import {isRuntimeCliError} from '../errors/index.js';
import {HttpCall, maxRepeats, type RequestOptions} from './connection/call.js';
import {failureKind} from './errors/failure.js';
import {isUnconnected} from './failure-retry.js';
import type {FailedAttempt, HttpOptions, HttpStream, OpenedStream, StreamingClient} from './types.js';

/** Requests something that is read as a stream, again until a response begins: got retries no streams. */
export async function openStream(
  http: StreamingClient,
  url: URL | string,
  headers: NonNullable<HttpOptions['headers']>,
  waitToRetry: (attempt: FailedAttempt) => Promise<boolean>,
): Promise<OpenedStream> {
  for (let retries = 0; ; retries += 1) {
    // Those of got have their options.
    const body = http.stream(url, {headers}) as HttpStream & {readonly options: RequestOptions};
    // A response can fail as soon as it has begun, before anyone listens for errors.
    const failures: unknown[] = [];
    body.on('error', (error) => failures.push(error));
    try {
      await once(body, 'response');
      if (failures.length > 0) throw failures[0];
      return {body, status: body.response?.statusCode ?? 0, headers: body.response?.headers ?? {}};
    } catch (error) {
      body.destroy();
      const attempt = failedAttempt(error, retries, body);
      if (attempt === undefined || !(await waitToRetry(attempt))) throw error;
    }
  }
}

function failedAttempt(
  error: unknown,
  retries: number,
  {options, response}: HttpStream & {readonly options: RequestOptions},
): FailedAttempt | undefined {
  const attempt = HttpCall.of(options.context)?.attempt;
  if (!isRuntimeCliError(error) || !attempt?.started) return undefined;
  const {message: reason, status, cause} = error;
  const failure = status === undefined && cause instanceof Error ? cause : undefined;
  const isUnsent = failure !== undefined && isUnconnected(failure, options, attempt);
  const isLost = failure === undefined ? (status ?? 0) >= 500 : ['lost', 'stalled'].includes(failureKind(failure));
  return {
    retries,
    reason,
    status,
    retryAfter: response?.headers['retry-after'],
    retryable: isUnsent || (isLost && retries < maxRepeats),
  };
}
