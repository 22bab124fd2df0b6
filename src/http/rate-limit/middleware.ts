import {AsyncLocalStorage} from 'node:async_hooks';
import {
  announceRetry,
  planLimited,
  resolveRateLimitPolicy,
  warnNotRetried,
  type RateLimitMiddlewareConfig,
} from './policy.js';
import {delay} from './wait.js';

/** Middleware for clients that use the web's `Request` and `Response`. Our own retry in `hooks.ts`. */
export interface RateLimitMiddleware {
  /** Call it with each request before sending it. It keeps a copy of the body for retries. */
  onRequest(context: {readonly request: Request}): void;
  /**
   * Call it with each response. It retries as configured, and resolves with the response to pass on.
   * @param context - `fetch`: sends a request through the whole chain, including this middleware. It makes one retry,
   * and the retries of that pass count on, whatever URL they have. Without it, `config.fetch`, the `fetch` of `options`
   * (that of a client of openapi-fetch) or the global one is called until there is another response or no retry is
   * left. Without any, the response is returned as it is. A request that is passed in again counts on.
   */
  onResponse(context: {
    readonly request: Request;
    readonly response: Response;
    readonly fetch?: ((request: Request) => Promise<Response>) | undefined;
    readonly options?: {readonly fetch?: ((request: Request) => Promise<Response>) | undefined} | undefined;
  }): Promise<Response>;
}

/** The retries of one request, however often it is passed in. */
interface Count {
  retries: number;
}

/**
 * The retries in progress through re-dispatch helpers, by middleware: a chain may have several, and wrap a request on
 * its way back, so that the request cannot carry the count. One storage for all, since Node never releases one.
 */
const redispatches = new AsyncLocalStorage<ReadonlyMap<object, {readonly count: Count; readonly method: string}>>();

/**
 * Retries requests that the server answers with a rate-limit status. An aborted signal ends a wait at once, and the
 * last response is the result. Use it as the last middleware of a chain: a later one that replaces the request would
 * hide the kept body.
 * @throws TypeError naming the field of `config` that has a wrong value, or is unknown.
 */
export function createRateLimitMiddleware(config: RateLimitMiddlewareConfig = {}): RateLimitMiddleware {
  const policy = resolveRateLimitPolicy(config);
  const copies = new WeakMap<Request, Request>();
  const counts = new WeakMap<Request, Count>();

  const countOf = (request: Request): Count => {
    const redispatch = redispatches.getStore()?.get(counts);
    // The URL may be another: signed anew, or with a nonce. A request of another kind, as for a token, is not ours.
    const inherited = redispatch?.method === request.method ? redispatch.count : undefined;
    const count = counts.get(request) ?? inherited ?? {retries: 0};
    counts.set(request, count);
    return count;
  };

  const nextTry = async (request: Request, copy: Request | undefined, response: Response, retries: number) => {
    const event = planLimited(response.status, retries, response.headers.get('retry-after'), policy);
    if (event === undefined) return undefined;
    if (copy === undefined && request.bodyUsed) {
      warnNotRetried(`the body of ${request.method} ${new URL(request.url).pathname} was already read`, config);
      return undefined;
    }
    announceRetry(event, config);
    if (!(await delay(event.delayMs, request.signal))) return undefined;
    discard(response);
    // Headers that others set after copying belong to the request too.
    return withHeadersOf(request, (copy ?? request).clone());
  };

  return {
    onRequest({request}) {
      if (request.body !== null && !request.bodyUsed) copies.set(request, request.clone());
    },

    async onResponse({request, response, fetch: redispatch, options}) {
      const copy = copies.get(request);
      copies.delete(request);
      const count = countOf(request);
      let last = response;
      const send = redispatch ?? config.fetch ?? options?.fetch ?? globalFetch();
      while (send !== undefined) {
        const again = await nextTry(request, copy, last, count.retries);
        if (again === undefined) break;
        count.retries += 1;
        if (redispatch !== undefined) {
          const store = new Map(redispatches.getStore()).set(counts, {count, method: request.method});
          last = await redispatches.run(store, () => redispatch(again));
          break;
        }
        last = await send(again);
      }
      // It may be passed in again with the current response.
      const over = !policy.statusCodes.includes(last.status) || count.retries >= policy.maxRetries;
      if (copy === undefined || over) discard(copy);
      else copies.set(request, copy);
      return last;
    },
  };
}

/** Some platforms have none, which the types do not know. */
function globalFetch(): ((request: Request) => Promise<Response>) | undefined {
  const {fetch}: {readonly fetch?: typeof globalThis.fetch} = globalThis;
  return fetch;
}

/** Gives `copy` the headers of `request`. A clone has the class that its own `fetch` knows, unlike a new `Request`. */
function withHeadersOf(request: Request, copy: Request): Request {
  for (const name of [...copy.headers.keys()]) copy.headers.delete(name);
  for (const [name, value] of request.headers) copy.headers.set(name, value);
  return copy;
}

/** Releases a body that nobody will read. One that is being read is left to its reader. */
function discard(message: Request | Response | undefined): void {
  if (message?.body && !message.body.locked) void message.body.cancel().catch(() => undefined);
}
