import type {BackendSettings, Identity} from '../../backends/built-ins.js';
import type {HostBackend} from '../../backends/built-in.js';
import {capabilitiesOf} from '../../backends/call.js';
import {missingConfiguration, notConfigured} from '../../backends/configuration.js';
import type {Backend, BackendCapability, VerifyResult} from '../../backends/contract.js';
import type {BackendRegistration, BackendRegistry} from '../../backends/registry.js';
import {isBuiltIn} from '../../backends/select.js';
import {catalogue, isRuntimeCliError, type RuntimeCliError} from '../../errors/index.js';
import {shownAddress} from '../../http/origin.js';
import type {CommandContext} from '../command/command-context.js';
import {commandHost} from '../command/operation-options.js';
import {isPluginBackend, resolveConnection} from '../settings/connection.js';
import type {OriginCredentials} from '../settings/credential-file.js';
import {Secret} from '../settings/text.js';
import {optionsFor, readPluginSettings, type PluginSettings} from '../settings/plugin-options.js';
import {loadAllBackends} from '../settings/reach-backends.js';
import {describeSettings, type Settings, type ValueSource} from '../settings/settings.js';

type CheckedBackend = 'api' | 'legacy';
type BuiltInSettings = Omit<BackendSettings, 'backendOptions'>;

/** The outcome of asking a service whether it accepts credentials. */
export interface CredentialCheck {
  /** `unknown`: the service was not asked, or could not be. */
  readonly status: 'accepted' | 'refused' | 'unknown';
  /** User that the API key is sent for, or the account that a plugin's backend reports. */
  readonly user?: string | undefined;
  /** OAuth client (Api backend). */
  readonly clientId?: string | undefined;
  /** When the access token expires, ISO 8601 (Api backend). */
  readonly expiresAt?: string | undefined;
  /** Why the credentials were refused, or the service was not asked. */
  readonly reason?: string | undefined;
  /** What to do about it. */
  readonly suggestions?: readonly string[] | undefined;
}

interface Checked {
  readonly check: CredentialCheck;
  readonly failed: boolean;
}

/**
 * Asks a built-in backend's service whether it accepts the credentials of the settings, with a request that changes
 * nothing.
 * @throws RuntimeCliError when it refuses them or cannot be reached.
 */
export async function askService(
  context: CommandContext,
  settings: Settings,
  backend: CheckedBackend,
): Promise<Identity> {
  const {identify} = await import('../../operations/identify.js');
  const hasOrganization = settings.organizationId !== undefined;
  const {secrets, ...connection} = resolveConnection(context, {
    ...settings,
    runtimeBackend: {value: backend, source: settings.runtimeBackend.source},
    // A token endpoint needs none.
    organizationId: settings.organizationId ?? {value: '-', source: {kind: 'default', name: 'default'}},
  });
  const projectSlug = hasOrganization ? settings.projectSlug?.value : undefined;
  const {signal} = context;
  return identify({...connection, backend, projectSlug, signal}, commandHost(context, {secrets}));
}

/** The same, with refusals and failures as an outcome. Shows first which addresses get the credentials, and why. */
async function checkService(context: CommandContext, settings: Settings, backend: CheckedBackend): Promise<Checked> {
  const isLegacy = backend === 'legacy';
  const owner = isLegacy ? {user: settings.apiUser?.value} : {clientId: settings.clientId?.value};
  const tokenUrl = settings.apiToken === undefined ? (['tokenUrl'] as const) : [];
  const addresses = isLegacy ? (['origin'] as const) : (['apiOrigin', ...tokenUrl] as const);
  for (const line of describeSettings(settings, addresses, context.cwd)) context.output.info(line);
  return checked(owner, async () => {
    const {asked, clientId, expiresAt} = await askService(context, settings, backend);
    const known = isLegacy ? owner : {clientId: owner.clientId ?? clientId, expiresAt};
    if (asked) return {status: 'accepted', ...known};
    const reason = 'A token can only be checked with an organization and a project.';
    return {status: 'unknown', ...known, reason, suggestions: ['Pass --organization and --project.']};
  });
}

async function checked(
  owner: Pick<CredentialCheck, 'user' | 'clientId'>,
  ask: () => Promise<CredentialCheck>,
): Promise<Checked> {
  try {
    return {check: await ask(), failed: false};
  } catch (error) {
    if (!isRuntimeCliError(error)) throw error;
    const {message: reason, suggestions} = error;
    return {check: {...owner, status: isRefusal(error) ? 'refused' : 'unknown', reason, suggestions}, failed: true};
  }
}

