import {createInterface} from 'node:readline';
import {shownUrl} from '../../backends/answers.js';
import {optionSuggestions} from '../../backends/resolve-backend.js';
import type {Backend, BackendLoginContext} from '../../backends/contract.js';
import type {HostBackend} from '../../backends/host-backend.js';
import type {BackendRegistration} from '../../backends/registry.js';
import {isBuiltIn, type BuiltInName} from '../../backends/names.js';
import {amendError, createError, isRuntimeCliError, type RuntimeCliError} from '../../errors/index.js';
import {refusedCredentials} from '../../errors/suggestion.js';
import {shellLine} from '../../text/suggest.js';
import {definitions, type SettingKey} from '../../settings/definitions.js';
import type {CommandContext} from '../command/command-context.js';
import type {StoredLogin} from '../output/documents.js';
import {addressOf} from '../settings/connection-options.js';
import {
  credentialKind,
  credentialPath,
  credentialRows,
  readCredentials,
  updateCredentials,
  type CredentialKind,
  type OriginCredentials,
  type StoredCredentials,
} from '../settings/credential-file.js';
import {checkedSecret, credentialSettings, keyFileIn, originOf} from '../settings/load-settings.js';
import {loadAllBackends} from '../settings/load-backends.js';
import {
  divideSecrets,
  loginOrigins,
  optionsFor,
  readPluginSettings,
  readSecretFlags,
  type PluginSettings,
} from '../settings/plugin-settings.js';
import {readBackend} from '../settings/reach-backends.js';
import {describeSettings, flagUsage, missingSetting, type Settings} from '../settings/settings.js';
import {confirmDestinations, pluginDestinations, type Destination} from './confirm-addresses.js';
import {aboutCredentials, askService, isRefusal} from './check-credentials.js';
import {takeOver, type ImportMode} from './take-over.js';
import {askForOrganization, askForService} from './interview.js';
import {askText, askYesNo, canAsk, enterOrPipe, openBrowser, pipeSecret, readSecretInput} from './prompts.js';

/** What a login is for: a service of a built-in backend, or that of a plugin's. */
interface Login {
  readonly shown: readonly string[];
  /** The addresses that only a configuration file sets. */
  readonly configured: readonly Destination[];
  readonly ask: () => Promise<Entered>;
}

type Verified = Pick<StoredLogin, 'verified' | 'account' | 'expiresAt'>;

interface Entered {
  readonly facts: Pick<StoredLogin, 'origin' | 'backend' | 'options' | 'kind'>;
  readonly secrets: readonly string[];
  /** Completes "Stored ... in FILE". */
  readonly label: string;
  /** The backend whose service is asked. Undefined if it cannot be asked. */
  readonly backend: HostBackend | BuiltInName | undefined;
  readonly used?: Partial<PluginSettings>;
  readonly settings: Settings;
  readonly accepted: string;
  readonly store: (stored: StoredCredentials) => StoredCredentials;
}

export async function runLogin(context: CommandContext, login: Login, verifies: boolean) {
  await confirmConfigured(context, login, canAsk(context));
  const entered = await login.ask();
  const verified = await verifyAndStore(context, entered, verifies);
  return {...entered.facts, file: credentialPath(context.credentialFile), ...verified};
}

/** Shows where secrets would go, and has addresses confirmed that only a configuration file sets. */
async function confirmConfigured(context: CommandContext, {configured, shown}: Login, asks: boolean) {
  for (const line of shown) context.output.info(line);
  await confirmDestinations(context, configured, {asks, afterLogin: false});
}

async function verifyAndStore(context: CommandContext, entered: Entered, verifies: boolean): Promise<Verified> {
  const {output, credentialFile, signal} = context;
  output.addSecrets(entered.secrets);
  const verified = verifies ? await verify(context, entered).catch(refuse(entered)) : {verified: false};
  signal.throwIfAborted();
  await updateCredentials(credentialFile, entered.store);
  output.outcome(`Stored ${entered.label} in ${credentialPath(credentialFile)}.`);
  return verified;
}

async function verify(context: CommandContext, {backend, used, settings, accepted}: Entered): Promise<Verified> {
  const {output} = context;
  if (backend === undefined) return {verified: false};
  try {
    const configured = await readBackend(context, settings, backend, used);
    const {status, user, expiresAt, reason = '', suggestions = []} = await askService(context, settings, configured);
    const verified = status === 'accepted';
    if (verified) output.outcome(`${accepted}${user === undefined ? '' : ` of ${user}`}.`);
    else output.warn(`The credentials were not checked. ${reason}`, suggestions);
    return {verified, account: user, expiresAt};
  } catch (error) {
    // Without its other options, the backend of a plugin cannot be asked yet.
    if (!isRuntimeCliError(error) || error.details?.['missing'] === undefined) throw error;
    output.warn(`The credentials were not checked. ${error.message}`);
    return {verified: false};
  }
}

