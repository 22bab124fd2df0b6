import {createInterface} from 'node:readline';
import * as v from 'valibot';
import type {Backend} from '../../backends/contract.js';
import {OptionText} from '../../backends/option-text.js';
import {isBuiltIn} from '../../backends/select.js';
import {createError} from '../../errors/index.js';
import {parseJson} from '../../errors/json.js';
import {commandLine, flagValue} from '../../errors/suggest.js';
import {assertTrustedOrigin, trustsListedOrigins} from '../backends/connection.js';
import type {CommandContext} from '../command/command-context.js';
import {canAsk, confirm, readSecretInput} from '../command/prompts.js';
import {
  credentialPath,
  readCredentials,
  updateCredentials,
  type CredentialFile,
  type StoredCredentials,
} from './credential-file.js';

/** Options of a backend, by name. */
type Options = Readonly<Record<string, unknown>>;
/** Secret options of a backend, by name. */
export type SecretOptions = Readonly<Record<string, string>>;

/** Whether a value of `--runtime-backend` names a plugin's backend. */
export function isPluginBackend(name: string): boolean {
  return name !== 'auto' && !isBuiltIn(name);
}

/** The command that stores the secrets of a backend. */
function loginCommand(backend: string): string {
  return commandLine('auth:login', ...flagValue('--runtime-backend', backend));
}

/** What the keychain calls the secrets of a plugin's backend. */
function accountOf(backend: string): string {
  return `backend ${backend}`;
}

/** The origins of the URLs in options, whatever they are called. */
export function originsIn(options: unknown): readonly string[] {
  const value = options instanceof OptionText ? options.shown : options;
  if (typeof value === 'string') {
    const url = /^https?:\/\//i.test(value.trim()) && URL.canParse(value.trim()) ? new URL(value.trim()) : undefined;
    return url === undefined ? [] : [url.origin];
  }
  if (typeof value !== 'object' || value === null) return [];
  return [...new Set(Object.values(value).flatMap(originsIn))];
}

/**
 * The secrets that `auth:login` stored for a backend. They are used as a whole or not at all: not if one of them comes
 * from elsewhere, and not with options that name another address than at the login.
 * @param given the options from all other sources
 */
export async function storedOptions(
  backend: string,
  given: Options,
  file: CredentialFile,
): Promise<SecretOptions | undefined> {
  const {backends = {}} = await readCredentials(file);
  const stored = backends[backend];
  if (stored === undefined || stored.options.some((name) => given[name] !== undefined)) return undefined;
  const other = originsIn(given).find((origin) => !stored.origins.includes(origin));
  if (other !== undefined) {
    file.warn(
      `The secrets stored for the ${backend} backend are not used, because they were not stored for ${other}. ` +
        `To store them for it, run: ${loginCommand(backend)}`,
    );
    return undefined;
  }
  if (stored.values !== undefined) return stored.values;
  const {readFromKeychain} = await import('./keychain.js');
  const json = await readFromKeychain(file, accountOf(backend));
  const parsed = v.safeParse(v.record(v.string(), v.string()), json === undefined ? undefined : jsonOf(json));
  return parsed.success ? parsed.output : undefined;
}

function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/**
 * Says where the secrets would go. An address that no flag or variable names may be a stranger's: it takes a
 * confirmation, unless `MYCLI_TRUSTED_ORIGINS` lists it.
 * @throws RuntimeCliError `ERR_ORIGIN_UNTRUSTED` when nobody can be asked; `ERR_USAGE` when the answer is no.
 */
export async function confirmBackendAddresses(context: CommandContext, backend: string, given: Options): Promise<void> {
  const configured = Object.entries(given).filter(([, value]) => !(value instanceof OptionText));
  const origins = originsIn(Object.fromEntries(configured));
  if (trustsListedOrigins(context.env)) {
    for (const origin of origins) assertTrustedOrigin(origin, 'the option', context.env);
    return;
  }
  if (origins.length === 0) return;
  const message = `The secrets of the ${backend} backend would go to ${origins.join(' and ')}, set only in the configuration file.`;
  if (canAsk(context)) {
    await confirm(`${message} Continue?`, 'Cancelled. Nothing was sent or stored.', context);
    return;
  }
  const names = configured.filter(([, value]) => originsIn(value).length > 0).map(([name]) => name);
  throw createError('ERR_ORIGIN_UNTRUSTED', message, {
    suggestions: [`If that is right, pass ${names.map((name) => `--backend-option ${name}=URL`).join(' and ')}.`],
    details: {origin: origins[0]},
  });
}

