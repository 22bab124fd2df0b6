import {resolve} from 'node:path';
import type {Readable} from 'node:stream';
import {text as streamText} from 'node:stream/consumers';
import * as v from 'valibot';
import {createError} from '../../errors/index.js';
import {asSentence} from '../../errors/sentence.js';
import {parseJson} from '../../errors/json.js';
import {reasonOf} from '../../errors/system-failure.js';
import {readText} from '../../files/read-file.js';
import type {Environment} from '../../http/types.js';
import {secretKeys, settingKeys, variableOf, type SecretKey, type SettingKey} from '../../settings/definitions.js';
import {dependenciesSchema} from '../../settings/schemas.js';
import type {CredentialFile} from './credential-file.js';
import {withStoredCredentials} from './stored-settings.js';
import {loadConfigFile} from './config-file.js';
import {
  explainSetting,
  masked,
  resolveSettings,
  type FlagValues,
  type OverriddenValue,
  type SettingsInput,
} from './resolve-settings.js';
import {Secret} from './text.js';
import type {Settings, Dependencies, Setting, UnreadSettings, ValueSource} from './settings.js';

/** Where the settings of a command are loaded from. */
export interface SettingsOrigin {
  readonly flags: FlagValues;
  readonly env: Environment;
  /** Absolute. */
  readonly cwd: string;
  /** Configuration file given by the user. */
  readonly configFile: string | undefined;
  readonly uid: number | undefined;
  readonly stdin: Readable;
  /** Where credentials are stored. Without it, stored credentials are ignored. */
  readonly credentialFile?: CredentialFile | undefined;
  readonly warn: (message: string) => void;
  /** Called with the absolute path of the configuration file, if there is one. */
  readonly onConfigFile?: ((path: string) => void) | undefined;
}

/**
 * Finds and reads the configuration file, resolves every setting, and reads secrets and other values from files.
 * Credentials stored for the resolved origins have the lowest precedence.
 * @throws RuntimeCliError of usage or input.
 */
export async function loadSettings(origin: SettingsOrigin): Promise<Settings> {
  const {cwd, warn, stdin, credentialFile} = origin;
  const input = await readSources(origin);
  if (input.configPath !== undefined) origin.onConfigFile?.(input.configPath);
  const unread = resolveSettings(input);
  const {dependencies} = unread;
  const settings = {
    ...unread,
    ...(await readSecrets(unread, {cwd, stdin, warn})),
    dependencies: dependencies && (await readDependencies(dependencies, cwd)),
  };
  return credentialFile === undefined ? settings : withStoredCredentials(settings, credentialFile);
}

/** Finds and reads the configuration file. */
async function readSources({flags, env, cwd, uid, warn, configFile}: SettingsOrigin): Promise<SettingsInput> {
  const {settings: config, targets, path: configPath} = (await loadConfigFile({cwd, uid, warn}, configFile)) ?? {};
  return {flags, env, cwd, config, targets, configPath};
}

/** A setting with its value, its source and the values it overrode. */
export interface ExplainedSetting {
  readonly name: SettingKey;
  readonly source: ValueSource;
  /** Secrets are masked. */
  readonly value: unknown;
  /** Highest precedence first, the default last. Does not include stored credentials. */
  readonly overrode: readonly OverriddenValue[];
}

/** Every setting that has a value. */
export interface ExplainedSettings {
  /** Path of the configuration file, if there is one. */
  readonly configFile?: string | undefined;
  readonly settings: readonly ExplainedSetting[];
  /** The resolved settings; secrets and files are not read. */
  readonly resolved: UnreadSettings;
}

/**
 * Resolves every setting, with its value in each source. Secrets and `@FILE` are not read.
 * @throws RuntimeCliError of usage or input, as `loadSettings`.
 */
export async function explainSettings(origin: SettingsOrigin): Promise<ExplainedSettings> {
  const {credentialFile} = origin;
  const input = await readSources(origin);
  const resolved = resolveSettings(input);
  const unread = {...resolved, dependencies: undefined};
  const all = credentialFile === undefined ? unread : await withStoredCredentials(unread, credentialFile);
  const settings = settingKeys.flatMap((name): readonly ExplainedSetting[] => {
    const {source, value} = all[name] ?? {};
    const stored = source?.kind === 'stored' ? [{source, value: masked(name, value)}] : [];
    const [strongest, ...overrode] = [...stored, ...explainSetting(name, input)];
    return strongest === undefined ? [] : [{name, source: strongest.source, value: strongest.value, overrode}];
  });
  return {configFile: input.configPath, settings, resolved};
}

/**
 * Reads `--dependencies`: a JSON object of names and version ranges, `@FILE` with one, or `auto`.
 * @throws RuntimeCliError `ERR_OPTION_INVALID`.
 */
async function readDependencies(
  setting: NonNullable<UnreadSettings['dependencies']>,
  cwd: string,
): Promise<Setting<Dependencies>> {
  const {value, source} = setting;
  if (typeof value !== 'string') return {value, source};
  if (value.trim() === 'auto') return {value: 'auto', source};
  return {value: await readObject(value.trim(), source.name, cwd), source};
}

