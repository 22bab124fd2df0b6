import {chmod, realpath, rm, stat} from 'node:fs/promises';
import {join} from 'node:path';
import * as v from 'valibot';
import {isBuiltIn, type BuiltInName} from '../../backends/names.js';
import {amendError, createError, isRuntimeCliError, reasonOf, type RuntimeCliError} from '../../errors/index.js';
import {refusedCredentials, type Suggestion} from '../../errors/suggestion.js';
import {homeVariable, onWindows} from '../../text/platform.js';
import {shellLine} from '../../text/suggest.js';
import {asRecord} from '../../text/json.js';
import {keyed} from '../../settings/schemas.js';
import {withLock} from '../../files/lock.js';
import {makePrivateDirectory, readPrivateFile, replaceTextFile} from '../../files/write-files.js';
import {definitions, variableOf} from '../../settings/definitions.js';
import type {Output} from '../output/output.js';
import {addressOrigin} from './option-addresses.js';
import type {Settings, ValueSource} from './settings.js';

const text = v.pipe(v.string(), v.nonEmpty());
const url = v.pipe(text, v.url());

/** Of the login: commands need it besides the secret. */
const organizationId = v.optional(text);

const clientSecret = v.object({
  kind: v.literal('client-secret'),
  organizationId,
  clientId: text,
  clientSecret: text,
  /** The only token endpoint that may receive the secret. */
  tokenUrl: url,
  scopes: v.optional(v.pipe(v.array(text), v.readonly())),
});

const originCredentials = v.object({
  apiKey: v.optional(v.object({key: text, user: v.optional(text)})),
  api: v.optional(
    v.variant('kind', [clientSecret, v.object({kind: v.literal('api-token'), organizationId, token: text})]),
  ),
});

const backendCredentials = v.object({
  options: v.array(text),
  values: keyed(text),
  /** The origins and other addresses that the other options named at the login: the secrets are used with no others. */
  origins: v.array(text),
});

const storedCredentials = v.object({
  /** By origin: `https://runtime.example`. */
  origins: keyed(originCredentials),
  /** The last login to each backend, whose origin need not be specified again. */
  last: v.optional(
    v.object({
      backend: v.picklist(['legacy', 'api']),
      /** URLs, including an origin's path. */
      legacy: v.optional(url),
      api: v.optional(v.object({origin: url})),
    }),
  ),
  /** URLs and other addresses that the user set up a project with, so that a configuration file may name them. */
  trusted: v.optional(v.array(text)),
  backends: v.optional(keyed(backendCredentials)),
});

export type StoredCredentials = v.InferOutput<typeof storedCredentials>;
export type OriginCredentials = v.InferOutput<typeof originCredentials>;

export const credentialKinds = ['api-key', 'client-secret', 'api-token'] as const;
export type CredentialKind = (typeof credentialKinds)[number];

interface CredentialRow {
  readonly setting: 'apiKey' | 'clientSecret' | 'apiToken';
  readonly backend: BuiltInName;
  /** Where it is sent, the service first. */
  readonly addresses: readonly [service: 'origin' | 'apiOrigin', ...tokenUrl: readonly 'tokenUrl'[]];
}

export const credentialRows: Readonly<Record<CredentialKind, CredentialRow>> = {
  'api-key': {setting: 'apiKey', backend: 'legacy', addresses: ['origin']},
  'client-secret': {setting: 'clientSecret', backend: 'api', addresses: ['apiOrigin', 'tokenUrl']},
  'api-token': {setting: 'apiToken', backend: 'api', addresses: ['apiOrigin']},
};

/** The kind of credential that a built-in backend is used with. A ready-made token goes before a client. */
export function credentialKind(backend: BuiltInName, {apiToken}: Pick<Settings, 'apiToken'>): CredentialKind {
  if (backend === 'legacy') return 'api-key';
  return apiToken === undefined ? 'client-secret' : 'api-token';
}

/**
 * Says of credentials that a backend's service has refused where they come from, instead of where to look for that.
 * @param ofPlugin where the secrets of a plugin's backend come from
 */
