import {createError} from '../errors/index.js';
import {createRedactor} from '../http/redact.js';
import type {AuthStrategy, Environment, Logger} from '../http/types.js';
import type {ApiRuntimeConnection} from './api/backend.js';
import type {Backend} from './contract.js';

/** How the backends are reached. */
export interface BackendSettings {
  /** Connection to the Api backend. When absent, `auto` uses legacy and `api` throws (Backend selection 1, 2). */
  readonly apiConnection?: ApiRuntimeConnection | undefined;
  /** What is missing for an `apiConnection`, for messages. */
  readonly apiMissing?: readonly string[] | undefined;
  /** Nothing at all is set for an `apiConnection`, for messages. @default whether there is neither it nor `apiMissing` */
  readonly apiUnset?: boolean | undefined;
  /** API-key authentication. Needed only when the legacy backend actually runs. */
  readonly legacyAuth?: AuthStrategy | undefined;
  /** What is missing for the legacy backend, for messages. */
  readonly legacyMissing?: readonly string[] | undefined;
  /** Address of the legacy backend. @default the environment variable `MYCLI_RUNTIME_ORIGIN` */
  readonly origin?: string | undefined;
  /** Options of a plugin's backend, validated by its schema. */
  readonly backendOptions?: Readonly<Record<string, unknown>> | undefined;
}

/** What a backend may look at to tell whether it is configured. */
export interface BackendSurroundings {
  readonly env: Environment;
  readonly logger: Logger;
  readonly projectSlug?: string | undefined;
  readonly targetSlug?: string | undefined;
}

/**
 * What a backend needs and does not have; nothing when it is configured.
 * @throws RuntimeCliError `ERR_OPTION_INVALID` when its options are wrong.
 */
export async function missingConfiguration(
  backend: Backend,
  settings: BackendSettings,
  {env, logger, projectSlug, targetSlug}: BackendSurroundings,
): Promise<readonly string[]> {
  const options = await optionsOf(backend, settings);
  const {missing = []} = await backend.check({options, env, logger, projectSlug, targetSlug});
  return missing;
}

/**
 * The options of a backend, validated by its schema. The built-in ones are made of the settings themselves.
 * @throws RuntimeCliError `ERR_OPTION_INVALID`, naming each wrong option.
 */
export async function optionsOf(backend: Backend, settings: BackendSettings): Promise<unknown> {
  const {apiConnection, apiMissing, legacyAuth, legacyMissing, origin} = settings;
  if (backend.name === 'api') return {connection: apiConnection, missing: apiMissing};
  if (backend.name === 'legacy') return {origin, auth: legacyAuth, missing: legacyMissing};
  const given = settings.backendOptions ?? {};
  if (!backend.options) return given;
  const result = await backend.options['~standard'].validate(given);
  if (!result.issues) return result.value;
  // Validators like to quote what they were given.
  const redact = createRedactor(secretOptions(backend, settings));
  const problems = result.issues.map(({message, path}) => {
    const keys = (path ?? []).map((part) => String(typeof part === 'object' ? part.key : part));
    return redact(keys.length === 0 ? message : `${keys.join('.')}: ${message}`);
  });
  throw createError(
    'ERR_OPTION_INVALID',
    `the options of the ${backend.name} backend are wrong: ${problems.join('; ')}`,
    {
      suggestions: [`Set them with --backend-option key=value, or "backends.${backend.name}" in the config file.`],
      details: {backend: backend.name, problems},
    },
  );
}

/** The values of the options that a backend declares to be secrets, as they may turn up in a text. */
export function secretOptions(
  {secrets = []}: Pick<Backend, 'secrets'>,
  {backendOptions = {}}: Pick<BackendSettings, 'backendOptions'>,
): readonly string[] {
  return secrets.flatMap((name) => textsOf(backendOptions[name]));
}

/** Every text in a value: secrets may be parsed as numbers, or come in lists and objects. */
function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value, value.trim()];
  if (typeof value === 'number') return [String(value)];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}
