import type {HttpClientOptions, RequestBodiesOptions} from '../http/index.js';
import type {RateLimitMiddlewareConfig} from '../http/rate-limit/index.js';
import type {Environment, Logger, RetryEvent} from '../http/types.js';
import type {BackendContext} from './contract.js';

/** What the context of a backend is made of. */
export interface BackendContextOptions {
  readonly projectSlug: string;
  readonly targetSlug?: string | undefined;
  /** The validated options of the backend. */
  readonly options: unknown;
  readonly wait?: boolean | undefined;
  readonly env: Environment;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  readonly userAgent: string;
  readonly rateLimit?: RateLimitMiddlewareConfig | undefined;
  /** Time-outs of the client, with its defaults. */
  readonly timeouts?: Pick<HttpClientOptions, 'connectTimeoutMs' | 'idleTimeoutMs' | 'responseTimeoutMs'> | undefined;
  /** Values that are masked in every message. */
  readonly secrets?: readonly string[] | undefined;
  readonly onRetry?: ((event: RetryEvent) => void) | undefined;
  readonly onProgress?: ((progress: {transferred: number; total?: number | undefined}) => void) | undefined;
  /** How bodies read a bundle. @default as anyone else would */
  readonly readLent?: RequestBodiesOptions['readLent'];
}

/** Makes the context of one backend for one call: its client and its bodies. Loads the HTTP client. */
export async function createBackendContext(options: BackendContextOptions): Promise<BackendContext> {
  const {createHttpClient, createRequestBodies, createRetryWait, openStream, rateLimitRules} =
    await import('../http/index.js');
  const {projectSlug, targetSlug, wait, env, logger, signal, onProgress = () => undefined} = options;
  const http = await createHttpClient({
    env,
    logger,
    signal,
    userAgent: options.userAgent,
    rateLimit: options.rateLimit,
    ...options.timeouts,
    secrets: options.secrets,
    onRetry: options.onRetry,
  });
  const waitToRetry = createRetryWait(rateLimitRules(options), signal);
  return {
    projectSlug,
    targetSlug,
    options: options.options,
    http,
    bodies: createRequestBodies({onProgress, readLent: options.readLent}),
    openStream: (url, {http: client = http, headers = {}} = {}) => openStream(client, url, headers, waitToRetry),
    waitToRetry,
    wait,
    signal,
    logger,
    onProgress,
    env,
  };
}
