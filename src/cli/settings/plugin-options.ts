import type {Backend} from '../../backends/contract.js';
import {OptionText} from '../../backends/option-text.js';
import type {BackendRegistration} from '../../backends/registry.js';
import {qualifiedName} from '../../backends/select.js';
import {createError} from '../../errors/index.js';
import {commandLine, flagValue} from '../../errors/suggest.js';
import type {CommandToRun} from '../../errors/suggestion.js';
import type {Environment} from '../../http/types.js';
import type {CommandContext} from '../command/command-context.js';
import {definitions, secretKeys, variableOf} from '../../settings/definitions.js';
import {readCredentials, type CredentialFile} from './credential-file.js';
import {readFlagSecrets} from './load-settings.js';
import type {Settings, SettingValue} from './settings.js';

const flag = '--backend-option';

/** What is set for a plugin's backend. */
export interface PluginSettings {
  readonly options: SettingValue<'backendOptions'>[string];
  /** The variables that `auth:login` has stored. None of them is set in the environment. */
  readonly variables: Readonly<Record<string, string>>;
}

/**
 * The options and stored variables of a backend. On the command line, the value of a secret option is the literal text,
 * `@FILE`, or `-` for stdin, as for the host's own secrets. Other options may start with `@` or be `-`, and are left
 * alone. Secrets that `auth:login` stored have the lowest precedence. Masks what it reads.
 * @throws RuntimeCliError `ERR_USAGE` when two secrets use stdin, `ERR_OPTION_INVALID` when one is empty or unreadable.
 */
export async function readPluginSettings(
  registration: BackendRegistration,
  context: CommandContext,
  settings: Settings,
): Promise<PluginSettings> {
  const {name, plugin, backend} = registration;
  const {secrets = [], secretEnv = []} = backend;
  const {output, env, credentialFile} = context;
  const given = optionsFor(registration, settings);
  const takesStored = secrets.length + secretEnv.length > 0;
  const stored = takesStored ? await storedSecrets({name, secretEnv}, given, env, credentialFile) : {};
  output.addSecrets(Object.values(stored));
  const {options, variables} = partitioned(stored, secretEnv);
  const isNamed = [backend.name, qualifiedName(plugin, backend.name)].includes(settings.runtimeBackend.value);
  const read = isNamed ? await readSecretFlags(secrets, given, context) : {};
  return {options: {...options, ...given, ...read}, variables};
}

/** Secrets of a backend, by whether they are options or variables. */
export function partitioned(secrets: Readonly<Record<string, string>>, secretEnv: readonly string[]): PluginSettings {
  const entries = Object.entries(secrets);
  const options = entries.filter(([name]) => !secretEnv.includes(name));
  return {
    options: Object.fromEntries(options.map(([name, value]) => [name, new OptionText(value)])),
    variables: Object.fromEntries(entries.filter(([name]) => secretEnv.includes(name))),
  };
}

async function readSecretFlags(
  secrets: readonly string[],
  given: Readonly<Record<string, unknown>>,
  {cwd, stdin, output, flags}: CommandContext,
): Promise<Readonly<Record<string, OptionText>>> {
  const named = new Set((flags['backend-option'] ?? []).map((pair) => pair.slice(0, pair.indexOf('=')).trim()));
  const variable = variableOf('backendOptions');
  const texts = secrets.flatMap((secret) => {
    const value = given[secret];
    return named.has(secret) && value instanceof OptionText
      ? [{name: `${flag} ${secret}`, text: value.text, variable}]
      : [];
  });
  const others = secretKeys.map((key) => definitions[key].flag?.name ?? key).filter((name) => flags[name] === '-');
  const warn = (message: string) => output.warn(message);
  const read = await readFlagSecrets(
    texts,
    {cwd, stdin, warn},
    others.map((name) => `--${name}`),
  );
  const values = [...read].map(([name, text]) => {
    const value = text.trim();
    if (value === '') throw createError('ERR_OPTION_INVALID', `The value of ${name} is empty.`);
    return [name.slice(flag.length + 1), value] as const;
  });
  output.addSecrets(values.map(([, value]) => value));
  return Object.fromEntries(values.map(([name, value]) => [name, new OptionText(value)]));
}

