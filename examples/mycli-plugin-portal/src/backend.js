import {logIn} from './log-in.js';

/**
 * `url`: address of the portal. `token`: an access token, which `mycli auth:login` stores.
 * @typedef {{readonly url?: string | undefined, readonly token?: string | undefined}} PortalOptions
 */

/** @typedef {import('mycli/backend').Backend<PortalOptions>} Backend */

/**
 * Bundles go to a portal, which people log in to on a web page.
 * @type {Backend}
 */
export const portalBackend = {
  apiVersion: 1,
  name: 'portal',
  summary: 'A portal that people log in to on a web page',
  formats: ['v2'],
  required: ['url', 'token'],
  secrets: ['token'],
  options: {
    '~standard': {
      version: 1,
      vendor: 'mycli-plugin-portal',
      validate(value) {
        const {url, token, ...others} = /** @type {Record<string, unknown>} */ (value);
        // A login must do without the token: `required` is only for the rest.
        const issues = [
          ...Object.keys(others).map((name) => ({message: 'is not an option; there are url and token', path: [name]})),
          ...(url === undefined || (typeof url === 'string' && URL.canParse(url))
            ? []
            : [{message: 'must be a URL', path: ['url']}]),
          ...(token === undefined || typeof token === 'string' ? [] : [{message: 'must be a string', path: ['token']}]),
        ];
        return issues.length > 0 ? {issues} : {value: /** @type {PortalOptions} */ (value)};
      },
    },
  },

  login: logIn,

  async verify(context) {
    /** @type {{email: string}} */
    const {email} = await connect(context).get('account').json();
    return {account: email};
  },

  async upload(bundle, context) {
    const searchParams = {project: context.projectSlug};
    /** @type {{id: string}} */
    const raw = await connect(context)
      .post('bundles', {searchParams, ...context.bodies.file(bundle)})
      .json();
    return {bundleId: raw.id, raw};
  },
};

/** @param {import('mycli/backend').BackendVerifyContext<PortalOptions>} context */
function connect({http, options: {url, token}}) {
  return http.extend({prefixUrl: String(url), headers: {authorization: `Bearer ${token}`}});
}
