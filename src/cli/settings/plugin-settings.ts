import type {Backend} from '../../backends/contract.js';
import {OptionText} from '../../backends/plugins/option-text.js';
import type {BackendRegistration} from '../../backends/registry.js';
import {qualifiedName} from '../../backends/names.js';
import {createError} from '../../errors/index.js';
import {flagValue} from '../../text/suggest.js';
import {ownValue} from '../../text/json.js';
import type {Environment} from '../../text/platform.js';
import {definitions, secretKeys, variableOf} from '../../settings/definitions.js';
import type {CommandContext} from '../command/command-context.js';
import {assertTrustedOrigin} from './connection-options.js';
import {readCredentials, type CredentialFile} from './credential-file.js';
import {readFlagSecrets} from './load-settings.js';
import {addressesIn, originsIn} from './option-addresses.js';
import type {Settings, SettingValue, ValueSource} from './settings.js';

export interface PluginSettings {
  readonly options: SettingValue<'backendOptions'>[string];
  /** The variables that `auth:login` has stored, none of which is set. `readBackend` and `reachBackends` set them. */
  readonly variables: Readonly<Record<string, string>>;
  /** Where its secrets come from. Undefined if there are none. */
  readonly source: ValueSource | undefined;
}

/**
 * The options of a backend. On the command line, the value of a secret option is the literal text, `@FILE`, or `-` for
 * stdin, as for the host's own secrets. Other options may start with `@` or be `-`, and are left alone. Secrets that
 * `auth:login` stored have the lowest precedence. Masks what it reads.
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
  const hasSecrets =
    secretEnv.some((variable) => Boolean(env[variable])) || secrets.some((key) => given[key] instanceof OptionText);
  if (hasSecrets) configuredAddresses(given, context);
  const takesStored = secrets.length + secretEnv.length > 0;
  const stored = takesStored ? await storedSecrets({name, secrets, secretEnv}, given, env, credentialFile) : {};
  output.addSecrets(Object.values(stored));
  const isNamed = [backend.name, qualifiedName(plugin, backend.name)].includes(settings.runtimeBackend.value);
  const read = isNamed ? await readSecretFlags(secrets, context) : {};
  const {variables, options} = divideSecrets(stored, secretEnv);
  const source = sourceOfSecrets(registration, given, context);
  const isStored = Object.keys(stored).length > 0;
  return {
    options: {...options, ...given, ...read},
    variables,
    source: isStored ? {kind: 'stored', name: `credentials stored for ${name}`} : source,
  };
}

/** Where the secrets of a backend come from that were not stored. */
function sourceOfSecrets(
  {backend: {secrets = [], secretEnv = []}}: BackendRegistration,
  given: PluginSettings['options'],
  {env, flags, configFile}: CommandContext,
): ValueSource | undefined {
  const option = secrets.find((key) => given[key] !== undefined);
  const variable = secretEnv.find((name) => Boolean(env[name]?.trim()));
  if (option === undefined) return variable === undefined ? undefined : {kind: 'environment', name: variable};
  if (typedOptions(flags).has(option)) return {kind: 'flag', name: '--backend-option'};
  if (given[option] instanceof OptionText) return {kind: 'environment', name: variableOf('backendOptions') ?? ''};
  return {kind: 'config', name: configFile?.path ?? ''};
}

/** The addresses in the options of a backend that only a configuration file sets. @throws as `assertTrustedOrigin` */
export function configuredAddresses(
  given: PluginSettings['options'],
  {configFile, env}: Pick<CommandContext, 'configFile' | 'env'>,
): readonly {readonly option: string; readonly url: string}[] {
  const inFile = new Set(addressesIn(configFile?.settings.backendOptions));
  const configured = Object.entries(given)
    .filter(([, value]) => !(value instanceof OptionText))
    .flatMap(([option, value]) => addressesIn(value, option).map((url) => ({option, url})))
    .filter(({url}) => inFile.has(url));
  for (const {option, url} of configured) assertTrustedOrigin(url, `the option ${option}`, env);
  return configured;
}

