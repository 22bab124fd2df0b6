import {createInterface} from 'node:readline';
import {shownUrl} from '../../backends/answers.js';
import type {Backend, BackendLoginContext, VerifyResult} from '../../backends/contract.js';
import {OptionText} from '../../backends/option-text.js';
import {isBuiltIn} from '../../backends/select.js';
import {amendError, createError, isRuntimeCliError} from '../../errors/index.js';
import {commandLine, flagValue} from '../../errors/suggest.js';
import type {CommandToRun} from '../../errors/suggestion.js';
import type {Environment} from '../../http/types.js';
import {assertTrustedOrigin} from '../settings/connection.js';
import type {CommandContext} from '../command/command-context.js';
import {canAsk, Interview, readSecretInput} from './prompts.js';
import type {Settings} from '../settings/settings.js';
import {
  credentialPath,
  readCredentials,
  updateCredentials,
  type CredentialFile,
  type StoredCredentials,
} from '../settings/credential-file.js';
import {askPlugin, type PluginCredentials} from './check-credentials.js';
import {confirmConfigured} from './login.js';

/** Options of a backend, by name. */
type Options = Readonly<Record<string, unknown>>;
/** Values of secret options and variables of a backend, by name. */
export type Secrets = Readonly<Record<string, string>>;

/** Whether a value of `--runtime-backend` names a plugin's backend. */
export function isPluginBackend(name: string): boolean {
  return name !== 'auto' && !isBuiltIn(name);
}

/** The command that stores the secrets of a backend. */
function loginCommand(backend: string): CommandToRun {
  return {run: ['auth:login', ...flagValue('--runtime-backend', backend)]};
}

/**
 * The addresses in options, as http(s) URLs: all that `new URL()` takes for one, whatever the option is called, such as
 * `http:/host`, also relative to another URL; and hosts.
 * @param name of the option
 */
function urlsIn(options: unknown, name = ''): readonly string[] {
  const value = options instanceof OptionText ? options.shown : options;
  if (typeof value === 'string') {
    // URLs are parsed without these characters.
    const isHost = /^[\\/]{2}/.test(value.replaceAll(/[\t\n\r]|^[\p{Cc} ]+/gu, ''));
    const base = isHost ? 'https://host.invalid' : undefined;
    const url = URL.canParse(value, base) ? new URL(value, base) : undefined;
    return url && /^https?:$/.test(url.protocol) ? [url.href] : hostsIn(value, name);
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => urlsIn(member, Array.isArray(value) ? name : key));
}

/** What options are called whose value is a host, even if it looks like any other word. */
const hostOption = /host|server|domain|origin|endpoint|address|url|uri|gateway|proxy/i;
/** Files whose extension is no top-level domain. */
const fileName = /\.(?:json|ya?ml|[cm]?js|tar|t?gz|pem|crt|toml|txt)$/i;

/**
 * The URL of a host, with or without a port and a path, if a text is one. Rather too often than too seldom: a secret
 * that is taken for one of another address is asked for again, otherwise it would be sent there.
 */