function refuse({label}: Entered) {
  return (error: unknown): never => {
    if (!isRuntimeCliError(error)) throw error;
    const others = error.advice.filter((each) => each !== refusedCredentials);
    const again = others.length < error.advice.length ? `Check ${label} and log in again` : 'Log in again';
    const stored = `Nothing was stored. ${again}, or pass --no-verify to store credentials unchecked.`;
    throw amendError(error, {advice: [...others, stored]});
  };
}

export function builtInLogin(context: CommandContext, settings: Settings, kind: CredentialKind) {
  const {setting, backend, addresses} = credentialRows[kind];
  const [service] = addresses;
  const need = <K extends SettingKey>(key: K): NonNullable<Settings[K]> => {
    const {[key]: setting} = settings;
    if (setting === undefined) throw missingSetting(key, flagUsage(definitions[key].flag));
    return setting;
  };
  const [url = '', tokenUrl = ''] = addresses.map((key) => addressOf(context, key, need(key), true));
  const {origin} = new URL(url);
  const {label} = definitions[setting];
  const clientId = kind === 'client-secret' ? need('clientId').value : '';
  const prompt =
    kind === 'client-secret'
      ? `Client secret of ${clientId} for ${origin}, sent to ${tokenUrl}`
      : `${label} for ${origin}`;
  const enter = (input: string): Entered => {
    const keyFile = kind === 'api-key' ? keyFileIn(input) : undefined;
    const secret = checkedSecret(keyFile?.key ?? input, `the ${label}`, [pipeSecret(kind, enterOrPipe)]);
    const organizationId = settings.organizationId?.value;
    const scopes = settings.scopes?.value;
    const credentials: OriginCredentials = {
      'api-key': {apiKey: {key: secret, user: settings.apiUser?.value ?? keyFile?.user}},
      'api-token': {api: {kind: 'api-token' as const, organizationId, token: secret}},
      'client-secret': {
        api: {kind: 'client-secret' as const, organizationId, clientId, clientSecret: secret, tokenUrl, scopes},
      },
    }[kind];
    const {legacy, api} = credentialSettings(credentials, {kind: 'stored', name: 'mycli login'});
    return {
      facts: {origin, kind},
      secrets: [secret],
      label: `the ${label} for ${origin}`,
      backend,
      settings: aboutCredentials({...settings, [service]: {...settings[service], value: url}, ...legacy, ...api}),
      accepted: `${origin} accepted the ${label}`,
      store({origins, last, ...others}) {
        return {
          ...others,
          origins: {...origins, [origin]: {...origins[origin], ...credentials}},
          last: {...last, ...(backend === 'api' ? {api: {origin: url}} : {legacy: url}), backend},
        };
      },
    };
  };
  return {
    shown: describeSettings(settings, addresses, context.cwd),
    prompt,
    enter,
    configured: addresses.flatMap((key) => {
      const {source} = settings[key] ?? {};
      const address = key === 'tokenUrl' ? tokenUrl : url;
      if (source?.kind !== 'config') return [];
      const trusting = `pass --${String(definitions[key].flag?.name)} ${shellLine(address)}`;
      return [{url: address, file: source.name, secret: label, trusting}];
    }),
    ask: async () => enter(await readSecretInput(prompt, context, pipeSecret(kind))),
  };
}

/** Adds the organization, which a push needs: that of an earlier login to the same origin, or of an answer. */
export async function withOrganization(context: CommandContext, settings: Settings): Promise<Settings> {
  if (settings.organizationId !== undefined) return settings;
  const {origins} = await readCredentials(context.credentialFile);
  const known = origins[originOf(settings.apiOrigin) ?? '']?.api?.organizationId;
  if (known !== undefined)
    return {...settings, organizationId: {value: known, source: {kind: 'stored', name: 'mycli login'}}};
  return canAsk(context) ? askForOrganization(context, settings) : settings;
}

