import type {ApiRuntimeConnection} from '../../backends/api/backend.js';
import {createError, type RuntimeCliError} from '../../errors/index.js';
import {isBuiltIn, mayUse} from '../../backends/select.js';
import {ApiKeyStrategy, BearerTokenStrategy, OAuthClientCredentialsStrategy} from '../../http/auth/strategies.js';
import {isInsecureOrigin, normalizeOrigin, parseServiceUrl, shownAddress} from '../../http/origin.js';
import type {AuthStrategy, Environment} from '../../http/types.js';
import type {Output} from '../output/output.js';
import {definitions, variableOf, type SettingKey} from '../../settings/definitions.js';
import {isVariableEmpty} from './resolve-settings.js';
import {flagAndVariable, secretValues, type Setting, type Settings} from './settings.js';

/** Whether a value of `--runtime-backend` names a plugin's backend. */
export function isPluginBackend(name: string): boolean {
  return name !== 'auto' && !isBuiltIn(name);
}

/** What users call a backend: what they sign in with. Others go by their names. */
export function backendTitle(name: string): string {
  if (name === 'legacy') return 'Runtime (API key)';
  return name === 'api' ? 'Runtime (OAuth)' : name;
}

/** How to reach the backends, as options for operations. */
export interface Connection {
  readonly preference: string;
  /** Address of the legacy backend, normalized. */
  readonly origin?: string | undefined;
  readonly legacyAuth?: AuthStrategy | undefined;
  /** What the legacy backend still needs: `--api-key (MYCLI_API_KEY)`. */
  readonly legacyMissing: readonly string[];
  readonly apiConnection?: ApiRuntimeConnection | undefined;
  /** What the Api backend still needs. */
  readonly apiMissing: readonly string[];
  /** Whether nothing at all is set for the Api backend. */
  readonly apiUnset: boolean;
  /** Options of the chosen backend. */
  readonly backendOptions: Readonly<Record<string, unknown>>;
  /** Seconds, above 0. */
  readonly requestTimeout: number;
  readonly connectTimeout: number;
  readonly rateLimit: {
    readonly maxRetries: number;
    readonly baseDelayMs: number;
    readonly maxDelayMs: number;
    readonly statusCodes: readonly number[];
    readonly prefix?: string | undefined;
  };
  /** Every secret value, for masking. */
  readonly secrets: readonly string[];
}

/** What making a connection needs. */
interface ConnectionContext {
  readonly env: Environment;
  readonly output: Pick<Output, 'info' | 'warn' | 'addSecrets'>;
}

/**
 * Creates the connections that the settings allow. Warns before credentials go to an `http:` origin that is not
 * loopback.
 * @throws RuntimeCliError `ERR_ORIGIN_INVALID`, `ERR_ORIGIN_UNTRUSTED`.
 */
export function resolveConnection(context: ConnectionContext, settings: Settings): Connection {
  const {runtimeBackend: preference, backendOptions, maxRetries, baseDelayMs, maxDelayMs, statusCodes} = settings;
  return {
    preference: preference.value,
    ...legacyConnection(context, settings),
    ...apiConnection(context, settings),
    backendOptions: backendOptions.value[preference.value] ?? {},
    requestTimeout: settings.requestTimeout.value,
    connectTimeout: settings.connectTimeout.value,
    rateLimit: {
      maxRetries: maxRetries.value,
      baseDelayMs: baseDelayMs.value,
      maxDelayMs: maxDelayMs.value,
      statusCodes: statusCodes.value,
      ...(settings.rateLimitPrefix === undefined ? {} : {prefix: settings.rateLimitPrefix.value}),
    },
    secrets: secretValues(settings),
  };
}

function legacyConnection(
  context: ConnectionContext,
  settings: Settings,
): Pick<Connection, 'origin' | 'legacyAuth' | 'legacyMissing'> {
  const {origin, apiKey, apiUser, runtimeBackend} = settings;
  const credentialsGo = apiKey !== undefined && mayUse(runtimeBackend.value, 'legacy');
  return {
    origin: origin === undefined ? undefined : checkedOrigin(context, origin, credentialsGo),
    legacyAuth:
      apiKey === undefined ? undefined : new ApiKeyStrategy({apiKey: apiKey.value.reveal(), user: apiUser?.value}),
    legacyMissing: (['origin', 'apiKey'] as const).filter((key) => settings[key] === undefined).map(flagAndVariable),
  };
}