/** The secrets of a backend that are variables, which its libraries read, too, and the others, as options. */
export function divideSecrets(
  secrets: Readonly<Record<string, string>>,
  names: readonly string[],
): Pick<PluginSettings, 'variables' | 'options'> {
  const entries = Object.entries(secrets);
  const options = entries.filter(([name]) => !names.includes(name));
  return {
    variables: Object.fromEntries(entries.filter(([name]) => names.includes(name))),
    options: Object.fromEntries(options.map(([name, value]) => [name, new OptionText(value)])),
  };
}

/** The secret options on the command line. Masks what it reads. */
export async function readSecretFlags(
  secrets: readonly string[],
  context: CommandContext,
): Promise<Readonly<Record<string, OptionText>>> {
  const {output, flags} = context;
  const variable = variableOf('backendOptions');
  const typed = typedOptions(flags);
  const given = secrets.flatMap((option) => {
    const text = typed.get(option);
    return text === undefined ? [] : [{option, name: `--backend-option ${option}`, text, variable}];
  });
  const names = secretKeys.flatMap((key) => definitions[key].flag?.name ?? []);
  const others = names.filter((name) => flags[name] === '-').map((name) => `--${name}`);
  const read = await readFlagSecrets(given, context, others);
  const entries = given.map(({option, name}) => {
    const value = read.get(name)?.trim() ?? '';
    if (value === '') throw createError('ERR_OPTION_INVALID', `The value of ${name} is empty.`);
    output.addSecrets([value]);
    return [option, new OptionText(value)] as const;
  });
  return Object.fromEntries(entries);
}

/** What is set for a backend, by its name and by `plugin/name`. Under the name that was asked for, flags count too. */
export function optionsFor(
  {plugin, backend: {name}}: BackendRegistration,
  {runtimeBackend, backendOptions: {value}}: Settings,
): PluginSettings['options'] {
  const qualified = qualifiedName(plugin, name);
  return runtimeBackend.value === name ? {...value[qualified], ...value[name]} : {...value[name], ...value[qualified]};
}

/** The options on the command line. Of one that is repeated, the last one counts. */
export function typedOptions({'backend-option': texts = []}: CommandContext['flags']): ReadonlyMap<string, string> {
  return new Map(
    texts.map((text) => {
      const separator = text.indexOf('=');
      return [text.slice(0, separator).trim(), text.slice(separator + 1)];
    }),
  );
}

/** The origins that a login is for. What a user passes for a secret is none: its text, or the name of its file. */
export function loginOrigins(secrets: readonly string[], given: PluginSettings['options']): readonly string[] {
  const isAddress = ([name, value]: [string, unknown]) => !(secrets.includes(name) && value instanceof OptionText);
  return originsIn(Object.fromEntries(Object.entries(given).filter(isAddress)));
}

/**
 * The secrets that `auth:login` stored for a backend. They are used as a whole or not at all: not if one of them comes
 * from elsewhere, and not with options that name another address than at the login.
 * @param given the options from all other sources
 */
export async function storedSecrets(
  {name: backend, secrets = [], secretEnv = []}: Pick<Backend, 'name' | 'secrets' | 'secretEnv'>,
  given: Readonly<Record<string, unknown>>,
  env: Environment,
  file: CredentialFile,
): Promise<Readonly<Record<string, string>>> {
  const {backends = {}} = await readCredentials(file);
  const stored = ownValue(backends, backend);
  const isGiven = (name: string) => (secretEnv.includes(name) ? Boolean(env[name]?.trim()) : given[name] !== undefined);
  if (stored === undefined || stored.options.some(isGiven)) return {};
  const other = loginOrigins(secrets, given).find((origin) => !stored.origins.includes(origin));
  if (other === undefined) return stored.values;
  file.warn(`The secrets stored for the ${backend} backend are not used, because they were not stored for ${other}.`, [
    ['To store them for it, run: ', {run: ['auth:login', ...flagValue('--runtime-backend', backend)]}],
  ]);
  return {};
}
