import {capabilitiesOf} from '../../backends/members.js';
import type {Backend, BackendCapability} from '../../backends/contract.js';
import type {BackendRegistry} from '../../backends/registry.js';
import {backendTitle, isBuiltIn, mayUse} from '../../backends/names.js';
import {catalogue, isRuntimeCliError, type RuntimeCliError} from '../../errors/index.js';
import {shownAddress} from '../../http/origin.js';
import type {CommandContext} from '../command/command-context.js';
import {describeTime} from '../../text/age.js';
import {isPluginBackend} from '../settings/connection-options.js';
import {credentialKind, credentialRows, withCredentialSource} from '../settings/credential-file.js';
import {readPluginSettings, type PluginSettings} from '../settings/plugin-settings.js';
import {readBackend, type ConfiguredBackend} from '../settings/reach-backends.js';
import {describeSettings, type Settings, type ValueSource} from '../settings/settings.js';
import {confirmAddresses} from './confirm-addresses.js';

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

/** `accepted, user ann`. Empty if nothing is known. */
export function describeCheck({status, user, clientId, expiresAt}: CredentialCheck): string {
  const facts = [
    ...(status === 'unknown' ? [] : [status]),
    ...(user === undefined ? [] : [`user ${user}`]),
    ...(clientId === undefined ? [] : [`client ${clientId}`]),
    ...(expiresAt === undefined ? [] : [`token expires ${describeTime(expiresAt)} (${expiresAt})`]),
  ];
  return facts.join(', ');
}

/** The settings to ask a service about its credentials, not about a target. A token endpoint needs no organization. */
export function aboutCredentials(settings: Settings): Settings {
  const {organizationId, projectSlug} = settings;
  return {
    ...settings,
    targetSlug: undefined,
    projectSlug: organizationId && projectSlug,
    organizationId: organizationId ?? {value: '-', source: {kind: 'default', name: 'default'}},
  };
}

export async function askService(
  context: CommandContext,
  settings: Settings,
  {options, secrets, resolved}: ConfiguredBackend,
): Promise<CredentialCheck> {
  const {verifyBackend} = await import('../../operations/identify.js');
  const slugs = {projectSlug: settings.projectSlug?.value, targetSlug: settings.targetSlug?.value};
  const call = {...options, ...slugs, signal: context.signal};
  const verified = await verifyBackend(resolved, call, context.host({secrets}));
  if (verified === undefined)
    return {status: 'unknown', reason: `The ${resolved.name} backend cannot verify credentials.`};
  const {account, asked = true, clientId, expiresAt} = verified;
  const owner = {...(account !== undefined && {user: account}), clientId, expiresAt};
  if (asked) return {status: 'accepted', ...owner};
  const reason = 'A token can only be checked with an organization and a project.';
  const isOpen = settings.organizationId?.source.kind === 'default';
  return {status: 'unknown', ...owner, reason, suggestions: [`Pass ${isOpen ? '--organization and ' : ''}--project.`]};
}

/** Whether a service refused the credentials, and not merely failed. */
export function isRefusal({status, code}: RuntimeCliError): boolean {
  const {kind} = catalogue[code];
  return kind === 'credentials' || (kind !== 'network' && (status === 401 || status === 403));
}

/** As `askService`, but a refusal or a failure is an outcome. Shows first which addresses get the credentials. */
async function checkService(
  context: CommandContext,
  settings: Settings,
  name: string,
  read: () => Promise<ConfiguredBackend>,
  source?: ValueSource,
) {
  const {apiUser, clientId} = settings;
  if (isBuiltIn(name)) {
    const {addresses} = credentialRows[credentialKind(name, settings)];
    for (const line of describeSettings(settings, addresses, context.cwd)) context.output.info(line);
  }
  const owner = name === 'legacy' ? {user: apiUser?.value} : name === 'api' ? {clientId: clientId?.value} : {};
  try {
    return {check: {...owner, ...(await askService(context, settings, await read()))}, failed: false};
  } catch (error) {
    if (!isRuntimeCliError(error)) throw error;
    const status = isRefusal(error) ? ('refused' as const) : ('unknown' as const);
    const {advice} = withCredentialSource(error, settings, name, source);
    const suggestions = context.output.texts(advice);
    return {check: {...owner, status, reason: error.message, suggestions}, failed: true};
  }
}

