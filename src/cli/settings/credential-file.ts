import {chmod, lstat, realpath, rm, stat} from 'node:fs/promises';
import {join} from 'node:path';
import * as v from 'valibot';
import {createError, isRuntimeCliError} from '../../errors/index.js';
import {shellLine} from '../../errors/suggest.js';
import {reasonOf} from '../../errors/system-failure.js';
import {isOwn} from '../../files/ownership.js';
import {makePrivateDirectory, readPrivateFile, replacePrivateFile} from '../../files/write-files.js';

const text = v.pipe(v.string(), v.nonEmpty());

const clientSecret = v.object({
  kind: v.literal('client-secret'),
  clientId: text,
  clientSecret: text,
  /** The only token endpoint that may receive the secret. */
  tokenUrl: v.pipe(text, v.url()),
});
const apiToken = v.object({kind: v.literal('api-token'), token: text});

const originCredentials = v.object({
  /** For the legacy backend. */
  apiKey: v.optional(v.object({key: text, user: v.optional(text)})),
  /** For the Api backend. */
  api: v.optional(v.variant('kind', [clientSecret, apiToken])),
});

/** The last login to each backend, whose origin need not be specified again. */
const lastLogins = v.object({
  /** The backend of the most recent login. */
  backend: v.picklist(['legacy', 'api']),
  /** URLs, including an origin's path. */
  legacy: v.optional(v.pipe(text, v.url())),
  api: v.optional(v.object({origin: v.pipe(text, v.url()), organizationId: v.optional(text)})),
});

/** Secret options and variables of a plugin's backend. */
const backendCredentials = v.object({
  /** Their names. */
  options: v.array(text),
  values: v.record(v.string(), text),
  /** The origins that the other options named at the login: the secrets are used with no others. */
  origins: v.array(v.pipe(text, v.url())),
});

/** Validates the file of stored credentials. */
const parseCredentialFile = v.safeParser(
  v.object({
    version: v.literal(1),
    origins: v.record(v.string(), originCredentials),
    last: v.optional(lastLogins),
    trusted: v.optional(v.array(v.pipe(text, v.url()))),
    backends: v.optional(v.record(v.string(), backendCredentials)),
  }),
);

/** The credentials of one origin, including secrets. Never shown. */
export type OriginCredentials = v.InferOutput<typeof originCredentials>;

/** The secrets of a plugin's backend, including their values. Never shown. */
export type BackendCredentials = v.InferOutput<typeof backendCredentials>;

/** Kinds of credentials for an origin. */
export const credentialKinds = ['api-key', 'client-secret', 'api-token'] as const;
/** A kind of credential. */
export type CredentialKind = (typeof credentialKinds)[number];

/** Where credentials are stored. */
export interface CredentialFile {
  /** oclif's configuration folder; absolute. */
  readonly directory: string;
  /** Whether the platform has file modes. */
  readonly hasModes: boolean;
  /** Called when others can read the file. */
  readonly warn: (message: string) => void;
}

/** The stored credentials. */
export interface StoredCredentials {
  /** Credentials by their origin: `https://runtime.example`. */
  readonly origins: Readonly<Record<string, OriginCredentials>>;
  readonly last?: v.InferOutput<typeof lastLogins> | undefined;
  /** URLs that the user set up a project with, so that a configuration file may name them. */
  readonly trusted?: readonly string[] | undefined;
  /** Secrets of plugins' backends, by backend. */
  readonly backends?: Readonly<Record<string, BackendCredentials>> | undefined;
}

/** The path of the file. */
export function credentialPath({directory}: Pick<CredentialFile, 'directory'>): string {
  return join(directory, 'credentials.json');
}

/**
 * The file itself, when its path is a link, because some users keep their configuration elsewhere. A link
 * to nothing counts as a file that does not exist.
 * @throws RuntimeCliError `ERR_CONFIG_INVALID` when the link or its target belongs to another user.
 */
async function actualPath(file: CredentialFile): Promise<string> {
  const path = credentialPath(file);
  const link = await lstat(path).catch(() => undefined);
  if (link?.isSymbolicLink() !== true) return path;
  const target = await realpath(path).catch(() => undefined);
  if (target === undefined) return path;
  if (isOwn(link, 0) && isOwn(await stat(target), 0)) return target;
  throw createError('ERR_CONFIG_INVALID', `${path} is a link, and it or its target belongs to another user.`, {
    suggestions: [['Remove the link and log in again with ', {run: ['auth:login']}, '.']],
  });
}

/**
 * Reads the stored credentials, if any. Warns when other users can read them.
 * @throws RuntimeCliError `ERR_CONFIG_INVALID` when the file cannot be read or is damaged.
 */