/** What is set for a backend, by its name and by `plugin/name`. Under the name that was asked for, flags count too. */
export function optionsFor(
  registration: BackendRegistration,
  {runtimeBackend, backendOptions: {value}}: Pick<Settings, 'runtimeBackend' | 'backendOptions'>,
): SettingValue<'backendOptions'>[string] {
  const {name} = registration.backend;
  const qualified = qualifiedName(registration.plugin, name);
  return runtimeBackend.value === name ? {...value[qualified], ...value[name]} : {...value[name], ...value[qualified]};
}

/** The command that stores the secrets of a backend. */
export function loginCommand(backend: string): CommandToRun {
  return {run: ['auth:login', ...flagValue('--runtime-backend', backend)]};
}

/**
 * The addresses in options, as http(s) URLs: all that `new URL()` takes for one, whatever the option is called, such as
 * `http:/host`, also relative to another URL; and hosts.
 * @param name of the option
 */
export function urlsIn(options: unknown, name = ''): readonly string[] {
  const value = options instanceof OptionText ? options.shown : options;
  if (typeof value === 'string') {
    // URLs are parsed without these characters.
    const isHost = /^[\\/]{2}/.test(value.replaceAll(/[\t\n\r]|^[\p{Cc} ]+/gu, ''));
    const base = isHost ? 'https://host.invalid' : undefined;
    const url = URL.canParse(value, base) ? new URL(value, base) : undefined;
    return url && /^https?:$/.test(url.protocol) ? [url.href] : hostsIn(value, name);
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => urlsIn(member, Array.isArray(value) ? name : key));
}

/** What options are called whose value is a host, even if it looks like any other word. */
const hostOption = /host|server|domain|origin|endpoint|address|url|uri|gateway|proxy/i;
/** Files whose extension is no top-level domain. */
const fileName = /\.(?:json|ya?ml|[cm]?js|tar|t?gz|pem|crt|toml|txt)$/i;

/**
 * The URL of a host, with or without a port and a path, if a text is one. Rather too often than too seldom: a secret
 * that is taken for one of another address is asked for again, otherwise it would be sent there.
 */
function hostsIn(text: string, option: string): readonly string[] {
  const url = `https://${text}`;
  if (text.trim() === '' || !URL.canParse(url)) return [];
  // Without the user and password, and as parsed: other characters are dots, too.
  const {hostname, origin} = new URL(url);
  const isDotted = /^[^.].*\.|:/.test(hostname) && !fileName.test(hostname) && !/^\d+$/.test(text.trim());
  const hasPort = /^[^\\/?#]+:\d+(?:[\\/?#]|$)/.test(text.trim());
  return isDotted || hasPort || hostname === 'localhost' || hostOption.test(option) ? [`${origin}/`] : [];
}

/** The origins of the URLs and hosts in options. */
export function originsIn(options: unknown): readonly string[] {
  return [...new Set(urlsIn(options).map((url) => new URL(url).origin))];
}

/**
 * The secrets that `auth:login` stored for a backend. They are used as a whole or not at all: not if one of them comes
 * from elsewhere, and not with options that name another address than at the login.
 * @param given the options from all other sources
 */
export async function storedSecrets(
  {name: backend, secretEnv = []}: Pick<Backend, 'name' | 'secretEnv'>,
  given: Readonly<Record<string, unknown>>,
  env: Environment,
  file: CredentialFile,
): Promise<Readonly<Record<string, string>>> {
  const {backends = {}} = await readCredentials(file);
  const stored = backends[backend];
  const isGiven = (name: string) => (secretEnv.includes(name) ? Boolean(env[name]?.trim()) : given[name] !== undefined);
  if (stored === undefined || stored.options.some(isGiven)) return {};
  const other = originsIn(given).find((origin) => !stored.origins.includes(origin));
  if (other === undefined) return stored.values;
  file.warn(
    `The secrets stored for the ${backend} backend are not used, because they were not stored for ${other}. ` +
      `To store them for it, run: ${commandLine(...loginCommand(backend).run)}`,
  );
  return {};
}
