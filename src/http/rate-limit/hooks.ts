import type {AfterResponseHook, BeforeRequestHook} from 'got';
import {announceRetry, planLimited, resolveRateLimitPolicy, type RateLimitMiddlewareConfig} from './policy.js';
import {wait} from './wait.js';

/** Creates the body of an attempt, numbered from 1. */
export type CreateBody = (attempt: number) => AsyncGenerator<Uint8Array>;

/** Hooks for got. */
export interface RateLimitHooks {
  readonly beforeRequest: BeforeRequestHook[];
  readonly afterResponse: AfterResponseHook[];
}

/** Counters for one got call, across all its attempts. */
export class RequestCount {
  /** How often the request was started. */
  attempts = 0;
  /** How often it was retried because of a rate limit. */
  retries = 0;

  /** The counters of the call that `context` belongs to. got copies contexts, but not the objects in them. */
  static of(context: Record<string, unknown>): RequestCount {
    const existing = context['rateLimit'];
    if (existing instanceof RequestCount) return existing;
    const count = new RequestCount();
    context['rateLimit'] = count;
    return count;
  }
}

/**
 * The middleware's policy as hooks for got:
 *
 * ```ts
 * const client = got.extend({hooks: createRateLimitHooks({maxRetries: 5}), followRedirect: false});
 * await client.post(url, {json: {bundle_id: 1}});
 * ```
 *
 * Strings, buffers, `json` and `form` are resent as they are. A streamed body must be created for every attempt, so
 * pass a function that does, and its length, instead of a body:
 *
 * ```ts
 * const createBody = async function* () { yield* createReadStream(file); };
 * await client.post(url, {headers: {'content-length': String(size)}, context: {createBody}});
 * ```
 *
 * The statuses are removed from got's own retries, so nothing is retried twice. The hooks work for promises, but not
 * for `got.stream`, which has no such hooks.
 * @throws TypeError naming the field of `config` that has a wrong value.
 */
export function createRateLimitHooks(config: RateLimitMiddlewareConfig = {}): RateLimitHooks {
  const policy = resolveRateLimitPolicy(config);

  const prepareAttempt: BeforeRequestHook = (options) => {
    const {retry, context} = options;
    const statusCodes = (retry.statusCodes ?? []).filter((status) => !policy.statusCodes.includes(status));
    options.retry = {...retry, statusCodes};
    const count = RequestCount.of(context);
    count.attempts += 1;
    const {createBody} = context;
    if (isCreateBody(createBody)) options.body = createBody(count.attempts);
  };

  const retryLimited: AfterResponseHook = async (response, retryWithMergedOptions) => {
    const {statusCode, headers, request} = response;
    const {context, signal} = request.options;
    const count = RequestCount.of(context);
    const event = planLimited(statusCode, count.retries, headers['retry-after'], policy);
    if (event === undefined) return response;
    announceRetry(event, config);
    if (!(await wait(event.delayMs, signal))) return response;
    count.retries += 1;
    // Without preserveHooks, got would drop this hook from the next attempt.
    return retryWithMergedOptions({preserveHooks: true});
  };

  return {beforeRequest: [prepareAttempt], afterResponse: [retryLimited]};
}

function isCreateBody(value: unknown): value is CreateBody {
  return typeof value === 'function';
}
