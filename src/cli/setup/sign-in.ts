import type {Identity} from '../../backends/built-ins.js';
import {isRuntimeCliError, type RuntimeCliError} from '../../errors/index.js';
import type {CommandContext} from '../command/command-context.js';
import {Interview, readSecretInput} from './prompts.js';
import {isRefusal} from './check-credentials.js';
import {confirmAddresses, loginTarget, storeLogin, verifyLogin, type CredentialKind} from './login.js';
import {definitions} from '../../settings/definitions.js';
import {checkedSecret} from '../settings/load-settings.js';
import type {Settings} from '../settings/settings.js';
import {askForAddress} from './interview.js';
import {takeOverKey, withUser} from './take-over.js';

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

interface Credentials {
  readonly kind: CredentialKind;
  readonly secret: string;
}

/**
 * Stores the credentials of a new project once the service has accepted them: those from a flag, from a variable if the
 * user agrees, or typed. In a terminal, asks again for what was wrong, so that no answer is lost.
 * @throws RuntimeCliError of a login.
 */
export async function signIn({context, settings, backend, asks, verify}: SignIn): Promise<SignedIn> {
  if (backend !== 'legacy' && backend !== 'api') return {settings};
  const {apiKey, apiToken, clientSecret} = settings;
  const key = backend === 'legacy' ? 'apiKey' : apiToken === undefined ? 'clientSecret' : 'apiToken';
  const kind = ({apiKey: 'api-key', clientSecret: 'client-secret', apiToken: 'api-token'} as const)[key];
  const given = {apiKey, apiToken, clientSecret}[key];
  const secret = given?.value.reveal();
  if (given?.source.kind === 'stored') return {settings};
  if (given?.source.kind === 'environment') {
    const {name} = given.source;
    const text = `Store the ${definitions[key].label} from ${name}, for when it is not set?`;
    if (!asks || !(await interviewed(context, (questions) => questions.confirm(text, true)))) {
      return {settings, unstored: name};
    }
  }
  if (secret === undefined && !asks) return {settings};
  const other =
    secret === undefined && kind === 'api-key' && settings.origin !== undefined
      ? await takeOverKey(settings.origin.value, context)
      : undefined;
  const own = other === undefined ? settings : withUser(settings, other);
  const known = secret ?? other?.apiKey;
  const first = known === undefined ? await askForSecret(context, own, kind) : {kind, secret: known};
  if (first === undefined) return {settings};
  await confirmAddresses(context, own, loginTarget(context, own, kind), asks);
  let attempt: Attempt = {settings: own, credentials: first, verify};
  for (;;) {
    const {credentials, settings: tried} = attempt;
    if (credentials === undefined) return {settings: tried};
    const checked = attempt.verify ? await check(context, tried, credentials, asks) : {identity: undefined};
    if ('identity' in checked) {
      await storeLogin(context, tried, {...credentials, identity: checked.identity});
      return {settings: tried, stored: kind};
    }
    attempt = await amended(context, {...attempt, credentials}, checked.error);
  }
}

/** A try to sign in. Without credentials, the user goes on without. */
interface Attempt {
  readonly settings: Settings;
  readonly credentials: Credentials | undefined;
  readonly verify: boolean;
}

/** Asks the service. In a terminal, its error is returned. */
async function check(
  context: CommandContext,
  settings: Settings,
  login: Credentials,
  asks: boolean,
): Promise<{readonly identity: Identity} | {readonly error: RuntimeCliError}> {
  try {
    return {identity: await verifyLogin(context, settings, login)};
  } catch (error) {
    if (!asks || context.signal.aborted || !isRuntimeCliError(error)) throw error;
    return {error};
  }
}

/** Asks again for what was wrong: the secret if it was refused, else the URL. */
async function amended(
  context: CommandContext,
  attempt: Attempt & {readonly credentials: Credentials},
  error: RuntimeCliError,
): Promise<Attempt> {
  const {kind} = attempt.credentials;
  context.output.error(error.message, []);
  if (isRefusal(error) || error.code === 'ERR_OPTION_INVALID') {
    return {...attempt, credentials: await askForSecret(context, attempt.settings, kind)};
  }
  return interviewed(context, async (questions) => {
    if (await questions.confirm(`Store the ${kind} without checking it?`, false)) return {...attempt, verify: false};
    let {settings} = attempt;
    for (const {key} of loginTarget(context, settings, kind).addresses) {
      settings = await askForAddress(questions, settings, key, context);
    }
    return {...attempt, settings};
  });
}

async function interviewed<T>(context: CommandContext, conduct: (questions: Interview) => Promise<T>): Promise<T> {
  const questions = new Interview(context);
  try {
    return await conduct(questions);
  } finally {
    questions.close();
  }
}

/** Undefined if the user leaves it out. */
async function askForSecret(
  context: CommandContext,
  settings: Settings,
  kind: CredentialKind,
): Promise<Credentials | undefined> {
  const {stdin, output, signal} = context;
  const {prompt} = loginTarget(context, settings, kind);
  for (;;) {
    const text = output.clean(`${prompt} (hidden, empty to skip)`);
    const typed = await readSecretInput({stdin, stream: output.stream, prompt: text, signal});
    if (typed.trim() === '') return undefined;
    try {
      return {kind, secret: checkedSecret(typed, `the ${kind}`)};
    } catch (error) {
      if (!isRuntimeCliError(error)) throw error;
      output.error(error.message, []);
    }
  }
}
