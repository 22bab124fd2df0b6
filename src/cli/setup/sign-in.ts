import {isRuntimeCliError} from '../../errors/index.js';
import {definitions} from '../../settings/definitions.js';
import type {CommandContext} from '../command/command-context.js';
import type {CredentialKind} from '../settings/credential-file.js';
import type {Settings} from '../settings/settings.js';
import {isRefusal} from './check-credentials.js';
import {builtInLogin, confirmConfigured, storeEntered, verifyEntered} from './login.js';
import {takeOverKey} from './other-clients.js';
import {askYesNo, readSecretInput} from './prompts.js';

interface SignIn {
  readonly context: CommandContext;
  readonly settings: Settings;
  readonly backend: string;
  readonly asks: boolean;
  readonly verify: boolean;
}

interface SignedIn {
  /** User that the stored API key belongs to. */
  readonly user?: string | undefined;
  readonly stored?: CredentialKind | undefined;
  /** The variable with the credentials, if they are in the environment only. */
  readonly unstored?: string | undefined;
}

/**
 * Stores the credentials of a new project once the service has accepted them: those from a flag, from a variable if the
 * user agrees, or typed. In a terminal, asks again for what was wrong, so that no answer is lost.
 * @throws RuntimeCliError of a login.
 */
export async function signIn({context, settings, backend, asks, verify}: SignIn): Promise<SignedIn> {
  if (backend !== 'legacy' && backend !== 'api') return {};
  const {apiKey, apiToken, clientSecret, origin} = settings;
  const key = backend === 'legacy' ? 'apiKey' : apiToken === undefined ? 'clientSecret' : 'apiToken';
  const kind = ({apiKey: 'api-key', clientSecret: 'client-secret', apiToken: 'api-token'} as const)[key];
  const secret = {apiKey, apiToken, clientSecret}[key];
  if (secret?.source.kind === 'stored' || (secret === undefined && !asks)) return {};
  if (secret?.source.kind === 'environment') {
    const {name} = secret.source;
    const question = `Store the ${definitions[key].label} from ${name}, for when it is not set?`;
    if (!asks || !(await askYesNo(question, true, context))) return {unstored: name};
  }
  const login = builtInLogin(context, settings, kind);
  await confirmConfigured(context, login, asks);
  const takesOver = secret === undefined && kind === 'api-key' && origin !== undefined;
  const other = takesOver ? await takeOverKey(origin.value, context) : undefined;
  let given = secret?.value.reveal() ?? other?.apiKey;
  let verifies = verify;
  for (;;) {
    given ??= await readSecretInput(`${login.prompt} (hidden, empty to skip)`, context);
    if (asks && given.trim() === '') return {};
    try {
      const entered = login.enter(given, other?.apiUser);
      context.output.addSecrets(entered.secrets);
      if (verifies) await verifyEntered(entered);
      await storeEntered(context, entered);
      return {user: entered.user, stored: kind};
    } catch (error) {
      if (!asks || context.signal.aborted || !isRuntimeCliError(error) || error.code === 'ERR_OUTPUT') throw error;
      context.output.error(error.message, []);
      const isWrong = isRefusal(error) || error.code === 'ERR_OPTION_INVALID';
      if (!isWrong && (await askYesNo(`Store the ${kind} without checking it?`, false, context))) verifies = false;
      else given = undefined;
    }
  }
}
