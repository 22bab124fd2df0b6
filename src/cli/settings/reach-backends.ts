import type {Interfaces} from '@oclif/core';
import {notConfigured, secretsOf} from '../../backends/configuration.js';
import type {Backend} from '../../backends/contract.js';
import {OptionText} from '../../backends/option-text.js';
import type {BackendPlugin} from '../../backends/plugins.js';
import type {BackendRegistration, BackendRegistry} from '../../backends/registry.js';
import {backendTitle, qualifiedName} from '../../backends/names.js';
import {ownValue} from '../../text/json.js';
import {createError, type RuntimeCliError} from '../../errors/index.js';
import {commandLine, flagValue} from '../../text/suggest.js';
import type {Environment} from '../../http/types.js';
import {definitions, secretKeys, variableOf, type SettingKey} from '../../settings/definitions.js';
import {commandHost, type CommandContext} from '../command/context.js';
import {repeatedFlags} from '../command/flags.js';
import {missingBuild, missingSettings, requireTogether, type Missing} from '../command/operation-options.js';
import {skipsPlugins} from '../command/plugins.js';
import {incompleteApi, isPluginBackend, resolveConnection, type Connection} from './connection.js';
import {readCredentials, type CredentialFile} from './credential-file.js';
import {readFlagSecrets} from './load-settings.js';
import {followsWrites} from './write-hooks.js';
import {describeResolved, type Settings, type SettingValue} from './settings.js';

export interface BackendReach<Needed extends SettingKey> {
  readonly context: CommandContext;
  readonly settings: Settings;
  readonly needs: readonly Needed[];
  /** Whether it also requires a build. */
  readonly builds?: boolean | undefined;
  /** Whether it asks nothing of the backend, so that it needs no credentials. */
  readonly previews?: boolean | undefined;
  readonly lacks?: readonly Missing[] | undefined;
  /** Whether it changes something there, so that it shows the destination and its source. */
  readonly writes?: boolean | undefined;
}

/**
 * Prepares what commands need to reach a backend: the required settings, the connections that the settings allow, and
 * plugins' backends if one of them is requested. Sends nothing.
 */
export async function reachBackends<Needed extends SettingKey>(reach: BackendReach<Needed>) {
  const {context, settings, needs, builds, previews, lacks = [], writes} = reach;
  const {config, cwd, env, flags, signal} = context;
  const {value: preference} = settings.runtimeBackend;
  const incomplete = incompleteApi(settings, env);
  refuseUnusedOptions(context, preference);
  const {secrets, ...connection} = resolveConnection(context, settings);
  const noBackend = incomplete ?? (previews ? undefined : unconfigured(connection, env));
  requireTogether([
    ...missingSettings(settings, needs),
    ...lacks,
    ...(builds
      ? await missingBuild(settings.buildDirectory.value, {cwd, project: settings.projectDirectory.value})
      : []),
    ...(noBackend === undefined ? [] : [{what: 'credentials', error: noBackend}]),
  ]);
  if (!previews && context.output.interactive) {
    const {confirmAddresses} = await import('../setup/confirm-addresses.js');
    await confirmAddresses(context, settings);
  }
  const backends = await loadWantedBackends(context, settings);
  const {options: backendOptions} = backends?.has(preference)
    ? await readPluginSettings(backends.find(preference), context, settings)
    : {options: connection.backendOptions};
  const values = Object.fromEntries(needs.map((key) => [key, settings[key]?.value]));
  return {
    settings,
    /** The options that every operation needs to reach a backend, and the values of the required settings. */
    options: {
      ...connection,
      backendOptions,
      backends,
      signal,
      // TypeScript cannot know that a loop covered every key.
      ...(values as {readonly [K in Needed]: SettingValue<K>}),
    },
    host: commandHost(context, {
      secrets,
      config: writes && followsWrites(config) ? config : undefined,
      settings: writes ? describeResolved(settings, cwd) : [],
      commandFlags: repeatedFlags(flags),
    }),
  };
}

