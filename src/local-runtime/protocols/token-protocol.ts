import {json} from '../answer.js';
import type {AdmittedCall, Protocol} from '../context.js';
import {secretsEqual} from '../signatures.js';
import {issueToken, authorization, basicCredentials} from './admission.js';

/** Path of the token endpoint. */
export const tokenPath = '/api/oauth2/token';

/** The token endpoint of the Api backend: the client credentials grant with HTTP Basic (RFC 6749, 4.4). */
export const tokenProtocol: Protocol = {
  prefix: tokenPath,
  routes: [{method: 'POST', path: tokenPath, name: 'token', handle: grant}],
  admit: () => 'oauth-client',
  failure: ({status, message, headers}) =>
    oauthError(status, status >= 500 ? 'server_error' : 'invalid_request', message, headers),
};

async function grant({context, request, body}: AdmittedCall): Promise<Response> {
  const {credentials, scopes: granted, tokenSeconds, now} = context;
  body.refuseOtherTypes('application/x-www-form-urlencoded');
  const form = new URLSearchParams(await body.text());
  const {scheme, value} = authorization(request);
  const [id, secret] = scheme === 'basic' ? basicCredentials(value) : ['', ''];
  if (context.auth && !(isSecret(id, credentials.clientId) && isSecret(secret, credentials.clientSecret))) {
    const headers = {'www-authenticate': 'Basic realm="local runtime"'};
    return oauthError(401, 'invalid_client', 'The client ID or the client secret is wrong.', headers);
  }
  if (form.get('grant_type') !== 'client_credentials') {
    return oauthError(400, 'unsupported_grant_type', 'The grant type must be client_credentials.');
  }
  const asked = (form.get('scope') ?? '').split(' ').filter((scope) => scope !== '');
  const unknown = asked.find((scope) => granted !== undefined && !granted.includes(scope));
  if (unknown !== undefined) {
    return oauthError(400, 'invalid_scope', `The scope "${unknown}" is not granted to this client.`);
  }
  const scopes = asked.length === 0 ? (granted ?? []) : asked;
  const claims = {sub: credentials.clientId, scopes, issuedAt: now(), seconds: tokenSeconds};
  const token = issueToken(claims, credentials.clientSecret);
  return json(
    200,
    {access_token: token, token_type: 'Bearer', expires_in: tokenSeconds, scope: scopes.join(' ')},
    {'cache-control': 'no-store'},
  );
}

/**
 * Some clients form-encode the parts of HTTP Basic, as RFC 6749 requires, some percent-encode them, and some do
 * neither.
 */
function isSecret(given: string, expected: string): boolean {
  const asInForm = new URLSearchParams([['', expected]]).toString().slice(1);
  return [expected, encodeURIComponent(expected), asInForm].some((form) => secretsEqual(given, form));
}

function oauthError(
  status: number,
  error: string,
  description: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return json(status, {error, error_description: description}, {'cache-control': 'no-store', ...headers});
}
