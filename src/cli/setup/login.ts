import type {Identity} from '../../backends/built-ins.js';
import {amendError, createError, isRuntimeCliError} from '../../errors/index.js';
import {shellLine} from '../../errors/suggest.js';
import {normalizeOrigin, parseServiceUrl, shownAddress} from '../../http/origin.js';
import {checkCredentialsUrl, trustsListedOrigins} from '../settings/connection.js';
import type {CommandContext} from '../command/command-context.js';
import {confirm} from './prompts.js';
import {definitions, variableOf} from '../../settings/definitions.js';
import {describeSettings, requireSetting, type Settings} from '../settings/settings.js';
import {askService, withCredentials} from './check-credentials.js';
import {
  credentialPath,
  readCredentials,
  updateCredentials,
  type OriginCredentials,
  type StoredCredentials,
} from '../settings/credential-file.js';

// Commands must not import http directly.
export {shownAddress};

const credentialWords = {'api-key': 'API key', 'client-secret': 'client secret', 'api-token': 'API token'} as const;
/** Kinds of credentials that can be stored. */
export const credentialKinds = ['api-key', 'client-secret', 'api-token'] as const;
/** A kind of credential. */
export type CredentialKind = (typeof credentialKinds)[number];

type LoginContext = Pick<CommandContext, 'env' | 'output'>;

/** A setting with the address of a service. */
type AddressKey = 'origin' | 'apiOrigin' | 'tokenUrl';

/** What a login stores credentials for. */
interface LoginTarget {
  readonly kind: CredentialKind;
  readonly backend: 'legacy' | 'api';
  /** Origin the credentials are for. */
  readonly origin: string;
  /** The URL of the service, with its path. */
  readonly url: string;
  /** Each address that the secret goes to, or is stored for. */
  readonly addresses: readonly {readonly key: AddressKey; readonly url: string}[];
  /** What to ask for. */
  readonly prompt: string;
  /** Completes the credentials with the secret. */
  complete(secret: string): OriginCredentials;
}

/**
 * Determines what a login is for from flags, environment and configuration file.
 * @throws RuntimeCliError `ERR_USAGE` when something is missing, `ERR_ORIGIN_INVALID`, `ERR_ORIGIN_UNTRUSTED`.
 */
export function loginTarget(context: LoginContext, settings: Settings, kind: CredentialKind): LoginTarget {
  if (kind === 'api-key') {
    const url = checkedUrl(context, settings, 'origin', normalizeOrigin);
    const {origin} = new URL(url);
    const user = settings.apiUser?.value;
    const complete = (key: string) => ({apiKey: {key, user}});
    const addresses = [{key: 'origin', url}] as const;
    return {kind, backend: 'legacy', origin, url, addresses, prompt: `API key for ${origin}`, complete};
  }
  const url = checkedUrl(context, settings, 'apiOrigin', normalizeOrigin);
  const {origin} = new URL(url);
  const api = {kind, backend: 'api', origin, url} as const;
  const ofApi = {key: 'apiOrigin', url} as const;
  if (kind === 'api-token') {
    return {
      ...api,
      addresses: [ofApi],
      prompt: `Access token for ${origin}`,
      complete: (token) => ({api: {kind, token}}),
    };
  }
  const clientId = requireSetting(settings, 'clientId');
  const tokenUrl = checkedUrl(context, settings, 'tokenUrl', (name, value) => parseServiceUrl(name, value).href);
  const prompt = `Client secret of ${clientId} for ${origin}, to be sent to ${tokenUrl}`;
  const addresses = [ofApi, {key: 'tokenUrl', url: tokenUrl} as const];
  return {...api, addresses, prompt, complete: (clientSecret) => ({api: {kind, clientId, clientSecret, tokenUrl}})};
}

/**
 * Shows where the secret of a login would go, and has addresses of a configuration file confirmed.
 * @param asks whether somebody can be asked
 * @throws RuntimeCliError as `confirmConfigured`.
 */
export async function confirmAddresses(
  context: ConfirmationContext & Pick<CommandContext, 'cwd'>,
  settings: Settings,
  {kind, addresses}: Pick<LoginTarget, 'kind' | 'addresses'>,
  asks: boolean,
): Promise<void> {
  const keys = addresses.map(({key}) => key);
  for (const line of describeSettings(settings, keys, context.cwd)) context.output.info(line);
  const fromFile = addresses.filter(({key}) => settings[key]?.source.kind === 'config');
  const file = fromFile.map(({key}) => settings[key]?.source.name)[0];
  if (file === undefined) return;
  const advice = (unsaid: LoginTarget['addresses']) => {
    const flags = unsaid.map(({key, url}) => `--${String(definitions[key].flag?.name)} ${shellLine(url)}`);
    return `pass ${flags.join(' ')} or set ${unsaid.map(({key}) => variableOf(key)).join(' and ')}`;
  };
  await confirmConfigured(context, {what: kind, file, addresses: fromFile, advice}, asks);
}

