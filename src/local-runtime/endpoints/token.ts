import * as v from 'valibot';
import {token, tokenSchemas} from '../../wire/token.js';
import {authorization, basicCredentials, isAssertion, issueToken, secretsEqual} from '../access.js';
import {json, type Headers} from '../answer.js';
import {decoded} from '../../text/percent-encoding.js';
import type {Call, Protocol} from '../runtime-context.js';
import {routesOf} from './serve.js';

const headers = {'cache-control': 'no-store'};

export const tokenProtocol: Protocol = {
  prefix: `${token.operations.requestToken.path}/`,
  admit: () => 'oauth-client',
  failure: ({status, message, headers}) =>
    refuse(status, status >= 500 ? 'server_error' : 'invalid_request', message, headers),
  routes: routesOf(token.operations, {requestToken: grant}),
};

async function grant({context, request, body, origin}: Call): Promise<Response> {
  const {credentials, scopes: granted, tokenSeconds} = context;
  const form = await body.form();
  const {scheme, value} = authorization(request);
  const [id, secret] = scheme === 'basic' ? basicCredentials(value) : ['', ''];
  const assertion = form.get('client_assertion');
  const isClient =
    assertion === null
      ? isSecret(id, credentials.clientId) && isSecret(secret, credentials.clientSecret)
      : await isAssertion(assertion, `${origin}${token.operations.requestToken.path}`, context);
  if (context.auth && !isClient) {
    const challenge = {'www-authenticate': 'Basic realm="local runtime"'};
    const problem = assertion === null ? 'The client ID or the client secret' : "The client's assertion";
    return refuse(401, 'invalid_client', `${problem} is wrong.`, challenge);
  }
  const grantRequest = v.safeParse(tokenSchemas.TokenRequest, Object.fromEntries(form));
  if (!grantRequest.success) return refuse(400, 'unsupported_grant_type', grantRequest.issues[0].message);
  const scopes = grantRequest.output.scope.split(' ').filter((scope) => scope !== '');
  const unknown = scopes.find((scope) => granted !== undefined && !granted.includes(scope));
  if (unknown !== undefined) {
    return refuse(400, 'invalid_scope', `The scope "${unknown}" is not granted to this client.`);
  }
  const scope = (scopes.length === 0 ? (granted ?? []) : scopes).join(' ');
  const issued = await issueToken(scope, context);
  return json(200, {access_token: issued, token_type: 'Bearer', expires_in: tokenSeconds, scope}, headers);
}

/** Whether a part of HTTP Basic, which is form-encoded (RFC 6749, 2.3.1), is the expected one. */
function isSecret(value: string, expected: string): boolean {
  const text = decoded(value.replaceAll('+', ' '));
  return text !== undefined && secretsEqual(text, expected);
}

function refuse(status: number, error: string, description: string, more: Headers = {}): Response {
  return json(status, {error, error_description: description}, {...headers, ...more});
}
