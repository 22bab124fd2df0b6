import {normalizeOrigin, parseServiceUrl} from '../../http/origin.js';
import {isApiUnset} from './connection.js';
import {Secret} from './text.js';
import type {Setting, ValueSource, Settings} from './settings.js';
import {
  readCredentials,
  type CredentialFile,
  type StoredCredentials,
  type OriginCredentials,
} from './credential-file.js';

/**
 * Adds stored credentials to the settings, unless a source with higher precedence has any. Those of an origin are used
 * as a whole or not at all: a stored user is never combined with a key from elsewhere, nor a stored secret sent to
 * another token endpoint. If nothing specifies a service, it is that of the last login, with its own credentials only.
 * @throws RuntimeCliError `ERR_CONFIG_INVALID` when the credentials file is damaged.
 */
export async function withStoredCredentials(settings: Settings, file: CredentialFile): Promise<Settings> {
  const {apiKey, apiToken, clientSecret, origin, apiOrigin} = settings;
  const takesLegacy = apiKey === undefined;
  const takesApi = apiToken === undefined && clientSecret === undefined;
  const open = unnamedServices(settings);
  if (!(takesLegacy && origin !== undefined) && !(takesApi && apiOrigin !== undefined) && open.length === 0) {
    return settings;
  }
  const stored = await readCredentials(file);
  const located = {...settings, ...lastService(settings, open, stored)};
  return {
    ...located,
    ...legacySettings(located, takesLegacy ? originOf(located.origin) : undefined, stored),
    ...apiSettings(located, takesApi ? originOf(located.apiOrigin) : undefined, stored, file),
  };
}

/**
 * The backends that could serve and have neither an address nor credentials; under `auto`, only if the other one has
 * none either. A key from the environment must not reach a service that it is not meant for, and settings for one
 * backend must not add the other as a fallback.
 */
function unnamedServices(settings: Settings): readonly string[] {
  const {value: preference} = settings.runtimeBackend;
  const {origin, apiKey, apiUser, organizationId} = settings;
  const isLegacySet = [origin, apiKey, apiUser].some((setting) => setting !== undefined);
  const isApiSet = !isApiUnset((key) => key !== 'organizationId' && settings[key] !== undefined);
  if (preference === 'legacy') return isLegacySet ? [] : ['legacy'];
  if (preference === 'api') return isApiSet ? [] : ['api'];
  if (preference !== 'auto' || isLegacySet || isApiSet) return [];
  return organizationId === undefined ? ['legacy', 'api'] : ['api'];
}

/** The services of the last login to each of the backends. */
function lastService(
  {runtimeBackend, organizationId}: Settings,
  open: readonly string[],
  {last}: StoredCredentials,
): Pick<Settings, 'origin' | 'apiOrigin' | 'organizationId'> {
  const backend = runtimeBackend.value === 'auto' ? last?.backend : runtimeBackend.value;
  if (last === undefined || backend === undefined || !open.includes(backend)) return {};
  const source: ValueSource = {kind: 'stored', name: 'mycli login'};
  if (backend === 'legacy') return last.legacy === undefined ? {} : {origin: {value: last.legacy, source}};
  if (last.api === undefined) return {};
  const stored = last.api.organizationId === undefined ? undefined : {value: last.api.organizationId, source};
  return {apiOrigin: {value: last.api.origin, source}, organizationId: organizationId ?? stored};
}

/** The origin that credentials are stored for. Undefined for an invalid URL, which is reported when connecting. */
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
  const credentials = origin === undefined ? undefined : stored.origins[origin]?.apiKey;
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
  file: CredentialFile,
): Pick<Settings, 'apiToken' | 'tokenUrl' | 'clientId' | 'clientSecret'> {
  const credentials = origin === undefined ? undefined : stored.origins[origin]?.api;
  if (origin === undefined || credentials === undefined) return {};
  const source = storedSource(origin);
  if (credentials.kind === 'api-token') return {apiToken: {value: new Secret(credentials.token), source}};
  const other = contradiction(settings, credentials);
  if (other !== undefined) {
    file.warn(`The client secret stored for ${origin} is not used, because ${other.name} does not match it.`);
    return {};
  }
  return {
    tokenUrl: {value: credentials.tokenUrl, source},
    clientId: {value: credentials.clientId, source},
    clientSecret: {value: new Secret(credentials.clientSecret), source},
  };
}

/** The source that specifies another client or token endpoint than that of the stored secret. */
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
