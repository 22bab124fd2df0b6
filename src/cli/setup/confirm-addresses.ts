import {mayUse} from '../../backends/names.js';
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
import {checkOrigins, serviceUrl, trustedOrigins} from '../settings/connection-options.js';
import {readCredentials, trustAddresses} from '../settings/credential-file.js';
import type {Settings} from '../settings/settings.js';
import {confirm, isAttended} from './prompts.js';

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
 * Asks in a terminal before secrets go to an address that a configuration file sets and that is new here, and remembers
 * the answer. Without a terminal, those of the environment go there, for which there is `MYCLI_TRUSTED_ORIGINS`.
 * @param use `writes`: whether the command may check a deployment. `readsLogs`: whether it reads the logs of an app
 * @throws RuntimeCliError `ERR_USAGE` if the answer is no, `ERR_ORIGIN_UNTRUSTED` if stored secrets would go there and
 * nobody can be asked.
 */
export async function confirmAddresses(
  context: CommandContext,
  settings: Settings,
  {writes, readsLogs}: {readonly writes?: boolean | undefined; readonly readsLogs?: boolean | undefined} = {},
): Promise<void> {
  const isUsed = (key: AddressKey) => (key === 'check' ? writes === true : key !== 'logsOrigin' || readsLogs === true);
  const asks = isAttended(context);
  const sent = addressKeys.filter(isUsed).flatMap((key) => sentTo(settings, key));
  const addresses = sent.filter(({isStored}) => asks || isStored);
  const unknown = await unknownAddresses(context, addresses, true);
  const [first] = unknown;
  if (first === undefined) return;
  const each = (of: (address: (typeof unknown)[number]) => string) => [...new Set(unknown.map(of))].join(' and ');
  const file = context.configFile?.path ?? '';
  const places = each(({url}) => shownAddress(url));
  const secrets = each(({secret}) => secret);
  if (!asks) {
    const message = `The ${secrets} would go to ${places}, which only ${file} sets. Nothing was sent.`;
    throw createError('ERR_ORIGIN_UNTRUSTED', message, {
      suggestions: [`If you trust it, ${first.trusting}, or run the command in a terminal once.`],
      details: {origin: new URL(first.url).origin, file},
    });
  }
  const question = `${file} names ${places}, not used on this machine before. Send ${secrets} there?`;
  await confirm(question, 'Cancelled. Nothing was sent.', context);
  const urls = unknown.map(({url}) => url);
  await trustAddresses(context.credentialFile, urls).catch((error: unknown) => {
    if (!isRuntimeCliError(error)) throw error;
    context.output.warn(`The answer is not remembered. ${error.message}`);
  });
}

/** The URLs of an address that a configuration file sets, if a secret of the environment or of a login goes there. */
function sentTo(settings: Settings, key: AddressKey) {
  const {receives} = definitions[key];
  const flag = usualFlag(key);
  const isUsed = receives?.backend === undefined || mayUse(settings.runtimeBackend.value, receives.backend);
  const secret = settingKeys
    .filter((name) => receives?.secrets.includes(name))
    .flatMap((name) => settings[name]?.source ?? [])
    .find(({kind}) => kind === 'environment' || kind === 'stored');
  const isStored = secret?.kind === 'stored';
  // A stored client goes to no other token endpoint than its own, and a ready-made token to none.
  const isOther = key === 'tokenUrl' && (isStored || settings.apiToken !== undefined);
  if (!isUsed || isOther || secret === undefined || settings[key]?.source.kind !== 'config') return [];
  return urlsOf(settings, key).map((url) => ({
    url,
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
