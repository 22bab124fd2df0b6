import {AsyncLocalStorage} from 'node:async_hooks';
import {
  announceRetry,
  warnNotRetried,
  planRetry,
  resolveRateLimitPolicy,
  type RateLimitMiddlewareConfig,
} from './policy.js';
import {statusName} from '../connection/call.js';
import {wait} from './wait.js';

/** A middleware for clients that speak web `Request` and `Response`. */
export interface RateLimitMiddleware {
  /** Call it with each request before it is sent: it keeps a copy of the body to send again. */
  onRequest(context: {readonly request: Request}): void;
  /**
   * Call it with each answer: it retries as configured, and resolves with the answer to hand on.
   * @param context - `fetch`: sends a request through the whole chain, this middleware included. One retry is made
   * with it; the retries of the chain's own pass go on counting. Without it, `config.fetch` or the global `fetch` is
   * called until there is another answer or no retry left. Without any the answer is handed back. A request that is
   * handed in again goes on counting.
   */
  onResponse(context: {
    readonly request: Request;
    readonly response: Response;
    readonly fetch?: ((request: Request) => Promise<Response>) | undefined;
  }): Promise<Response>;
}

/** The retries of one request, over all the times that it is handed in. */
interface Count {
  retries: number;
}

/** A retry under way through the re-dispatch helper. */
interface Redispatch {
  /** The counts of the middleware that makes it: a chain may have several. */
  readonly owner: object;
  readonly count: Count;
  readonly target: string;
  readonly outer: Redispatch | undefined;
}

/** The chain may wrap a request on its way back to the middleware, so its identity cannot carry the count. */
// One for all: Node never lets go of a storage that was used, and asks each of them about every promise.
const redispatches = new AsyncLocalStorage<Redispatch>();

/**
 * Retries requests that the server answers with a rate-limit status. An aborted signal
 * ends a wait at once, and the last answer is the result. Use it as the last middleware of a chain: one that replaces
 * the request after it hides the body that was kept.
 * @throws TypeError naming the field of `config` that has a wrong value.
 */
export function createRateLimitMiddleware(config: RateLimitMiddlewareConfig = {}): RateLimitMiddleware {
  const policy = resolveRateLimitPolicy(config);
  const copies = new WeakMap<Request, Request>();
  const counts = new WeakMap<Request, Count>();

  const countOf = (request: Request): Count => {
    let redispatch = redispatches.getStore();
    while (redispatch !== undefined && redispatch.owner !== counts) redispatch = redispatch.outer;
    const inherited = redispatch?.target === targetOf(request) ? redispatch.count : undefined;
    const count = counts.get(request) ?? inherited ?? {retries: 0};
    counts.set(request, count);
    return count;
  };

  const nextTry = async (request: Request, kept: Request | undefined, response: Response, retries: number) => {
    if (!policy.statusCodes.includes(response.status)) return undefined;
    const event = planRetry(
      {
        retries,
        retryAfter: response.headers.get('retry-after'),
        status: response.status,
        reason: statusName(response.status),
      },
      policy,
    );
    if (event === undefined) return undefined;
    if (kept === undefined && request.bodyUsed) {
      warnNotRetried(`the body of ${request.method} ${new URL(request.url).pathname} was already read`, config);
      return undefined;
    }
    announceRetry(event, config);
    if (!(await wait(event.delayMs, request.signal))) return undefined;
    discard(response);
    // Headers that others set after the copy was made belong to the request too.
    return new Request((kept ?? request).clone(), {headers: request.headers});
  };

  return {
    onRequest({request}) {
      if (request.body !== null && !request.bodyUsed) copies.set(request, request.clone());
    },

    async onResponse({request, response, fetch: redispatch}) {
      const kept = copies.get(request);
      copies.delete(request);
      const count = countOf(request);
      let last = response;
      const send = redispatch ?? config.fetch ?? globalFetch();
      while (send !== undefined) {
        const again = await nextTry(request, kept, last, count.retries);
        if (again === undefined) break;
        count.retries += 1;
        if (redispatch !== undefined) {
          const store = {owner: counts, count, target: targetOf(request), outer: redispatches.getStore()};
          last = await redispatches.run(store, () => redispatch(again));
          break;
        }
        last = await send(again);
      }
      // It may be handed in again, with the answer that there is now.
      const over = !policy.statusCodes.includes(last.status) || count.retries >= policy.maxRetries;
      if (kept === undefined || over) discard(kept);
      else copies.set(request, kept);
      return last;
    },
  };
}

/** Some platforms have none; the types do not know them. */
function globalFetch(): ((request: Request) => Promise<Response>) | undefined {
  const {fetch}: {readonly fetch?: typeof globalThis.fetch} = globalThis;
  return fetch;
}

function targetOf({method, url}: Request): string {
  return `${method} ${url}`;
}

/** Lets go of a body that nobody will read; one that somebody reads is left to them. */
function discard(message: Request | Response | undefined): void {
  if (message?.body && !message.body.locked) void message.body.cancel().catch(() => undefined);
}
