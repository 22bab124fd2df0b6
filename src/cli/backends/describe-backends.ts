import type {BackendSettings} from '../../backends/built-ins.js';
import {missingConfiguration, type BackendSurroundings} from '../../backends/configuration.js';
import {capabilitiesOf} from '../../backends/call.js';
import type {Backend, BackendCapability} from '../../backends/contract.js';
import type {BackendRegistration, BackendRegistry} from '../../backends/registry.js';
import {isRuntimeCliError} from '../../errors/index.js';

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
}

/**
 * Describes every backend of a registry. Nothing is sent.
 * @param optionsFor the options of a plugin's backend
 */
export function describeBackends(
  {registrations}: BackendRegistry,
  connection: Omit<BackendSettings, 'backendOptions'>,
  optionsFor: (registration: BackendRegistration) => Promise<BackendSettings['backendOptions']>,
  surroundings: BackendSurroundings,
): Promise<readonly BackendDescription[]> {
  return Promise.all(
    registrations.map(async (registration) => {
      const {name, backend, plugin, version} = registration;
      const {summary, formats} = backend;
      const capabilities = capabilitiesOf(backend);
      const missing = await optionsFor(registration)
        .then((backendOptions) => missingConfiguration(backend, {...connection, backendOptions}, surroundings))
        .catch(problemsOf);
      return {name, plugin, version, summary, formats, capabilities, configured: missing.length === 0, missing};
    }),
  );
}

/** A problem with one backend must not hide the others. */
function problemsOf(error: unknown): readonly string[] {
  if (!isRuntimeCliError(error)) throw error;
  const problems = error.code === 'ERR_OPTION_INVALID' ? error.details?.['problems'] : undefined;
  return Array.isArray(problems) ? problems.map(String) : [error.message];
}
