import {mayUse} from '../../backends/names.js';
import {OptionText} from '../../backends/plugins/option-text.js';
import type {BackendRegistration} from '../../backends/registry.js';
import {createError, isRuntimeCliError} from '../../errors/index.js';
import {shownAddress} from '../../http/origin.js';
import {
  addressKeys,
  definitions,
  settingKeys,
  usualFlag,
  variableOf,
  type AddressKey,
} from '../../settings/definitions.js';
import {flagValue, shellLine} from '../../text/suggest.js';
import type {CommandContext} from '../command/command-context.js';
import {checkOrigins, serviceUrl, trustedOrigins, trustedOriginsVariable} from '../settings/connection-options.js';
import {readCredentials, trustAddresses} from '../settings/credential-file.js';
import {addressOrigin} from '../settings/option-addresses.js';
import {configuredAddresses, optionsFor, typedOptions, type PluginSettings} from '../settings/plugin-settings.js';
import type {Settings} from '../settings/settings.js';
import {confirm, isAttended} from './prompts.js';

/** A URL that a configuration file sets, and what would go there. */
export interface Destination {
  readonly url: string;
  readonly file: string;
  /** Names the secret: `MYCLI_API_KEY`, `API key`. */
  readonly secret: string;
  /** How the user can name the URL, too: `pass --origin URL`. */
  readonly trusting: string;
}

/**
 * Asks before secrets go to an address of a configuration file that is new on this machine: the user has neither set up
 * a project with it nor confirmed it, and the file may be that of somebody else's checkout. With
 * `MYCLI_TRUSTED_ORIGINS`, nothing is asked: what it does not list is refused elsewhere.
 * @param asks whether somebody can answer
 * @param afterLogin whether a login makes all addresses of an origin known
 * @returns the URLs that the user has confirmed
 * @throws RuntimeCliError `ERR_USAGE` if the answer is no, `ERR_ORIGIN_UNTRUSTED` if nobody can be asked.
 */
export async function confirmDestinations(
  context: CommandContext,
  destinations: readonly Destination[],
  {asks, afterLogin}: {readonly asks: boolean; readonly afterLogin: boolean},
): Promise<readonly string[]> {
  if (destinations.length === 0 || trustedOrigins(context.env) !== undefined) return [];
  const {trusted = [], origins, backends = {}} = await readCredentials(context.credentialFile);
  const known = [...Object.keys(origins), ...Object.values(backends).flatMap((stored) => stored.origins)];
  const hrefOf = (address: string) => (URL.canParse(address) ? new URL(address).href : address);
  const hrefs = trusted.map(hrefOf);
  const unknown = destinations.filter(
    ({url}) => !hrefs.includes(hrefOf(url)) && !(afterLogin && known.includes(addressOrigin(url))),
  );
  const [first] = unknown;
  if (first === undefined) return [];
  const {file, url} = first;
  const each = (of: (destination: Destination) => string) => [...new Set(unknown.map(of))].join(' and ');
  const places = each((one) => shownAddress(one.url));
  const secrets = each(({secret}) => secret);
  if (asks && context.output.interactive) {
    const question = `${file} names ${places}, which nobody has confirmed on this machine. Send the ${secrets} there?`;
    await confirm(question, 'Cancelled. Nothing was sent.', context);
    return unknown.map((one) => one.url);
  }
  const message = `The ${secrets} would go to ${places}, which only ${file} sets. Nothing was sent.`;
  const origin = each((one) => addressOrigin(one.url));
  throw createError('ERR_ORIGIN_UNTRUSTED', message, {
    suggestions: [
      `If you trust it, ${each(({trusting}) => trusting)}. In CI, list ${origin} in ${trustedOriginsVariable}.`,
    ],
    details: {origin: addressOrigin(url), file},
  });
}

