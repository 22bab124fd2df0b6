import type {HttpClientOptions, RequestBodiesOptions} from '../http/index.js';
import type {RateLimitMiddlewareConfig} from '../http/rate-limit/index.js';
import type {Environment, Logger, RetryEvent} from '../http/types.js';
import type {BackendContext} from './contract.js';

/** What a backend's context is created from. */
export interface BackendContextOptions {
  readonly projectSlug: string;
  readonly targetSlug?: string | undefined;
  /** The validated options of the backend. */
  readonly options: unknown;
  /** Absolute folder that relative paths in options refer to. */
  readonly configDirectory: string;
  readonly wait?: boolean | undefined;
  readonly env: Environment;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  readonly userAgent: string;
  readonly rateLimit?: RateLimitMiddlewareConfig | undefined;
  /** Timeouts of the client. @default the client's own */
  readonly timeouts?: Pick<HttpClientOptions, 'connectTimeoutMs' | 'idleTimeoutMs' | 'responseTimeoutMs'> | undefined;
  /** Values to mask in every message. */
  readonly secrets?: readonly string[] | undefined;
  /** Called with each secret that the backend learns. */
  readonly onSecret?: ((secret: string) => void) | undefined;
  readonly onRetry?: ((event: RetryEvent) => void) | undefined;
  readonly onProgress?: ((progress: {transferred: number; total?: number | undefined}) => void) | undefined;
  /** How bodies read a bundle. @default `bundle.read()` */
  readonly readLent?: RequestBodiesOptions['readLent'];
}

/** Creates a backend's context for one call, with its client and bodies. Loads the HTTP client. */
export async function createBackendContext(options: BackendContextOptions): Promise<BackendContext> {
  const {createHttpClient, createRequestBodies, createRetryWait, openStream, rateLimitRules, redactedLogger} =
    await import('../http/index.js');
  const {projectSlug, targetSlug, configDirectory, wait, env, signal, onSecret, onProgress = () => undefined} = options;
  const secrets = [...(options.secrets ?? [])];
  const logger = redactedLogger({logger: options.logger, secrets});
  const http = await createHttpClient({
    env,
    logger,
    signal,
    userAgent: options.userAgent,
    rateLimit: options.rateLimit,
    ...options.timeouts,
    secrets,
    onRetry: options.onRetry,
  });
  const waitToRetry = createRetryWait(rateLimitRules({...options, secrets}), signal);
  return {
    projectSlug,
    targetSlug,
    options: options.options,
    configDirectory,
    http,
    bodies: createRequestBodies({onProgress, readLent: options.readLent}),
    openStream: (url, {http: client = http, headers = {}} = {}) => openStream(client, url, headers, waitToRetry),
    waitToRetry,
    maskSecret(value) {
      if (value === undefined) return;
      secrets.push(value);
      onSecret?.(value);
    },
    wait,
    signal,
    logger,
    onProgress,
    env,
  };
}