export async function readCredentials(file: CredentialFile): Promise<StoredCredentials> {
  const path = credentialPath(file);
  const stored = await readPrivateFile(await actualPath(file)).catch((error: unknown) => {
    throw createError('ERR_CONFIG_INVALID', `The stored credentials in ${path} cannot be read: ${reasonOf(error)}.`, {
      suggestions: [
        'Credentials are stored in HOME, or in XDG_CONFIG_HOME if it is set. Make the file there readable.',
      ],
      cause: error,
    });
  });
  if (stored === undefined) return {origins: {}};
  await warnOfLooseModes(file);
  const result = parseCredentialFile(stored.value);
  if (result.success) return result.output;
  // Neither the content nor the JSON parser's error is repeated: both may contain a secret.
  throw createError('ERR_CONFIG_INVALID', `${path} does not contain valid credentials.`, {
    suggestions: [['Remove the file and log in again with ', {run: ['auth:login']}, '.']],
  });
}

/**
 * Changes the stored credentials: the new file takes the place of the old one. Removes it if none are left.
 * The file and its folder are accessible only to their owner; a link in its place is followed.
 * @throws RuntimeCliError `ERR_OUTPUT`; `ERR_CONFIG_INVALID` as `readCredentials`.
 */
export async function updateCredentials(
  file: CredentialFile,
  change: (stored: StoredCredentials) => StoredCredentials,
): Promise<void> {
  const path = credentialPath(file);
  try {
    await makePrivateDirectory(file.directory);
    // Loose permissions are reported before they are tightened.
    const stored = await readCredentials(file);
    await chmod(file.directory, 0o700);
    const target = await actualPath(file);
    const {origins, last, trusted = [], backends = {}} = change(stored);
    const hasBackends = Object.keys(backends).length > 0;
    if (Object.keys(origins).length === 0 && trusted.length === 0 && !hasBackends) {
      for (const place of [target, path]) await rm(place, {force: true});
      return;
    }
    const optional = {...(trusted.length > 0 && {trusted}), ...(hasBackends && {backends})};
    await replacePrivateFile(target, `${JSON.stringify({version: 1, origins, last, ...optional}, undefined, 2)}\n`);
  } catch (error) {
    if (isRuntimeCliError(error)) throw error;
    throw createError('ERR_OUTPUT', `${path} cannot be written: ${reasonOf(error)}.`, {
      suggestions: ['Credentials are stored in HOME, or in XDG_CONFIG_HOME if it is set. Make that folder writable.'],
      cause: error,
    });
  }
}

/** The stored credentials without those of some origins, whose URLs are not trusted any more, and of some backends. */
export function withoutCredentials(
  {origins, last, trusted, backends = {}}: StoredCredentials,
  removed: {readonly origins: readonly string[]; readonly backends: readonly string[]},
): StoredCredentials {
  const isGone = (url: string | undefined) => url === undefined || removed.origins.includes(new URL(url).origin);
  const legacy = isGone(last?.legacy) ? undefined : last?.legacy;
  const api = isGone(last?.api?.origin) ? undefined : last?.api;
  const left = [...(legacy === undefined ? [] : ['legacy' as const]), ...(api === undefined ? [] : ['api' as const])];
  const backend = left.find((name) => name === last?.backend) ?? left[0];
  const without = <T>(entries: Readonly<Record<string, T>>, names: readonly string[]) =>
    Object.fromEntries(Object.entries(entries).filter(([name]) => !names.includes(name)));
  return {
    origins: without(origins, removed.origins),
    last: backend && {backend, legacy, api},
    trusted: trusted?.filter((url) => !isGone(url)),
    backends: without(backends, removed.backends),
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

/** The stored credentials for origins, without secrets. */
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

/** The stored secrets of a plugin's backend, without their values. */
export interface BackendEntry {
  readonly backend: string;
  /** Names of the options and variables. */
  readonly options: readonly string[];
  /** Origins that the other options named at the login. The secrets are used with no others. */
  readonly origins: readonly string[];
}

/** The stored secrets of plugins' backends, without their values. */
export function backendEntries({backends = {}}: StoredCredentials): readonly BackendEntry[] {
  return Object.entries(backends).map(([backend, {options, origins}]) => ({backend, options, origins}));
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

async function warnOfLooseModes(file: CredentialFile): Promise<void> {
  if (!file.hasModes) return;
  const path = credentialPath(file);
  for (const [place, mode] of [
    [file.directory, '700'],
    [path, '600'],
  ] as const) {
    // A logout may have removed it in the meantime.
    const stats = await stat(place).catch(() => undefined);
    if (stats !== undefined && (stats.mode & 0o077) !== 0) {
      file.warn(
        `Other users can access ${place}, where credentials are stored. Run: ${shellLine('chmod', mode, place)}`,
      );
    }
  }
}
