import type {AfterResponseHook, BeforeRequestHook, Got, InitHook, HandlerFunction} from 'got';
import {isReadOnly} from './errors/response-error.js';
import {authorizationHooks} from './auth/authorize.js';
import {createCallHandler} from './call-handler.js';
import {createRoutes} from './connection/agents.js';
import {decompress} from './decompress.js';
import {askBeforeAttempt, HttpCall, isRepeatable, isWrite, keepOwnOptions} from './connection/attempt.js';
import {ConnectionError} from './connection/watch.js';
import {createFailureRetry} from './failure-retry.js';
import {defaultLimits, defaultUploadRetries, type TimeLimits} from './time-limits.js';
import {createRateLimitHooks, resolveRateLimitPolicy, type RateLimitMiddlewareConfig} from './rate-limit/index.js';
import {parseJson} from '../text/json.js';
import {createRedactor, maskingLogger} from './redact.js';
import type {Logger, RetryEvent, StreamingClient} from './types.js';
import type {Environment} from '../text/platform.js';

export interface HttpClientOptions {
  /** Rate-limit retries. Waits are reported to its `logger` and `onRetry`, else to those below. */
  readonly rateLimit?: RateLimitMiddlewareConfig | undefined;
  /** Provides the proxy variables: `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, or lower case. */
  readonly env: Environment;
  readonly userAgent: string;
  readonly logger: Logger;
  /** Cancels all requests, which reject with `signal.reason`. */
  readonly signal?: AbortSignal | undefined;
  /** Values to mask in all errors and messages. */
  readonly secrets?: readonly string[] | undefined;
  /** Where to send a request instead, for tests of what fails on the way. Called before each attempt. */
  readonly reroute?: ((url: URL) => Promise<URL>) | undefined;
  readonly onRetry?: ((event: RetryEvent) => void) | undefined;
  /** Called with the time at the service when it answers with 2xx. */
  readonly onDate?: ((date: Date) => void) | undefined;
  /** Called with each answer of a service that is read-only for a while: reads say so, too. */
  readonly onReadOnly?: (() => void) | undefined;
  /** Called when a call begins. What it returns is called when it ends; that of a stream, when it is closed. */
  readonly onCall?: (() => () => void) | undefined;
  /** Called when a request that may have changed something was answered with 2xx. */
  readonly onWritten?: (() => void) | undefined;
  /** How often an upload that breaks off is sent again. @default 2 */
  readonly uploadRetries?: number | undefined;
  /** @default those of `defaultLimits` */
  readonly timeouts?: Partial<TimeLimits> | undefined;
}

/** The options of a client with the defaults. Its logger masks secrets, and hears of retries. */
export function clientRules(options: HttpClientOptions) {
  const {rateLimit, onRetry, timeouts, uploadRetries = defaultUploadRetries, secrets = []} = options;
  const redact = createRedactor(secrets);
  const logger = maskingLogger(options.logger, redact);
  return {
    ...options,
    secrets,
    logger,
    rateLimit: {...rateLimit, logger: rateLimit?.logger ?? logger, onRetry: rateLimit?.onRetry ?? onRetry},
    timeouts: {...defaultLimits, ...timeouts},
    uploadRetries,
  };
}

/**
 * Creates a got instance with retries, proxies, timeouts, early responses, a user agent and redaction. A call rejects
 * with `signal.reason` when aborted, else with a RuntimeCliError. Redirects are not followed, streams not retried.
 */
