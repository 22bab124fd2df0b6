import type {ApiRuntimeConnection} from '../../backends/api/backend.js';
import {createError} from '../../errors/index.js';
import {mayUse} from '../../backends/select.js';
import {ApiKeyStrategy, BearerTokenStrategy, OAuthClientCredentialsStrategy} from '../../http/auth/strategies.js';
import {isInsecureOrigin, normalizeOrigin, parseServiceUrl, shownAddress} from '../../http/origin.js';
import type {AuthStrategy, Environment} from '../../http/types.js';
import type {Output} from '../output/output.js';
import type {SettingKey} from '../../settings/definitions.js';
import {secretValues} from './load-settings.js';
import {flagAndVariable, type Setting, type Settings} from './settings.js';
import {isApiUnset, missingApiSettings} from './api-completeness.js';

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
