import type {HttpRequest, RetryStrategyV2, RetryToken} from '@smithy/types';
import type {S3Client} from '@aws-sdk/client-s3';
import {backendError, failureCode, statusOf} from './backend-error.js';
import type {S3Context} from './options.js';

/**
 * Makes a client of the SDK: endpoint, region and credentials come from the options or from where the SDK looks for
 * them (environment, profile, instance), retries are the host's. Every request ends with `signal`.
 * @throws BackendError `ERR_OPTION_INVALID` when no region is known.
 */
export async function createClient(context: S3Context, signal: AbortSignal): Promise<S3Client> {
  const {S3Client} = await import('@aws-sdk/client-s3');
  const {region, endpoint, forcePathStyle} = context.options;
  const client = new S3Client({
    ...(region === undefined ? {} : {region}),
    ...(endpoint === undefined ? {} : {endpoint}),
    ...(forcePathStyle === undefined ? {} : {forcePathStyle}),
    retryStrategy: createRetryStrategy(context),
    requestHandler: {connectionTimeout: 10_000, socketTimeout: 60_000},
    customUserAgent: 'mycli-plugin-s3',
  });
  endRequestsWith(signal, client);
  await client.config.region().catch(() => {
    throw backendError({
      code: 'ERR_OPTION_INVALID',
      message: 'no region is known',
      suggestions: [
        'Set it with --backend-option region=REGION or AWS_REGION; stores other than AWS mostly take us-east-1.',
      ],
    });
  });
  return client;
}

/** How long a write that is under way when the signal comes may take to be answered, milliseconds. */
const graceMs = 250;

/**
 * Ends the requests of a client with a signal, for those of lib-storage know none. Reads and parts end at once. Any
 * other write is given a moment to be answered: a store may carry it out after it was cut off, and after what it made
 * has been cleaned up.
 */
function endRequestsWith(signal: AbortSignal, client: S3Client): void {
  const handler = client.config.requestHandler;
  const handle = handler.handle.bind(handler);
  handler.handle = async (request: HttpRequest, options) => {
    signal.throwIfAborted();
    const endsAtOnce = request.method === 'GET' || 'partNumber' in (request.query ?? {});
    if (endsAtOnce) return handle(request, {...options, abortSignal: signal});
    const late = new AbortController();
    const onAbort = () => setTimeout(() => late.abort(signal.reason), graceMs).unref();
    signal.addEventListener('abort', onAbort);
    try {
      return await handle(request, {...options, abortSignal: late.signal});
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  };
}

/**
 * The SDK's retries by the host's rules: it says how long to wait, and the wait ends with the signal. A store limits
 * the rate with 503 SlowDown where others answer 429; failures of the connection and of the server are retried too, for
 * every request here may be sent twice.
 */
function createRetryStrategy({waitToRetry}: S3Context): RetryStrategyV2 {
  return {
    acquireInitialRetryToken: () => Promise.resolve(retryToken(0)),
    async refreshRetryTokenForRetry(token, {error, errorType}) {
      const retries = token.getRetryCount();
      const status = error && statusOf(error);
      const code = error && failureCode(error);
      const again = await waitToRetry({
        retries,
        status,
        reason: status === undefined ? (code ?? errorType) : `${status} ${error?.name ?? ''}`.trim(),
        retryAfter: error?.$response?.headers['retry-after'],
        // A name that does not resolve is a typing error.
        limited: (errorType === 'THROTTLING' || errorType === 'TRANSIENT') && code !== 'ENOTFOUND',
      });
      // The SDK throws the answer's own error in place of this one.
      if (!again) throw new Error('no retry');
      return retryToken(retries + 1);
    },
    recordSuccess: () => undefined,
  };
}

/** The wait is over by the time that the SDK gets the token. */
function retryToken(retries: number): RetryToken {
  return {getRetryCount: () => retries, getRetryDelay: () => 0};
}
