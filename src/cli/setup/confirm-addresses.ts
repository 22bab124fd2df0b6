import {mayUse} from '../../backends/names.js';
import {isRuntimeCliError} from '../../errors/index.js';
import {shownAddress} from '../../http/origin.js';
import type {CommandContext} from '../command/context.js';
import {serviceUrl, trustedOrigins, type AddressKey} from '../settings/connection.js';
import {readCredentials, trustAddresses, type StoredCredentials} from '../settings/credential-file.js';
import type {Setting, Settings} from '../settings/settings.js';
import type {Secret} from '../settings/text.js';
import {canAsk, confirm} from './prompts.js';

/** The addresses that the user has neither set up a project with nor confirmed, each once. */
export function unknownAddresses(urls: readonly string[], {trusted = []}: StoredCredentials): readonly string[] {
  const known = new Set(trusted.map((url) => new URL(url).href));
  return [...new Set(urls)].filter((url) => !known.has(new URL(url).href));
}

/**
 * Asks in a terminal before a secret of the environment goes to an address that a configuration file sets and that is
 * new here, and remembers the answer: the file may be that of somebody else's checkout. Not with
 * `MYCLI_TRUSTED_ORIGINS`: what it does not list is refused elsewhere.
 * @throws RuntimeCliError `ERR_USAGE` if the answer is no.
 */
export async function confirmAddresses(context: CommandContext, settings: Settings): Promise<void> {
  if (!canAsk(context) || trustedOrigins(context.env) !== undefined) return;
  const {runtimeBackend, apiKey, apiToken, clientSecret} = settings;
  const sent = [
    ...(mayUse(runtimeBackend.value, 'legacy') ? sentTo(settings, ['origin', 'logsOrigin'], apiKey) : []),
    ...(mayUse(runtimeBackend.value, 'api')
      ? sentTo(settings, apiToken ? ['apiOrigin'] : ['apiOrigin', 'tokenUrl'], apiToken ?? clientSecret)
      : []),
  ];
  if (sent.length === 0) return;
  const stored = await readCredentials(context.credentialFile);
  const unknown = unknownAddresses(
    sent.map(({url}) => url),
    stored,
  );
  const urls = unknown.filter((url) => !(new URL(url).origin in stored.origins));
  if (urls.length === 0) return;
  const shown = urls.map(shownAddress).join(' and ');
  const names = [...new Set(sent.filter(({url}) => urls.includes(url)).map(({secret}) => secret))].join(' and ');
  const file = context.configFile?.path ?? '';
  const question = `${file} names ${shown}, not used on this machine before. Send ${names} there?`;
  await confirm(question, 'Cancelled. Nothing was sent.', context);
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
