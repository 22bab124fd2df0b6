import {resolve} from 'node:path';
import type {Readable} from 'node:stream';
import {text as streamText} from 'node:stream/consumers';
import {createError} from '../../errors/index.js';
import {asSentence} from '../../errors/sentence.js';
import {reasonOf} from '../../errors/system-failure.js';
import {readText} from '../../files/read-file.js';
import type {Environment} from '../../http/types.js';
import {secretKeys, variableOf, type SecretKey, type SettingKey} from '../../settings/definitions.js';
import {loadConfigFile} from './config-file.js';
import {isApiUnset, serviceUrl, type AddressKey} from './connection.js';
import {
  readCredentials,
  type CredentialFile,
  type OriginCredentials,
  type StoredCredentials,
} from './credential-file.js';
import {
  explainEach,
  resolveSettings,
  type ExplainedSetting,
  type FlagValues,
  type Setting,
  type Settings,
  type SettingsSources,
  type ValueSource,
} from './settings.js';
import {Secret} from './text.js';

interface SettingsOrigin extends SecretReader {
  readonly flags: FlagValues;
  readonly env: Environment;
  readonly configFile: string | undefined;
  readonly uid: number | undefined;
  /** Where credentials are stored. Without it, stored credentials are ignored. */
  readonly credentialFile?: CredentialFile | undefined;
  /** Called with the absolute path of the configuration file, if there is one. */
  readonly onConfigFile?: ((path: string) => void) | undefined;
}

export async function loadSettings(origin: SettingsOrigin): Promise<Settings> {
  const settings = resolveSettings(await readSources(origin));
  return {...settings, ...(await readSecrets(settings, origin))};
}

async function readSources(origin: SettingsOrigin): Promise<SettingsSources> {
  const {flags, env, cwd, configFile, credentialFile} = origin;
  const file = await loadConfigFile(origin, configFile);
  if (file !== undefined) origin.onConfigFile?.(file.path);
  const sources = {flags, env, cwd, file};
  if (credentialFile === undefined) return sources;
  return {...sources, stored: await storedSettings(resolveSettings(sources), credentialFile)};
}

export interface ExplainedSettings {
  readonly configFile?: string | undefined;
  readonly settings: readonly ExplainedSetting[];
  /** The resolved settings; secrets are not read. */
  readonly resolved: Settings;
}

/** Resolves every setting, with its value in each source. Secrets are not read. */
export async function explainSettings(origin: SettingsOrigin): Promise<ExplainedSettings> {
  const sources = await readSources(origin);
  return {configFile: sources.file?.path, resolved: resolveSettings(sources), settings: explainEach(sources)};
}

/**
 * What stored credentials add to the settings from all stronger sources. Those of an origin are used as a whole or not
 * at all: a stored user is never combined with a key from elsewhere, nor a stored secret sent to another token
 * endpoint. If nothing specifies a service, it is that of the last login, with its own credentials only.
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
    ...(takesLegacy && legacySettings(originOf(located.origin), stored)),
    ...(takesApi && apiSettings(located, originOf(located.apiOrigin), stored, file.warn)),
  };
  const isNew = ([key, value]: [string, unknown]) => value !== undefined && settings[key as SettingKey] === undefined;
  return Object.fromEntries(Object.entries(added).filter(isNew));
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

function legacySettings(origin = '', {origins}: StoredCredentials): Pick<Settings, 'apiKey' | 'apiUser'> {
  const {apiKey, apiUser} = credentialSettings(origins[origin] ?? {}, storedSource(origin));
  return {apiKey, apiUser};
}

function apiSettings(
  {clientId, tokenUrl}: Settings,
  origin = '',
  {origins}: StoredCredentials,
  warn: CredentialFile['warn'],
): Pick<Settings, 'apiToken' | 'tokenUrl' | 'clientId' | 'clientSecret'> {
  const {apiKey: _, apiUser: __, ...stored} = credentialSettings(origins[origin] ?? {}, storedSource(origin));
  if (stored.clientSecret === undefined) return stored;
  // Another client, or another token endpoint than that of the stored secret.
  const isOtherClient = clientId !== undefined && clientId.value !== stored.clientId?.value;
  const isOtherUrl = tokenUrl !== undefined && urlOf('tokenUrl', tokenUrl) !== stored.tokenUrl?.value;
  const other = isOtherClient ? clientId : isOtherUrl ? tokenUrl : undefined;
  if (other === undefined) return stored;
  warn(`The client secret stored for ${origin} is not used, because ${other.source.name} does not match it.`);
  return {};
}

function storedSource(origin: string): ValueSource {
  return {kind: 'stored', name: `credentials stored for ${origin}`};
}

export function credentialSettings({apiKey, api}: OriginCredentials, source: ValueSource) {
  const secretOf = (value: string | undefined) =>
    value === undefined ? undefined : {value: new Secret(value), source};
  const client = api?.kind === 'client-secret' ? api : undefined;
  return {
    apiKey: secretOf(apiKey?.key),
    apiUser: settingOf(apiKey?.user, source),
    apiToken: secretOf(api?.kind === 'api-token' ? api.token : undefined),
    tokenUrl: settingOf(client?.tokenUrl, source),
    clientId: settingOf(client?.clientId, source),
    clientSecret: secretOf(client?.clientSecret),
  };
}

interface SecretReader {
  /** Absolute base directory for `@FILE`. */
  readonly cwd: string;
  readonly stdin: Readable;
  /** Called once if a secret is on the command line. */
  readonly warn: (message: string) => void;
}

