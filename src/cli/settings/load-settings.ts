import {dirname} from 'node:path';
import {buffer as streamBuffer} from 'node:stream/consumers';
import * as v from 'valibot';
import {createError, reasonOf, type Suggestion} from '../../errors/index.js';
import {asSentence} from '../../text/sentence.js';
import {near, suggestNames} from '../../text/suggest.js';
import type {Environment} from '../../text/platform.js';
import {decodeText, readText} from '../../files/read-file.js';
import type {Guard} from '../../modules/load-module.js';
import {isSecretName} from '../../http/redact.js';
import {tryJson} from '../../text/json.js';
import {
  definitions,
  secretKeys,
  settingKeys,
  usualFlag,
  variableOf,
  type SecretKey,
  type SettingKey,
} from '../../settings/definitions.js';
import type {CheckOptions} from '../../settings/types.js';
import {unexpectedArgument} from '../command/error-report.js';
import type {Output} from '../output/output.js';
import {flagNamed} from '../setup/other-clients.js';
import {readSecretInput, type QuestionContext} from '../setup/prompts.js';
import {loadConfigFile, refuseOtherProject} from './config-file.js';
import {isApiUnset, serviceUrl, type ServiceKey} from './connection-options.js';
import {
  readCredentials,
  type CredentialFile,
  type OriginCredentials,
  type StoredCredentials,
} from './credential-file.js';
import {
  explainEach,
  resolveSettings,
  runSettings,
  type Setting,
  type Settings,
  type SettingsSources,
  type TargetArgument,
  type ValueSource,
} from './settings.js';
import {headersAt, isQuoted, pathFrom, Secret} from './text.js';

interface SecretReader extends QuestionContext {
  readonly cwd: string;
  readonly output: QuestionContext['output'] & Pick<Output, 'warn'>;
}

interface SettingsContext extends SecretReader, Pick<SettingsSources, 'flags' | 'env'> {
  readonly credentialFile: CredentialFile;
  readonly guardCode?: Guard | undefined;
}

export interface SettingsUse {
  /** Whether credentials that a login stored count. @default true */
  readonly stored?: boolean | undefined;
  /** Whether it would change something on a service, so that no configuration may be passed over. @default false */
  readonly changes?: boolean | undefined;
  readonly target?: TargetArgument | undefined;
}

export async function loadSettings(context: SettingsContext, use: SettingsUse) {
  const sources = await readSources(context, use);
  const settings = resolveSettings(sources);
  const secrets = await readSecrets(settings, context);
  const fresh = await freshSettings(settings, sources, context, use);
  return {
    sources,
    settings: {...settings, ...secrets, ...(await readCheckHeaders(settings, context))},
    /** What suggested commands may have to name. */
    named: runSettings(settings, fresh, context.flags, context.cwd),
  };
}

/** The settings of a shell in the same folder, without the variables of this run and without its flags. */
async function freshSettings(
  {targetSlug, runtimeBackend}: Settings,
  {cwd, file}: SettingsSources,
  {credentialFile}: SettingsContext,
  {stored: takesStored = true}: SettingsUse,
): Promise<Settings> {
  const bare = {flags: {}, env: {}, cwd, file};
  // What is wrong with them is reported where they are used.
  const silent = {...credentialFile, warn: () => undefined};
  const plain = resolveSettings(bare);
  const stored = takesStored ? await storedSettings(plain, silent).catch(() => ({})) : {};
  // A command that names them gets what the configuration has for them.
  const named = {...bare, flags: {target: targetSlug?.value, 'runtime-backend': runtimeBackend.value}};
  const {targetSlug: target, runtimeBackend: backend} = plain;
  return {...resolveSettings({...named, stored}), targetSlug: target, runtimeBackend: backend};
}

async function readSources(
  context: SettingsContext,
  {stored: takesStored = true, changes, target}: SettingsUse = {},
): Promise<SettingsSources> {
  const {flags, env, cwd, credentialFile, output, guardCode} = context;
  const {config} = flags;
  const search = {cwd, warn: (message: string) => output.warn(message), guardCode, refusesForeign: changes};
  const file = await loadConfigFile(search, typeof config === 'string' ? config : undefined);
  if (changes) refuseOtherProject(file);
  const sources = {flags, target, env, cwd, file};
  return takesStored ? {...sources, stored: await storedSettings(resolveSettings(sources), credentialFile)} : sources;
}

export type ExplainedSettings = Awaited<ReturnType<typeof explainSettings>>;

/**
 * Resolves every setting, with its value in each source. Secrets are not read.
 * @param only The key or flag of the one to explain.
 */
