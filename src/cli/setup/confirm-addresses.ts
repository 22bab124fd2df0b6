import {mayUse} from '../../backends/names.js';
import {isRuntimeCliError} from '../../errors/index.js';
import {shownAddress} from '../../http/origin.js';
import type {CommandContext} from '../command/context.js';
import {serviceUrl, trustedOrigins, type AddressKey} from '../settings/connection.js';
import {credentialKind, credentialRows, readCredentials, trustAddresses} from '../settings/credential-file.js';
import type {Setting, Settings} from '../settings/settings.js';
import type {Secret} from '../settings/text.js';
import {canAsk, confirm} from './prompts.js';

/**
 * Those addresses of a configuration file that are new on this machine: the user has neither set up a project with
 * them nor confirmed them. The file may be that of somebody else's checkout. None with `MYCLI_TRUSTED_ORIGINS`: what it
 * does not list is refused elsewhere.
 * @param afterLogin whether a login makes all addresses of an origin known
 */
export async function unknownAddresses<Address extends {readonly url: string}>(
  {env, credentialFile}: Pick<CommandContext, 'env' | 'credentialFile'>,
  addresses: readonly Address[],
  afterLogin: boolean,
): Promise<readonly Address[]> {
  if (addresses.length === 0 || trustedOrigins(env) !== undefined) return [];
  const {trusted = [], origins} = await readCredentials(credentialFile);
  const hrefs = new Set(trusted.map((url) => new URL(url).href));
  return addresses.filter(({url}) => {
    const {href, origin} = new URL(url);
    return !hrefs.has(href) && !(afterLogin && origin in origins);
  });
}

/**
 * Asks in a terminal before a secret of the environment goes to an address that a configuration file sets and that is
 * new here, and remembers the answer.
 * @throws RuntimeCliError `ERR_USAGE` if the answer is no.
 */
export async function confirmAddresses(context: CommandContext, settings: Settings): Promise<void> {
  if (!canAsk(context)) return;
  const {value: preference} = settings.runtimeBackend;
  const addresses = (['legacy', 'api'] as const).flatMap((backend) => {
    const {setting, addresses: keys} = credentialRows[credentialKind(backend, settings)];
    const logs = backend === 'legacy' ? (['logsOrigin'] as const) : [];
    return mayUse(preference, backend) ? sentTo(settings, [...keys, ...logs], settings[setting]) : [];
  });
  const unknown = await unknownAddresses(context, addresses, true);
  if (unknown.length === 0) return;
  const each = (of: (address: (typeof unknown)[number]) => string) => [...new Set(unknown.map(of))].join(' and ');
  const file = context.configFile?.path ?? '';
  const places = each(({url}) => shownAddress(url));
  const question = `${file} names ${places}, not used on this machine before. Send ${each(({secret}) => secret)} there?`;
  await confirm(question, 'Cancelled. Nothing was sent.', context);
  const urls = unknown.map(({url}) => url);
  await trustAddresses(context.credentialFile, urls).catch((error: unknown) => {
    if (!isRuntimeCliError(error)) throw error;
    context.output.warn(`The answer is not remembered. ${error.message}`);
  });
}

/** The addresses of a configuration file that get a secret of the environment. */
function sentTo(settings: Settings, keys: readonly AddressKey[], secret: Setting<Secret> | undefined) {
  if (secret?.source.kind !== 'environment') return [];
  const {name} = secret.source;
  return keys.flatMap((key) => {
    const {source, value} = settings[key] ?? {};
    return source?.kind === 'config' && value ? [{url: serviceUrl(key, source.name, value), secret: name}] : [];
  });
}
