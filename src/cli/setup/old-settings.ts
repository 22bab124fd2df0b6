const mrt = (name: string) => [`MRT_${name}`, `SFCC_MRT_${name}`];

export const defaultHost = 'cloud.mobify.com';
export const deploymentScope = 'sfcc.storefront.deployments.rw';
const defaultAccountManager = 'account.demandware.com';

/** The part of a tenant ID that is in the organization ID and in the scope. */
export function tenant(id: string): string {
  return id.replaceAll('-', '_').replace(/^f_ecom_/, '');
}

interface OldSetting {
  /** The setting that it becomes. */
  readonly key:
    | ('projectSlug' | 'targetSlug' | 'origin' | 'apiKey' | 'apiUser')
    | ('apiOrigin' | 'organizationId' | 'tokenUrl' | 'clientId' | 'clientSecret' | 'scopes');
  /** The strongest first. */
  readonly variables: readonly string[];
  /** Its key in dw.json and in `b2c` of package.json, also in kebab-case. */
  readonly field?: string;
  /** What it must look like to become part of a URL or an ID. */
  readonly shape?: RegExp;
  readonly becomes?: (value: string) => string;
  /** The value when nothing sets it, but something sets `needs`. */
  readonly standard?: {readonly value: string; readonly needs: string};
  /** For the guide. */
  readonly note?: string;
}
export type OldKey = OldSetting['key'];

const tokenUrl = (host: string) => `https://${host}/dwsso/oauth2/access_token`;

/** What other clients call their settings, and what becomes of each: a row of docs/guides/coming-from.md. */
export const oldSettings: readonly OldSetting[] = [
  {key: 'apiKey', variables: mrt('API_KEY'), field: 'mrtApiKey'},
  {key: 'apiUser', variables: ['MRT_USER']},
  {key: 'projectSlug', variables: mrt('PROJECT'), field: 'mrtProject'},
  {key: 'targetSlug', variables: [...mrt('ENVIRONMENT'), ...mrt('TARGET')], field: 'mrtEnvironment'},
  {
    key: 'origin',
    variables: mrt('CLOUD_ORIGIN'),
    field: 'mrtOrigin',
    standard: {value: `https://${defaultHost}`, needs: 'apiKey'},
  },
  {
    key: 'apiOrigin',
    variables: ['SFCC_SHORTCODE'],
    field: 'shortCode',
    shape: /^[a-z\d-]+$/i,
    becomes: (code) => `https://${code}.api.commercecloud.salesforce.com`,
  },
  {
    key: 'organizationId',
    variables: ['SFCC_TENANT_ID'],
    field: 'tenantId',
    shape: /^[\w-]+$/,
    becomes: (id) => `f_ecom_${tenant(id)}`,
    note: 'with `_` for each `-`: `abcd-001` becomes `f_ecom_abcd_001`',
  },
  {key: 'clientId', variables: ['SFCC_CLIENT_ID'], field: 'clientId'},
  {key: 'clientSecret', variables: ['SFCC_CLIENT_SECRET'], field: 'clientSecret'},
  {
    key: 'tokenUrl',
    variables: ['SFCC_ACCOUNT_MANAGER_HOST'],
    field: 'accountManagerHost',
    shape: /^[\w.-]+(?::\d+)?$/,
    becomes: tokenUrl,
    standard: {value: tokenUrl(defaultAccountManager), needs: 'clientId'},
  },
  {
    key: 'scopes',
    variables: ['SFCC_OAUTH_SCOPES'],
    field: 'oauthScopes',
    note: `after \`SALESFORCE_COMMERCE_API:abcd_001\` and \`${deploymentScope}\``,
  },
];

/** A variable with the path of a file like `~/.mobify`. */
export const credentialsFileVariable = 'MRT_CREDENTIALS_FILE';
