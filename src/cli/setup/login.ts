import {amendError, isRuntimeCliError, createError} from '../../errors/index.js';
import {shellLine} from '../../errors/suggest.js';
import {shownAddress} from '../../http/origin.js';
import {definitions, variableOf} from '../../settings/definitions.js';
import type {CommandContext} from '../command/command-context.js';
import type {AuthLoginDocument} from '../output/documents.js';
import {checkCredentialsUrl, serviceUrl, trustsListedOrigins, type AddressKey} from '../settings/connection.js';
import {
  credentialPath,
  readCredentials,
  secretsIn,
  updateCredentials,
  type CredentialKind,
  type OriginCredentials,
  type StoredCredentials,
} from '../settings/credential-file.js';
import {checkedSecret} from '../settings/load-settings.js';
import {describeSettings, requireSetting, type Settings} from '../settings/settings.js';
import {askService, withCredentials} from './check-credentials.js';
import {takeOverKey} from './other-clients.js';
import {canAsk, confirm, readSecretInput} from './prompts.js';

/** An address that secrets would go to, and how to name it on the command line. */
interface Address {
  readonly url: string;
  readonly flag: string;
  readonly variable?: string | undefined;
}

/** What a login is for: a service of a built-in backend, or that of a plugin's. */
export interface Login {
  /** What would be sent: `api-key`. */
  readonly what: string;
  /** The addresses that only a configuration file sets, which is `file`. */
  readonly configured: readonly Address[];
  readonly file: string;
  /** Lines with the addresses and their sources. */
  readonly shown: readonly string[];
  readonly ask: () => Promise<Entered>;
}

/** What a service said about credentials. */
interface Verified {
  /** Whether it was asked, and has accepted them. */
  readonly accepted: boolean;
  readonly account?: string | undefined;
  readonly expiresAt?: string | undefined;
}

export interface Entered {
  /** What `--json` tells of them. */
  readonly facts: Pick<AuthLoginDocument, 'origin' | 'backend' | 'options' | 'kind'>;
  /** User that an API key belongs to. */
  readonly user?: string | undefined;
  readonly secrets: readonly string[];
  /** Completes "Stored ... in FILE". */
  readonly label: string;
  /** @throws RuntimeCliError when the service refuses them or cannot be asked. */
  readonly verify: () => Promise<Verified>;
  readonly store: (stored: StoredCredentials) => StoredCredentials;
}

/**
 * Logs in: confirms the addresses, asks for the secrets, checks and stores them.
 * @throws RuntimeCliError when something is missing, an address is not trusted, or the service refuses the credentials.
 */
export async function logIn(context: CommandContext, login: Login, verifies: boolean) {
  await confirmConfigured(context, login, canAsk(context));
  const entered = await login.ask();
  context.output.addSecrets(entered.secrets);
  const {accepted: verified, account, expiresAt} = verifies ? await verifyEntered(entered) : {accepted: false};
  context.signal.throwIfAborted();
  return {...entered.facts, file: await storeEntered(context, entered), verified, account, expiresAt};
}

/**
 * Shows where secrets would go, and has addresses confirmed that only a configuration file sets. That of a checkout
 * may be a stranger's, so it takes a confirmation, unless the user has set up a project with the address, or
 * `MYCLI_TRUSTED_ORIGINS` is set: what it does not list is refused elsewhere.
 * @throws RuntimeCliError `ERR_ORIGIN_UNTRUSTED` when nobody can be asked; `ERR_USAGE` when the answer is no.
 */
export async function confirmConfigured(
  context: CommandContext,
  {what, file, configured, shown}: Login,
  asks: boolean,
): Promise<void> {
  for (const line of shown) context.output.info(line);
  if (configured.length === 0 || trustsListedOrigins(context.env)) return;
  const {trusted = []} = await readCredentials(context.credentialFile);
  const known = new Set(trusted.map((url) => new URL(url).href));
  const unsaid = configured.filter(({url}) => !known.has(new URL(url).href));
  if (unsaid.length === 0) return;
  const urls = [...new Set(unsaid.map(({url}) => shownAddress(url)))].join(' and ');
  const isOne = !urls.includes(' and ');
  const message = isOne
    ? `The address ${urls} comes from ${file} and needs your confirmation.`
    : `The addresses ${urls} come from ${file} and need your confirmation.`;
  if (asks) {
    await confirm(`${message} Send the ${what} there?`, 'Cancelled. Nothing was sent or stored.', context);
    return;
  }
  const origins = [...new Set(unsaid.map(({url}) => new URL(url).origin))];
  const flags = [...new Set(unsaid.map(({flag}) => flag))].join(' ');
  const variables = unsaid.flatMap(({variable}) => variable ?? []).join(' and ');
  const advice = `pass ${flags}${variables === '' ? '' : ` or set ${variables}`}`;
  throw createError('ERR_ORIGIN_UNTRUSTED', `${message} Nothing was sent.`, {
    suggestions: [`If you trust it, ${advice}. In CI, list ${origins.join(',')} in MYCLI_TRUSTED_ORIGINS.`],
    details: {origin: origins[0], file},
  });
}