/** The error of the built-in backend that would serve, if it is not configured. */
export function unconfigured(connection: Omit<Connection, 'secrets'>, env: Environment): RuntimeCliError | undefined {
  const {preference, apiUnset, apiMissing, legacyMissing} = connection;
  if (preference === 'api' && apiMissing.length > 0) return notConfigured({name: 'api'}, apiMissing, connection, env);
  const takesLegacy = preference === 'legacy' || (preference === 'auto' && apiUnset);
  if (!takesLegacy || legacyMissing.length === 0) return undefined;
  return notConfigured({name: 'legacy'}, legacyMissing, connection, env);
}

function refuseUnusedOptions({flags}: CommandContext, wanted: string): void {
  if ((flags['backend-option'] ?? []).length === 0 || isPluginBackend(wanted)) return;
  const which = wanted === 'auto' ? 'and none is chosen' : `not to ${backendTitle(wanted)}`;
  throw createError('ERR_USAGE', `--backend-option only applies to a plugin's backend, ${which}.`, {
    suggestions: [['Pass --runtime-backend NAME. Run ', {run: ['backend:list']}, ' to list the backends.']],
  });
}

const hook = 'mycli:backends';

/** All backends if the requested one comes from a plugin; else none, so that no plugin code is loaded. */
export async function loadWantedBackends(
  context: CommandContext,
  settings: Settings,
): Promise<BackendRegistry | undefined> {
  return isPluginBackend(settings.runtimeBackend.value) ? loadAllBackends(context, settings) : undefined;
}

/**
 * All backends, including those of plugins, whose code is run. Masks the values of their secret options and variables
 * from now on. Failures of plugins are warnings, unless the requested backend is missing: its error has them.
 */
export async function loadAllBackends(context: CommandContext, settings: Settings): Promise<BackendRegistry> {
  const {config, env, flags, output, signal} = context;
  const {discoverBackends} = await import('../../backends/plugins.js');
  const plugins = skipsPlugins(env) ? [] : [...config.plugins.values()].filter(({hooks}) => hooks[hook] !== undefined);
  if (skipsPlugins(env)) output.warn("MYCLI_SKIP_PLUGINS is set, so plugins' backends are unavailable.");
  const asked = plugins.map((plugin): BackendPlugin => {
    const {name, version} = plugin;
    // The same configuration with this plugin only, so that one that hangs does not block the results of the others.
    const scoped = Object.assign(Object.create(config) as Interfaces.Config, {plugins: new Map([[name, plugin]])});
    return {name, version, runHook: (options, timeoutMs) => scoped.runHook(hook, {...options}, timeoutMs, true)};
  });
  const chosen = Object.keys(settings.backendOptions.value);
  const {pluginProblems: failures} = context.session;
  const registry = await discoverBackends(asked, {version: config.version, failures, chosen, signal});
  const secrets = registry.registrations.flatMap((registration) =>
    secretsOf(registration.backend, {backendOptions: optionsFor(registration, settings)}, env),
  );
  // `@FILE` is the name of a file with a secret, and no secret.
  const files = [...typedOptions(flags).values()].filter((text) => text.startsWith('@'));
  output.addSecrets(secrets.filter((secret) => !files.includes(secret)));
  const {value: wanted} = settings.runtimeBackend;
  const isMissing = isPluginBackend(wanted) && !registry.has(wanted);
  const untold = registry.failures.filter((failure) => !failures.includes(failure));
  if (!isMissing) for (const {message} of untold) output.warn(message);
  return registry;
}

/** The options on the command line. Of one that is repeated, the last one counts. */
function typedOptions({'backend-option': texts = []}: CommandContext['flags']): ReadonlyMap<string, string> {
  return new Map(
    texts.map((text) => {
      const separator = text.indexOf('=');
      return [text.slice(0, separator).trim(), text.slice(separator + 1)];
    }),
  );
}

export interface PluginSettings {
  readonly options: SettingValue<'backendOptions'>[string];
  /** The variables that `auth:login` has stored. They are set now, and none of them was. */
  readonly storedVariables: readonly string[];
}

