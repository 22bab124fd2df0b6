import type {BeforeRequestHook, Got, InitHook} from 'got';
import {createCallHandler, createFailureRetry} from './call-handler.js';
import {createRoutes} from './connection/agents.js';
import {Call} from './connection/call.js';
import {createRateLimitHooks, resolveRateLimitPolicy, type RateLimitMiddlewareConfig} from './rate-limit/index.js';
import {parseJson} from '../errors/json.js';
import {createRedactor} from './redact.js';
import type {Environment, Logger, RetryEvent} from './types.js';

/** Options of `createHttpClient`. */
export interface HttpClientOptions {
  /**
   * How requests are retried at a rate limit. Waits go to its `logger` and `onRetry`, else to those given here.
   */
  readonly rateLimit?: RateLimitMiddlewareConfig | undefined;
  /** Where the proxy variables are read: `HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`, and lower case. */
  readonly env: Environment;
  /** The `User-Agent` header. */
  readonly userAgent: string;
  readonly logger: Logger;
  /** Ends all requests: they reject with `signal.reason`. */
  readonly signal?: AbortSignal | undefined;
  /** Values that are masked in all errors and messages. */
  readonly secrets?: readonly string[] | undefined;
  /** Called before every wait. */
  readonly onRetry?: ((event: RetryEvent) => void) | undefined;
  /** Longest time to connect, TLS included, milliseconds. @default 10000 */
  readonly connectTimeoutMs?: number | undefined;
  /** Longest time without progress while sending or receiving, milliseconds. @default 60000 */
  readonly idleTimeoutMs?: number | undefined;
  /**
   * Longest time from the last byte sent to the end of the answer, to its beginning for a stream, milliseconds.
   * @default 300000
   */
  readonly responseTimeoutMs?: number | undefined;
  /** Longest answer that is read into memory, bytes; streams are not limited. @default 8 MiB */
  readonly maxResponseBytes?: number | undefined;
}

/**
 * Makes a got instance with retries, proxies, time-outs, early answers, the user agent and redaction. Loads got.
 *
 * Every call rejects with `signal.reason` when it is aborted, else with a RuntimeCliError: for each answer that is not
 * 2xx (`throwHttpErrors: false` lets it pass) and each failure of the connection. Redirects are never followed.
 * Answers are not decompressed. Streams (`client.stream`) are for downloads; nothing is retried for them: `openStream`
 * does.
 * @throws TypeError naming the field of `rateLimit` that has a wrong value.
 */
export async function createHttpClient(options: HttpClientOptions): Promise<Got> {
  const {env, userAgent, signal, secrets = []} = options;
  const logger = redactedLogger(options);
  const rateLimit = rateLimitRules(options);
  const policy = resolveRateLimitPolicy(rateLimit);
  const hooks = createRateLimitHooks(rateLimit);
  const limits = {
    connectTimeoutMs: options.connectTimeoutMs ?? 10_000,
    idleTimeoutMs: options.idleTimeoutMs ?? 60_000,
    responseTimeoutMs: options.responseTimeoutMs ?? 300_000,
    maxResponseBytes: options.maxResponseBytes ?? 8 * 1024 * 1024,
  };
  const errors = {secrets, limitedStatusCodes: policy.statusCodes};

  const {got} = await import('got');
  return got.extend({
    headers: {'user-agent': userAgent, accept: 'application/json, */*;q=0.1'},
    ...(signal === undefined ? {} : {signal}),
    followRedirect: false,
    decompress: false,
    strictContentLength: true,
    parseJson,
    retry: {limit: 0, calculateDelay: createFailureRetry(policy, rateLimit)},
    hooks: {
      init: signal === undefined ? [] : [keepSignal(signal)],
      beforeRequest: [...hooks.beforeRequest, createBeginAttempt(env, limits.connectTimeoutMs)],
      afterResponse: hooks.afterResponse,
    },
    handlers: [createCallHandler({limits, errors, logger})],
  });
}

/**
 * The rules for retries, told to the client's own logger, with secrets masked, and `onRetry`, unless they name others.
 */
export function rateLimitRules({
  rateLimit,
  onRetry,
  ...options
}: Pick<HttpClientOptions, 'rateLimit' | 'logger' | 'onRetry' | 'secrets'>): RateLimitMiddlewareConfig {
  return {
    ...rateLimit,
    logger: rateLimit?.logger ?? redactedLogger(options),
    onRetry: rateLimit?.onRetry ?? onRetry,
  };
}

function redactedLogger({logger, secrets = []}: Pick<HttpClientOptions, 'logger' | 'secrets'>): Logger {
  const redact = createRedactor(secrets);
  return {
    debug: (message) => logger.debug(redact(message)),
    info: (message) => logger.info(redact(message)),
    warn: (message) => logger.warn(redact(message)),
  };
}

/** A signal of a single call is there beside the client's, not in its place. */
function keepSignal(signal: AbortSignal): InitHook {
  return (init) => {
    if (init.signal !== undefined && init.signal !== signal) init.signal = AbortSignal.any([signal, init.signal]);
  };
}

function createBeginAttempt(env: Environment, connectTimeoutMs: number): BeforeRequestHook {
  const routeTo = createRoutes(env);
  return (options) => {
    const attempt = Call.of(options.context)?.nextAttempt();
    const {url, body, signal} = options;
    if (attempt === undefined || url === undefined) return;
    const {agent, request} = routeTo(new URL(url), {connectTimeoutMs, signal, attempt});
    options.agent = agent;
    if (request !== undefined) options.request = request;
    if (isAsyncGenerator(body)) options.body = attempt.send(body);
  };
}

function isAsyncGenerator(body: unknown): body is AsyncGenerator {
  return (
    typeof body === 'object' && body !== null && Symbol.asyncIterator in body && 'return' in body && 'next' in body
  );
}