/** Asks the service. @throws RuntimeCliError when it refuses the credentials or cannot be asked. */
export async function verifyEntered({verify}: Entered): Promise<Verified> {
  return verify().catch((error: unknown) => {
    if (!isRuntimeCliError(error)) throw error;
    throw amendError(error, {suggestions: ['Nothing was stored. Pass --no-verify to store credentials unchecked.']});
  });
}

/** Stores credentials, and says so. Resolves to the path of the file. */
export async function storeEntered({output, credentialFile}: CommandContext, entered: Entered): Promise<string> {
  await updateCredentials(credentialFile, entered.store);
  const file = credentialPath(credentialFile);
  output.outcome(`Stored ${entered.label} in ${file}.`);
  return file;
}

/** Remembers URLs that the user set up a project with: the file that names them is the user's own decision. */
export async function trustAddresses(
  {credentialFile, output}: Pick<CommandContext, 'credentialFile' | 'output'>,
  urls: readonly string[],
): Promise<void> {
  try {
    await updateCredentials(credentialFile, ({trusted = [], ...stored}) => ({
      ...stored,
      trusted: [...new Set([...trusted, ...urls])],
    }));
  } catch (error) {
    // The project is set up all the same: a login asks to confirm the address.
    if (!isRuntimeCliError(error)) throw error;
    output.debug(error.message);
  }
}

const credentialWords = {'api-key': 'API key', 'client-secret': 'client secret', 'api-token': 'API token'} as const;

interface BuiltInLogin extends Login {
  readonly prompt: string;
  /** @throws RuntimeCliError `ERR_OPTION_INVALID` when it cannot be sent. */
  readonly enter: (secret: string, user?: string) => Entered;
}

/**
 * Determines from the settings what a login is for.
 * @throws RuntimeCliError `ERR_USAGE` when something is missing, `ERR_ORIGIN_INVALID`, `ERR_ORIGIN_UNTRUSTED`.
 */
export function builtInLogin(context: CommandContext, settings: Settings, kind: CredentialKind): BuiltInLogin {
  const {output} = context;
  const isApi = kind !== 'api-key';
  const service = isApi ? 'apiOrigin' : 'origin';
  const url = checkedUrl(context, settings, service);
  const {origin} = new URL(url);
  const takesClient = kind === 'client-secret';
  const clientId = takesClient ? requireSetting(settings, 'clientId') : '';
  const tokenUrl = takesClient ? checkedUrl(context, settings, 'tokenUrl') : '';
  const addresses = takesClient ? ([service, 'tokenUrl'] as const) : ([service] as const);
  const urls = {origin: url, apiOrigin: url, tokenUrl};
  const fromFile = addresses.filter((key) => settings[key]?.source.kind === 'config');
  const prompt = {
    'api-key': `API key for ${origin}`,
    'api-token': `Access token for ${origin}`,
    'client-secret': `Client secret of ${clientId} for ${origin}, to be sent to ${tokenUrl}`,
  }[kind];
  const credentialsOf = (given: string, user: string | undefined): OriginCredentials => {
    const secret = checkedSecret(given, `the ${kind}`);
    if (kind === 'api-key') return {apiKey: {key: secret, user}};
    if (kind === 'api-token') return {api: {kind, token: secret}};
    return {api: {kind, clientId, clientSecret: secret, tokenUrl}};
  };
  const enter = (secret: string, user = settings.apiUser?.value) => {
    const credentials = credentialsOf(secret, user);
    return {
      user,
      facts: {origin, kind},
      secrets: secretsIn(credentials),
      label: `the ${kind} for ${origin}`,
      async verify() {
        const backend = isApi ? 'api' : 'legacy';
        const {asked, expiresAt} = await askService(context, withCredentials(settings, credentials), backend);
        if (asked) output.outcome(`${origin} accepted the ${credentialWords[kind]}.`);
        else output.warn('The token was not checked. To check it, pass --organization and --project.');
        return {accepted: asked, expiresAt};
      },
      store({origins, last, ...others}: StoredCredentials): StoredCredentials {
        const api = {origin: url, organizationId: settings.organizationId?.value};
        return {
          ...others,
          origins: {...origins, [origin]: {...origins[origin], ...credentials}},
          last: isApi ? {...last, api, backend: 'api'} : {...last, legacy: url, backend: 'legacy'},
        };
      },
    };
  };
  return {
    what: kind,
    shown: describeSettings(settings, addresses, context.cwd),
    prompt,
    enter,
    file: fromFile.map((key) => settings[key]?.source.name)[0] ?? '',
    configured: fromFile.map((key) => ({
      url: urls[key],
      flag: `--${String(definitions[key].flag?.name)} ${shellLine(urls[key])}`,
      variable: variableOf(key),
    })),
    async ask() {
      const other = kind === 'api-key' && canAsk(context) ? await takeOverKey(url, context) : undefined;
      return other === undefined ? enter(await readSecretInput(prompt, context)) : enter(other.apiKey, other.apiUser);
    },
  };
}

function checkedUrl(context: CommandContext, settings: Settings, key: AddressKey): string {
  const value = requireSetting(settings, key);
  const name = settings[key]?.source.name ?? key;
  const url = serviceUrl(key, name, value);
  checkCredentialsUrl(context, url, name);
  return url;
}
