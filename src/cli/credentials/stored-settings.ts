import {normalizeOrigin, parseServiceUrl} from '../../http/origin.js';
import {Secret} from '../settings/secret.js';
import type {Setting, ValueSource, Settings} from '../settings/settings.js';
import {
  readCredentials,
  type CredentialFile,
  type StoredCredentials,
  type OriginCredentials,
} from './credential-file.js';

/**
 * The settings, with stored credentials where nothing stronger names any. Those of an origin are taken as a whole or
 * not at all: a stored user never goes with a key from elsewhere, nor a stored secret to another token endpoint.
 * @throws RuntimeCliError `ERR_CONFIG_INVALID` when the file of credentials is damaged.
 */
export async function withStoredCredentials(settings: Settings, file: CredentialFile): Promise<Settings> {
  const {apiKey, apiToken, clientSecret} = settings;
  const legacyOrigin = apiKey === undefined ? originOf(settings.origin) : undefined;
  const apiOrigin = apiToken === undefined && clientSecret === undefined ? originOf(settings.apiOrigin) : undefined;
  if (legacyOrigin === undefined && apiOrigin === undefined) return settings;
  const stored = await readCredentials(file);
  return {
    ...settings,
    ...legacySettings(settings, legacyOrigin, stored),
    ...apiSettings(settings, apiOrigin, stored, file.warn),
  };
}

/** The origin that credentials are stored for. An invalid URL has none; connecting to it reports that. */
export function originOf(setting: Setting<string> | undefined): string | undefined {
  if (setting === undefined) return undefined;
  try {
    return new URL(normalizeOrigin(setting.source.name, setting.value)).origin;
  } catch {
    return undefined;
  }
}

function legacySettings(
  {apiUser}: Settings,
  origin: string | undefined,
  stored: StoredCredentials,
): Pick<Settings, 'apiKey' | 'apiUser'> {
  const credentials = origin === undefined ? undefined : stored[origin]?.apiKey;
  if (origin === undefined || credentials === undefined) return {};
  const source = storedSource(origin);
  const {key, user} = credentials;
  return {
    apiKey: {value: new Secret(key), source},
    apiUser: apiUser ?? (user === undefined ? undefined : {value: user, source}),
  };
}

function apiSettings(
  settings: Settings,
  origin: string | undefined,
  stored: StoredCredentials,
  warn: (message: string) => void,
): Pick<Settings, 'apiToken' | 'tokenUrl' | 'clientId' | 'clientSecret'> {
  const credentials = origin === undefined ? undefined : stored[origin]?.api;
  if (origin === undefined || credentials === undefined) return {};
  const source = storedSource(origin);
  if (credentials.kind === 'api-token') return {apiToken: {value: new Secret(credentials.token), source}};
  const other = contradiction(settings, credentials);
  if (other !== undefined) {
    warn(`The client secret stored for ${origin} is not used, because ${other.name} does not match it.`);
    return {};
  }
  return {
    tokenUrl: {value: credentials.tokenUrl, source},
    clientId: {value: credentials.clientId, source},
    clientSecret: {value: new Secret(credentials.clientSecret), source},
  };
}

/** What names another client or another token endpoint than the stored secret is for. */
function contradiction(
  {clientId, tokenUrl}: Settings,
  stored: Extract<NonNullable<OriginCredentials['api']>, {kind: 'client-secret'}>,
): ValueSource | undefined {
  if (clientId !== undefined && clientId.value !== stored.clientId) return clientId.source;
  if (tokenUrl === undefined || serviceUrl(tokenUrl) === stored.tokenUrl) return undefined;
  return tokenUrl.source;
}

function serviceUrl({value, source}: Setting<string>): string | undefined {
  try {
    return parseServiceUrl(source.name, value).href;
  } catch {
    return undefined;
  }
}

function storedSource(origin: string): ValueSource {
  return {kind: 'stored', name: `credentials stored for ${origin}`};
}
