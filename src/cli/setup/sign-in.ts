import {isRuntimeCliError, type RuntimeCliError} from '../../errors/index.js';
import {definitions} from '../../settings/definitions.js';
import type {CommandContext} from '../command/command-context.js';
import type {CredentialKind, OriginCredentials} from '../settings/credential-file.js';
import type {Settings} from '../settings/settings.js';
import {isRefusal} from './check-credentials.js';
import {askForAddress} from './interview.js';
import {builtInLogin, confirmConfigured, storeLogin, verifyLogin, type BuiltInLogin} from './login.js';
import {takeOverKey, withUser} from './other-clients.js';
import {askYesNo, readSecretInput} from './prompts.js';

/** What storing the credentials of a new project needs. */
interface SignIn {
  readonly context: CommandContext;
  readonly settings: Settings;
  readonly backend: string;
  /** Whether the user can be asked. */
  readonly asks: boolean;
  /** Whether to check the credentials first. */
  readonly verify: boolean;
}

/** The outcome. */
interface SignedIn {
  /** With the URL that the credentials were accepted at. */
  readonly settings: Settings;
  /** Kind of the stored credentials, if any. */
  readonly stored?: CredentialKind | undefined;
  /** The variable with the credentials, if they are in the environment only. */
  readonly unstored?: string | undefined;
}

/**
 * Stores the credentials of a new project once the service has accepted them: those from a flag, from a variable if the
 * user agrees, or typed. In a terminal, asks again for what was wrong, so that no answer is lost.
 * @throws RuntimeCliError of a login.
 */
export async function signIn({context, settings: given, backend, asks, verify}: SignIn): Promise<SignedIn> {
  if (backend !== 'legacy' && backend !== 'api') return {settings: given};
  const {apiKey, apiToken, clientSecret} = given;
  const key = backend === 'legacy' ? 'apiKey' : apiToken === undefined ? 'clientSecret' : 'apiToken';
  const kind = ({apiKey: 'api-key', clientSecret: 'client-secret', apiToken: 'api-token'} as const)[key];
  const secret = {apiKey, apiToken, clientSecret}[key];
  if (secret?.source.kind === 'stored' || (secret === undefined && !asks)) return {settings: given};
  if (secret?.source.kind === 'environment') {
    const {name} = secret.source;
    const question = `Store the ${definitions[key].label} from ${name}, for when it is not set?`;
    if (!asks || !(await askYesNo(question, true, context))) return {settings: given, unstored: name};
  }
  await confirmConfigured(context, builtInLogin(context, given, kind), asks);
  const takesOver = secret === undefined && kind === 'api-key' && given.origin !== undefined;
  const other = takesOver ? await takeOverKey(given.origin.value, context) : undefined;
  let settings = withUser(given, other);
  let login = builtInLogin(context, settings, kind);
  const known = secret?.value.reveal() ?? other?.apiKey;
  let credentials = known === undefined ? await askForSecret(context, login) : login.complete(known);
  let verifies = verify;
  while (credentials !== undefined) {
    const problem = verifies ? await problemWith(context, login, credentials, asks) : undefined;
    if (problem === undefined) {
      await storeLogin(context, login, credentials);
      return {settings, stored: kind};
    }
    context.output.error(problem.message, []);
    if (isRefusal(problem)) credentials = await askForSecret(context, login);
    else if (await askYesNo(`Store the ${kind} without checking it?`, false, context)) verifies = false;
    else {
      for (const address of login.addresses) settings = await askForAddress(settings, address, context);
      login = builtInLogin(context, settings, kind);
    }
  }
  return {settings};
}

/** Why the service did not accept the credentials. @throws it if nobody can be asked. */
async function problemWith(
  context: CommandContext,
  login: BuiltInLogin,
  credentials: OriginCredentials,
  asks: boolean,
): Promise<RuntimeCliError | undefined> {
  try {
    await verifyLogin(context, login, credentials);
    return undefined;
  } catch (error) {
    if (!asks || context.signal.aborted || !isRuntimeCliError(error)) throw error;
    return error;
  }
}

/** Undefined if the user leaves it out. */
async function askForSecret(context: CommandContext, login: BuiltInLogin): Promise<OriginCredentials | undefined> {
  for (;;) {
    const typed = await readSecretInput(`${login.prompt} (hidden, empty to skip)`, context);
    if (typed.trim() === '') return undefined;
    try {
      return login.complete(typed);
    } catch (error) {
      if (!isRuntimeCliError(error)) throw error;
      context.output.error(error.message, []);
    }
  }
}
