import {builtInRows, builtIns} from '../../backends/built-in-backends.js';
import type {HostBackend} from '../../backends/host-backend.js';
import {backendTitle, type BuiltInName} from '../../backends/names.js';
import {resolveBackend, type ResolvedBackend} from '../../backends/resolve-backend.js';
import {firstChoice} from '../../backends/select.js';
import {createError, type RuntimeCliError} from '../../errors/index.js';
import type {SettingKey} from '../../settings/definitions.js';
import type {CommandContext} from '../command/command-context.js';
import {
  guardOptions,
  missingBuild,
  missingSettings,
  requireTogether,
  type Missing,
} from '../command/operation-options.js';
import {
  incompleteApi,
  isPluginBackend,
  resolveConnection,
  settingNames,
  type Connection,
} from './connection-options.js';
import {loadWantedBackends} from './load-backends.js';
import {readPluginSettings, type PluginSettings} from './plugin-settings.js';
import {followsWrites} from './write-hooks.js';
import {describeResolved, missingSetting, type Settings, type SettingValue} from './settings.js';

export interface BackendReach<Needed extends SettingKey> {
  readonly context: CommandContext;
  readonly settings: Settings;
  readonly needs: readonly Needed[];
  /** Of a command that needs a build: the words before its folder. */
  readonly builds?: readonly string[] | undefined;
  /** Whether it needs nothing of the backend, so that it needs no credentials. */
  readonly asksNothing?: boolean | undefined;
  readonly alsoMissing?: readonly Missing[] | undefined;
  /** Whether it changes something there, so that it shows the destination and its source. */
  readonly writes?: boolean | undefined;
  readonly readsLogs?: boolean | undefined;
  /** Whether an argument names the target, and no flag. */
  readonly takesSlug?: boolean | undefined;
}

/** What commands need to reach a backend: required settings, connections, and plugins' backends. Sends nothing. */
export async function reachBackends<Needed extends SettingKey>(reach: BackendReach<Needed>) {
  const {context, settings, needs, builds, asksNothing, alsoMissing = [], writes, readsLogs, takesSlug} = reach;
  const {config, cwd, signal, session} = context;
  const {value: preference} = settings.runtimeBackend;
  const {value: project} = settings.projectDirectory;
  refuseUnusedOptions(context, preference);
  const {secrets, ...connection} = resolveConnection(context, settings);
  const noService = await unconfigured(context, settings, connection);
  const noBackend = asksNothing ? incompleteApi(settings, context.env) : noService;
  requireTogether([
    ...missingSettings(settings, needs, (key) =>
      takesSlug && key === 'targetSlug' ? missingSetting(key, 'its slug as an argument') : missingSetting(key),
    ),
    ...alsoMissing,
    ...(builds === undefined
      ? []
      : await missingBuild(settings.buildDirectory.value, {cwd, shell: session.cwd, project, command: builds})),
    ...(noBackend === undefined ? [] : [{what: 'credentials', error: noBackend}]),
  ]);
  // A dry run looks for its target if it can.
  const asksService = !asksNothing || (noService === undefined && settings.targetSlug !== undefined);
  const backends = await loadWantedBackends(context, settings);
  const registration = backends?.has(preference) ? backends.find(preference) : undefined;
  if (asksService) {
    const {confirmAddresses} = await import('../setup/confirm-addresses.js');
    await confirmAddresses(context, settings, {registration, writes, readsLogs});
  }
  const used = registration && (await readPluginSettings(registration, context, settings));
  Object.assign(context.env, used?.variables);
  context.secretSource = used?.source;
  const backendOptions = used?.options ?? connection.backendOptions;
  const place = describeResolved(settings, cwd);
  const values = Object.fromEntries(needs.map((key) => [key, settings[key]?.value]));
  return {
    settings,
    /** A line for each setting that says where it reaches. */
    place,
    /** The options that every operation needs to reach a backend, and the values of the required settings. */
    options: {
      ...connection,
      backendOptions,
      backends,
      signal,
      // TypeScript cannot know that a loop covered every key.
      ...(values as {readonly [K in Needed]: SettingValue<K>}),
    },
    /** What must hold before a target is changed. */
    guards: guardOptions(settings, context),
    /** The same for a target that the command finds. */
    guardsOf: async (slug: string) => guardOptions(await context.settingsOf(slug), context),
    host: context.host({
      secrets,
      settingNames: settingNames(settings),
      config: writes && followsWrites(config) ? config : undefined,
      settings: writes ? place : [],
    }),
  };
}

/** Why a push from here could not begin: the Api settings are partial, or the built-in backend lacks some. */
export async function unconfigured(
  context: CommandContext,
  settings: Settings,
  connection: ServiceOptions,
): Promise<RuntimeCliError | undefined> {
  const builtIn = builtIns.get(firstChoice(connection.preference, connection));
  const incomplete = incompleteApi(settings, context.env);
  if (incomplete !== undefined || builtIn === undefined) return incomplete;
  // Whether the slugs fit is known once the backend is chosen.
  const withoutSlugs = {...settings, projectSlug: undefined, targetSlug: undefined};
  return (await resolveFor(context, withoutSlugs, builtIn.backend, connection)).problem;
}

type ServiceOptions = Omit<Connection, 'secrets'>;

/** A backend as the settings of a command describe it: with what it is called, and what it still needs. */
export interface ConfiguredBackend {
  readonly options: ServiceOptions;
  readonly secrets: readonly string[];
  readonly resolved: ResolvedBackend;
}

/**
 * Reads what is configured for a backend as if it had been chosen: the addresses that get its credentials must be
 * trusted. Sends nothing.
 * @param used what `readPluginSettings` has read for a plugin's backend
 */
export async function readBackend(
  context: CommandContext,
  settings: Settings,
  given: HostBackend | BuiltInName,
  {options: backendOptions = {}, variables}: Partial<PluginSettings> = {},
): Promise<ConfiguredBackend> {
  Object.assign(context.env, variables);
  const backend = typeof given === 'string' ? builtInRows[given].backend : given;
  const chosen = {...settings, runtimeBackend: {...settings.runtimeBackend, value: backend.name}};
  const {secrets, ...connection} = resolveConnection(context, chosen);
  const options = {...connection, backendOptions};
  return {options, secrets, resolved: await resolveFor(context, settings, backend, options)};
}

/** Resolves a backend for a command, in whose words it says what is missing. */
function resolveFor(
  {configDirectory, env, output: logger}: CommandContext,
  settings: Settings,
  backend: HostBackend,
  options: ServiceOptions,
): Promise<ResolvedBackend> {
  const slugs = {projectSlug: settings.projectSlug?.value, targetSlug: settings.targetSlug?.value};
  const surroundings = {configDirectory, env, logger, settingNames: settingNames(settings), ...slugs};
  return resolveBackend(backend, options, surroundings);
}

function refuseUnusedOptions({flags}: CommandContext, wanted: string): void {
  if ((flags['backend-option'] ?? []).length === 0 || isPluginBackend(wanted)) return;
  const which = wanted === 'auto' ? 'and none is chosen' : `not to ${backendTitle(wanted)}`;
  throw createError('ERR_USAGE', `--backend-option only applies to a plugin's backend, ${which}.`, {
    suggestions: [['Pass --runtime-backend NAME. Run ', {run: ['backend:list']}, ' to list the backends.']],
  });
}
