import {createError, isRuntimeCliError} from '../../errors/index.js';
import {asRecord, tryJson} from '../../text/json.js';
import {createHttpClient} from '../client.js';
import {wrongAnswer} from '../errors/failure.js';
import {isFromBetween, responseError, serverMessage} from '../errors/response-error.js';
import {parseServiceUrl} from '../origin.js';
import {createRedactor, formEncode} from '../redact.js';
import {assertionType, createAssertion, type ClientKey} from './client-assertion.js';
import type {AuthStrategy, AuthContext, StreamingClient} from '../types.js';
import {asSentence} from '../../text/sentence.js';

/** An API key, sent as a bearer token, or with a user name as HTTP Basic. */
export class ApiKeyStrategy implements AuthStrategy {
  readonly #header: string;

  /**
   * @param credentials - `user`: if given, the key is sent as this user's password.
   * @throws RuntimeCliError `ERR_OPTION_INVALID` when they cannot be sent in a header: the key is empty or (without a
   * user) not printable ASCII, or the user contains a colon or a control character.
   */
  constructor(credentials: {readonly apiKey: string; readonly user?: string | undefined}) {
    const {apiKey, user} = credentials;
    this.#header = user === undefined ? bearer('API key', apiKey) : basic(['user name', user], ['API key', apiKey]);
  }

  async getAuthorizationHeader(): Promise<string> {
    return this.#header;
  }
}

/** Callers without types pass anything, and a pattern takes `[object Object]` for a text. */
function verifyString(what: string, value: unknown): void {
  if (typeof value !== 'string') throw createError('ERR_OPTION_INVALID', `The ${what} must be a string.`);
}

/** The value of a header for HTTP Basic. Errors name user and password by these terms, and never repeat them. */
function basic(
  [userTerm, user]: readonly [string, string],
  [passwordTerm, password]: readonly [string, string],
  encode = (text: string) => text,
): string {
  verifyString(userTerm, user);
  verifyString(passwordTerm, password);
  if (/\p{Cc}/u.test(user)) throw createError('ERR_OPTION_INVALID', `A ${userTerm} cannot contain control characters.`);
  if (password === '') throw createError('ERR_OPTION_INVALID', `The ${passwordTerm} is empty.`);
  if (encode(user).includes(':')) throw createError('ERR_OPTION_INVALID', `A ${userTerm} cannot contain a colon.`);
  return `Basic ${Buffer.from(`${encode(user)}:${encode(password)}`).toString('base64')}`;
}

/** A ready-made token. It is never renewed. */
export class BearerTokenStrategy implements AuthStrategy {
  readonly #header: string;

  /** @throws RuntimeCliError `ERR_OPTION_INVALID` when the token cannot be sent in a header. */
  constructor(token: string) {
    this.#header = bearer('token', token);
  }

  async getAuthorizationHeader(): Promise<string> {
    return this.#header;
  }
}

/** The value of a header for a bearer token. The error names `what`, and never repeats the value. */
function bearer(what: string, token: string): string {
  verifyString(what, token);
  if (headerToken.test(token)) return `Bearer ${token}`;
  throw createError(
    'ERR_OPTION_INVALID',
    `The ${what} is empty or contains characters that cannot be sent in a header.`,
    {suggestions: [`Check that the ${what} was copied completely, without spaces or line breaks.`]},
  );
}

const headerToken = /^[\x21-\x7e]+$/;
const maxTokenLength = 64 * 1024;

/** Options of `OAuthClientCredentialsStrategy`. */
export interface OAuthClientCredentialsOptions {
  /** URL of the token endpoint. It may have a query. */
  readonly tokenUrl: string;
  /** ID of the client. */
  readonly clientId: string;
  /** Either it or `clientKey`. */
  readonly clientSecret?: string | undefined;
  /** Signs an assertion for each token request, instead of a secret (RFC 7523, JWT bearer). */
  readonly clientKey?: ClientKey | undefined;
  /** @default none */
  readonly scopes?: readonly string[] | undefined;
  /** Called with each fetched token, so that it can be masked. */
  readonly onToken?: ((token: string) => void) | undefined;
  /** Returns the current time in milliseconds since the epoch. @default Date.now */
  readonly now?: (() => number) | undefined;
}

/** How a token request proves who the client is, and what is secret of it. */
interface TokenCredentials {
  readonly headers?: Record<string, string>;
  readonly form?: Record<string, string>;
  readonly secrets: readonly string[];
}

type Redact = (text: string) => string;

interface Token {
  readonly header: string;
  readonly expiresAt: number;
}

/** Milliseconds before its expiry that a token is renewed, or half its lifetime if that is less. */
const renewalMarginMs = 60_000;

/**
 * The OAuth 2 client credentials grant. Tokens are cached until shortly before they expire. Concurrent calls share one
 * token request, whichever of them is aborted.
 */
export class OAuthClientCredentialsStrategy implements AuthStrategy {
  readonly #tokenUrl: URL;
  readonly #credentials: () => TokenCredentials;
  readonly #form: Record<string, string>;
  readonly #now: () => number;
  readonly #onToken: (token: string) => void;
  #pending: {readonly token: Promise<Token>; readonly signal: AbortSignal | undefined} | undefined;
  #token: Token | undefined;

