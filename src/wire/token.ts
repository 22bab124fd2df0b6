import * as v from 'valibot';
import {post, type Half} from './operation.js';
import {object, optional, say, text, word} from './schema.js';

export const tokenSchemas = {
  TokenRequest: object('A request of the client credentials grant.', {
    grant_type: v.literal('client_credentials', 'The grant type must be client_credentials.'),
    scope: v.optional(text('The requested scopes, separated by spaces. None: all.'), ''),
    client_assertion_type: optional(
      v.literal('urn:ietf:params:oauth:client-assertion-type:jwt-bearer', 'The assertion must be a JWT.'),
    ),
    client_assertion: optional(
      text(
        'A JWT that the client has signed with the key of its certificate (RS256), instead of HTTP Basic (RFC 7523, section 2.2): `iss` and `sub` are the client ID, `aud` is the URL of this endpoint, `exp` is within minutes.',
      ),
    ),
  }),
  AccessToken: object('An access token.', {
    access_token: text(
      'A JWT. Clients send it as it is. They also decode its claims, but only to show whose it is and when it expires.',
      {pattern: '^[!-~]+$'},
    ),
    token_type: optional(word(['Bearer'], '`Bearer`.')),
    expires_in: optional(
      v.pipe(v.number(), v.integer(), say('Lifetime in seconds. If missing, the token is used until a 401.')),
    ),
    scope: optional(text('The granted scopes, separated by spaces.')),
  }),
  OAuthError: object('A refusal of the token endpoint (RFC 6749, section 5.2).', {
    error: text(
      'Such as `invalid_client`, `invalid_scope`, `invalid_request` or `unsupported_grant_type`. A client that may fall back to Runtime (API key) does so after `invalid_scope`.',
    ),
    error_description: optional(text('The reason, for people.')),
  }),
};

/** The token endpoint of the Api half: the client credentials grant with HTTP Basic (RFC 6749, 4.4). */
export const token = {
  kind: 'OAuth',
  security: ['client', 'assertion'],
  operations: {
    requestToken: post('/api/oauth2/token', 'token', 'Request an access token', {
      description:
        'The client credentials grant of OAuth 2 (RFC 6749, section 4.4). The answer must not be cached. The endpoint may be at any URL: clients are configured with it. The client ID and the client secret are form-encoded before they become the parts of HTTP Basic (section 2.3.1): decode them. Clients keep a token until shortly before it expires, and request another one once if a token that had been accepted gets a 401.',
      stream: {type: 'application/x-www-form-urlencoded', schema: tokenSchemas.TokenRequest},
      answer: tokenSchemas.AccessToken,
    }),
  },
} as const satisfies Half;