/**
 * Asks for the secret options of a backend: in a terminal without echo, where an empty answer skips one, or on stdin,
 * a line for each, or all of it for a single one.
 * @throws RuntimeCliError `ERR_OPTION_INVALID` when there is none.
 */
export async function askForSecrets(
  {name: backend, secrets = []}: Pick<Backend, 'name' | 'secrets'>,
  {stdin, output, signal}: CommandContext,
): Promise<SecretOptions> {
  if (secrets.length === 0) {
    throw createError('ERR_USAGE', `The ${backend} backend has no secrets to store.`, {
      suggestions: ['Set its options with --backend-option or in the configuration file.'],
    });
  }
  const answers: string[] = [];
  if (stdin.isTTY || secrets.length === 1) {
    for (const name of secrets) {
      const prompt = output.clean(`${name} of the ${backend} backend`);
      answers.push(await readSecretInput({stdin, stream: output.stream, prompt, signal}));
    }
  } else for await (const line of createInterface({input: stdin, signal})) answers.push(line);
  const entries = secrets.map((name, index) => [name, (answers[index] ?? '').trim()] as const);
  const given = entries.filter(([, value]) => value !== '');
  if (given.length > 0) return Object.fromEntries(given);
  throw createError('ERR_OPTION_INVALID', `No value was entered for ${secrets.join(', ')}.`);
}

/** Stores the secrets of a backend, and tells so. */
export async function storeBackendSecrets(
  {output, credentialFile}: CommandContext,
  backend: string,
  secrets: SecretOptions,
  origins: readonly string[],
) {
  const {storeInKeychain, removeFromKeychain} = await import('./keychain.js');
  const options = Object.keys(secrets);
  const keychain = await storeInKeychain(credentialFile, accountOf(backend), JSON.stringify(secrets));
  const credentials = {options, origins: [...origins], ...(keychain ? {} : {values: {...secrets}})};
  const {backends: before = {}} = await readCredentials(credentialFile);
  const replaced = before[backend];
  await updateCredentials(credentialFile, (stored) => ({
    ...stored,
    backends: {...stored.backends, [backend]: credentials},
  }));
  if (replaced !== undefined && replaced.values === undefined && !keychain)
    await removeFromKeychain(credentialFile, accountOf(backend));
  const file = credentialPath(credentialFile);
  output.result(`Stored ${options.join(', ')} for the ${backend} backend in ${keychain ? 'the keychain' : file}.`);
  return {backend, options, file, keychain};
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
  const {removeFromKeychain} = await import('./keychain.js');
  for (const name of removed) {
    if (stored[name]?.values === undefined) await removeFromKeychain(credentialFile, accountOf(name));
    output.outcome(`Removed the secrets for the ${name} backend.`);
  }
  return removed;
}

/** The stored secrets of a plugin's backend, without their values. */
export interface BackendEntry {
  readonly backend: string;
  /** Names of the options. */
  readonly options: readonly string[];
  /** Origins that the other options named at the login. The secrets are used with no others. */
  readonly origins: readonly string[];
  /** Whether the values are in the keychain of the operating system, not in the file. */
  readonly keychain: boolean;
}

/** The stored secrets of plugins' backends, without their values. */
export function backendEntries({backends = {}}: StoredCredentials): readonly BackendEntry[] {
  return Object.entries(backends).map(([backend, {options, origins, values}]) => {
    return {backend, options, origins, keychain: values === undefined};
  });
}

/** `acme: token, for https://acme.example (in the keychain)` */
export function describeBackendEntry({backend, options, origins, keychain}: BackendEntry): string {
  const place = origins.length === 0 ? '' : `, for ${origins.join(', ')}`;
  return `${backend}: ${options.join(', ')}${place}${keychain ? ' (in the keychain)' : ''}`;
}