  /**
   * @throws RuntimeCliError `ERR_OPTION_INVALID` when `tokenUrl` is invalid, the client ID contains a control
   * character, the client secret is empty, or the key cannot be used.
   */
  constructor(options: OAuthClientCredentialsOptions) {
    const {tokenUrl, clientId, clientSecret = '', clientKey, scopes = []} = options;
    const {onToken = () => undefined, now = Date.now} = options;
    this.#tokenUrl = parseServiceUrl('tokenUrl', tokenUrl);
    this.#form = {grant_type: 'client_credentials', ...(scopes.length === 0 ? {} : {scope: scopes.join(' ')})};
    if (clientKey === undefined) {
      // RFC 6749, 2.3.1: services decode the parts.
      const authorization = basic(['client ID', clientId], ['client secret', clientSecret], formEncode);
      const secrets = [clientSecret, authorization.replace('Basic ', '')];
      this.#credentials = () => ({headers: {authorization}, secrets});
    } else {
      const signed = createAssertion(clientKey, {clientId, audience: this.#tokenUrl.href, now});
      this.#credentials = () => {
        const client_assertion = signed();
        return {form: {client_assertion_type: assertionType, client_assertion}, secrets: [client_assertion]};
      };
    }
    this.#now = now;
    this.#onToken = onToken;
  }

  /**
   * @throws RuntimeCliError `ERR_OAUTH` when the endpoint refuses, with its error code in `details.oauthError`; the
   * errors of the client when it cannot be reached or fails.
   */
  async getAuthorizationHeader(context?: AuthContext): Promise<string> {
    const signal = context?.signal;
    for (;;) {
      if (this.#token !== undefined && this.#now() < this.#token.expiresAt) return this.#token.header;
      const pending = this.#pending ?? {token: this.#fetch(context).finally(() => (this.#pending = undefined)), signal};
      this.#pending = pending;
      try {
        return (await unlessAborted(pending.token, signal)).header;
      } catch (error) {
        // The call that asked was aborted: ask again for this one.
        if (pending.signal === signal || pending.signal?.aborted !== true || signal?.aborted) throw error;
      }
    }
  }

  invalidate(header?: string): void {
    // Another call may have fetched a new one already.
    if (header === undefined || header === this.#token?.header) this.#token = undefined;
  }

  async #fetch(context: AuthContext | undefined): Promise<Token> {
    const http = context?.http ?? (await createOwnClient());
    const requestedAt = this.#now();
    const {form, headers: credentials = {}, secrets} = this.#credentials();
    const redact = createRedactor(secrets);
    const tokenRequest = http.post(this.#tokenUrl, {
      form: {...this.#form, ...form},
      headers: credentials,
      throwHttpErrors: false,
      // A token that nobody received is harmless.
      repeatable: true,
      ...(context?.signal === undefined ? {} : {signal: context.signal}),
    });
    const response = await tokenRequest.catch((error: unknown) => {
      // The status alone is a refusal, even if the answer was cut off.
      if (isRuntimeCliError(error) && isRefusal(error.status)) throw this.#refused(error.status, '', redact);
      throw error;
    });
    const {statusCode: status, headers, body, request} = response;
    const answer = {statusCode: status, headers, rawBody: Buffer.from(body), request};
    if (isRefusal(status) && !isFromBetween(answer, true)) throw this.#refused(status, body, redact);
    if (status < 200 || status >= 300) throw responseError(answer, redact, {speaksJson: true});
    const {access_token: token, expires_in: expiresIn} = asRecord(tryJson(body));
    if (typeof token === 'string') this.#onToken(token);
    if (typeof token !== 'string' || token.length > maxTokenLength || !headerToken.test(token)) {
      throw wrongAnswer(
        response,
        `has ${token ? 'an access token that cannot be sent in a header' : 'no access token'}`,
      );
    }
    const lifeMs = lifeMsOf(expiresIn);
    const expiresAt = requestedAt + lifeMs - Math.min(renewalMarginMs, lifeMs / 2);
    this.#token = {header: `Bearer ${token}`, expiresAt};
    return this.#token;
  }

  #refused(status: number, body: string, redact: Redact): Error {
    const {error} = asRecord(tryJson(body));
    const oauthError = typeof error === 'string' ? serverMessage(error, redact) : undefined;
    const explanation = serverMessage(body, redact);
    const reasons = new Set([oauthError, explanation].filter((text) => text !== undefined));
    const message = [`The token endpoint refused the client (${status})`, ...reasons].join(': ');
    return createError('ERR_OAUTH', asSentence(message), {
      status,
      method: 'POST',
      path: redact(this.#tokenUrl.pathname),
      details: {...(oauthError && {oauthError}), ...(explanation && {serverMessage: explanation})},
      suggestions: [
        oauthError === 'invalid_scope'
          ? 'Use only scopes that the client is allowed to request.'
          : 'Check the token URL, the client ID and its secret or certificate.',
      ],
    });
  }
}

async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  signal.throwIfAborted();
  let abort: () => void = () => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    abort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', abort);
  });
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', abort));
}

/** A token's lifetime in milliseconds; infinite if the server's value is missing or invalid. */
function lifeMsOf(expiresIn: unknown): number {
  const seconds = typeof expiresIn === 'string' ? Number.parseFloat(expiresIn) : expiresIn;
  return typeof seconds === 'number' && !Number.isNaN(seconds) ? Math.max(0, seconds) * 1000 : Infinity;
}

function isRefusal(status: number | undefined): status is number {
  return status !== undefined && status >= 400 && status < 500 && status !== 429;
}

async function createOwnClient(): Promise<StreamingClient> {
  const silent = () => undefined;
  const logger = {debug: silent, info: silent, warn: silent};
  return (await createHttpClient({env: {}, userAgent: 'mycli', logger})).extend({changesNothing: true});
}
