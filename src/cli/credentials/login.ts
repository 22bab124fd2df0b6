import {normalizeOrigin, parseServiceUrl} from '../../http/origin.js';
import {checkCredentialsUrl} from '../backends/connection.js';
import type {CommandContext} from '../command/command-context.js';
import {requireSetting, type Settings} from '../settings/settings.js';
import type {OriginCredentials, StoredCredentials} from './credential-file.js';

// A command may not look into http itself.
export {shownAddress} from '../../http/origin.js';

/** Kinds of credentials that can be stored. */
export const credentialKinds = ['api-key', 'client-secret', 'api-token'] as const;
/** A kind of credential. */
export type CredentialKind = (typeof credentialKinds)[number];

type LoginContext = Pick<CommandContext, 'env' | 'output'>;

/** What a login is for. */
interface LoginTarget {
  readonly kind: CredentialKind;
  /** Origin the credentials are for. */
  readonly origin: string;
  /** What to ask for. */
  readonly prompt: string;
  /** The credentials with the secret that was given. */
  complete(secret: string): OriginCredentials;
}

/**
 * What a login is for, as flags, environment and configuration file say.
 * @throws RuntimeCliError `ERR_USAGE` when something is not known, `ERR_ORIGIN_INVALID`, `ERR_ORIGIN_UNTRUSTED`.
 */
export function loginTarget(context: LoginContext, settings: Settings, kind: CredentialKind): LoginTarget {
  if (kind === 'api-key') {
    const origin = checkedOrigin(context, settings, 'origin');
    const user = settings.apiUser?.value;
    return {kind, origin, prompt: `API key for ${origin}`, complete: (key) => ({apiKey: {key, user}})};
  }
  const origin = checkedOrigin(context, settings, 'apiOrigin');
  if (kind === 'api-token') {
    return {kind, origin, prompt: `Access token for ${origin}`, complete: (token) => ({api: {kind, token}})};
  }
  const clientId = requireSetting(settings, 'clientId');
  const tokenUrl = checkedUrl(context, settings, 'tokenUrl', (name, value) => parseServiceUrl(name, value).href);
  const prompt = `Client secret of ${clientId} for ${origin}, to be sent to ${tokenUrl}`;
  return {kind, origin, prompt, complete: (clientSecret) => ({api: {kind, clientId, clientSecret, tokenUrl}})};
}

function checkedOrigin(context: LoginContext, settings: Settings, key: 'origin' | 'apiOrigin'): string {
  return new URL(checkedUrl(context, settings, key, normalizeOrigin)).origin;
}

function checkedUrl(
  context: LoginContext,
  settings: Settings,
  key: 'origin' | 'apiOrigin' | 'tokenUrl',
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

/** What is stored, without a secret. */
export function credentialEntries(stored: StoredCredentials): readonly CredentialEntry[] {
  return Object.entries(stored).flatMap(([origin, {apiKey, api}]) => {
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
export function storedSecrets(stored: StoredCredentials): readonly string[] {
  return Object.values(stored).flatMap(({apiKey, api}) => [
    ...(apiKey ? [apiKey.key] : []),
    ...(api ? [api.kind === 'client-secret' ? api.clientSecret : api.token] : []),
  ]);
}
