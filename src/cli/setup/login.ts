import {createInterface} from 'node:readline';
import {shownUrl} from '../../backends/answers.js';
import type {Backend, BackendLoginContext} from '../../backends/contract.js';
import {OptionText} from '../../backends/option-text.js';
import type {BackendRegistration} from '../../backends/registry.js';
import {amendError, createError, isRuntimeCliError} from '../../errors/index.js';
import {shellLine} from '../../errors/suggest.js';
import {normalizeOrigin, parseServiceUrl, shownAddress} from '../../http/origin.js';
import {definitions, variableOf} from '../../settings/definitions.js';
import type {CommandContext} from '../command/command-context.js';
import {commandHost} from '../command/operation-options.js';
import {assertTrustedOrigin, checkCredentialsUrl, trustsListedOrigins} from '../settings/connection.js';
import {
  credentialPath,
  readCredentials,
  updateCredentials,
  type BackendCredentials,
  type CredentialKind,
  type OriginCredentials,
  type StoredCredentials,
} from '../settings/credential-file.js';
import {checkedSecret} from '../settings/load-settings.js';
import {loginCommand, optionsFor, originsIn, partitioned, urlsIn} from '../settings/plugin-options.js';
import {describeSettings, requireSetting, type Settings} from '../settings/settings.js';
import {askPlugin, askService, withCredentials} from './check-credentials.js';
import {takeOverKey} from './other-clients.js';
import {askText, canAsk, confirm, openBrowser, readSecretInput} from './prompts.js';

/** An address that secrets would go to, and how to name it on the command line. */
interface Address {
  readonly url: string;
  readonly flag: string;
  readonly variable?: string | undefined;
}

/** What a service said about credentials. */
interface Verified {
  /** Whether it was asked, and has accepted them. */
  readonly accepted: boolean;
  readonly account?: string | undefined;
  readonly expiresAt?: string | undefined;
}

/** What a login is for: a service of a built-in backend, or that of a plugin's. */
export interface Login<Credentials> {
  /** What would be sent: `api-key`. */
  readonly what: string;
  /** The addresses that only a configuration file sets, which is `file`. */
  readonly configured: readonly Address[];
  readonly file: string;
  /** Lines with the addresses and their sources. */
  readonly shown: readonly string[];
  /** Gets the secrets from the user. */
  readonly ask: () => Promise<Credentials>;
  readonly secretsOf: (credentials: Credentials) => readonly string[];
  /** @throws RuntimeCliError when the service refuses the credentials or cannot be asked. */
  readonly verify: (credentials: Credentials) => Promise<Verified>;
  /** Completes "Stored ... in FILE". */
  readonly describe: (credentials: Credentials) => string;
  readonly store: (stored: StoredCredentials, credentials: Credentials) => StoredCredentials;
}

/**
 * Logs in: confirms the addresses, asks for the secrets, checks and stores them.
 * @throws RuntimeCliError when something is missing, an address is not trusted, or the service refuses the credentials.
 */
export async function logIn<Credentials>(context: CommandContext, login: Login<Credentials>, verifies: boolean) {
  await confirmConfigured(context, login, canAsk(context));
  const credentials = await login.ask();
  const verified = verifies ? await verifyLogin(context, login, credentials) : undefined;
  context.signal.throwIfAborted();
  const file = await storeLogin(context, login, credentials);
  const {accepted = false, account, expiresAt} = verified ?? {};
  return {credentials, file, verified: accepted, account, expiresAt};
}

/**
 * Shows where secrets would go, and has addresses confirmed that only a configuration file sets. That of a checkout
 * may be a stranger's, so it takes a confirmation, unless the user has set up a project with the address, or
 * `MYCLI_TRUSTED_ORIGINS` is set: what it does not list is refused elsewhere.
 * @throws RuntimeCliError `ERR_ORIGIN_UNTRUSTED` when nobody can be asked; `ERR_USAGE` when the answer is no.
 */
