import type {Identity} from '../../backends/built-ins.js';
import {isRuntimeCliError, type RuntimeCliError} from '../../errors/index.js';
import {resolveConnection} from '../backends/connection.js';
import type {CommandContext} from '../command/command-context.js';
import {commandHost} from '../command/operation-options.js';
import {Secret} from '../settings/secret.js';
import {describeSettings, type Settings, type ValueSource} from '../settings/settings.js';
import type {OriginCredentials} from './credential-file.js';

/** A backend whose credentials can be checked. */
export type CheckedBackend = 'api' | 'legacy';

/** The outcome of asking a service whether it accepts credentials. */
export interface CredentialCheck {
  /** `unknown`: the service was not asked, or could not be. */
  readonly status: 'accepted' | 'refused' | 'unknown';
  /** User that the API key is sent for. */
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
    const {message: reason, suggestions} = error;
    return {check: {status: isRefusal(error) ? 'refused' : 'unknown', ...owner, reason, suggestions}, failed: true};
  }
}

/** Whether a service refused the credentials, and not merely failed. */
export function isRefusal({status, code}: RuntimeCliError): boolean {
  return status === 401 || status === 403 || code === 'ERR_OAUTH';
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
