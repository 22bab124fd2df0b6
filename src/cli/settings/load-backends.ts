import {secretsOf} from '../../backends/resolve-backend.js';
import type {BackendsHookOptions} from '../../backends/contract.js';
import type {BackendRegistry} from '../../backends/registry.js';
import type {CommandContext} from '../command/command-context.js';
import {goesOn, skipsPlugins} from '../command/plugins.js';
import {isPluginBackend} from './connection-options.js';
import {optionsFor, typedOptions} from './plugin-settings.js';
import type {Settings} from './settings.js';

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
  const {discoverBackends} = await import('../../backends/plugins/discover.js');
  if (skipsPlugins(env)) output.warn("MYCLI_SKIP_PLUGINS is set, so plugins' backends are unavailable.");
  const runHook = (options: BackendsHookOptions, timeoutMs: number) =>
    config.runHook(hook, {...options}, timeoutMs, true);
  const chosen = Object.keys(settings.backendOptions.value);
  const {pluginProblems: failures} = context.session;
  const registry = await discoverBackends(runHook, {version: config.version, failures, chosen, signal});
  const secrets = registry.registrations.flatMap((registration) =>
    secretsOf(registration.backend, {backendOptions: optionsFor(registration, settings)}, env),
  );
  // `@FILE` is the name of a file with a secret, and no secret.
  const files = [...typedOptions(flags).values()].filter((text) => text.startsWith('@'));
  output.addSecrets(secrets.filter((secret) => !files.includes(secret)));
  const {value: wanted} = settings.runtimeBackend;
  const isMissing = isPluginBackend(wanted) && !registry.has(wanted);
  const unreported = registry.failures.filter((failure) => !failures.includes(failure));
  if (!isMissing) for (const {message} of unreported) output.warn(`${message} ${goesOn}`);
  return registry;
}