type ConfirmationContext = Pick<CommandContext, 'env' | 'output' | 'stdin' | 'signal' | 'credentialFile'>;

/** Addresses of a configuration file that credentials would go to. */
interface ConfiguredAddresses<Address extends {readonly url: string}> {
  /** The credentials: `api-key`. */
  readonly what: string;
  readonly file: string;
  readonly addresses: readonly Address[];
  /** How to name addresses otherwise: `pass --origin https://runtime.example`. */
  readonly advice: (addresses: readonly Address[]) => string;
}

/**
 * Has addresses confirmed that only a configuration file sets. That of a checkout may be a stranger's, so it takes a
 * confirmation, unless the user has set up a project with the address, or `MYCLI_TRUSTED_ORIGINS` is set: what it does
 * not list is refused elsewhere.
 * @param asks whether somebody can be asked
 * @throws RuntimeCliError `ERR_ORIGIN_UNTRUSTED` when nobody can; `ERR_USAGE` when the answer is no.
 */
export async function confirmConfigured<Address extends {readonly url: string}>(
  context: ConfirmationContext,
  {what, file, addresses, advice}: ConfiguredAddresses<Address>,
  asks: boolean,
): Promise<void> {
  if (trustsListedOrigins(context.env)) return;
  const {trusted = []} = await readCredentials(context.credentialFile);
  const known = new Set(trusted.map((url) => new URL(url).href));
  const unsaid = addresses.filter(({url}) => !known.has(new URL(url).href));
  if (unsaid.length === 0) return;
  const urls = [...new Set(unsaid.map(({url}) => shownAddress(url)))];
  const [subject, verb] = urls.length === 1 ? ['address', 'comes'] : ['addresses', 'come'];
  const needs = urls.length === 1 ? 'needs' : 'need';
  const message = `The ${subject} ${urls.join(' and ')} ${verb} from ${file} and ${needs} your confirmation.`;
  if (asks) {
    await confirm(`${message} Send the ${what} there?`, 'Cancelled. Nothing was sent or stored.', context);
    return;
  }
  const origins = [...new Set(unsaid.map(({url}) => new URL(url).origin))];
  throw createError('ERR_ORIGIN_UNTRUSTED', `${message} Nothing was sent.`, {
    suggestions: [`If you trust it, ${advice(unsaid)}. In CI, list ${origins.join(',')} in MYCLI_TRUSTED_ORIGINS.`],
    details: {origin: origins[0], file},
  });
}

/** Remembers URLs that the user set up a project with: the file that names them is the user's own decision. */
export async function trustAddresses(
  {credentialFile, output}: Pick<CommandContext, 'credentialFile' | 'output'>,
  urls: readonly string[],
): Promise<void> {
  if (urls.length === 0) return;
  try {
    await updateCredentials(credentialFile, ({trusted = [], ...stored}) => ({
      ...stored,
      trusted: [...new Set([...trusted, ...urls])],
    }));
  } catch (error) {
    // The project is set up all the same: a login asks to confirm the address.
    if (!isRuntimeCliError(error)) throw error;
    output.debug(error.message);
  }
}

/** A secret that was given. */
interface Login {
  readonly kind: CredentialKind;
  readonly secret: string;
}

/**
 * Asks the service whether it accepts the credentials.
 * @throws RuntimeCliError when it refuses them or cannot be asked.
 */
export async function verifyLogin(
  context: CommandContext,
  settings: Settings,
  {kind, secret}: Login,
): Promise<Identity> {
  context.output.addSecrets([secret]);
  const {backend, complete} = loginTarget(context, settings, kind);
  try {
    const identity = await askService(context, withCredentials(settings, complete(secret)), backend);
    if (!identity.asked) {
      context.output.warn('The token was not checked. To check it, pass --organization and --project.');
    }
    return identity;
  } catch (error) {
    if (!isRuntimeCliError(error)) throw error;
    throw amendError(error, {suggestions: ['Nothing was stored. Pass --no-verify to store credentials unchecked.']});
  }
}

/**
 * Stores credentials, and tells so.
 * @param login.identity what the service said about them, if it was asked
 */
