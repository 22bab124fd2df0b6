import type {AfterResponseHook, BeforeRequestHook} from 'got';
import {createError, isRuntimeCliError} from '../../errors/index.js';
import {messageOf} from '../../errors/system-failure.js';
import {asSentence} from '../../text/sentence.js';
import {HttpCall, type RequestOptions} from '../connection/attempt.js';
import {isFromBetween} from '../errors/response-error.js';
import type {AuthContext, AuthStrategy, StreamingClient} from '../types.js';

/** The origins that accepted a strategy's credentials. Strategies outlive clients. */
const acceptedBy = new WeakMap<AuthStrategy, Set<string>>();

class Grant {
  constructor(
    readonly auth: AuthStrategy,
    readonly target: string,
    /** The client without the authorization: strategies fetch their tokens with it. */
    readonly http: StreamingClient,
  ) {}

  static of({context, url = ''}: {context: Record<string, unknown>; url?: URL | string | undefined}) {
    const {grant} = context;
    return grant instanceof Grant && new URL(url).origin === grant.target ? grant : undefined;
  }
}

/**
 * Authorizes the requests of a client to one origin, and to no other. After a 401 of a server that accepted the
 * strategy's credentials before, the strategy is asked for new ones, and the request is sent once more.
 */
export function authorize(http: StreamingClient, auth: AuthStrategy, origin: string): StreamingClient {
  return http.extend({context: {grant: new Grant(auth, new URL(origin).origin, http.extend({changesNothing: true}))}});
}

/** Whether a request goes to the origin that its client is authorized for, where the services speak JSON. */
export function isAuthorized(options: Pick<RequestOptions, 'context' | 'url'>): boolean {
  return Grant.of(options) !== undefined;
}

/** @throws RuntimeCliError `ERR_OAUTH` if a custom strategy fails with an error of its own. */
async function headerOf(auth: AuthStrategy, context: AuthContext): Promise<string> {
  try {
    return await auth.getAuthorizationHeader(context);
  } catch (error) {
    if (isRuntimeCliError(error) || context.signal?.aborted === true) throw error;
    throw createError('ERR_OAUTH', asSentence(`The AuthStrategy failed: ${messageOf(error)}`), {cause: error});
  }
}

const setHeader: BeforeRequestHook = async (options) => {
  const [grant, call] = [Grant.of(options), HttpCall.of(options.context)];
  if (grant === undefined || call === undefined) return;
  const {auth, http} = grant;
  const header = await headerOf(auth, {http, signal: options.signal});
  // A custom strategy may return anything. Node would report it as a bug of ours.
  if (typeof header !== 'string' || !/^[\x20-\x7e]+$/.test(header)) {
    throw createError(
      'ERR_OPTION_INVALID',
      'The AuthStrategy returned something that cannot be sent in an Authorization header.',
    );
  }
  options.headers['authorization'] = header;
  call.authorization = header;
};

const renew: AfterResponseHook = (response, retryWithMergedOptions) => {
  const {options} = response.request;
  const [grant, call] = [Grant.of(options), HttpCall.of(options.context)];
  if (grant === undefined || call?.authorization === undefined) return response;
  const {auth, target} = grant;
  if (response.ok) acceptedBy.set(auth, (acceptedBy.get(auth) ?? new Set()).add(target));
  if (response.statusCode !== 401 || isFromBetween(response, true)) return response;
  auth.invalidate?.(call.authorization);
  if (call.isRenewed || auth.invalidate === undefined || !acceptedBy.get(auth)?.has(target)) return response;
  call.isRenewed = true;
  return retryWithMergedOptions({preserveHooks: true});
};

/** Hooks for got that authorize the requests of clients from `authorize`. */
export const authorizationHooks = {beforeRequest: [setHeader], afterResponse: [renew]} as const;
