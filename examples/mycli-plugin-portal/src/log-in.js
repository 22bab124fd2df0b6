import {setTimeout as delay} from 'node:timers/promises';

/** @typedef {import('mycli/backend').BackendLoginContext<import('./backend.js').PortalOptions>} Context */

/**
 * Logs a person in on a web page of the portal: the device authorization grant of OAuth (RFC 8628), which also works
 * where the browser is on another machine.
 * @param {Context} context
 * @returns {Promise<import('mycli/backend').LoginResult>}
 */
export async function logIn(context) {
  const {options, http, signal, logger, maskSecret, openUrl} = context;
  const portal = http.extend({prefixUrl: String(options.url)});
  const client = {client_id: 'mycli'};
  /** @type {{device_code: string, user_code: string, verification_uri_complete: string, interval?: number}} */
  const grant = await portal.post('oauth/device', {form: client}).json();
  // Whoever has it gets the token, too.
  maskSecret(grant.device_code);
  logger.info(`Confirm that the page shows this code: ${grant.user_code}`);
  await openUrl(grant.verification_uri_complete);
  const form = {...client, grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code: grant.device_code};
  let {interval = 5} = grant;
  for (;;) {
    await delay(interval * 1000, undefined, {signal});
    const {statusCode, body} = await portal.post('oauth/token', {form, throwHttpErrors: false});
    const {access_token: token, error} = parsed(body);
    if (statusCode === 200 && typeof token === 'string') return {secrets: {token}};
    if (error === 'slow_down') interval += 5;
    else if (error !== 'authorization_pending') throw refusal(error, statusCode, context);
  }
}

/**
 * @param {string} body
 * @returns {Record<string, unknown>}
 */
function parsed(body) {
  try {
    return Object(JSON.parse(body));
  } catch {
    return {};
  }
}

/**
 * @param {unknown} error as in RFC 8628
 * @param {number} status
 * @param {Context} context
 */
function refusal(error, status, context) {
  if (error === 'access_denied') return context.error('ERR_FORBIDDEN', 'The login was declined on the page');
  if (error === 'expired_token') return context.error('ERR_UNAUTHORIZED', 'Nobody logged in on the page in time');
  return context.error('ERR_OAUTH', `The portal answered ${status} to the login`);
}
