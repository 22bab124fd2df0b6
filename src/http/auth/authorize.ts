import type {AfterResponseHook, BeforeRequestHook} from 'got';
import {createError, isRuntimeCliError} from '../../errors/index.js';
import {describeRequest} from '../connection/call.js';
import type {AuthContext, AuthStrategy, StreamingClient} from '../types.js';

/** The credentials that a call was sent with. */
class Authorization {
  /** Why the call is sent again. */
  renewed: 'refused' | 'expired' | undefined;
  header = '';
  #expiredBefore = false;

  /** Records the header of the next attempt. */
  begin(header: string, auth: AuthStrategy): void {
    this.header = header;
    this.#expiredBefore = auth.hasExpired?.(header) ?? false;
  }

  /** Whether they expired during the attempt. */
  hasExpired(auth: AuthStrategy): boolean {
    return !this.#expiredBefore && (auth.hasExpired?.(this.header) ?? false);
  }

  static of(context: Record<string, unknown>): Authorization | undefined {
    return context['authorization'] instanceof Authorization ? context['authorization'] : undefined;
  }
}

/**
 * The origins that accepted a strategy's credentials. Kept per strategy, because strategies outlive clients: the next
 * operation uses what the last one learned.
 */
const acceptedBy = new WeakMap<AuthStrategy, Set<string>>();

/** What a client is authorized with, and where. */
class Grant {
  constructor(
    readonly auth: AuthStrategy,
    readonly target: string,
    /** The client without the authorization. */
    readonly http: StreamingClient,
  ) {}

  /** The grant that applies to a request. */
  static of({context, url = ''}: {context: Record<string, unknown>; url?: URL | string | undefined}) {
    const {grant} = context;
    return grant instanceof Grant && new URL(url).origin === grant.target ? grant : undefined;
  }
}

/**
 * Extends a client of `createHttpClient` to authorize its requests to one origin, and to no other. A 401 means that the
 * credentials are refused, unless the server accepted the strategy's credentials before or they expired during the
 * request. Then the strategy is asked for new ones, and the request is sent once more, with its whole body.
 * @param http - The client to extend; strategies fetch their tokens with it.
 * @param origin - Its path does not matter.
 */
export function authorize(http: StreamingClient, auth: AuthStrategy, origin: string): StreamingClient {
  return http.extend({context: {grant: new Grant(auth, new URL(origin).origin, http)}});
}

/** Hooks for got that authorize the requests of clients from `authorize`. */
export function createAuthorizationHooks(): {
  readonly beforeRequest: readonly BeforeRequestHook[];
  readonly afterResponse: readonly AfterResponseHook[];
} {
  const setHeader: BeforeRequestHook = async (options) => {
    const grant = Grant.of(options);
    if (grant === undefined) return;
    const {auth, http} = grant;
    const authorization = Authorization.of(options.context) ?? new Authorization();
    const context: AuthContext = {http, signal: options.signal};
    const header = await auth.getAuthorizationHeader(context).catch((error: unknown) => {
      const expired = authorization.renewed === 'expired' && isRuntimeCliError(error) && error.code === 'ERR_OAUTH';
      throw expired ? tokenExpired(options, 'the token endpoint issued no new one', error) : error;
    });
    // A custom strategy may return anything. Node would report it as a bug of ours.
    if (typeof header !== 'string' || !/^[\x20-\x7e]+$/.test(header)) {
      throw createError(
        'ERR_OPTION_INVALID',
        'The AuthStrategy returned something that cannot be sent in an Authorization header.',
      );
    }
    options.headers['authorization'] = header;
    authorization.begin(header, auth);
    options.context = {...options.context, authorization};
  };

  const renew: AfterResponseHook = (response, retryWithMergedOptions) => {
    const {options} = response.request;
    const grant = Grant.of(options);
    if (grant === undefined) return response;
    const {auth, target} = grant;
    if (response.ok) acceptedBy.set(auth, (acceptedBy.get(auth) ?? new Set()).add(target));
    const authorization = Authorization.of(options.context);
    if (response.statusCode !== 401 || authorization === undefined) return response;
    const expired = authorization.hasExpired(auth);
    if (!expired) auth.invalidate?.(authorization.header);
    if (authorization.renewed !== undefined) {
      const late = expired || (authorization.renewed === 'expired' && auth.hasExpired?.(authorization.header));
      if (!late || !options.throwHttpErrors) return response;
      throw tokenExpired(options, 'so did its replacement');
    }
    if (!expired && (auth.invalidate === undefined || !acceptedBy.get(auth)?.has(target))) return response;
    authorization.renewed = expired ? 'expired' : 'refused';
    return retryWithMergedOptions({preserveHooks: true});
  };

  return {beforeRequest: [setHeader], afterResponse: [renew]};
}

function tokenExpired(options: Parameters<typeof describeRequest>[0], why: string, cause?: unknown): Error {
  const {method, path} = describeRequest(options);
  return createError('ERR_TOKEN_EXPIRED', `The access token expired during ${method} ${path}, and ${why}.`, {
    status: 401,
    method,
    path,
    suggestions: ['Try again with a faster connection or with tokens that are valid for longer.'],
    cause,
  });
}