export async function createHttpClient(options: HttpClientOptions): Promise<Got & StreamingClient> {
  const {env, userAgent, signal, onCall, reroute, secrets, logger, rateLimit, timeouts, uploadRetries} =
    clientRules(options);
  const policy = resolveRateLimitPolicy(rateLimit);
  const hooks = createRateLimitHooks(rateLimit);
  const errors = {secrets, limitedStatusCodes: policy.statusCodes};

  const {got} = await import('got');
  const client = got.extend({
    headers: {'user-agent': userAgent, accept: 'application/json, */*;q=0.1'},
    ...(signal === undefined ? {} : {signal}),
    followRedirect: false,
    decompress: false,
    strictContentLength: true,
    parseJson,
    retry: {limit: 0, calculateDelay: createFailureRetry(policy, rateLimit, uploadRetries)},
    hooks: {
      init: [keepOwnOptions, keepSignal],
      beforeRequest: [
        askBeforeAttempt,
        ...hooks.beforeRequest,
        createBeginAttempt(env, timeouts.connectMs),
        ...authorizationHooks.beforeRequest,
        ...(reroute === undefined ? [] : [rerouted(reroute)]),
      ],
      beforeRetry: hooks.beforeRetry,
      afterResponse: [
        decompress,
        ...hooks.afterResponse,
        ...authorizationHooks.afterResponse,
        noticeAnswers(options),
        awaitDelivery,
      ],
    },
    handlers: [
      createCallHandler({limits: timeouts, errors, logger}),
      ...(onCall === undefined ? [] : [noticeCalls(onCall)]),
    ],
  });
  // got sends any method, but its types only allow some.
  return client as Got & StreamingClient;
}

function noticeCalls(onCall: () => () => void): HandlerFunction {
  return (options, next) => {
    const onEnd = onCall();
    const request = next(options);
    if ('then' in request) request.then(onEnd, onEnd);
    else void request.once('close', onEnd);
    return request;
  };
}

/** The signal of a call, or of an extended client, adds to the client's instead of replacing it. */
const keepSignal: InitHook = (init, {signal}) => {
  if (init.signal !== undefined && signal !== undefined && init.signal !== signal)
    init.signal = AbortSignal.any([signal, init.signal]);
};

/** Passes on what the headers of an answer tell. */
function noticeAnswers({onDate, onReadOnly, onWritten}: HttpClientOptions): AfterResponseHook {
  return (response) => {
    const {ok, headers, request} = response;
    const date = new Date(headers.date ?? '');
    if (ok && !Number.isNaN(date.getTime())) onDate?.(date);
    if (isReadOnly(headers)) onReadOnly?.();
    if (ok && isWrite(request.options)) onWritten?.();
    return response;
  };
}

const awaitDelivery: AfterResponseHook = async (response) => {
  const delivered = await HttpCall.of(response.request.options.context)?.attempt.delivered;
  if (delivered === false) throw new ConnectionError('ECONNRESET', 'the connection was closed');
  return response;
};

/** A retry is rerouted, too, from where it was to go at first. */
function rerouted(reroute: (url: URL) => Promise<URL>): BeforeRequestHook {
  return async (options) => {
    const {destination = options.url} = options.context;
    if (!(destination instanceof URL)) return;
    options.context = {...options.context, destination};
    options.url = await reroute(destination);
  };
}

function createBeginAttempt(env: Environment, connectTimeoutMs: number): BeforeRequestHook {
  const routeTo = createRoutes(env, connectTimeoutMs);
  return (options) => {
    const attempt = HttpCall.of(options.context)?.nextAttempt();
    const {url, body, signal} = options;
    if (attempt === undefined || url === undefined) return;
    const {agent, request} = routeTo(new URL(url), {signal, attempt, keeps: mayUseKept(options)});
    options.agent = agent;
    if (request !== undefined) options.request = request;
    if (isAsyncGenerator(body)) options.body = attempt.send(body, Number(options.headers['content-length']));
  };
}

/** Whether a request can be sent over a connection that the server may be closing: once more, if it is. */
function mayUseKept({method, context, isStream}: Parameters<BeforeRequestHook>[0]): boolean {
  return isRepeatable({method, context}) && !isStream && context['once'] !== true && !HttpCall.of(context)?.isStale;
}

function isAsyncGenerator(body: unknown): body is AsyncGenerator {
  return (
    typeof body === 'object' && body !== null && Symbol.asyncIterator in body && 'return' in body && 'next' in body
  );
}