export async function explainSettings(context: SettingsContext, only?: string) {
  const sources = await readSources(context);
  const wanted = only === undefined ? settingKeys : [keyNamed(only)];
  const settings = explainEach(sources).filter(({name}) => wanted.includes(name));
  return {configFile: sources.file?.path, resolved: resolveSettings(sources), wanted, settings};
}

/** The setting that its key in the configuration file names, or its flag. */
function keyNamed(word: string): SettingKey {
  const namesOf = (key: SettingKey) => [key, definitions[key].config ?? key, definitions[key].flag?.name ?? key];
  const found = settingKeys.find((key) => namesOf(key).includes(word));
  if (found !== undefined) return found;
  const suggestions = suggestNames(near(word, [...new Set(settingKeys.flatMap(namesOf))]));
  throw createError('ERR_USAGE', unexpectedArgument(word), {suggestions});
}

/**
 * What stored credentials add to the settings from all stronger sources. Those of an origin are used as a whole or not
 * at all: a stored user is never combined with a key from elsewhere, nor a stored secret sent to another token
 * endpoint. If nothing specifies a service, it is that of the last login, with its own credentials only.
 */
export async function storedSettings(settings: Settings, file: CredentialFile): Promise<Partial<Settings>> {
  const {apiKey, apiToken, clientSecret, clientKey, origin, apiOrigin} = settings;
  const takesLegacy = apiKey === undefined;
  const takesApi = (apiToken ?? clientSecret ?? clientKey) === undefined;
  const isOpen = !namesService(settings);
  if (!isOpen && !(takesLegacy && origin !== undefined) && !(takesApi && apiOrigin !== undefined)) return {};
  const stored = await readCredentials(file);
  const service = isOpen ? lastService(settings, stored) : {};
  const located = {...settings, ...service};
  const credentialsOf = (setting: Setting<string> | undefined) => {
    const place = originOf(setting) ?? '';
    return credentialSettings(stored.origins[place] ?? {}, {kind: 'stored', name: `credentials stored for ${place}`});
  };
  const {legacy} = credentialsOf(located.origin);
  const {api} = credentialsOf(located.apiOrigin);
  const added = {...service, ...(takesLegacy && legacy), ...(takesApi && isOwnClient(located, api, file) && api)};
  const isNew = ([key, value]: [string, unknown]) => value !== undefined && settings[key as SettingKey] === undefined;
  return Object.fromEntries(Object.entries(added).filter(isNew));
}

/**
 * Whether an address or credentials of a backend that could serve are set. A key from the environment must not reach a
 * service that it is not meant for, and settings for one backend must not add the other as a fallback.
 */
function namesService(settings: Settings): boolean {
  const {value: preference} = settings.runtimeBackend;
  const {origin, apiKey, apiUser} = settings;
  const isLegacySet = [origin, apiKey, apiUser].some((setting) => setting !== undefined);
  const isApiSet = !isApiUnset({...settings, organizationId: undefined});
  if (preference === 'legacy') return isLegacySet;
  return preference === 'api' ? isApiSet : preference !== 'auto' || isLegacySet || isApiSet;
}

function lastService(
  {runtimeBackend: {value: preference}, organizationId}: Settings,
  {last}: StoredCredentials,
): Pick<Settings, 'origin' | 'apiOrigin'> {
  const source: ValueSource = {kind: 'stored', name: 'mycli login'};
  const backend = preference === 'auto' ? last?.backend : preference;
  if (backend === 'api') return {apiOrigin: settingOf(last?.api?.origin, source)};
  // An organization belongs to the Api backend, so the login to the legacy one is not meant.
  return preference === 'auto' && organizationId !== undefined ? {} : {origin: settingOf(last?.legacy, source)};
}

function settingOf(value: string | undefined, source: ValueSource): Setting<string> | undefined {
  return value === undefined ? undefined : {value, source};
}

/** The origin that credentials are stored for. Undefined for an invalid URL, which is reported when connecting. */
export function originOf(setting: Setting<string> | undefined): string | undefined {
  const url = setting && urlOf('origin', setting);
  return url === undefined ? undefined : new URL(url).origin;
}

function urlOf(key: ServiceKey, {value, source}: Setting<string>): string | undefined {
  try {
    return serviceUrl(key, source.name, value);
  } catch {
    return undefined;
  }
}

/** Variables that are no settings: those of the environment, and what `--output-env` writes. */
const otherVariables = [
  ...['SAFETY', 'TRUSTED_ORIGINS', 'SKIP_PLUGINS'],
  ...['TARGET_SLUG', 'BUNDLE_ID', 'DEPLOYMENT_ID', 'STATUS', 'BACKEND', 'URL', 'SHA256'],
];

