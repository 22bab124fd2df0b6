import {ownValue} from '../../text/json.js';
import {createError, type RuntimeCliError} from '../../errors/index.js';
import {flagValue} from '../../text/suggest.js';
import type {SettingNames} from '../../backends/resolve-backend.js';
import {isBuiltIn, mayUse} from '../../backends/names.js';
import {ApiKeyStrategy, BearerTokenStrategy, OAuthClientCredentialsStrategy} from '../../http/auth/strategies.js';
import {isInsecureOrigin, normalizeOrigin, parseServiceUrl, shownAddress} from '../../http/origin.js';
import type {AuthStrategy} from '../../http/types.js';
import type {Environment} from '../../text/platform.js';
import type {Output} from '../output/output.js';
import {definitions, variableOf, type AddressKey, type SettingKey} from '../../settings/definitions.js';
import {addressesIn, addressOrigin} from './option-addresses.js';
import {flagAndVariable, missingSetting, secretValues, valuesIn, type Setting, type Settings} from './settings.js';

export function isPluginBackend(name: string): boolean {
  return name !== 'auto' && !isBuiltIn(name);
}

interface ConnectionContext {
  readonly env: Environment;
  readonly output: Pick<Output, 'warn' | 'addSecrets'>;
}

export type Connection = ReturnType<typeof resolveConnection>;

/** Creates the connections that the settings allow. Warns before credentials go unencrypted to another machine. */
export function resolveConnection(context: ConnectionContext, settings: Settings) {
  const {runtimeBackend, backendOptions, apiKey, apiUser, apiOrigin, organizationId} = settings;
  const {requestTimeout, connectTimeout, idleTimeout, uploadRetries} = settings;
  const {value: preference} = runtimeBackend;
  const missing = missingApiSettings(settings);
  const usesLegacy = apiKey !== undefined && mayUse(preference, 'legacy');
  const usesApi = missing.length === 0 && mayUse(preference, 'api');
  const origin = settings.origin && addressOf(context, 'origin', settings.origin, usesLegacy);
  const logsOrigin = settings.logsOrigin && addressOf(context, 'logsOrigin', settings.logsOrigin, usesLegacy);
  const auth = apiAuth(context, settings, usesApi);
  return {
    preference,
    origin,
    logsOrigin,
    legacyAuth: apiKey && new ApiKeyStrategy({apiKey: apiKey.value.reveal(), user: apiUser?.value}),
    apiConnection:
      apiOrigin === undefined || organizationId === undefined || auth === undefined
        ? undefined
        : {origin: addressOf(context, 'apiOrigin', apiOrigin, usesApi), organizationId: organizationId.value, auth},
    backendOptions: ownValue(backendOptions.value, preference) ?? {},
    requestTimeout: requestTimeout.value,
    connectTimeout: connectTimeout.value,
    idleTimeout: idleTimeout.value,
    uploadRetries: uploadRetries.value,
    rateLimit: valuesIn(settings, 'rateLimit'),
    secrets: secretValues(settings),
  };
}

function apiAuth(
  context: ConnectionContext,
  {apiToken, tokenUrl, clientId, clientSecret, clientKey, clientKeyPassphrase, clientCertificate, scopes}: Settings,
  credentialsGo: boolean,
): AuthStrategy | undefined {
  if (apiToken !== undefined) return new BearerTokenStrategy(apiToken.value.reveal());
  if (tokenUrl === undefined || clientId === undefined || (clientKey ?? clientSecret) === undefined) return undefined;
  return new OAuthClientCredentialsStrategy({
    tokenUrl: addressOf(context, 'tokenUrl', tokenUrl, credentialsGo),
    clientId: clientId.value,
    clientSecret: clientSecret?.value.reveal(),
    clientKey: clientKey && {
      privateKey: clientKey.value.reveal(),
      passphrase: clientKeyPassphrase?.value.reveal(),
      certificate: clientCertificate?.value.reveal(),
    },
    scopes: scopes?.value,
    onToken: (token) => context.output.addSecrets([token]),
  });
}

/** The URL of a setting with its scheme. If credentials go there, it must be trusted. */
export function addressOf(
  {env, output}: ConnectionContext,
  key: ServiceKey,
  {value, source}: Setting<string>,
  credentialsGo: boolean,
): string {
  const url = serviceUrl(key, source.name, value);
  if (credentialsGo) allowCredentials({env, output}, url, source.name);
  return url;
}

/** The origins of the checks that log in or send headers, as far as their URLs say them. */
export function checkOrigins({check, checkHeaders, checkUser}: Settings): readonly string[] {
  const sends = (check?.value ?? []).filter(
    (item) => (item.headers ?? checkHeaders ?? item.user ?? checkUser) !== undefined && !item.url.startsWith('/'),
  );
  return [...new Set(sends.map(({url}) => new URL(url).origin))];
}

/** Refuses to send credentials to a URL that is not trusted, and warns of one that is not encrypted. */
export function allowCredentials({env, output}: ConnectionContext, url: string, name: string): void {
  assertTrustedOrigin(url, name, env);
  if (isInsecureOrigin(url)) output.warn(`Credentials are sent unencrypted to ${new URL(url).origin}. Use https.`);
}

/** An address of a service, of which a setting has one. */
export type ServiceKey = Exclude<AddressKey, 'check'>;

