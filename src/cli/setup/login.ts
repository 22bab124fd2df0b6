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
import {checkedSecret, credentialSettings} from '../settings/load-settings.js';
import {describeSettings, requireSetting, type Settings} from '../settings/settings.js';
import {askService, isRefusal} from './check-credentials.js';
import {askYesNo, canAsk, confirm, readSecretInput} from './prompts.js';

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
  readonly secrets: readonly string[];
  /** Completes "Stored ... in FILE". */
  readonly label: string;
  readonly verify: () => Promise<Verified>;
  readonly store: (stored: StoredCredentials) => StoredCredentials;
}

/** Logs in: confirms the addresses, asks for the secrets, checks and stores them. */
export async function logIn(context: CommandContext, login: Login, verifies: boolean) {
  await confirmConfigured(context, login, canAsk(context));
  const entered = await login.ask();
  const {accepted: verified, account, expiresAt} = await verifyAndStore(context, entered, verifies);
  return {...entered.facts, file: credentialPath(context.credentialFile), verified, account, expiresAt};
}

/**
 * Shows where secrets would go, and has addresses confirmed that only a configuration file sets. That of a checkout may
 * be a stranger's, so it takes a confirmation, unless the user has set up a project with the address, or
 * `MYCLI_TRUSTED_ORIGINS` is set: what it does not list is refused elsewhere.
 */
async function confirmConfigured(
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

/** Asks the service, stores the credentials, and says so. */
async function verifyAndStore(
  {output, credentialFile, signal}: CommandContext,
  {secrets, label, verify, store}: Entered,
  verifies: boolean,
): Promise<Verified> {
  output.addSecrets(secrets);
  const verified = verifies ? await verify().catch(refuse) : {accepted: false};
  signal.throwIfAborted();
  await updateCredentials(credentialFile, store);
  output.outcome(`Stored ${label} in ${credentialPath(credentialFile)}.`);
  return verified;
}

function refuse(error: unknown): never {
  if (!isRuntimeCliError(error)) throw error;
  throw amendError(error, {suggestions: ['Nothing was stored. Pass --no-verify to store credentials unchecked.']});
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
  readonly enter: (secret: string) => Entered;
}

/** Determines from the settings what a login is for. */
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
  const credentialsOf = (given: string): OriginCredentials => {
    const secret = checkedSecret(given, `the ${kind}`, ['Enter it in a terminal, or pipe it: mycli login < FILE.']);
    if (kind === 'api-key') return {apiKey: {key: secret, user: settings.apiUser?.value}};
    if (kind === 'api-token') return {api: {kind, token: secret}};
    return {api: {kind, clientId, clientSecret: secret, tokenUrl}};
  };
  const enter = (secret: string) => {
    const credentials = credentialsOf(secret);
    return {
      facts: {origin, kind},
      secrets: secretsIn(credentials),
      label: `the ${kind} for ${origin}`,
      async verify() {
        const backend = isApi ? 'api' : 'legacy';
        const source = {kind: 'stored', name: 'mycli login'} as const;
        const {legacy, api} = credentialSettings(credentials, source);
        const entered = {...settings, ...legacy, ...api};
        const {status, expiresAt} = await askService(context, entered, backend);
        const accepted = status === 'accepted';
        if (accepted) output.outcome(`${origin} accepted the ${credentialWords[kind]}.`);
        else output.warn('The token was not checked. To check it, pass --organization and --project.');
        return {accepted, expiresAt};
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
    ask: async () => enter(await readSecretInput(prompt, context)),
  };
}

function checkedUrl(context: CommandContext, settings: Settings, key: AddressKey): string {
  const value = requireSetting(settings, key);
  const name = settings[key]?.source.name ?? key;
  const url = serviceUrl(key, name, value);
  checkCredentialsUrl(context, url, name);
  return url;
}

interface SignIn {
  readonly context: CommandContext;
  readonly settings: Settings;
  readonly backend: string;
  readonly asks: boolean;
  readonly verify: boolean;
}

/**
 * Stores the credentials of a new project once the service has accepted them: those from a flag, from a variable if the
 * user agrees, or typed. In a terminal, asks again for what was wrong, so that no answer is lost.
 * @returns The kind of what was stored, if anything was.
 */
export async function signIn({context, settings, backend, asks, verify}: SignIn): Promise<CredentialKind | undefined> {
  if (backend !== 'legacy' && backend !== 'api') return undefined;
  const {apiKey, apiToken, clientSecret} = settings;
  const key = backend === 'legacy' ? 'apiKey' : apiToken === undefined ? 'clientSecret' : 'apiToken';
  const kind = ({apiKey: 'api-key', clientSecret: 'client-secret', apiToken: 'api-token'} as const)[key];
  const secret = {apiKey, apiToken, clientSecret}[key];
  if (secret?.source.kind === 'stored' || (secret === undefined && !asks)) return undefined;
  if (secret?.source.kind === 'environment') {
    const {name} = secret.source;
    const question = `Store the ${definitions[key].label} from ${name}, for when it is not set?`;
    if (!asks || !(await askYesNo(question, true, context))) return undefined;
  }
  const login = builtInLogin(context, settings, kind);
  await confirmConfigured(context, login, asks);
  let given = secret?.value.reveal();
  let verifies = verify;
  for (;;) {
    given ??= await readSecretInput(`${login.prompt} (hidden, empty to skip)`, context);
    if (asks && given.trim() === '') return undefined;
    try {
      await verifyAndStore(context, login.enter(given), verifies);
      return kind;
    } catch (error) {
      if (!asks || context.signal.aborted || !isRuntimeCliError(error) || error.code === 'ERR_OUTPUT') throw error;
      context.output.error(error.message, []);
      const isWrong = isRefusal(error) || error.code === 'ERR_OPTION_INVALID';
      if (!isWrong && (await askYesNo(`Store the ${kind} without checking it?`, false, context))) verifies = false;
      else given = undefined;
    }
  }
}