/** A login with what other clients have stored, which is shown. Its kind depends on what they have. */
export async function importedLogin(
  context: CommandContext,
  settings: Settings,
  kindOf: (settings: Settings) => CredentialKind,
): Promise<Login> {
  const own = {apiKey: undefined, clientSecret: undefined, apiToken: undefined};
  const imported = await takeOver(context, {...settings, ...own}, 'all');
  const kind = kindOf(imported);
  const {setting} = credentialRows[kind];
  const {[setting]: secret} = imported;
  if (secret === undefined) {
    const message = `No other client has stored the ${definitions[setting].label}.`;
    throw createError('ERR_CREDENTIALS_MISSING', message, {suggestions: [pipeSecret(kind, enterOrPipe)]});
  }
  const complete = kind === 'api-key' ? imported : await withOrganization(context, imported);
  const login = builtInLogin(context, complete, kind);
  return {...login, ask: () => Promise.resolve(login.enter(secret.value.reveal()))};
}

export function pluginLogin(context: CommandContext, settings: Settings, registration: BackendRegistration): Login {
  const {name, backend} = registration;
  const {output, signal} = context;
  const given = optionsFor(registration, settings);
  const configured = pluginDestinations(context, given, `secrets of the ${name} backend`);
  const enter = (values: Readonly<Record<string, string>>): Entered => {
    const options = Object.keys(values);
    const {variables, options: secrets} = divideSecrets(values, backend.secretEnv ?? []);
    const credentials = {options, values: {...values}, origins: [...loginOrigins(backend.secrets ?? [], given)]};
    return {
      facts: {backend: name, options, kind: 'options'},
      secrets: Object.values(values),
      label: `${options.join(', ')} for the ${name} backend`,
      backend: backend.verify && backend,
      used: {options: {...given, ...secrets}, variables},
      settings,
      accepted: `The service of the ${name} backend accepted the credentials`,
      store(stored) {
        const other = stored.backends?.[name]?.origins.find((origin) => !credentials.origins.includes(origin));
        if (other !== undefined)
          output.warn(
            `The credentials stored for ${other} are replaced: mycli keeps one login for each plugin's backend.`,
          );
        return {...stored, backends: {...stored.backends, [name]: credentials}};
      },
    };
  };
  return {
    shown: [],
    configured,
    async ask() {
      if (backend.login === undefined) return enter(await askForSecrets(backend, context));
      const operations = await import('../../operations/identify.js');
      const {options, resolved} = await readBackend(context, settings, backend, {options: given});
      const call = {...options, ...loginDialogue(backend, context), signal};
      return enter(await operations.logIn(resolved, call, context.host()));
    },
  };
}

type SecretNames = Pick<Backend, 'name' | 'secrets' | 'secretEnv'>;

/** Asks for the secrets of a backend that no flag sets: in a terminal one by one, on stdin one on each line. */
async function askForSecrets(
  {name: backend, secrets = [], secretEnv = []}: SecretNames,
  context: CommandContext,
): Promise<Readonly<Record<string, string>>> {
  const {stdin, signal} = context;
  const names = secrets.length > 0 ? secrets : secretEnv;
  if (names.length === 0) {
    throw createError('ERR_USAGE', `The ${backend} backend has no secrets to store.`, {
      suggestions: ['Set its options with --backend-option or in the configuration file.'],
    });
  }
  const typed = await readSecretFlags(secrets, context);
  const open = names.filter((name) => typed[name] === undefined);
  const answers: string[] = [];
  if (stdin.isTTY || open.length <= 1) {
    for (const name of open)
      answers.push(await readSecretInput(`${name} of the ${backend} backend`, context, undefined, true));
  } else for await (const line of createInterface({input: stdin, signal})) answers.push(line);
  const asked = open.map((name, index) => [name, (answers[index] ?? '').trim()] as const);
  const given = [...Object.entries(typed).map(([name, {text}]) => [name, text] as const), ...asked].filter(
    ([, value]) => value !== '',
  );
  if (given.length > 0) return Object.fromEntries(given);
  throw createError('ERR_OPTION_INVALID', `No value was entered for ${names.join(', ')}.`);
}