function apiConnection(
  context: ConnectionContext,
  settings: Settings,
): Pick<Connection, 'apiConnection' | 'apiMissing' | 'apiUnset'> {
  const {apiOrigin, organizationId} = settings;
  const isSet = (key: SettingKey) => settings[key] !== undefined;
  const apiUnset = isApiUnset(isSet);
  const apiMissing = missingApiSettings(isSet).map(flagAndVariable);
  const credentialsGo = apiMissing.length === 0 && mayUse(settings.runtimeBackend.value, 'api');
  const auth = apiAuth(context, settings, credentialsGo);
  if (apiOrigin === undefined || organizationId === undefined || auth === undefined) return {apiMissing, apiUnset};
  const origin = checkedOrigin(context, apiOrigin, credentialsGo);
  return {apiConnection: {origin, organizationId: organizationId.value, auth}, apiMissing, apiUnset};
}

function apiAuth(
  context: ConnectionContext,
  {apiToken, tokenUrl, clientId, clientSecret, scopes}: Settings,
  credentialsGo: boolean,
): AuthStrategy | undefined {
  if (apiToken !== undefined) return new BearerTokenStrategy(apiToken.value.reveal());
  if (tokenUrl === undefined || clientId === undefined || clientSecret === undefined) return undefined;
  return new OAuthClientCredentialsStrategy({
    // Unlike an origin, it may have a query.
    tokenUrl: checked(context, parseServiceUrl(tokenUrl.source.name, tokenUrl.value).href, tokenUrl, credentialsGo),
    clientId: clientId.value,
    clientSecret: clientSecret.value.reveal(),
    scopes: scopes?.value,
    onToken: (token) => context.output.addSecrets([token]),
  });
}

function checked(context: ConnectionContext, url: string, {source}: Setting<string>, credentialsGo: boolean): string {
  if (credentialsGo) checkCredentialsUrl(context, url, source.name);
  return url;
}

function checkedOrigin(context: ConnectionContext, setting: Setting<string>, credentialsGo: boolean): string {
  const {name} = setting.source;
  const origin = normalizeOrigin(name, setting.value);
  if (!setting.value.includes('://')) context.output.info(`${name} has no scheme: using ${origin}.`);
  return checked(context, origin, setting, credentialsGo);
}

/**
 * Checks a URL that credentials will be sent to. Warns of `http:`, unless it is loopback.
 * @param name as for `assertTrustedOrigin`
 * @throws RuntimeCliError as `assertTrustedOrigin`.
 */
export function checkCredentialsUrl(
  {env, output}: {readonly env: Environment; readonly output: Pick<Output, 'warn'>},
  url: string,
  name: string,
): void {
  assertTrustedOrigin(url, name, env);
  if (isInsecureOrigin(url)) output.warn(`Credentials are sent unencrypted to ${new URL(url).origin}. Use https.`);
}

/** The variable that lists the origins that may receive credentials. */
export const trustedOriginsVariable = 'MYCLI_TRUSTED_ORIGINS';

/** Whether `MYCLI_TRUSTED_ORIGINS` is set, so that every other origin is refused. */
export function trustsListedOrigins(env: Environment): boolean {
  return (env[trustedOriginsVariable]?.trim() ?? '') !== '';
}

/**
 * Refuses to send credentials to an origin that `MYCLI_TRUSTED_ORIGINS` (separated by commas or spaces) does not list,
 * so that a pull request's configuration file cannot leak a CI system's keys. Without the variable, every origin is
 * trusted.
 * @param name the source of the origin: a flag, a variable or a file.
 * @throws RuntimeCliError `ERR_ORIGIN_UNTRUSTED`; `ERR_ORIGIN_INVALID` for an invalid list.
 */
export function assertTrustedOrigin(url: string, name: string, env: Environment): void {
  if (!trustsListedOrigins(env)) return;
  const entries = String(env[trustedOriginsVariable])
    .split(/[\s,]+/)
    .filter((entry) => entry !== '');
  if (entries.length === 0) {
    throw createError('ERR_ORIGIN_INVALID', `${trustedOriginsVariable} lists no origin.`, {
      suggestions: [
        `List origins such as https://runtime.example.com in ${trustedOriginsVariable}, or unset it to trust every origin.`,
      ],
    });
  }
  const {origin} = new URL(url);
  if (entries.some((entry) => originOf(entry) === origin)) return;
  throw createError(
    'ERR_ORIGIN_UNTRUSTED',
    `Credentials would be sent to ${origin}, which ${trustedOriginsVariable} does not list.`,
    {
      suggestions: [`Correct ${name}, or add ${origin} to ${trustedOriginsVariable}.`],
      details: {origin},
    },
  );
}

