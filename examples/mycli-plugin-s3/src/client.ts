import type {HttpRequest, RetryStrategyV2, RetryToken} from '@smithy/types';
import type {S3Client} from '@aws-sdk/client-s3';
import {backendError, failureCode, statusOf} from './backend-error.js';
import type {S3Context} from './options.js';

/**
 * Creates an SDK client. Endpoint, region and credentials come from the options or the SDK's usual sources
 * (environment, profile, instance), and retries follow the host's rules. `signal` ends every request.
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
      message: 'No region is configured.',
      suggestions: [
        'Pass --backend-option region=REGION, or set AWS_REGION. Most stores other than AWS accept us-east-1.',
      ],
    });
  });
  await maskCredentials(client, context);
  return client;
}

/** Masks what the SDK found in a profile or got from a service. If it found nothing, its requests tell. */
async function maskCredentials(client: S3Client, {maskSecret}: Pick<S3Context, 'maskSecret'>): Promise<void> {
  const credentials = await client.config.credentials().catch(() => undefined);
  maskSecret(credentials?.secretAccessKey);
  maskSecret(credentials?.sessionToken);
}

/** Milliseconds that a write in progress may take to be answered after an abort. */
const graceMs = 250;

/**
 * Ends the requests of a client on a signal. Reads and parts end at once. Other
 * writes get a moment to be answered: a store may still carry out one that was cut off, after its results have been
 * cleaned up.
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
 * Makes the SDK retry by the host's rules: the host decides how long to wait, and the signal ends the wait. Stores
 * answer 503 SlowDown instead of 429. Connection failures and server errors are retried, too, because every request
 * here is safe to repeat.
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
        // A name that does not resolve is probably a typo.
        retryable: (errorType === 'THROTTLING' || errorType === 'TRANSIENT') && code !== 'ENOTFOUND',
      });
      // The SDK throws the response's own error instead of this one.
      if (!again) throw new Error('no retry');
      return retryToken(retries + 1);
    },
    recordSuccess: () => undefined,
  };
}

/** The wait is over when the SDK gets the token. */
function retryToken(retries: number): RetryToken {
  return {getRetryCount: () => retries, getRetryDelay: () => 0};
}
