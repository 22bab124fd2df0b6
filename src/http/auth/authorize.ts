import type {AfterResponseHook, BeforeRequestHook} from 'got';
import {createError, isRuntimeCliError} from '../../errors/index.js';
import {Call, describeRequest} from '../connection/call.js';
import type {AuthContext, AuthStrategy, StreamingClient} from '../types.js';

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
    const [grant, call] = [Grant.of(options), Call.of(options.context)];
    if (grant === undefined || call === undefined) return;
    const {auth, http} = grant;
    const context: AuthContext = {http, signal: options.signal};
    const header = await auth.getAuthorizationHeader(context).catch((error: unknown) => {
      const expired = call.renewed === 'expired' && isRuntimeCliError(error) && error.code === 'ERR_OAUTH';
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
    call.credentials = {header, hadExpired: auth.hasExpired?.(header) ?? false};
  };

  const renew: AfterResponseHook = (response, retryWithMergedOptions) => {
    const {options} = response.request;
    const [grant, call] = [Grant.of(options), Call.of(options.context)];
    if (grant === undefined || call?.credentials === undefined) return response;
    const {auth, target} = grant;
    if (response.ok) acceptedBy.set(auth, (acceptedBy.get(auth) ?? new Set()).add(target));
    if (response.statusCode !== 401) return response;
    const {header, hadExpired} = call.credentials;
    const isExpired = auth.hasExpired?.(header) ?? false;
    const hasExpiredSince = isExpired && !hadExpired;
    if (!hasExpiredSince) auth.invalidate?.(header);
    if (call.renewed !== undefined) {
      const isLate = hasExpiredSince || (call.renewed === 'expired' && isExpired);
      if (!isLate || !options.throwHttpErrors) return response;
      throw tokenExpired(options, 'so did its replacement');
    }
    if (!hasExpiredSince && (auth.invalidate === undefined || !acceptedBy.get(auth)?.has(target))) return response;
    call.renewed = hasExpiredSince ? 'expired' : 'refused';
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