type Secrets = Pick<Settings, SecretKey>;

/**
 * Reads secrets: on the command line the literal text, `@FILE`, or `-` for stdin; elsewhere the text itself.
 * Surrounding whitespace is removed.
 */
export async function readSecrets(unread: Secrets, reader: SecretReader): Promise<Secrets> {
  const given = secretKeys.flatMap((key) => {
    const {value, source} = unread[key] ?? {};
    return source?.kind === 'flag' ? [{name: source.name, text: value?.reveal() ?? '', variable: variableOf(key)}] : [];
  });
  const read = await readFlagSecrets(given, reader);
  const secrets: {[K in SecretKey]?: Setting<Secret>} = {};
  for (const key of secretKeys) {
    const setting = unread[key];
    if (setting === undefined) continue;
    const {value, source} = setting;
    const text = checkedSecret(read.get(source.name) ?? value.reveal(), source.name);
    secrets[key] = {value: new Secret(text), source};
  }
  return secrets;
}

/** A secret on the command line: `--api-key`, its text, and the variable that can be used instead. */
interface FlagSecret {
  readonly name: string;
  readonly text: string;
  readonly variable: string | undefined;
}

/**
 * Reads secrets as they are given on the command line: the literal text, `@FILE`, or `-` for stdin. Warns of those that
 * others can see. Returns them by name.
 * @param others flags that read stdin, too
 */
export async function readFlagSecrets(
  secrets: readonly FlagSecret[],
  {cwd, stdin, warn}: SecretReader,
  others: readonly string[] = [],
): Promise<ReadonlyMap<string, string>> {
  const wanting = secrets.filter(({text}) => text === '-').map(({name}) => name);
  if (wanting.length > 0 && wanting.length + others.length > 1) {
    throw createError('ERR_USAGE', `${[...others, ...wanting].join(' and ')} cannot all be read from stdin.`, {
      suggestions: ['Pass all but one as @FILE, or in the environment.'],
    });
  }
  const literal = secrets.filter(({text}) => text !== '-' && !text.startsWith('@'));
  if (literal.length > 0) {
    const variables = new Set(literal.map(({variable}) => variable));
    warn(
      `Other users can see the value of ${literal.map(({name}) => name).join(', ')} in the process list. ` +
        `Use ${[...variables].join(', ')}, @FILE or - (stdin) instead.`,
    );
  }
  const read = new Map<string, string>();
  for (const {name, text} of secrets)
    read.set(name, text === '-' ? await streamText(stdin) : await fromFile(name, text));
  return read;

  async function fromFile(name: string, text: string): Promise<string> {
    if (!text.startsWith('@')) return text;
    try {
      return await readText(resolve(cwd, text.slice(1)));
    } catch (error) {
      // Without the path, which is the secret itself if the user did not know what `@` means.
      const message = asSentence(`The ${name} file cannot be read: ${reasonOf(error)}`);
      throw createError('ERR_OPTION_INVALID', message, {cause: error});
    }
  }
}

/** Checks that a secret can be sent, and removes surrounding whitespace. `name`: what it is the value of. */
export function checkedSecret(value: string, name: string, suggestions: readonly string[] = []): string {
  const secret = value.trim();
  if (secret === '') throw createError('ERR_OPTION_INVALID', `The value of ${name} is empty.`, {suggestions});
  // Secrets become part of a header.
  if (/\p{Cc}/u.test(secret)) {
    throw createError('ERR_OPTION_INVALID', `The value of ${name} contains a line break or a control character.`);
  }
  return secret;
}