/** The credentials that a push from here would use for a backend. */
export interface ServiceCredentials {
  /** `legacy`, `api` or the name of a plugin's backend. */
  readonly backend: string;
  /** Its URL. Absent for a plugin's backend, and if none is set. */
  readonly origin?: string | undefined;
  /** Source of the secret; null if there is none. */
  readonly source: string | null;
  /** Whether the service accepts the credentials. Absent if there are none, or with `--no-verify`. */
  readonly check?: CredentialCheck | undefined;
  /** Whether it refused them or could not be asked. */
  readonly failed?: boolean | undefined;
}

/** `Runtime (API key) at https://runtime.example` */
export function serviceTitle({backend, origin}: ServiceCredentials): string {
  return origin === undefined ? backendTitle(backend) : `${backendTitle(backend)} at ${origin}`;
}

/**
 * The credentials that a push from here would use: of a plugin's backend, or of each built-in one with an address. If
 * none has one, those that are set without.
 */
export async function checkServices(
  context: CommandContext,
  settings: Settings,
  backends: BackendRegistry | undefined,
  verify: boolean,
): Promise<readonly ServiceCredentials[]> {
  const {runtimeBackend, origin, apiKey, apiOrigin, apiToken, clientKey, clientSecret} = settings;
  const registration = isPluginBackend(runtimeBackend.value) ? backends?.find(runtimeBackend.value) : undefined;
  if (verify) await confirmAddresses(context, settings, {registration});
  if (registration !== undefined) {
    const {name, backend} = registration;
    const used = await readPluginSettings(registration, context, settings);
    const row = {backend: name, source: used.source?.name ?? null};
    const read = () => readBackend(context, settings, backend, used);
    return [verify ? {...row, ...(await checkService(context, settings, name, read, used.source))} : row];
  }
  const asking = aboutCredentials(settings);
  const rows = [
    {backend: 'legacy', address: origin, secret: apiKey},
    {backend: 'api', address: apiOrigin, secret: apiToken ?? clientKey ?? clientSecret},
  ] as const;
  const usable = rows.filter(({backend}) => mayUse(runtimeBackend.value, backend));
  const located = usable.filter(({address}) => address !== undefined);
  const used = located.length > 0 ? located : usable.filter(({secret}) => secret !== undefined);
  const found = used.map(async ({backend, address, secret}) => {
    const row = {backend, origin: address && shownAddress(address.value), source: secret?.source.name ?? null};
    const read = () => readBackend(context, asking, backend);
    return verify && secret ? {...row, ...(await checkService(context, asking, backend, read))} : row;
  });
  return Promise.all(found);
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

/** Describes every backend, one after the other: they may have variables of the same name. */
export async function describeBackends(
  registrations: BackendRegistry['registrations'],
  context: CommandContext,
  settings: Settings,
  verify: boolean,
): Promise<readonly BackendDescription[]> {
  const described: BackendDescription[] = [];
  const every = {...settings, runtimeBackend: {...settings.runtimeBackend, value: 'auto'}};
  if (verify) await confirmAddresses(context, every);
  for (const registration of registrations) {
    // Built-in backends have our own version.
    const {name, backend, plugin, version = context.config.version} = registration;
    const {summary, formats} = backend;
    const facts = {name, plugin, version, summary, formats, capabilities: capabilitiesOf(backend)};
    let used: PluginSettings | undefined;
    try {
      if (verify) await confirmAddresses(context, settings, {registration});
      used = await readPluginSettings(registration, context, settings);
      const {source} = used;
      const read = await readBackend(context, settings, backend, used);
      const {problem, missing, unfit} = read.resolved;
      const configured = problem === undefined;
      const checked =
        configured && verify
          ? await checkService(context, settings, name, () => Promise.resolve(read), source)
          : undefined;
      described.push({...facts, configured, missing: [...missing, ...unfit], check: checked?.check});
    } catch (error) {
      // A problem with one backend must not hide the others.
      if (!isRuntimeCliError(error)) throw error;
      const problems = error.code === 'ERR_OPTION_INVALID' ? error.details?.['problems'] : undefined;
      const missing = Array.isArray(problems) ? problems.map(String) : [error.message];
      described.push({...facts, configured: false, missing});
    } finally {
      for (const variable of Object.keys(used?.variables ?? {})) Reflect.deleteProperty(context.env, variable);
    }
  }
  return described;
}
