import {announceRetry, planLimited, resolveRateLimitPolicy, type RateLimitMiddlewareConfig} from './policy.js';
import {delay} from './wait.js';

/** Creates the body of an attempt, numbered from 1. */
export type CreateBody = (attempt: number) => AsyncGenerator<Uint8Array>;

/** Hooks for got 14, 15 and 16. */
export interface RateLimitHooks {
  /** Counts attempts, and makes the body of the first. */
  readonly beforeRequest: ((options: GotOptions) => void)[];
  /** Makes the body of the next attempt. */
  readonly beforeRetry: ((error: {readonly request?: {readonly options: GotOptions} | undefined}) => void)[];
  /** Waits and retries what was rate-limited. */
  readonly afterResponse: (<Limited extends GotResponse>(
    response: Limited,
    retryWithMergedOptions: (changes: {preserveHooks: boolean}) => never,
  ) => Promise<Limited>)[];
}

/** What the hooks use of got's options: all that its versions have in common. */
export interface GotOptions {
  /** Where the hooks keep their counters, and find `createBody`. */
  readonly context: Record<string, unknown>;
  /** Headers of the request; the hooks read and set `content-length`. */
  readonly headers: Record<string, string | string[] | undefined>;
  /** Ends the waits of the hooks. */
  readonly signal?: AbortSignal | undefined;
  /** got's own retries. */
  retry: {
    /** HTTP statuses that got retries; the hooks take theirs out. */
    statusCodes?: number[];
  };
  /** The body of the attempt. */
  body?: unknown;
}

/** What the hooks use of got's response. */
export interface GotResponse {
  /** HTTP status. */
  readonly statusCode: number;
  /** Headers of the response. */
  readonly headers: {
    /** How long to wait, in seconds, or until when, as an HTTP date. */
    readonly 'retry-after'?: string | undefined;
  };
  /** The request that was answered. */
  readonly request: {
    /** Its options. */
    readonly options: GotOptions;
  };
}

/** Counters for one got call, across all its attempts. */
export class RequestCount {
  /** How often the request was started. */
  attempts = 0;
  /** How often it was retried because of a rate limit. */
  retries = 0;
  /** Whether the next attempt has been counted and has its body. */
  isPrepared = false;

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

  const begin = (options: GotOptions) => {
    const {retry, context} = options;
    const statusCodes = (retry.statusCodes ?? []).filter((status) => !policy.statusCodes.includes(status));
    options.retry = {...retry, statusCodes};
    const count = RequestCount.of(context);
    if (!count.isPrepared) prepareAttempt(options, count);
    count.isPrepared = false;
  };

  // got 16 refuses to retry before it comes to `beforeRequest`, unless there is another body by then.
  const beginAgain: RateLimitHooks['beforeRetry'][number] = ({request}) => {
    if (request === undefined) return;
    const count = RequestCount.of(request.options.context);
    prepareAttempt(request.options, count);
    count.isPrepared = true;
  };

  const retryLimited: RateLimitHooks['afterResponse'][number] = async (response, retryWithMergedOptions) => {
    const {statusCode, headers, request} = response;
    const {context, signal} = request.options;
    const count = RequestCount.of(context);
    if (context['retryRateLimit'] === false) return response;
    const event = planLimited(statusCode, count.retries, headers['retry-after'], policy);
    if (event === undefined) return response;
    announceRetry(event, config);
    if (!(await delay(event.delayMs, signal))) return response;
    count.retries += 1;
    // Without preserveHooks, got would drop this hook from the next attempt.
    return retryWithMergedOptions({preserveHooks: true});
  };

  return {beforeRequest: [begin], beforeRetry: [beginAgain], afterResponse: [retryLimited]};
}

function prepareAttempt(options: GotOptions, count: RequestCount): void {
  count.attempts += 1;
  const {context, headers} = options;
  const {createBody} = context;
  if (!isCreateBody(createBody)) return;
  const length = headers['content-length'];
  options.body = createBody(count.attempts);
  // got 16 takes the length for that of an earlier body unless it is set with this one.
  if (length !== undefined) headers['content-length'] = length;
}

function isCreateBody(value: unknown): value is CreateBody {
  return typeof value === 'function';
}