/** Whether a service refused the credentials, and not merely failed. */
export function isRefusal({status, code}: RuntimeCliError): boolean {
  return status === 401 || status === 403 || catalogue[code].kind === 'credentials';
}

interface PluginCredentials extends PluginSettings {
  readonly backend: HostBackend;
}

/** Checks the settings of a plugin's backend. @throws RuntimeCliError naming what is missing or invalid. */
export async function requireConfigured(
  context: CommandContext,
  settings: Settings,
  credentials: PluginCredentials,
): Promise<void> {
  const {backend, options: backendOptions} = credentials;
  const missing = await missingFor(context, settings, credentials);
  if (missing.length > 0) throw notConfigured(backend, missing, {backendOptions}, context.env);
}

/** What a backend still needs. The built-in ones take it from the connection. */
function missingFor(
  context: CommandContext,
  settings: Settings,
  {backend, options: backendOptions, variables}: PluginCredentials,
  connection: BuiltInSettings = {},
): Promise<readonly string[]> {
  return withVariables(context, variables, () =>
    missingConfiguration(backend, {...connection, backendOptions}, surroundings(context, settings)),
  );
}

/**
 * Asks the service of a plugin's backend whether it accepts the credentials.
 * @returns undefined if it was not asked, since the backend cannot do it.
 * @throws RuntimeCliError when it refuses them or cannot be asked, or when the backend is not configured.
 */
export async function askPlugin(
  context: CommandContext,
  settings: Settings,
  credentials: PluginCredentials,
): Promise<VerifyResult | undefined> {
  const {backend, options: backendOptions, variables} = credentials;
  await requireConfigured(context, settings, credentials);
  if (backend.verify === undefined) return undefined;
  const {verifyBackend} = await import('../../operations/identify.js');
  const {projectSlug, targetSlug} = surroundings(context, settings);
  const {value: requestTimeout} = settings.requestTimeout;
  const call = {backend, backendOptions, projectSlug, targetSlug, requestTimeout, signal: context.signal};
  return withVariables(context, variables, () => verifyBackend(call, commandHost(context)));
}

function checkPlugin(context: CommandContext, settings: Settings, credentials: PluginCredentials): Promise<Checked> {
  return checked({}, async () => {
    const result = await askPlugin(context, settings, credentials);
    if (result !== undefined) return {status: 'accepted', user: result.account};
    return {status: 'unknown', reason: `The ${credentials.backend.name} backend cannot verify credentials.`};
  });
}

function surroundings({configDirectory, env, output: logger}: CommandContext, {projectSlug, targetSlug}: Settings) {
  return {configDirectory, env, logger, projectSlug: projectSlug?.value, targetSlug: targetSlug?.value};
}

/** Does work while stored variables of a backend are set. */
async function withVariables<Result>(
  {env, setVariable}: Pick<CommandContext, 'env' | 'setVariable'>,
  variables: Readonly<Record<string, string>>,
  work: () => Promise<Result>,
): Promise<Result> {
  const before = Object.keys(variables).map((name) => [name, env[name]] as const);
  for (const [name, value] of Object.entries(variables)) setVariable(name, value);
  try {
    return await work();
  } finally {
    for (const [name, value] of before) setVariable(name, value);
  }
}

/** The settings with newly entered credentials, and no others for the same backend. */
export function withCredentials(settings: Settings, {apiKey, api}: OriginCredentials): Settings {
  const source: ValueSource = {kind: 'stored', name: 'mycli login'};
  const set = (value: string | undefined) => (value === undefined ? undefined : {value, source});
  const secret = (value: string | undefined) => (value === undefined ? undefined : {value: new Secret(value), source});
  if (apiKey) return {...settings, apiKey: secret(apiKey.key), apiUser: set(apiKey.user)};
  if (api?.kind === 'api-token') return {...settings, apiToken: secret(api.token), clientSecret: undefined};
  return {
    ...settings,
    apiToken: undefined,
    clientId: set(api?.clientId),
    tokenUrl: set(api?.tokenUrl),
    clientSecret: secret(api?.clientSecret),
  };
}

