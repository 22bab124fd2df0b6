import {isApiUnset, serviceUrl, type AddressKey} from './connection.js';
import {readCredentials, type CredentialFile, type StoredCredentials} from './credential-file.js';
import type {Setting, Settings, ValueSource} from './settings.js';
import {Secret} from './text.js';

/**
 * What stored credentials add to the settings from all stronger sources. Those of an origin are used as a whole or not
 * at all: a stored user is never combined with a key from elsewhere, nor a stored secret sent to another token
 * endpoint. If nothing specifies a service, it is that of the last login, with its own credentials only.
 * @throws RuntimeCliError `ERR_CONFIG_INVALID` when the credentials file is damaged.
 */
export async function storedSettings(settings: Settings, file: CredentialFile): Promise<Partial<Settings>> {
  const {apiKey, apiToken, clientSecret, origin, apiOrigin} = settings;
  const takesLegacy = apiKey === undefined;
  const takesApi = apiToken === undefined && clientSecret === undefined;
  const open = unnamedServices(settings);
  if (!(takesLegacy && origin !== undefined) && !(takesApi && apiOrigin !== undefined) && open.length === 0) return {};
  const stored = await readCredentials(file);
  const service = lastService(settings, open, stored);
  const located = {...settings, ...service};
  const added = {
    ...service,
    ...(takesLegacy ? legacySettings(originOf(located.origin), stored) : {}),
    ...(takesApi ? apiSettings(located, originOf(located.apiOrigin), stored, file.warn) : {}),
  };
  return Object.fromEntries(Object.entries(added).filter(([key]) => settings[key as keyof typeof added] === undefined));
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
  const isApiSet = !isApiUnset({...settings, organizationId: undefined});
  if (preference === 'legacy') return isLegacySet ? [] : ['legacy'];
  if (preference === 'api') return isApiSet ? [] : ['api'];
  if (preference !== 'auto' || isLegacySet || isApiSet) return [];
  return organizationId === undefined ? ['legacy', 'api'] : ['api'];
}

/** The service of the last login to a backend. */
function lastService(
  {runtimeBackend}: Settings,
  open: readonly string[],
  {last}: StoredCredentials,
): Pick<Settings, 'origin' | 'apiOrigin' | 'organizationId'> {
  const backend = runtimeBackend.value === 'auto' ? last?.backend : runtimeBackend.value;
  if (last === undefined || backend === undefined || !open.includes(backend)) return {};
  const source: ValueSource = {kind: 'stored', name: 'mycli login'};
  if (backend === 'legacy') return {origin: settingOf(last.legacy, source)};
  return {apiOrigin: settingOf(last.api?.origin, source), organizationId: settingOf(last.api?.organizationId, source)};
}

function settingOf(value: string | undefined, source: ValueSource): Setting<string> | undefined {
  return value === undefined ? undefined : {value, source};
}

/** The origin that credentials are stored for. Undefined for an invalid URL, which is reported when connecting. */
export function originOf(setting: Setting<string> | undefined): string | undefined {
  const url = setting && urlOf('origin', setting);
  return url === undefined ? undefined : new URL(url).origin;
}

function urlOf(key: AddressKey, {value, source}: Setting<string>): string | undefined {
  try {
    return serviceUrl(key, source.name, value);
  } catch {
    return undefined;
  }
}

function legacySettings(
  origin: string | undefined,
  {origins}: StoredCredentials,
): Pick<Settings, 'apiKey' | 'apiUser'> {
  const credentials = origin === undefined ? undefined : origins[origin]?.apiKey;
  if (credentials === undefined) return {};
  const source = storedSource(String(origin));
  return {apiKey: {value: new Secret(credentials.key), source}, apiUser: settingOf(credentials.user, source)};
}

function apiSettings(
  {clientId, tokenUrl}: Settings,
  origin: string | undefined,
  {origins}: StoredCredentials,
  warn: CredentialFile['warn'],
): Pick<Settings, 'apiToken' | 'tokenUrl' | 'clientId' | 'clientSecret'> {
  const credentials = origin === undefined ? undefined : origins[origin]?.api;
  if (credentials === undefined) return {};
  const source = storedSource(String(origin));
  if (credentials.kind === 'api-token') return {apiToken: {value: new Secret(credentials.token), source}};
  // Another client, or another token endpoint than that of the stored secret.
  const other = [
    clientId !== undefined && clientId.value !== credentials.clientId ? clientId : [],
    tokenUrl !== undefined && urlOf('tokenUrl', tokenUrl) !== credentials.tokenUrl ? tokenUrl : [],
  ].flat();
  if (other[0] !== undefined) {
    const {name} = other[0].source;
    warn(`The client secret stored for ${String(origin)} is not used, because ${name} does not match it.`);
    return {};
  }
  return {
    tokenUrl: {value: credentials.tokenUrl, source},
    clientId: {value: credentials.clientId, source},
    clientSecret: {value: new Secret(credentials.clientSecret), source},
  };
}

function storedSource(origin: string): ValueSource {
  return {kind: 'stored', name: `credentials stored for ${origin}`};
}