/** The URL of a service, with its scheme. Unlike an origin, a token endpoint may have a query. */
export function serviceUrl(key: ServiceKey, name: string, value: string): string {
  return key === 'tokenUrl' ? parseServiceUrl(name, value).href : normalizeOrigin(name, value);
}

/** Refuses an answer that is not the URL of a service that credentials may be sent to. */
export function checkUrl(key: ServiceKey, answer: string, env: Environment): void {
  assertTrustedOrigin(serviceUrl(key, 'The address', answer), 'the URL', env);
}

export const trustedOriginsVariable = 'MYCLI_TRUSTED_ORIGINS';

/** The origins that `MYCLI_TRUSTED_ORIGINS` lists, separated by commas or spaces. Undefined if it is not set. */
export function trustedOrigins(env: Environment): readonly string[] | undefined {
  const list = env[trustedOriginsVariable]?.trim() ?? '';
  if (list === '') return undefined;
  const entries = list.split(/[\s,]+/).filter((entry) => entry !== '');
  const isOther = (entry: string) => /^(?!https?:)[a-z][\w+.:-]*:\/\//i.test(entry);
  return entries.flatMap((entry) =>
    isOther(entry) ? addressesIn(entry) : parseServiceUrl(trustedOriginsVariable, entry).origin,
  );
}

/**
 * Refuses to send credentials to an origin that `MYCLI_TRUSTED_ORIGINS` does not list, so that a pull request's
 * configuration file cannot leak a CI system's keys. Without the variable, every origin is trusted.
 * @param name the source of the origin: a flag, a variable or a file.
 */
export function assertTrustedOrigin(url: string, name: string, env: Environment): void {
  const origin = addressOrigin(url);
  if (trustedOrigins(env)?.includes(origin) ?? true) return;
  throw createError(
    'ERR_ORIGIN_UNTRUSTED',
    `Credentials would be sent to ${origin}, which ${trustedOriginsVariable} does not list.`,
    {suggestions: [`Correct ${name}, or add ${origin} to ${trustedOriginsVariable}.`], details: {origin}},
  );
}

const apiCredentials = ['tokenUrl', 'clientId', 'clientSecret'] as const;
const apiSettings = ['apiOrigin', 'organizationId', ...apiCredentials, 'clientKey', 'scopes', 'apiToken'] as const;

export function isApiUnset(settings: Settings): boolean {
  return apiSettings.every((key) => settings[key] === undefined);
}

export function missingApiSettings(settings: Settings): readonly SettingKey[] {
  // A ready-made token needs no token endpoint.
  const credentials = settings.apiToken === undefined ? apiCredentials : [];
  const isGiven = (key: SettingKey) =>
    settings[key] !== undefined || (key === 'clientSecret' && settings.clientKey !== undefined);
  return (['apiOrigin', 'organizationId', ...credentials] as const).filter((key) => !isGiven(key));
}

/**
 * The error for a partial API connection: some settings are given, or their variables are set but empty, while others
 * are missing. Undefined if it is complete, unset or not requested. A pipeline whose secrets are missing must not push
 * to the other service.
 */
export function incompleteApi(settings: Settings, env: Environment): RuntimeCliError | undefined {
  const {value: preference} = settings.runtimeBackend;
  const missing = missingApiSettings(settings);
  const labelOf = (key: SettingKey) => definitions[key].label;
  const isSet = (key: SettingKey) => settings[key] !== undefined;
  const present = apiSettings.filter(isSet).map(labelOf).join(', ');
  const variables = apiSettings.flatMap((key) => (isSet(key) ? [] : (variableOf(key) ?? [])));
  const empty = variables.filter((name) => env[name]?.trim() === '').join(', ');
  if (!mayUse(preference, 'api') || missing.length === 0 || present + empty === '') return undefined;
  const facts = [present && `given: ${present}`, empty && `set but empty: ${empty}`];
  const found = facts.filter((fact) => fact !== '').join('; ');
  const apiOrigin = settings.apiOrigin === undefined ? 'URL' : shownAddress(settings.apiOrigin.value);
  const login = ['Or store credentials: ', {run: ['auth:login', ...flagValue('--api-origin', apiOrigin)]}];
  return createError(
    'ERR_CREDENTIALS_MISSING',
    `The API connection is incomplete: missing ${missing.map(labelOf).join(', ')} (${found}).`,
    {
      suggestions: [
        ...(empty === '' ? [] : [`CI systems leave a variable empty if its secret is missing: set or unset ${empty}.`]),
        ...missing.flatMap((key) => missingSetting(key).suggestions),
        ...(apiCredentials.some((key) => missing.includes(key)) ? [login] : []),
        ...(preference === 'auto' ? ['Pass --runtime-backend legacy to use Runtime (API key) instead.'] : []),
      ],
      details: {backend: 'api', missing: missing.map(flagAndVariable)},
    },
  );
}

/** What commands call the settings that a built-in backend lacks: `--api-key (MYCLI_API_KEY)`. */
export function settingNames(settings: Settings): SettingNames {
  return {
    origin: [flagAndVariable('origin')],
    legacyAuth: [flagAndVariable('apiKey')],
    apiConnection: missingApiSettings(settings).map(flagAndVariable),
  };
}

export function warnOfIncompleteApi({output, env}: ConnectionContext, settings: Settings): void {
  const error = incompleteApi(settings, env);
  if (error === undefined) return;
  output.warn(`Pushes from here will fail. ${error.message}`, error.advice);
}