/** What to say of variables that are misspelt, or named like one of these flags: `MYCLI_SAFTY` restricts nothing. */
export function misspeltVariables(env: Environment, flags: readonly string[]): readonly string[] {
  const prefix = 'MYCLI_';
  const known = [...settingKeys.map((key) => variableOf(key)?.slice(prefix.length) ?? ''), ...otherVariables];
  const ofSettings = settingKeys.flatMap((key) => {
    const [flag, variable] = [usualFlag(key)?.name ?? '', String(variableOf(key))];
    const off = definitions[key].syntax === 'switch' ? [[`no-${flag}`, `Set ${variable}=false.`] as const] : [];
    return [[flag, `Did you mean ${variable}?`] as const, ...off];
  });
  const advice = new Map([...flags.map((flag) => [flag, `Pass --${flag}.`] as const), ...ofSettings]);
  return Object.keys(env).flatMap((name) => {
    const own = name.slice(prefix.length);
    if (!name.startsWith(prefix) || known.includes(own)) return [];
    const flag = own.toLowerCase().replaceAll('_', '-');
    const [similar] = near(own, known, 2).map((each) => `Did you mean ${prefix}${each}?`);
    const told = advice.get(flagNamed(flag, [...advice.keys()])?.replace(/ .*/, '') ?? flag) ?? similar;
    return told === undefined ? [] : [`Unknown variable: ${name}. ${told}`];
  });
}

/** Whether stored credentials are for the client and the token endpoint that are set, if any are. */
function isOwnClient(
  {apiOrigin, clientId, tokenUrl}: Settings,
  stored: Credentials['api'],
  {warn}: CredentialFile,
): boolean {
  if (stored.clientSecret === undefined) return true;
  const isOtherClient = clientId !== undefined && clientId.value !== stored.clientId?.value;
  const isOtherUrl = tokenUrl !== undefined && urlOf('tokenUrl', tokenUrl) !== stored.tokenUrl?.value;
  const other = isOtherClient ? clientId : isOtherUrl ? tokenUrl : undefined;
  if (other === undefined) return true;
  warn(
    `The client secret stored for ${String(originOf(apiOrigin))} is not used, because ${other.source.name} does not match it.`,
  );
  return false;
}

type Credentials = ReturnType<typeof credentialSettings>;

export function credentialSettings({apiKey, api}: OriginCredentials, source: ValueSource) {
  const secretOf = (value: string | undefined) =>
    value === undefined ? undefined : {value: new Secret(value), source};
  const client = api?.kind === 'client-secret' ? api : undefined;
  return {
    legacy: {apiKey: secretOf(apiKey?.key), apiUser: settingOf(apiKey?.user, source)},
    api: {
      organizationId: settingOf(api?.organizationId, source),
      apiToken: secretOf(api?.kind === 'api-token' ? api.token : undefined),
      tokenUrl: settingOf(client?.tokenUrl, source),
      clientId: settingOf(client?.clientId, source),
      clientSecret: secretOf(client?.clientSecret),
      scopes: client?.scopes && {value: client.scopes, source},
    },
  };
}

type Secrets = Pick<Settings, SecretKey | 'apiUser'>;

/** Reads secrets: `@FILE` or `-` on the command line. A file may be the `~/.mobify` of another client, with a user. */
export async function readSecrets(unread: Secrets, reader: SecretReader): Promise<Secrets> {
  const set = secretKeys.flatMap((key) => {
    const {value, source} = unread[key] ?? {};
    return source === undefined
      ? []
      : [{key, source, name: source.name, text: value?.reveal() ?? '', variable: variableOf(key)}];
  });
  const typed = set.filter(({source}) => source.kind === 'flag');
  const read = await readFlagSecrets(typed, reader);
  const {apiKey} = unread;
  const isFile = apiKey?.source.kind === 'flag' && /^(?:@|-$)/.test(apiKey.value.reveal());
  const keyFile = isFile ? keyFileIn(read.get(apiKey.source.name) ?? '') : undefined;
  const secrets = set.map(({key, source, name, text}) => {
    const secret = (key === 'apiKey' ? keyFile?.key : undefined) ?? read.get(name) ?? text;
    return [key, {value: new Secret(checkedSecret(secret, name)), source}] as const;
  });
  const user = keyFile?.user;
  const apiUser = unread.apiUser ?? (user === undefined ? undefined : {value: user, source: apiKey?.source});
  return Object.fromEntries<unknown>([...secrets, ['apiUser', apiUser]]);
}