function originOf(entry: string): string {
  try {
    return new URL(/^[a-z]+:\/\//i.test(entry) ? entry : `https://${entry}`).origin;
  } catch {
    throw createError(
      'ERR_ORIGIN_INVALID',
      `${trustedOriginsVariable} lists ${shownAddress(entry)}, which is not an origin.`,
      {
        suggestions: ['List origins such as https://runtime.example.com, separated by commas.'],
      },
    );
  }
}

/** Whether a setting has a value, from any source. */
type IsSet = (key: SettingKey) => boolean;

const apiSettings: readonly SettingKey[] = [
  'apiOrigin',
  'organizationId',
  'tokenUrl',
  'clientId',
  'clientSecret',
  'scopes',
  'apiToken',
];

/** The settings that `auth:login` can store for an Api origin. */
const storable: ReadonlySet<SettingKey> = new Set(['tokenUrl', 'clientId', 'clientSecret', 'apiToken']);

/** Whether nothing at all is set for the Api backend. */
export function isApiUnset(isSet: IsSet): boolean {
  return !apiSettings.some(isSet);
}

/** The settings that a connection to the Api backend still needs. */
export function missingApiSettings(isSet: IsSet): readonly SettingKey[] {
  // A ready-made token needs no token endpoint.
  const credentials: readonly SettingKey[] = isSet('apiToken') ? [] : ['tokenUrl', 'clientId', 'clientSecret'];
  return (['apiOrigin', 'organizationId', ...credentials] as const).filter((key) => !isSet(key));
}

/** The state of the Api connection. */
interface ApiState {
  /** The requested backend. */
  readonly preference: string;
  readonly isSet: IsSet;
  readonly env: Environment;
}

/**
 * The error for a partial Api connection: some settings are given, or their variables are set but empty, while others
 * are missing. Undefined if it is complete, unset or not requested. A pipeline whose secrets are missing must not push
 * to the other service.
 */
export function incompleteApi({preference, isSet, env}: ApiState): RuntimeCliError | undefined {
  const missing = missingApiSettings(isSet);
  const empty = apiSettings.filter((key) => !isSet(key) && isVariableEmpty(key, env)).map(variableOf);
  const isUnset = isApiUnset(isSet) && empty.length === 0;
  if (!mayUse(preference, 'api') || isUnset || missing.length === 0) return undefined;
  const given = apiSettings.filter(isSet).map(label);
  const found = [
    ...(given.length === 0 ? [] : [`given: ${given.join(', ')}`]),
    ...(empty.length === 0 ? [] : [`set but empty: ${empty.join(', ')}`]),
  ];
  return createError(
    'ERR_CREDENTIALS_MISSING',
    `The Api connection is incomplete: missing ${missing.map(label).join(', ')} (${found.join('; ')}).`,
    {
      suggestions: [
        ...(empty.length === 0
          ? []
          : [`CI systems leave a variable empty if its secret is missing: set or unset ${empty.join(', ')}.`]),
        ...missing.map((key) => `${label(key)}: ${sourcesOf(key)}.`),
        ...(preference === 'auto' ? ['Pass --runtime-backend legacy to use the legacy backend instead.'] : []),
      ],
      details: {backend: 'api', missing: missing.map(flagAndVariable)},
    },
  );
}

/** Warns about what `incompleteApi` would refuse, for commands that only show settings. */
export function warnOfIncompleteApi(output: Pick<Output, 'warn'>, state: ApiState): void {
  const error = incompleteApi(state);
  if (error !== undefined)
    output.warn([`Pushes from here will fail. ${error.message}`, ...error.suggestions].join(' '));
}

function label(key: SettingKey): string {
  return definitions[key].label;
}

/** The sources of a setting: `--client-id, MYCLI_CLIENT_ID, api.clientId in the config file, or mycli auth:login`. */
function sourcesOf(key: SettingKey): string {
  const {flag, config} = definitions[key];
  const sources = [
    ...(flag === undefined ? [] : [`--${flag.name}`, String(variableOf(key))]),
    ...(config === undefined ? [] : [`${config} in the configuration file`]),
    ...(storable.has(key) ? ['credentials stored with mycli auth:login --api-origin URL'] : []),
  ];
  return new Intl.ListFormat('en', {type: 'disjunction'}).format(sources);
}
