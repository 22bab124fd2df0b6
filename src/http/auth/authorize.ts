import type {AfterResponseHook, BeforeRequestHook, Got} from 'got';
import type {AuthContext, AuthStrategy} from '../types.js';

/** What is known of the credentials that a call was sent with. */
class Authorization {
  renewed = false;
  constructor(readonly cached: boolean) {}

  static of(context: Record<string, unknown>): Authorization | undefined {
    return context['authorization'] instanceof Authorization ? context['authorization'] : undefined;
  }
}

/**
 * A client that authorizes its requests to one origin, and to no other. When the server answers 401 to credentials that
 * it accepted before, or that the strategy had kept, the strategy forgets them and the request is sent once more, with
 * its whole body.
 * @param http - The client to extend; strategies fetch their tokens with it.
 * @param origin - Its path does not matter.
 */
export function authorize(http: Got, auth: AuthStrategy, origin: string): Got {
  const target = new URL(origin).origin;
  let accepted = false;

  const setHeader: BeforeRequestHook = async (options) => {
    if (options.url?.origin !== target) return;
    // A strategy that does not ask for the client has not fetched a token: what it gives was kept.
    let cached = true;
    const context: AuthContext = {
      get http() {
        cached = false;
        return http;
      },
      signal: options.signal,
    };
    options.headers['authorization'] = await auth.getAuthorizationHeader(context);
    const authorization = Authorization.of(options.context) ?? new Authorization(cached);
    options.context = {...options.context, authorization};
  };

  const renew: AfterResponseHook = (response, retryWithMergedOptions) => {
    const {options} = response.request;
    if (new URL(options.url ?? '').origin !== target) return response;
    accepted ||= response.ok;
    if (response.statusCode !== 401) return response;
    const authorization = Authorization.of(options.context);
    if (auth.invalidate === undefined || authorization === undefined) return response;
    auth.invalidate();
    if (authorization.renewed || !(authorization.cached || accepted)) return response;
    authorization.renewed = true;
    return retryWithMergedOptions({preserveHooks: true});
  };

  return http.extend({hooks: {beforeRequest: [setHeader], afterResponse: [renew]}});
}