interface AddressUse {
  /** The backend, if it is a plugin's. */
  readonly registration?: BackendRegistration | undefined;
  /** Whether the command may check a deployment. */
  readonly writes?: boolean | undefined;
  /** Whether it reads the logs of an app. */
  readonly readsLogs?: boolean | undefined;
}

/**
 * Confirms the addresses that secrets of the environment or of a login go to, and remembers the answer. Without a
 * terminal, those of the environment go there, for which there is `MYCLI_TRUSTED_ORIGINS`.
 * @throws as `confirmDestinations`
 */
export async function confirmAddresses(
  context: CommandContext,
  settings: Settings,
  {registration, writes, readsLogs}: AddressUse = {},
): Promise<void> {
  const isUsed = (key: AddressKey) => (key === 'check' ? writes === true : key !== 'logsOrigin' || readsLogs === true);
  const asks = isAttended(context);
  const destinations = [
    ...addressKeys.filter(isUsed).flatMap((key) => sentTo(settings, key)),
    ...(registration ? sentByPlugin(context, settings, registration) : []),
  ].filter(({isStored}) => asks || isStored);
  const confirmed = await confirmDestinations(context, destinations, {asks, afterLogin: true});
  if (confirmed.length === 0) return;
  await trustAddresses(context.credentialFile, confirmed).catch((error: unknown) => {
    if (!isRuntimeCliError(error)) throw error;
    context.output.warn(`The answer is not remembered. ${error.message}`);
  });
}

/** The same as `sentTo` for a plugin's backend. What a login stored goes to no other address than at the login. */
function sentByPlugin(context: CommandContext, settings: Settings, registration: BackendRegistration) {
  const {secrets = [], secretEnv = []} = registration.backend;
  const given = optionsFor(registration, settings);
  const typed = typedOptions(context.flags);
  const secret =
    secretEnv.find((name) => context.env[name]?.trim()) ??
    secrets.find((name) => given[name] instanceof OptionText && !typed.has(name));
  if (secret === undefined) return [];
  return pluginDestinations(context, given, secret).map((destination) => ({...destination, isStored: false}));
}

/** The addresses of a plugin's backend that only the configuration file sets, for a secret of the backend. */
export function pluginDestinations(
  context: Pick<CommandContext, 'configFile' | 'env'>,
  given: PluginSettings['options'],
  secret: string,
): readonly Destination[] {
  return configuredAddresses(given, context).map(({option, url}) => ({
    ...{url, file: context.configFile?.path ?? '', secret},
    trusting: `pass --backend-option ${option}=ADDRESS`,
  }));
}

/** The URLs of an address that a configuration file sets, if a secret of the environment or of a login goes there. */
function sentTo(settings: Settings, key: AddressKey) {
  const {receives} = definitions[key];
  const {source} = settings[key] ?? {};
  const flag = usualFlag(key);
  const isUsed = receives?.backend === undefined || mayUse(settings.runtimeBackend.value, receives.backend);
  const secret = settingKeys
    .filter((name) => receives?.secrets.includes(name))
    .flatMap((name) => settings[name]?.source ?? [])
    .find(({kind}) => kind === 'environment' || kind === 'stored');
  const isStored = secret?.kind === 'stored';
  // A stored client goes to no other token endpoint than its own, and a ready-made token to none.
  const isOther = key === 'tokenUrl' && (isStored || settings.apiToken !== undefined);
  if (!isUsed || isOther || secret === undefined || source?.kind !== 'config') return [];
  return urlsOf(settings, key).map((url) => ({
    url,
    file: source.name,
    isStored,
    secret: secret.name,
    trusting:
      flag === undefined
        ? `set ${String(variableOf(key))} to ${shownAddress(url)}`
        : `pass ${shellLine(...flagValue(`--${flag.name}`, shownAddress(url)))}`,
  }));
}

function urlsOf(settings: Settings, key: AddressKey): readonly string[] {
  if (key === 'check') return checkOrigins(settings);
  const {source, value} = settings[key] ?? {};
  return source && value ? [serviceUrl(key, source.name, value)] : [];
}