function hostsIn(text: string, option: string): readonly string[] {
  const url = `https://${text}`;
  if (text.trim() === '' || !URL.canParse(url)) return [];
  // Without the user and password, and as parsed: other characters are dots, too.
  const {hostname, origin} = new URL(url);
  const isDotted = /^[^.].*\.|:/.test(hostname) && !fileName.test(hostname) && !/^\d+$/.test(text.trim());
  const hasPort = /^[^\\/?#]+:\d+(?:[\\/?#]|$)/.test(text.trim());
  return isDotted || hasPort || hostname === 'localhost' || hostOption.test(option) ? [`${origin}/`] : [];
}

/** The origins of the URLs and hosts in options. */
export function originsIn(options: unknown): readonly string[] {
  return [...new Set(urlsIn(options).map((url) => new URL(url).origin))];
}

/**
 * The secrets that `auth:login` stored for a backend. They are used as a whole or not at all: not if one of them comes
 * from elsewhere, and not with options that name another address than at the login.
 * @param given the options from all other sources
 */
export async function storedSecrets(
  {name: backend, secretEnv = []}: Pick<Backend, 'name' | 'secretEnv'>,
  given: Options,
  env: Environment,
  file: CredentialFile,
): Promise<Secrets | undefined> {
  const {backends = {}} = await readCredentials(file);
  const stored = backends[backend];
  const isGiven = (name: string) => (secretEnv.includes(name) ? Boolean(env[name]?.trim()) : given[name] !== undefined);
  if (stored === undefined || stored.options.some(isGiven)) return undefined;
  const other = originsIn(given).find((origin) => !stored.origins.includes(origin));
  if (other !== undefined) {
    file.warn(
      `The secrets stored for the ${backend} backend are not used, because they were not stored for ${other}. ` +
        `To store them for it, run: ${commandLine(...loginCommand(backend).run)}`,
    );
    return undefined;
  }
  return stored.values;
}

/**
 * Has the addresses confirmed that the secrets of a backend would go to, if only the configuration file names them.
 * @param given the options of the backend
 * @throws RuntimeCliError as `confirmConfigured`; `ERR_ORIGIN_UNTRUSTED` for an origin that `MYCLI_TRUSTED_ORIGINS`
 * does not list.
 */
export async function confirmBackendAddresses(
  context: CommandContext,
  settings: Settings,
  backend: string,
  given: Options,
): Promise<void> {
  const addresses = Object.entries(given)
    .filter(([, value]) => !(value instanceof OptionText))
    .flatMap(([option, value]) => urlsIn(value, option).map((url) => ({option, url})));
  if (addresses.length === 0) return;
  for (const {option, url} of addresses) assertTrustedOrigin(url, `the option ${option}`, context.env);
  const sources = [settings.backendOptions, ...Object.values(settings)].map((setting) => setting?.source);
  const file = sources.find((source) => source?.kind === 'config')?.name ?? 'the configuration file';
  const advice = (unsaid: readonly {readonly option: string}[]) => {
    const flags = [...new Set(unsaid.map(({option}) => option))].map((option) => `--backend-option ${option}=ADDRESS`);
    return `pass ${flags.join(' ')}`;
  };
  await confirmConfigured(
    context,
    {what: `secrets of the ${backend} backend`, file, addresses, advice},
    canAsk(context),
  );
}

/**
 * Asks for the secrets of a backend: its options, or its variables if it has no such options. In a terminal without
 * echo, where an empty answer skips one, or on stdin, a line for each, or all of it for a single one.
 * @throws RuntimeCliError `ERR_OPTION_INVALID` when there is none.
 */
export async function askForSecrets(
  {name: backend, secrets = [], secretEnv = []}: Pick<Backend, 'name' | 'secrets' | 'secretEnv'>,
  {stdin, output, signal}: CommandContext,
): Promise<Secrets> {
  const names = secrets.length > 0 ? secrets : secretEnv;
  if (names.length === 0) {
    throw createError('ERR_USAGE', `The ${backend} backend has no secrets to store.`, {
      suggestions: ['Set its options with --backend-option or in the configuration file.'],
    });
  }
  const answers: string[] = [];
  if (stdin.isTTY || names.length === 1) {
    for (const name of names) {
      const prompt = output.clean(`${name} of the ${backend} backend`);
      answers.push(await readSecretInput({stdin, stream: output.stream, prompt, signal}));
    }
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
  const {env, output, stdin, signal} = context;
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
      const answer = secret
        ? await readSecretInput({stdin, stream: output.stream, prompt: output.clean(question), signal})
        : await askOnce(question, context);
      const entered = answer.trim();
      if (entered === '') throw createError('ERR_OPTION_INVALID', `No value was entered for "${question}".`);
      if (secret) output.addSecrets([entered]);
      return entered;
    },
    async openUrl(given) {
      const url = shownUrl(String(given));
      if (url === undefined) throw new TypeError('openUrl() takes an http or https URL');
      const {openBrowser} = await import('../command/open-browser.js');
      const opened = output.terminal && (await openBrowser(url, {env}));
      // What is cleaned has no query, which the page needs.
      const shown = output.secrets.some((secret) => secret.length >= 4 && url.includes(secret))
        ? output.clean(url)
        : url;
      // With --quiet too: nothing goes on without it.
      output.stream.write(`${opened ? 'Opened in your browser' : 'Open this URL in a browser'}: ${shown}\n`);
    },
  };
}