export async function confirmConfigured(
  context: CommandContext,
  {what, file, configured, shown}: Pick<Login<never>, 'what' | 'file' | 'configured' | 'shown'>,
  asks: boolean,
): Promise<void> {
  for (const line of shown) context.output.info(line);
  if (configured.length === 0 || trustsListedOrigins(context.env)) return;
  const {trusted = []} = await readCredentials(context.credentialFile);
  const known = new Set(trusted.map((url) => new URL(url).href));
  const unsaid = configured.filter(({url}) => !known.has(new URL(url).href));
  if (unsaid.length === 0) return;
  const urls = [...new Set(unsaid.map(({url}) => shownAddress(url)))];
  const [subject, verbs] =
    urls.length === 1 ? ['address', ['comes', 'needs'] as const] : ['addresses', ['come', 'need'] as const];
  const message = `The ${subject} ${urls.join(' and ')} ${verbs[0]} from ${file} and ${verbs[1]} your confirmation.`;
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
export async function verifyLogin<Credentials>(
  {output}: CommandContext,
  {verify, secretsOf}: Login<Credentials>,
  credentials: Credentials,
): Promise<Verified> {
  output.addSecrets(secretsOf(credentials));
  try {
    return await verify(credentials);
  } catch (error) {
    if (!isRuntimeCliError(error)) throw error;
    throw amendError(error, {suggestions: ['Nothing was stored. Pass --no-verify to store credentials unchecked.']});
  }
}

/** Stores credentials, and says so. Resolves to the path of the file. */
export async function storeLogin<Credentials>(
  {output, credentialFile}: CommandContext,
  {store, secretsOf, describe}: Login<Credentials>,
  credentials: Credentials,
): Promise<string> {
  output.addSecrets(secretsOf(credentials));
  await updateCredentials(credentialFile, (stored) => store(stored, credentials));
  const file = credentialPath(credentialFile);
  output.outcome(`Stored ${describe(credentials)} in ${file}.`);
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

/** A login to a service of a built-in backend. */
export interface BuiltInLogin extends Login<OriginCredentials> {
  /** Origin the credentials are for. */
  readonly origin: string;
  /** The settings with the addresses that the secret goes to, or is stored for. */
  readonly addresses: readonly ('origin' | 'apiOrigin' | 'tokenUrl')[];
  /** What to ask for. */
  readonly prompt: string;
  /** @throws RuntimeCliError `ERR_OPTION_INVALID` when it cannot be sent. */
  readonly complete: (secret: string) => OriginCredentials;
}

/**
 * Determines from the settings what a login is for.
 * @throws RuntimeCliError `ERR_USAGE` when something is missing, `ERR_ORIGIN_INVALID`, `ERR_ORIGIN_UNTRUSTED`.
 */
export function builtInLogin(context: CommandContext, settings: Settings, kind: CredentialKind): BuiltInLogin {
  const isApi = kind !== 'api-key';
  const service = isApi ? 'apiOrigin' : 'origin';
  const url = checkedUrl(context, settings, service);
  const {origin} = new URL(url);
  const clientId = kind === 'client-secret' ? requireSetting(settings, 'clientId') : '';
  const tokenUrl = kind === 'client-secret' ? checkedUrl(context, settings, 'tokenUrl') : '';
  const addresses = kind === 'client-secret' ? ([service, 'tokenUrl'] as const) : ([service] as const);
  const urls = {origin: url, apiOrigin: url, tokenUrl};
  const fromFile = addresses.filter((key) => settings[key]?.source.kind === 'config');
  const prompt = {
    'api-key': `API key for ${origin}`,
    'api-token': `Access token for ${origin}`,
    'client-secret': `Client secret of ${clientId} for ${origin}, to be sent to ${tokenUrl}`,
  }[kind];
  const complete = (given: string, user = settings.apiUser?.value): OriginCredentials => {
    const secret = checkedSecret(given, `the ${kind}`);
    if (kind === 'api-key') return {apiKey: {key: secret, user}};
    if (kind === 'api-token') return {api: {kind, token: secret}};
    return {api: {kind, clientId, clientSecret: secret, tokenUrl}};
  };
  const {output} = context;
  return {
    what: kind,
    shown: describeSettings(settings, addresses, context.cwd),
    origin,
    addresses,
    prompt,
    complete,
    file: fromFile.map((key) => settings[key]?.source.name)[0] ?? '',
    configured: fromFile.map((key) => ({
      url: urls[key],
      flag: `--${String(definitions[key].flag?.name)} ${shellLine(urls[key])}`,
      variable: variableOf(key),
    })),
    async ask() {
      const other = kind === 'api-key' && canAsk(context) ? await takeOverKey(url, context) : undefined;
      return other === undefined
        ? complete(await readSecretInput(prompt, context))
        : complete(other.apiKey, other.apiUser);
    },
    secretsOf: ({apiKey, api}) =>
      [apiKey?.key, api?.kind === 'client-secret' ? api.clientSecret : api?.token].flatMap((secret) => secret ?? []),
    async verify(credentials) {
      const backend = isApi ? 'api' : 'legacy';
      const {asked, expiresAt} = await askService(context, withCredentials(settings, credentials), backend);
      if (asked) output.outcome(`${origin} accepted the ${credentialWords[kind]}.`);
      else output.warn('The token was not checked. To check it, pass --organization and --project.');
      return {accepted: asked, expiresAt};
    },
    describe: () => `the ${kind} for ${origin}`,
    store({origins, last, ...others}, credentials) {
      const api = {origin: url, organizationId: settings.organizationId?.value};
      return {
        ...others,
        origins: {...origins, [origin]: {...origins[origin], ...credentials}},
        last: isApi ? {...last, api, backend: 'api'} : {...last, legacy: url, backend: 'legacy'},
      };
    },
  };
}

function checkedUrl(context: CommandContext, settings: Settings, key: BuiltInLogin['addresses'][number]): string {
  const value = requireSetting(settings, key);
  const name = settings[key]?.source.name ?? key;
  // A token endpoint may have a query.
  const url = key === 'tokenUrl' ? parseServiceUrl(name, value).href : normalizeOrigin(name, value);
  checkCredentialsUrl(context, url, name);
  return url;
}

/**
 * Determines what a login to a plugin's backend is for.
 * @throws RuntimeCliError `ERR_ORIGIN_UNTRUSTED` for an origin that `MYCLI_TRUSTED_ORIGINS` does not list.
 */
export function pluginLogin(
  context: CommandContext,
  settings: Settings,
  registration: BackendRegistration,
): Login<BackendCredentials> {
  const {name, backend} = registration;
  const {output, env, signal} = context;
  const given = optionsFor(registration, settings);
  const configured = Object.entries(given)
    .filter(([, value]) => !(value instanceof OptionText))
    .flatMap(([option, value]) => urlsIn(value, option).map((url) => ({option, url})));
  for (const {option, url} of configured) assertTrustedOrigin(url, `the option ${option}`, env);
  const sources = [settings.backendOptions, ...Object.values(settings)].map((setting) => setting?.source);
  return {
    what: `secrets of the ${name} backend`,
    shown: [],
    configured: configured.map(({option, url}) => ({url, flag: `--backend-option ${option}=ADDRESS`})),
    file: sources.find((source) => source?.kind === 'config')?.name ?? 'the configuration file',
    async ask() {
      const values = backend.login === undefined ? await askForSecrets(backend, context) : await logInItself();
      return {options: Object.keys(values), values: {...values}, origins: [...originsIn(given)]};
    },
    secretsOf: ({values}) => Object.values(values),
    async verify({values}) {
      if (backend.verify === undefined) return {accepted: false};
      const {options, variables} = partitioned(values, backend.secretEnv ?? []);
      try {
        const result = await askPlugin(context, settings, {backend, options: {...given, ...options}, variables});
        if (result === undefined) return {accepted: false};
        const owner = result.account === undefined ? '' : ` of ${result.account}`;
        output.outcome(`The service of the ${name} backend accepted the credentials${owner}.`);
        return {accepted: true, account: result.account};
      } catch (error) {
        // Without its other options it cannot be asked yet.
        if (!isRuntimeCliError(error) || error.details?.['missing'] === undefined) throw error;
        output.warn(`The credentials were not checked. ${error.message}`);
        return {accepted: false};
      }
    },
    describe: ({options}) => `${options.join(', ')} for the ${name} backend`,
    store: (stored, credentials) => ({...stored, backends: {...stored.backends, [name]: credentials}}),
  };

  async function logInItself() {
    const operations = await import('../../operations/identify.js');
    const call = {backend, backendOptions: given, requestTimeout: settings.requestTimeout.value, signal};
    return operations.logIn({...call, ...loginDialogue(backend, context)}, commandHost(context));
  }
}

/**
 * Asks for the secrets of a backend: its options, or its variables if it has no such options. In a terminal without
 * echo, where an empty answer skips one, or on stdin, a line for each, or all of it for a single one.
 * @throws RuntimeCliError `ERR_OPTION_INVALID` when there is none.
 */
async function askForSecrets(
  {name: backend, secrets = [], secretEnv = []}: Pick<Backend, 'name' | 'secrets' | 'secretEnv'>,
  context: CommandContext,
): Promise<Readonly<Record<string, string>>> {
  const {stdin, signal} = context;
  const names = secrets.length > 0 ? secrets : secretEnv;
  if (names.length === 0) {
    throw createError('ERR_USAGE', `The ${backend} backend has no secrets to store.`, {
      suggestions: ['Set its options with --backend-option or in the configuration file.'],
    });
  }
  const answers: string[] = [];
  if (stdin.isTTY || names.length === 1) {
    for (const name of names) answers.push(await readSecretInput(`${name} of the ${backend} backend`, context));
  } else for await (const line of createInterface({input: stdin, signal})) answers.push(line);
  const entries = names.map((name, index) => [name, (answers[index] ?? '').trim()] as const);
  const given = entries.filter(([, value]) => value !== '');
  if (given.length > 0) return Object.fromEntries(given);
  throw createError('ERR_OPTION_INVALID', `No value was entered for ${names.join(', ')}.`);
}

/** What a backend's own login talks to the user with. */
export function loginDialogue(
  {name: backend, secrets = [], secretEnv = []}: Pick<Backend, 'name' | 'secrets' | 'secretEnv'>,
  context: Pick<CommandContext, 'env' | 'output' | 'stdin' | 'signal'>,
): Pick<BackendLoginContext, 'prompt' | 'openUrl'> {
  const {env, output} = context;
  return {
    async prompt({message: question, secret = false}) {
      if (!canAsk(context)) {
        const ways = [
          ...(secrets.length === 0
            ? []
            : [`MYCLI_BACKEND_OPTION to ${secrets.map((name) => `${name}=...`).join(',')}`]),
          ...(secretEnv.length === 0 ? [] : [secretEnv.join(' and ')]),
        ];
        const message = `The ${backend} backend asks for "${question}", but there is no terminal to ask in.`;
        throw createError('ERR_USAGE', message, {
          suggestions: [['In a terminal, run: ', loginCommand(backend)], `In CI, set ${ways.join(', or ')}.`],
        });
      }
      const answer = await (secret
        ? readSecretInput(question, context)
        : askText({text: question, fallback: ''}, context));
      const entered = answer.trim();
      if (entered === '') throw createError('ERR_OPTION_INVALID', `No value was entered for "${question}".`);
      if (secret) output.addSecrets([entered]);
      return entered;
    },
    async openUrl(given) {
      const url = shownUrl(String(given));
      if (url === undefined) throw new TypeError('openUrl() takes an http or https URL');
      const opened = output.terminal && (await openBrowser(url, env));
      // What is cleaned has no query, which the page needs.
      const isSecret = output.secrets.some((secret) => secret.length >= 4 && url.includes(secret));
      // With --quiet too: nothing goes on without it.
      const shown = isSecret ? output.clean(url) : url;
      output.stream.write(`${opened ? 'Opened in your browser' : 'Open this URL in a browser'}: ${shown}\n`);
    },
  };
}
