import * as v from 'valibot';
import {authorization, basicCredentials, issueToken, secretsEqual} from '../access.js';
import {json, type Headers} from '../answer.js';
import {decoded} from '../../text/percent-encoding.js';
import type {Call} from '../context.js';
import {operation, type WireProtocol} from './operation.js';
import {api} from './schemas.js';

export const tokenPath = '/api/oauth2/token';

const headers = {'cache-control': 'no-store'};

/** The token endpoint of the Api backend: the client credentials grant with HTTP Basic (RFC 6749, 4.4). */
export const tokenProtocol: WireProtocol = {
  prefix: `${tokenPath}/`,
  kind: 'OAuth',
  security: ['client'],
  admit: () => 'oauth-client',
  failure: ({status, message, headers}) =>
    refuse(status, status >= 500 ? 'server_error' : 'invalid_request', message, headers),
  routes: [
    operation('POST', tokenPath, 'token', {
      id: 'requestToken',
      summary: 'Request an access token',
      description:
        'The client credentials grant of OAuth 2 (RFC 6749, section 4.4). The answer must not be cached. The endpoint may be at any URL: clients are configured with it. The client ID and the client secret are form-encoded before they become the parts of HTTP Basic (section 2.3.1): decode them. Clients keep a token until shortly before it expires, and request another one once if a token that had been accepted gets a 401.',
      stream: {type: 'application/x-www-form-urlencoded', schema: api.TokenRequest},
      answer: api.AccessToken,
      handle: grant,
    }),
  ],
};

async function grant({context, request, body}: Call): Promise<Response> {
  const {credentials, scopes: granted, tokenSeconds} = context;
  const form = await body.form();
  const {scheme, value} = authorization(request);
  const [id, secret] = scheme === 'basic' ? basicCredentials(value) : ['', ''];
  if (context.auth && !(isSecret(id, credentials.clientId) && isSecret(secret, credentials.clientSecret))) {
    const challenge = {'www-authenticate': 'Basic realm="local runtime"'};
    return refuse(401, 'invalid_client', 'The client ID or the client secret is wrong.', challenge);
  }
  const asked = v.safeParse(api.TokenRequest, Object.fromEntries(form));
  if (!asked.success) return refuse(400, 'unsupported_grant_type', asked.issues[0].message);
  const scopes = asked.output.scope.split(' ').filter((scope) => scope !== '');
  const unknown = scopes.find((scope) => granted !== undefined && !granted.includes(scope));
  if (unknown !== undefined) {
    return refuse(400, 'invalid_scope', `The scope "${unknown}" is not granted to this client.`);
  }
  const scope = (scopes.length === 0 ? (granted ?? []) : scopes).join(' ');
  const token = await issueToken(scope, context);
  return json(200, {access_token: token, token_type: 'Bearer', expires_in: tokenSeconds, scope}, headers);
}

/** Whether a part of HTTP Basic, which is form-encoded (RFC 6749, 2.3.1), is the expected one. */
function isSecret(given: string, expected: string): boolean {
  const text = decoded(given.replaceAll('+', ' '));
  return text !== undefined && secretsEqual(text, expected);
}

function refuse(status: number, error: string, description: string, more: Headers = {}): Response {
  return json(status, {error, error_description: description}, {...headers, ...more});
}