/**
 * The options of a backend. On the command line, the value of a secret option is the literal text, `@FILE`, or `-` for
 * stdin, as for the host's own secrets. Other options may start with `@` or be `-`, and are left alone. Secrets that
 * `auth:login` stored have the lowest precedence; variables among them are set, since libraries read them, too. Masks
 * what it reads.
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
  const isNamed = [backend.name, qualifiedName(plugin, backend.name)].includes(settings.runtimeBackend.value);
  const read = isNamed ? await readSecretFlags(secrets, context) : {};
  const options = useSecrets(stored, secretEnv, context);
  const storedVariables = Object.keys(stored).filter((key) => secretEnv.includes(key));
  return {options: {...options, ...given, ...read}, storedVariables};
}

/** Sets those secrets of a backend that are variables. Returns the others, as options. */
export function useSecrets(
  secrets: Readonly<Record<string, string>>,
  variables: readonly string[],
  {env}: Pick<CommandContext, 'env'>,
): PluginSettings['options'] {
  const entries = Object.entries(secrets);
  for (const [name, value] of entries) if (variables.includes(name)) env[name] = value;
  const options = entries.filter(([name]) => !variables.includes(name));
  return Object.fromEntries(options.map(([name, value]) => [name, new OptionText(value)]));
}

async function readSecretFlags(
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
  const names = secretKeys.map((key) => definitions[key].flag?.name ?? key);
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

/**
 * The addresses in options, as http(s) URLs: what URL parsers take for one, whatever the option is called, and hosts.
 * Rather too often than too seldom: a secret that is taken for one of another address is asked for again, otherwise it
 * would be sent there.
 * @param name of the option
 */
export function urlsIn(options: unknown, name = ''): readonly string[] {
  const value = options instanceof OptionText ? options.shown : options;
  if (typeof value === 'string') return [urlIn(value, name) ?? []].flat();
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => urlsIn(member, Array.isArray(value) ? name : key));
}

/** What options are called whose value is a host, even if it looks like any other word. */
const hostOption = /host|server|domain|origin|endpoint|address|url|uri|gateway|proxy/i;
/** Files whose extension is no top-level domain. */
const fileName = /\.(?:json|ya?ml|[cm]?js|tar|t?gz|pem|crt|toml|txt)$/i;

function urlIn(text: string, option: string): string | undefined {
  // Without the characters that URL parsers ignore.
  const plain = text.replaceAll(/[\t\n\r]|^[\p{Cc} ]+|[\p{Cc} ]+$/gu, '');
  const isUrl = /^https?:/i.test(plain);
  const isRelative = /^[\\/]{2}/.test(plain);
  const whole = isUrl ? plain : `https:${isRelative ? '' : '//'}${plain}`;
  if (plain === '' || !URL.canParse(whole)) return undefined;
  const {hostname, origin, href} = new URL(whole);
  if (isUrl || isRelative) return href;
  const isDotted = /^[^.].*\.|:/.test(hostname) && !fileName.test(hostname) && !/^\d+$/.test(plain);
  const hasPort = /^[^\\/?#]+:\d+(?:[\\/?#]|$)/.test(plain);
  return isDotted || hasPort || hostname === 'localhost' || hostOption.test(option) ? `${origin}/` : undefined;
}

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
  const stored = ownValue(backends, backend);
  const isGiven = (name: string) => (secretEnv.includes(name) ? Boolean(env[name]?.trim()) : given[name] !== undefined);
  if (stored === undefined || stored.options.some(isGiven)) return {};
  const other = originsIn(given).find((origin) => !stored.origins.includes(origin));
  if (other === undefined) return stored.values;
  file.warn(
    `The secrets stored for the ${backend} backend are not used, because they were not stored for ${other}. ` +
      `To store them for it, run: ${commandLine('auth:login', ...flagValue('--runtime-backend', backend))}`,
  );
  return {};
}