/** The credentials that a push from here would use for a backend. */
export interface ServiceCredentials {
  readonly backend: string;
  /** Undefined for a plugin's backend. */
  readonly origin?: string | undefined;
  /** Source of the secret; null if there is none. */
  readonly source: string | null;
  /** Whether its service accepts them. Undefined if there are none, or it was not asked. */
  readonly checked?: Checked | undefined;
}

/** The credentials that a push from here would use: of a plugin's backend, or of each built-in one with an address. */
export async function checkServices(
  context: CommandContext,
  settings: Settings,
  verify: boolean,
): Promise<readonly ServiceCredentials[]> {
  const {runtimeBackend, origin, apiKey, apiOrigin, apiToken, clientId, tokenUrl, clientSecret} = settings;
  if (isPluginBackend(runtimeBackend.value)) {
    const registry = await loadAllBackends(context, settings);
    return [await checkPluginService(registry.find(runtimeBackend.value), context, settings, verify)];
  }
  const hasClient = clientId !== undefined && tokenUrl !== undefined && clientSecret !== undefined;
  const rows = [
    {backend: 'legacy', address: origin, secret: apiKey, isComplete: apiKey !== undefined},
    {
      backend: 'api',
      address: apiOrigin,
      secret: apiToken ?? clientSecret,
      isComplete: apiToken !== undefined || hasClient,
    },
  ] as const;
  const found = rows.map(async ({backend, address, secret, isComplete}) => {
    if (address === undefined) return [];
    const row = {backend, origin: shownAddress(address.value), source: secret?.source.name ?? null};
    return [verify && isComplete ? {...row, checked: await checkService(context, settings, backend)} : row];
  });
  return (await Promise.all(found)).flat();
}

async function checkPluginService(
  registration: BackendRegistration,
  context: CommandContext,
  settings: Settings,
  verify: boolean,
): Promise<ServiceCredentials> {
  const {name, backend} = registration;
  const {secrets = [], secretEnv = []} = backend;
  const given = optionsFor(registration, settings);
  const used = await readPluginSettings(registration, context, settings);
  const isStored =
    Object.keys(used.variables).length > 0 ||
    secrets.some((key) => used.options[key] !== undefined && given[key] === undefined);
  const isGiven = secrets.some((key) => given[key] !== undefined);
  const variable = secretEnv.find((key) => Boolean(context.env[key]?.trim()));
  const elsewhere = isGiven ? settings.backendOptions.source.name : (variable ?? null);
  const row = {backend: name, source: isStored ? `credentials stored for ${name}` : elsewhere};
  return verify ? {...row, checked: await checkPlugin(context, settings, {backend, ...used})} : row;
}

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

/**
 * Describes every backend of a registry, one after the other: they may have variables of the same name.
 * @param verify Whether to ask the services of the configured ones about the credentials. Otherwise, nothing is sent.
 */
export async function describeBackends(
  {registrations}: BackendRegistry,
  context: CommandContext,
  settings: Settings,
  connection: BuiltInSettings,
  verify: boolean,
): Promise<readonly BackendDescription[]> {
  const described: BackendDescription[] = [];
  for (const registration of registrations) {
    // Built-in backends have our own version.
    const {name, backend, plugin, version = context.config.version} = registration;
    const {summary, formats} = backend;
    const facts = {name, plugin, version, summary, formats, capabilities: capabilitiesOf(backend)};
    described.push({...facts, ...(await examine(registration, context, settings, connection, verify))});
  }
  return described;
}

async function examine(
  registration: BackendRegistration,
  context: CommandContext,
  settings: Settings,
  connection: BuiltInSettings,
  verify: boolean,
): Promise<Pick<BackendDescription, 'configured' | 'missing' | 'check'>> {
  const {backend} = registration;
  try {
    const credentials = {backend, ...(await readPluginSettings(registration, context, settings))};
    const missing = await missingFor(context, settings, credentials, connection);
    if (missing.length > 0 || !verify) return {configured: missing.length === 0, missing};
    const {check} = isBuiltIn(backend.name)
      ? await checkService(context, settings, backend.name)
      : await checkPlugin(context, settings, credentials);
    return {configured: true, missing, check};
  } catch (error) {
    // A problem with one backend must not hide the others.
    if (!isRuntimeCliError(error)) throw error;
    const problems = error.code === 'ERR_OPTION_INVALID' ? error.details?.['problems'] : undefined;
    return {configured: false, missing: Array.isArray(problems) ? problems.map(String) : [error.message]};
  }
}