export async function storeLogin(
  context: CommandContext,
  settings: Settings,
  {kind, secret, identity}: Login & {readonly identity?: Identity | undefined},
) {
  const {output, credentialFile} = context;
  output.addSecrets([secret]);
  const target = loginTarget(context, settings, kind);
  const credentials = target.complete(secret);
  const organizationId = settings.organizationId?.value;
  await updateCredentials(credentialFile, (stored) => afterLogin(stored, target, credentials, organizationId));
  const file = credentialPath(credentialFile);
  if (identity?.asked) output.outcome(`${target.origin} accepted the ${credentialWords[kind]}.`);
  output.outcome(`Stored the ${kind} for ${target.origin} in ${file}.`);
  return {
    origin: target.origin,
    file,
    verified: identity?.asked ?? false,
    expiresAt: identity?.expiresAt,
  };
}

/** The stored credentials after a login, which becomes the last one. */
function afterLogin(
  {origins, last, trusted, backends}: StoredCredentials,
  {backend, origin, url}: Pick<LoginTarget, 'backend' | 'origin' | 'url'>,
  credentials: OriginCredentials,
  organizationId: string | undefined,
): StoredCredentials {
  const service = backend === 'legacy' ? {legacy: url} : {api: {origin: url, organizationId}};
  return {
    origins: {...origins, [origin]: {...origins[origin], ...credentials}},
    last: {...last, ...service, backend},
    trusted,
    backends,
  };
}

/** The stored credentials without those of some origins, whose URLs are not trusted any more. */
export function afterLogout(
  {origins, last, trusted, backends}: StoredCredentials,
  removed: readonly string[],
): StoredCredentials {
  const kept = Object.fromEntries(Object.entries(origins).filter(([origin]) => !removed.includes(origin)));
  const isGone = (url: string | undefined) => url === undefined || removed.includes(new URL(url).origin);
  const legacy = isGone(last?.legacy) ? undefined : last?.legacy;
  const api = isGone(last?.api?.origin) ? undefined : last?.api;
  const left = [...(legacy === undefined ? [] : ['legacy' as const]), ...(api === undefined ? [] : ['api' as const])];
  const backend = left.find((name) => name === last?.backend) ?? left[0];
  const stillTrusted = trusted?.filter((url) => !isGone(url));
  return {origins: kept, last: backend && {backend, legacy, api}, trusted: stillTrusted, backends};
}

function checkedUrl(
  context: LoginContext,
  settings: Settings,
  key: AddressKey,
  parse: (name: string, value: string) => string,
): string {
  const value = requireSetting(settings, key);
  const name = settings[key]?.source.name ?? key;
  const url = parse(name, value);
  checkCredentialsUrl(context, url, name);
  return url;
}

/** Stored credentials, without their secret. */
export interface CredentialEntry {
  /** Origin the credentials are for. */
  readonly origin: string;
  /** Kind of secret. */
  readonly kind: CredentialKind;
  /** User for an API key. */
  readonly user?: string | undefined;
  /** For a client secret. */
  readonly clientId?: string | undefined;
  /** Token endpoint the client secret is for. */
  readonly tokenUrl?: string | undefined;
}

/** The stored credentials, without secrets. */
export function credentialEntries({origins}: StoredCredentials): readonly CredentialEntry[] {
  return Object.entries(origins).flatMap(([origin, {apiKey, api}]) => {
    const entries: CredentialEntry[] = [];
    if (apiKey) entries.push({origin, kind: 'api-key', user: apiKey.user});
    if (api?.kind === 'client-secret') {
      entries.push({origin, kind: api.kind, clientId: api.clientId, tokenUrl: api.tokenUrl});
    }
    if (api?.kind === 'api-token') entries.push({origin, kind: api.kind});
    return entries;
  });
}

/** `https://api.example: client-secret of ci, for https://login.example/token` */
export function describeEntry({origin, kind, user, clientId, tokenUrl}: CredentialEntry): string {
  const name = user ?? clientId;
  return `${origin}: ${kind}${name === undefined ? '' : ` of ${name}`}${tokenUrl === undefined ? '' : `, for ${tokenUrl}`}`;
}

/** Every stored secret, for masking. */
export function storedSecrets({origins, backends = {}}: StoredCredentials): readonly string[] {
  const ofBackends = Object.values(backends).flatMap(({values}) => Object.values(values));
  const ofOrigins = Object.values(origins).flatMap(({apiKey, api}) => [
    apiKey?.key ?? [],
    (api?.kind === 'client-secret' ? api.clientSecret : api?.token) ?? [],
  ]);
  return [...ofOrigins.flat(), ...ofBackends];
}
