import {resolve} from 'node:path';
import type {Readable} from 'node:stream';
import {text as streamText} from 'node:stream/consumers';
import {createError} from '../../errors/index.js';
import {asSentence} from '../../errors/sentence.js';
import {reasonOf} from '../../errors/system-failure.js';
import {readText} from '../../files/read-file.js';
import type {Environment} from '../../http/types.js';
import {secretKeys, variableOf, type SecretKey} from '../../settings/definitions.js';
import {loadConfigFile} from './config-file.js';
import type {CredentialFile} from './credential-file.js';
import {
  explainEach,
  resolveSettings,
  type ExplainedSetting,
  type FlagValues,
  type SettingsSources,
} from './resolve-settings.js';
import type {Setting, Settings} from './settings.js';
import {storedSettings} from './stored-settings.js';
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

/**
 * Finds and reads the configuration file, resolves every setting, and reads secrets.
 * @throws RuntimeCliError of usage or input.
 */
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

/**
 * Resolves every setting, with its value in each source. Secrets are not read.
 * @throws RuntimeCliError of usage or input, as `loadSettings`.
 */
export async function explainSettings(origin: SettingsOrigin): Promise<ExplainedSettings> {
  const sources = await readSources(origin);
  return {configFile: sources.file?.path, resolved: resolveSettings(sources), settings: explainEach(sources)};
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
 * @throws RuntimeCliError `ERR_USAGE` when two secrets use stdin, `ERR_OPTION_INVALID` when one is empty or unreadable.
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
 * @throws RuntimeCliError `ERR_USAGE` when several would share stdin, `ERR_OPTION_INVALID` when a file is unreadable.
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