export function withCredentialSource(
  error: RuntimeCliError,
  settings: Settings | undefined,
  backend: string,
  ofPlugin: ValueSource | undefined,
): RuntimeCliError {
  if (!error.advice.includes(refusedCredentials) || settings === undefined) return error;
  const key = isBuiltIn(backend) ? credentialRows[credentialKind(backend, settings)].setting : undefined;
  const source = key === undefined ? ofPlugin : settings[key]?.source;
  if (source === undefined) return error;
  const {kind, name} = source;
  const label = key === undefined ? `secret of the ${backend} backend` : definitions[key].label;
  const check = `The ${label} comes from ${name}. Check that it is complete, still valid and for this server.`;
  const isOneOfMany = kind === 'config' || name === variableOf('backendOptions');
  const removing = isOneOfMany ? `remove it from ${name}` : `unset ${name}`;
  const lead = kind === 'stored' ? 'To store another, run: ' : `To use a stored one, ${removing}. Without one, run: `;
  const login: Suggestion = [lead, {run: ['auth:login']}];
  return amendError(error, {advice: kind === 'flag' ? [check] : [check, login]});
}

export interface CredentialFile {
  /** oclif's configuration folder; absolute. */
  readonly directory: string;
  readonly warn: Output['warn'];
}

const whereStored = `Credentials are stored in ${homeVariable}, or in XDG_CONFIG_HOME if it is set.`;

export function credentialPath({directory}: Pick<CredentialFile, 'directory'>): string {
  return join(directory, 'credentials.json');
}

/**
 * The file itself, when its path is a link, because some users keep their configuration elsewhere. Call it with the
 * lock: it removes a link to nothing, and without the lock that may be a file that another login has just written.
 */
async function actualPath(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    // A link to nothing, or nothing.
    await rm(path, {force: true});
    return path;
  }
}

/** Reads the stored credentials, if any. Warns when other users can read them. */
export async function readCredentials(file: CredentialFile): Promise<StoredCredentials> {
  const path = credentialPath(file);
  const stored = await readPrivateFile(path).catch((error: unknown) => {
    throw createError('ERR_CONFIG_INVALID', `The stored credentials in ${path} cannot be read: ${reasonOf(error)}.`, {
      suggestions: [`${whereStored} The file there must be yours and readable.`],
      cause: error,
    });
  });
  if (stored === undefined) return {origins: {}};
  await warnIfLoose(file.directory, '700', file);
  await warnIfLoose(path, '600', file);
  const result = v.safeParse(v.object({version: v.literal(1), ...storedCredentials.entries}), stored.value);
  if (result.success) return result.output;
  const {version} = asRecord(stored.value);
  if (typeof version === 'number' && version > 1)
    throw createError('ERR_CONFIG_INVALID', `${path} was written by a newer version of mycli.`, {
      suggestions: ['Update mycli. Or set XDG_CONFIG_HOME to another folder, and log in again there.'],
    });
  // Neither the content nor the JSON parser's error is repeated: both may contain a secret.
  throw createError('ERR_CONFIG_INVALID', `${path} does not contain valid credentials.`, {
    suggestions: [['Remove the file and log in again with ', {run: ['auth:login']}]],
  });
}

async function warnIfLoose(path: string, mode: string, {warn}: CredentialFile): Promise<void> {
  // A logout may have removed it in the meantime.
  const stats = await stat(path).catch(() => undefined);
  if (stats === undefined || onWindows || (stats.mode & 0o077) === 0) return;
  warn(`Other users can access ${path}, where credentials are stored. Run: ${shellLine('chmod', mode, path)}`);
}

