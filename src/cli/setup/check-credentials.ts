import type {Identity} from '../../backends/built-ins.js';
import {missingConfiguration, notConfigured} from '../../backends/configuration.js';
import type {HostBackend} from '../../backends/built-in.js';
import type {VerifyResult} from '../../backends/contract.js';
import {catalogue, isRuntimeCliError, type RuntimeCliError} from '../../errors/index.js';
import {resolveConnection} from '../settings/connection.js';
import type {CommandContext} from '../command/command-context.js';
import {commandHost} from '../command/operation-options.js';
import {Secret} from '../settings/secret.js';
import {describeSettings, type Settings, type SettingValue, type ValueSource} from '../settings/settings.js';
import type {OriginCredentials} from '../settings/credential-file.js';

/** A backend whose credentials can be checked. */
export type CheckedBackend = 'api' | 'legacy';

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

/**
 * Asks a backend's service whether it accepts the credentials of the settings, with a request that changes nothing.
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
export async function checkCredentials(
  context: CommandContext,
  settings: Settings,
  backend: CheckedBackend,
): Promise<{readonly check: CredentialCheck; readonly failed: boolean; readonly serverDate?: string | undefined}> {
  const owner = backend === 'legacy' ? {user: settings.apiUser?.value} : {clientId: settings.clientId?.value};
  for (const line of describeSettings(settings, addressesOf(settings, backend), context.cwd)) context.output.info(line);
  try {
    const {asked, clientId, expiresAt, serverDate} = await askService(context, settings, backend);
    const known = backend === 'legacy' ? owner : {clientId: owner.clientId ?? clientId, expiresAt};
    if (asked) return {check: {status: 'accepted', ...known}, failed: false, serverDate};
    const reason = 'A token can only be checked with an organization and a project.';
    const suggestions = ['Pass --organization and --project.'];
    return {check: {status: 'unknown', ...known, reason, suggestions}, failed: false};
  } catch (error) {
    if (!isRuntimeCliError(error)) throw error;
    return {check: {...owner, ...checkOf(error)}, failed: true};
  }
}

function checkOf(error: RuntimeCliError): CredentialCheck {
  const {message: reason, suggestions} = error;
  return {status: isRefusal(error) ? 'refused' : 'unknown', reason, suggestions};
}

/** Whether a service refused the credentials, and not merely failed. */
export function isRefusal({status, code}: RuntimeCliError): boolean {
  return status === 401 || status === 403 || catalogue[code].kind === 'credentials';
}

/** What is set for a plugin's backend. */
export interface PluginSettings {
  readonly options: SettingValue<'backendOptions'>[string];
  /** The variables that `auth:login` has stored. None of them is set in the environment. */
  readonly variables: Readonly<Record<string, string>>;
}

/** A plugin's backend, and what is set for it. */
export interface PluginCredentials extends PluginSettings {
  readonly backend: HostBackend;
}

/**
 * Asks the service of a plugin's backend whether it accepts the credentials.
 * @returns undefined if it was not asked, since the backend cannot do it.
 * @throws RuntimeCliError when it refuses them or cannot be asked, or when the backend is not configured.
 */
export async function askPlugin(
  context: CommandContext,
  settings: Settings,
  {backend, options, variables}: PluginCredentials,
): Promise<VerifyResult | undefined> {
  return withVariables(context, variables, async () => {
    const {configDirectory, env, logger, signal} = context;
    const place = {projectSlug: settings.projectSlug?.value, targetSlug: settings.targetSlug?.value};
    const backendOptions = {backendOptions: options};
    const missing = await missingConfiguration(backend, backendOptions, {configDirectory, env, logger, ...place});
    if (missing.length > 0) throw notConfigured(backend, missing, backendOptions, env);
    if (backend.verify === undefined) return undefined;
    const {verifyBackend} = await import('../../operations/identify.js');
    const call = {backend, backendOptions: options, ...place, requestTimeout: settings.requestTimeout.value, signal};
    return verifyBackend(call, commandHost(context));
  });
}

/** The same, with refusals and failures as an outcome. */
export async function checkPlugin(
  context: CommandContext,
  settings: Settings,
  credentials: PluginCredentials,
): Promise<{readonly check: CredentialCheck; readonly failed: boolean}> {
  try {
    const result = await askPlugin(context, settings, credentials);
    if (result !== undefined) return {check: {status: 'accepted', user: result.account}, failed: false};
    const reason = `The ${credentials.backend.name} backend cannot verify credentials.`;
    return {check: {status: 'unknown', reason}, failed: false};
  } catch (error) {
    if (!isRuntimeCliError(error)) throw error;
    return {check: checkOf(error), failed: true};
  }
}

/** Does work while stored variables of a backend are set. */
export async function withVariables<Result>(
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

function addressesOf({apiToken}: Settings, backend: CheckedBackend) {
  if (backend === 'legacy') return ['origin'] as const;
  return apiToken === undefined ? (['apiOrigin', 'tokenUrl'] as const) : (['apiOrigin'] as const);
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
