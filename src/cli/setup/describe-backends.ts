import type {BackendSettings} from '../../backends/built-ins.js';
import {missingConfiguration} from '../../backends/configuration.js';
import {capabilitiesOf} from '../../backends/call.js';
import type {Backend, BackendCapability} from '../../backends/contract.js';
import type {BackendRegistration, BackendRegistry} from '../../backends/registry.js';
import {isBuiltIn} from '../../backends/select.js';
import {isRuntimeCliError} from '../../errors/index.js';
import type {CommandContext} from '../command/command-context.js';
import {
  checkCredentials,
  checkPlugin,
  withVariables,
  type CredentialCheck,
  type PluginSettings,
} from './check-credentials.js';
import type {Settings} from '../settings/settings.js';

/** A backend, and whether it is configured. */
export interface BackendDescription {
  /** Value for `--runtime-backend`. */
  readonly name: string;
  /** Package that provides it. */
  readonly plugin: string;
  /** Version of that package. */
  readonly version?: string | undefined;
  /** A short description. */
  readonly summary: string;
  readonly formats: Backend['formats'];
  readonly capabilities: readonly BackendCapability[];
  /** Whether it can be used with the current settings. */
  readonly configured: boolean;
  /** Missing or invalid settings; empty if it is configured. */
  readonly missing: readonly string[];
  /** Whether the service accepts the credentials. With `--verify`, for a configured backend. */
  readonly check?: CredentialCheck | undefined;
}

/** What describing backends needs. */
interface Describing {
  readonly context: CommandContext;
  readonly settings: Settings;
  readonly connection: Omit<BackendSettings, 'backendOptions'>;
  /** What is set for a plugin's backend. */
  readonly settingsFor: (registration: BackendRegistration) => Promise<PluginSettings>;
  /** Whether to ask the services of the configured ones about the credentials. Otherwise, nothing is sent. */
  readonly verify: boolean;
}

/** Describes every backend of a registry, one after the other: they may have variables of the same name. */
export async function describeBackends(
  {registrations}: BackendRegistry,
  describing: Describing,
): Promise<readonly BackendDescription[]> {
  const described: BackendDescription[] = [];
  for (const registration of registrations) {
    const {name, backend, plugin, version} = registration;
    const {summary, formats} = backend;
    const facts = {name, plugin, version, summary, formats, capabilities: capabilitiesOf(backend)};
    described.push({...facts, ...(await examine(registration, describing))});
  }
  return described;
}

async function examine(
  registration: BackendRegistration,
  {context, settings, connection, settingsFor, verify}: Describing,
): Promise<Pick<BackendDescription, 'configured' | 'missing' | 'check'>> {
  const {backend} = registration;
  try {
    const {options, variables} = await settingsFor(registration);
    const {configDirectory, env, logger} = context;
    const place = {projectSlug: settings.projectSlug?.value, targetSlug: settings.targetSlug?.value};
    const surroundings = {configDirectory, env, logger, ...place};
    const missing = await withVariables(context, variables, () =>
      missingConfiguration(backend, {...connection, backendOptions: options}, surroundings),
    );
    if (missing.length > 0 || !verify) return {configured: missing.length === 0, missing};
    const {check} = isBuiltIn(backend.name)
      ? await checkCredentials(context, settings, backend.name)
      : await checkPlugin(context, settings, {backend, options, variables});
    return {configured: true, missing, check};
  } catch (error) {
    return {configured: false, missing: problemsOf(error)};
  }
}

/** A problem with one backend must not hide the others. */
function problemsOf(error: unknown): readonly string[] {
  if (!isRuntimeCliError(error)) throw error;
  const problems = error.code === 'ERR_OPTION_INVALID' ? error.details?.['problems'] : undefined;
  return Array.isArray(problems) ? problems.map(String) : [error.message];
}