/** Replaces the file of credentials, which only its owner can read, or removes it if none are left. Follows a link. */
export async function updateCredentials(
  file: CredentialFile,
  change: (stored: StoredCredentials) => StoredCredentials,
): Promise<void> {
  const path = credentialPath(file);
  try {
    await makePrivateDirectory(file.directory);
    await withLock(path, async () => {
      const target = await actualPath(path);
      // Loose permissions are reported before they are tightened.
      const stored = await readCredentials(file);
      await chmod(file.directory, 0o700);
      const {origins, last, trusted, backends} = change(stored);
      const isEmpty = [origins, trusted ?? [], backends ?? {}].every((entries) => Object.keys(entries).length === 0);
      if (isEmpty) for (const place of [target, path]) await rm(place, {force: true});
      const json = JSON.stringify({version: 1, origins, last, trusted, backends}, null, 2);
      if (!isEmpty) await replaceTextFile(target, `${json}\n`, 0o600);
    });
  } catch (error) {
    if (isRuntimeCliError(error)) throw error;
    throw createError('ERR_OUTPUT', `${path} cannot be written: ${reasonOf(error)}.`, {
      suggestions: [`${whereStored} Make that folder writable.`],
      cause: error,
    });
  }
}

/** Remembers URLs that the user set up a project with: the file that names them is the user's own decision. */
export function trustAddresses(file: CredentialFile, urls: readonly string[]): Promise<void> {
  return updateCredentials(file, ({trusted = [], ...stored}) => ({
    ...stored,
    trusted: [...new Set([...trusted, ...urls])],
  }));
}

export interface RemovedCredentials {
  readonly origins: readonly string[];
  readonly backends: readonly string[];
}

/** The stored credentials without some. An origin that has none left is no longer trusted. */
export function withoutCredentials(
  {origins, last, trusted, backends = {}}: StoredCredentials,
  removed: RemovedCredentials,
): StoredCredentials {
  const isNamed = (address: string) => removed.origins.includes(addressOrigin(address));
  const isGone = (backend: BuiltInName, address: string) => isNamed(address) && removed.backends.includes(backend);
  const remaining: Record<string, OriginCredentials> = {};
  for (const [origin, {apiKey, api}] of Object.entries(origins)) {
    const credentials = {...(!isGone('legacy', origin) && {apiKey}), ...(!isGone('api', origin) && {api})};
    if (secretsIn(credentials).length > 0) remaining[origin] = credentials;
  }
  const {legacy, api} = last ?? {};
  const lastLeft = {
    legacy: legacy === undefined || isGone('legacy', legacy) ? undefined : legacy,
    api: api === undefined || isGone('api', api.origin) ? undefined : api,
  };
  const usable = (['legacy', 'api'] as const).filter((name) => lastLeft[name] !== undefined);
  const backend = usable.find((name) => name === last?.backend) ?? usable[0];
  return {
    origins: remaining,
    last: backend && {backend, ...lastLeft},
    trusted: trusted?.filter((address) => !isNamed(address) || addressOrigin(address) in remaining),
    backends: Object.fromEntries(Object.entries(backends).filter(([name]) => !removed.backends.includes(name))),
  };
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

export function credentialEntries({origins}: StoredCredentials): readonly CredentialEntry[] {
  return Object.entries(origins).flatMap(([origin, {apiKey, api}]): readonly CredentialEntry[] => {
    const key = apiKey === undefined ? [] : [{origin, kind: 'api-key', user: apiKey.user} as const];
    if (api === undefined) return key;
    if (api.kind === 'api-token') return [...key, {origin, kind: api.kind}];
    return [...key, {origin, kind: api.kind, clientId: api.clientId, tokenUrl: api.tokenUrl}];
  });
}

/** The stored secrets of a plugin's backend, without their values. */
export interface BackendEntry {
  readonly backend: string;
  /** Names of the options and variables. */
  readonly options: readonly string[];
  /** Origins and other addresses that the other options named at the login. The secrets are used with no others. */
  readonly origins: readonly string[];
}

export function backendEntries({backends = {}}: StoredCredentials): readonly BackendEntry[] {
  return Object.entries(backends).map(([backend, {options, origins}]) => ({backend, options, origins}));
}

export function secretsIn({apiKey, api}: OriginCredentials): readonly string[] {
  const secret = api?.kind === 'client-secret' ? api.clientSecret : api?.token;
  return [apiKey?.key, secret].flatMap((value) => value ?? []);
}

export function everySecret({origins, backends = {}}: StoredCredentials): readonly string[] {
  return [
    ...Object.values(origins).flatMap(secretsIn),
    ...Object.values(backends).flatMap(({values}) => Object.values(values)),
  ];
}