async function readObject(value: string, name: string, cwd: string): Promise<Readonly<Record<string, string>>> {
  const inFile = value.startsWith('@');
  let parsed: unknown;
  try {
    parsed = parseJson(inFile ? await readText(resolve(cwd, value.slice(1))) : value);
  } catch (error) {
    const what = inFile ? `${name} ${value}` : name;
    throw createError('ERR_OPTION_INVALID', asSentence(`${what} cannot be read: ${reasonOf(error)}`), {
      suggestions: [`Set ${name} to a JSON object such as '{"name": "^1.2.3"}', @FILE, or auto.`],
      cause: error,
    });
  }
  const result = v.safeParse(dependenciesSchema, parsed);
  if (result.success) return result.output;
  throw createError('ERR_OPTION_INVALID', `${name} must be a JSON object of package names and version ranges.`);
}

/** What reading secrets needs. */
interface SecretReaderOptions {
  /** Absolute base directory for `@FILE`. */
  readonly cwd: string;
  readonly stdin: Readable;
  /** Called once if a secret is on the command line. */
  readonly warn: (message: string) => void;
}

/** The settings that are secrets. */
type Secrets = Pick<Settings, SecretKey>;

/**
 * Reads secrets: on the command line the literal text, `@FILE`, or `-` for stdin; in the environment the text itself.
 * Surrounding whitespace is removed.
 * @param unread the resolved settings.
 * @throws RuntimeCliError `ERR_USAGE` when two secrets use stdin, `ERR_OPTION_INVALID` when one is empty or unreadable.
 */
export async function readSecrets(unread: Secrets, options: SecretReaderOptions): Promise<Secrets> {
  const given = secretKeys.flatMap((key) => {
    const {value, source} = unread[key] ?? {};
    return source?.kind === 'flag' ? [{name: source.name, text: value?.reveal() ?? '', variable: variableOf(key)}] : [];
  });
  checkFlagSecrets(given, options.warn);
  const secrets: {[K in SecretKey]?: Setting<Secret>} = {};
  for (const key of secretKeys) {
    const setting = unread[key];
    if (setting === undefined) continue;
    const value = checkedSecret(await read(setting, options), setting.source.name);
    secrets[key] = {value: new Secret(value), source: setting.source};
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
 * Refuses secrets that would share stdin, and warns of those that others can see.
 * @param others flags that read stdin, too
 * @throws RuntimeCliError `ERR_USAGE`.
 */
export function checkFlagSecrets(
  secrets: readonly FlagSecret[],
  warn: (message: string) => void,
  others: readonly string[] = [],
): void {
  const wanting = secrets.filter(({text}) => text === '-').map(({name}) => name);
  if (wanting.length > 0 && wanting.length + others.length > 1) {
    throw createError('ERR_USAGE', `${[...others, ...wanting].join(' and ')} cannot all be read from stdin.`, {
      suggestions: ['Pass all but one as @FILE, or in the environment.'],
    });
  }
  const literal = secrets.filter(({text}) => text !== '-' && !text.startsWith('@'));
  if (literal.length === 0) return;
  const variables = new Set(literal.map(({variable}) => variable));
  warn(
    `Other users can see the value of ${literal.map(({name}) => name).join(', ')} in the process list. ` +
      `Use ${[...variables].join(', ')}, @FILE or - (stdin) instead.`,
  );
}

async function read({value, source}: Setting<Secret>, options: SecretReaderOptions): Promise<string> {
  return source.kind === 'flag' ? readFlagSecret(value.reveal(), source.name, options) : value.reveal();
}

/**
 * Reads a secret as it is given on the command line: the literal text, `@FILE`, or `-` for stdin.
 * @throws RuntimeCliError `ERR_OPTION_INVALID` when the file cannot be read.
 */
export async function readFlagSecret(
  value: string,
  name: string,
  {cwd, stdin}: Pick<SecretReaderOptions, 'cwd' | 'stdin'>,
): Promise<string> {
  if (value === '-') return streamText(stdin);
  if (!value.startsWith('@')) return value;
  const path = resolve(cwd, value.slice(1));
  try {
    return await readText(path);
  } catch (error) {
    // Without the path, which is the secret itself if the user did not know what `@` means.
    const message = asSentence(`The ${name} file cannot be read: ${reasonOf(error)}`);
    throw createError('ERR_OPTION_INVALID', message, {cause: error});
  }
}

/**
 * Checks that a secret can be sent, and removes surrounding whitespace. `name`: what it is the value of.
 * @throws RuntimeCliError `ERR_OPTION_INVALID` when it is empty or not a single line.
 */
export function checkedSecret(value: string, name: string): string {
  const secret = value.trim();
  if (secret === '') throw createError('ERR_OPTION_INVALID', `The value of ${name} is empty.`);
  // Secrets become part of a header.
  if (/\p{Cc}/u.test(secret)) {
    throw createError('ERR_OPTION_INVALID', `The value of ${name} contains a line break or a control character.`);
  }
  return secret;
}