export function loginDialogue(
  backend: SecretNames,
  context: Pick<CommandContext, 'env' | 'output' | 'stdin' | 'signal'>,
): Pick<BackendLoginContext, 'prompt' | 'openUrl'> {
  const {name, secrets = [], secretEnv = []} = backend;
  const {env, output} = context;
  return {
    async prompt({message: text, secret = false}) {
      if (!canAsk(context)) {
        const message = `The ${name} backend asks for "${text}", but there is no terminal to ask in.`;
        throw createError('ERR_USAGE', message, {suggestions: optionSuggestions(backend, [...secrets, ...secretEnv])});
      }
      const answer = secret ? await readSecretInput(text, context) : await askText({text, fallback: ''}, context);
      const entered = answer.trim();
      if (entered === '') throw createError('ERR_OPTION_INVALID', `No value was entered for "${text}".`);
      if (secret) output.addSecrets([entered]);
      return entered;
    },
    async openUrl(given) {
      const url = shownUrl(String(given));
      if (url === undefined) throw new TypeError('openUrl() takes an http or https URL');
      const opened = output.interactive && (await openBrowser(url, env));
      // What is cleaned has no query, which the page needs.
      const isSecret = output.secrets.some((secret) => secret.length >= 4 && url.includes(secret));
      // With --quiet too: nothing goes on without it.
      const shown = isSecret ? output.clean(url) : url;
      output.stream.write(`${opened ? 'Opened in your browser' : 'Open this URL in a browser'}: ${shown}\n`);
    },
  };
}

export interface ProjectSetup {
  /** Whether the user can be asked. Otherwise, what the questions suggest is taken. */
  readonly asks: boolean;
  readonly verify: boolean;
  readonly mode: ImportMode;
}

export type StoredKind = StoredLogin['kind'];

/** Logs in to the backend of a plugin, if it has secrets of which none is set. */
async function signInToPlugin(
  context: CommandContext,
  settings: Settings,
  name: string,
  verifies: boolean,
): Promise<StoredKind | undefined> {
  const registration = (await loadAllBackends(context, settings)).find(name);
  const {secrets = [], secretEnv = []} = registration.backend;
  const {source} = await readPluginSettings(registration, context, settings);
  if (source !== undefined || secrets.length + secretEnv.length === 0) return undefined;
  if (!(await askYesNo(`Log in to the ${name} backend now?`, true, context))) return undefined;
  try {
    return (await runLogin(context, pluginLogin(context, settings, registration), verifies)).kind;
  } catch (error) {
    tellFailure(context, error);
    return undefined;
  }
}

/** Says why a login of a new project failed, so that no answer is lost. Rethrows what no other answer can fix. */
function tellFailure({output, signal}: CommandContext, error: unknown): RuntimeCliError {
  const ends = ['ERR_INTERRUPTED', 'ERR_OUTPUT', 'ERR_USAGE'];
  if (signal.aborted || !isRuntimeCliError(error) || ends.includes(error.code)) throw error;
  output.error(error.message, error.code === 'ERR_OPTION_INVALID' ? error.advice : []);
  return error;
}

/** The settings of a new project, of which answers may have been corrected. */
interface SignedIn {
  readonly answers: Settings;
  /** Undefined if no credentials were stored. */
  readonly stored?: StoredKind | undefined;
}

/**
 * Stores the credentials of a new project once the service accepts them. In a terminal, asks again for wrong ones, and
 * for what was answered about the service.
 */
export async function signIn(
  context: CommandContext,
  settings: Settings,
  backend: string,
  {asks, verify}: ProjectSetup,
): Promise<SignedIn> {
  if (!isBuiltIn(backend))
    return {answers: settings, stored: asks ? await signInToPlugin(context, settings, backend, verify) : undefined};
  const kind = credentialKind(backend, settings);
  const {setting} = credentialRows[kind];
  const {[setting]: secret} = settings;
  const {label} = definitions[setting];
  if (secret?.source.kind === 'stored' || (secret === undefined && !asks)) return {answers: settings};
  if (secret?.source.kind === 'environment') {
    const question = `Save this ${label} for later shells?`;
    if (!asks || !(await askYesNo(question, true, context))) return {answers: settings};
  }
  await confirmConfigured(context, builtInLogin(context, settings, kind), asks);
  let answers = settings;
  let input = secret?.value.reveal();
  let verifies = verify;
  for (;;) {
    const login = builtInLogin(context, answers, kind);
    try {
      input ??= await readSecretInput(`${login.prompt} (hidden, empty to skip)`, context, pipeSecret(kind), true);
      if (asks && input.trim() === '') return {answers};
      await verifyAndStore(context, login.enter(input), verifies);
      return {answers, stored: kind};
    } catch (error) {
      if (!asks) throw error;
      const failure = tellFailure(context, error);
      const isUnfit = failure.code === 'ERR_OPTION_INVALID';
      const isWrong = isRefusal(failure) || isUnfit;
      if (!isWrong && (await askYesNo(`Store the ${label} without checking it?`, false, context))) verifies = false;
      else {
        input = undefined;
        if (!isUnfit) answers = await askForService(context, answers, backend);
      }
    }
  }
}
