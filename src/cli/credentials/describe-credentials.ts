export {shownAddress} from '../../http/origin.js';
import type {StoredCredentials} from './credential-file.js';
import type {CredentialKind} from './login-target.js';

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