async function askOnce(text: string, context: Pick<CommandContext, 'output' | 'stdin' | 'signal'>): Promise<string> {
  const questions = new Interview(context);
  try {
    return await questions.ask({text, fallback: ''});
  } finally {
    questions.close();
  }
}

/**
 * Asks the service of a backend whether it accepts newly entered secrets. Resolves to undefined if it cannot be asked
 * yet, or at all.
 * @throws RuntimeCliError when it refuses them or cannot be reached.
 */
export async function verifyBackendLogin(
  context: CommandContext,
  settings: Settings,
  credentials: PluginCredentials,
): Promise<VerifyResult | undefined> {
  const {name, verify} = credentials.backend;
  if (verify === undefined) return undefined;
  try {
    const result = await askPlugin(context, settings, credentials);
    const owner = result?.account === undefined ? '' : ` of ${result.account}`;
    context.output.outcome(`The service of the ${name} backend accepted the credentials${owner}.`);
    return result;
  } catch (error) {
    if (!isRuntimeCliError(error)) throw error;
    if (error.details?.['missing'] === undefined) {
      throw amendError(error, {suggestions: ['Nothing was stored. Pass --no-verify to store credentials unchecked.']});
    }
    context.output.warn(`The credentials were not checked. ${error.message}`);
    return undefined;
  }
}

/** Stores the secrets of a backend, and tells so. */
export async function storeBackendSecrets(
  {output, credentialFile}: CommandContext,
  backend: string,
  secrets: Secrets,
  origins: readonly string[],
) {
  const options = Object.keys(secrets);
  const credentials = {options, origins: [...origins], values: {...secrets}};
  await updateCredentials(credentialFile, (stored) => ({
    ...stored,
    backends: {...stored.backends, [backend]: credentials},
  }));
  const file = credentialPath(credentialFile);
  output.result(`Stored ${options.join(', ')} for the ${backend} backend in ${file}.`);
  return {backend, options, file};
}

/** Removes the stored secrets of backends. Resolves to the names of those that had some. */
export async function removeBackendSecrets(
  {output, credentialFile}: Pick<CommandContext, 'output' | 'credentialFile'>,
  backends: readonly string[],
): Promise<readonly string[]> {
  const {backends: stored = {}} = await readCredentials(credentialFile);
  const removed = backends.filter((name) => stored[name] !== undefined);
  if (removed.length === 0) return removed;
  await updateCredentials(credentialFile, (now) => {
    const kept = Object.entries(now.backends ?? {}).filter(([name]) => !removed.includes(name));
    return {...now, backends: Object.fromEntries(kept)};
  });
  for (const name of removed) output.outcome(`Removed the secrets for the ${name} backend.`);
  return removed;
}

/** The stored secrets of a plugin's backend, without their values. */
export interface BackendEntry {
  readonly backend: string;
  /** Names of the options and variables. */
  readonly options: readonly string[];
  /** Origins that the other options named at the login. The secrets are used with no others. */
  readonly origins: readonly string[];
}

/** The stored secrets of plugins' backends, without their values. */
export function backendEntries({backends = {}}: StoredCredentials): readonly BackendEntry[] {
  return Object.entries(backends).map(([backend, {options, origins}]) => ({backend, options, origins}));
}

/** `acme: token, for https://acme.example` */
export function describeBackendEntry({backend, options, origins}: BackendEntry): string {
  const place = origins.length === 0 ? '' : `, for ${origins.join(', ')}`;
  return `${backend}: ${options.join(', ')}${place}`;
}