export async function readCheckHeaders(
  {check, checkHeaders}: Settings,
  context: SettingsContext,
): Promise<Pick<Settings, 'check' | 'checkHeaders'>> {
  const read = async (headers: Readonly<Record<string, string>>) => {
    const secrets = Object.entries(headers).flatMap(([header, text]) => {
      if (!text.startsWith('@')) return [];
      return [{header, text, name: `check header ${header}`, variable: variableOf('checkHeaders')}];
    });
    const texts = await readFlagSecrets(secrets, context);
    const values = secrets.map(
      ({header, text, name}) => [header, checkedSecret(texts.get(name) ?? text, name)] as const,
    );
    return {...headers, ...Object.fromEntries(values)};
  };
  const directory = check?.source.kind === 'config' ? dirname(check.source.name) : context.cwd;
  const readItem = async ({headers, ...item}: CheckOptions): Promise<CheckOptions> =>
    headers === undefined ? item : {...item, headers: await read(headersAt(headers, directory))};
  return {
    check: check && {...check, value: await Promise.all(check.value.map(readItem))},
    checkHeaders: checkHeaders && {...checkHeaders, value: await read(checkHeaders.value)},
  };
}

const keyFileSchema = v.object({api_key: v.string(), username: v.optional(v.string())});

/** The key and its user in the text of a `~/.mobify`, a file of other clients. */
export function keyFileIn(text: string): {readonly key: string; readonly user?: string | undefined} | undefined {
  const result = v.safeParse(keyFileSchema, tryJson(text));
  return result.success ? {key: result.output.api_key, user: result.output.username} : undefined;
}

/** A secret on the command line: `--api-key`, its text, and the variable that can be used instead. */
interface FlagSecret {
  readonly name: string;
  readonly text: string;
  readonly variable: string | undefined;
}

/** Reads `@FILE` and `-`, and warns of literal secrets. Returns them by name. @param others that read stdin, too */
export async function readFlagSecrets(
  secrets: readonly FlagSecret[],
  reader: SecretReader,
  others: readonly string[] = [],
): Promise<ReadonlyMap<string, string>> {
  const piped = secrets.filter(({text}) => text === '-').map(({name}) => name);
  if (piped.length > 0 && piped.length + others.length > 1) {
    throw createError('ERR_USAGE', `${[...others, ...piped].join(' and ')} cannot all be read from stdin.`, {
      suggestions: ['Pass all but one as @FILE, or in the environment.'],
    });
  }
  const literal = secrets.filter(({text}) => text !== '' && text !== '-' && !text.startsWith('@'));
  if (literal.length > 0) {
    const variables = new Set(literal.map(({variable}) => variable));
    reader.output.warn(
      `Other users can see the value of ${literal.map(({name}) => name).join(', ')} in the process list. ` +
        `Use ${[...variables].join(', ')}, @FILE or - (stdin) instead.`,
    );
  }
  const read = new Map<string, string>();
  for (const {name, text} of secrets) read.set(name, await readFlagSecret(name, text, reader));
  return read;
}

async function readFlagSecret(name: string, text: string, reader: SecretReader): Promise<string> {
  const {cwd, stdin} = reader;
  if (text === '-' && stdin.isTTY) return readSecretInput(`value of ${name}`, reader, ['Pass it as @FILE.']);
  try {
    if (text === '-') return decodeText(await streamBuffer(stdin));
    return text.startsWith('@') ? await readText(pathFrom(cwd, text.slice(1))) : text;
  } catch (error) {
    // Without the path, which is the secret itself if the user did not know what `@` means.
    const message = asSentence(`The file for ${name} cannot be read: ${reasonOf(error)}`);
    throw createError('ERR_OPTION_INVALID', message, {
      suggestions: ['Check the path after the @. If the value itself begins with @, pass - and pipe it.'],
      cause: error,
    });
  }
}

/** Checks that a secret can be sent, and removes surrounding whitespace. `name`: what it is the value of. */
export function checkedSecret(value: string, name: string, suggestions: readonly Suggestion[] = []): string {
  const secret = value.trim();
  if (isQuoted(secret))
    throw createError('ERR_OPTION_INVALID', `The value of ${name} has quotation marks around it.`, {suggestions});
  if (secret === '') throw createError('ERR_OPTION_INVALID', `The value of ${name} is empty.`, {suggestions});
  const json = tryJson(secret);
  if (typeof json === 'object' && json !== null) {
    const field = Object.keys(json).find(isSecretName);
    throw createError('ERR_OPTION_INVALID', `The value of ${name} is JSON, not a secret.`, {
      suggestions: [
        `Pass only the text of ${field === undefined ? 'the field with the secret' : `its field ${field}`}.`,
      ],
    });
  }
  // Secrets become part of a header, but for keys and certificates in PEM format.
  if (/\p{Cc}/u.test(secret) && !secret.startsWith('-----BEGIN ')) {
    throw createError('ERR_OPTION_INVALID', `The value of ${name} contains a line break or a control character.`);
  }
  return secret;
}
