import {createInterface} from 'node:readline';
import {shownUrl} from '../../backends/answers.js';
import type {Backend, BackendLoginContext} from '../../backends/contract.js';
import {OptionText} from '../../backends/option-text.js';
import type {BackendRegistration} from '../../backends/registry.js';
import {createError, isRuntimeCliError} from '../../errors/index.js';
import type {CommandContext} from '../command/command-context.js';
import {commandHost} from '../command/operation-options.js';
import {assertTrustedOrigin} from '../settings/connection.js';
import type {StoredCredentials} from '../settings/credential-file.js';
import {loginCommand, optionsFor, originsIn, partitioned, urlsIn} from '../settings/reach-backends.js';
import type {Settings} from '../settings/settings.js';
import {askService} from './check-credentials.js';
import type {Entered, Login} from './login.js';
import {askText, canAsk, openBrowser, readSecretInput} from './prompts.js';

type SecretNames = Pick<Backend, 'name' | 'secrets' | 'secretEnv'>;

/** Determines what a login to a plugin's backend is for. */
export function pluginLogin(context: CommandContext, settings: Settings, registration: BackendRegistration): Login {
  const {name, backend} = registration;
  const {output, env, signal} = context;
  const given = optionsFor(registration, settings);
  const configured = Object.entries(given)
    .filter(([, value]) => !(value instanceof OptionText))
    .flatMap(([option, value]) => urlsIn(value, option).map((url) => ({option, url})));
  for (const {option, url} of configured) assertTrustedOrigin(url, `the option ${option}`, env);
  const sources = [settings.backendOptions, ...Object.values(settings)].map((setting) => setting?.source);
  const verify = async (values: Readonly<Record<string, string>>) => {
    if (backend.verify === undefined) return {accepted: false};
    const {options, variables} = partitioned(values, backend.secretEnv ?? []);
    try {
      const service = {backend, options: {...given, ...options}, variables};
      const {user: account} = await askService(context, settings, service);
      const owner = account === undefined ? '' : ` of ${account}`;
      output.outcome(`The service of the ${name} backend accepted the credentials${owner}.`);
      return {accepted: true, account};
    } catch (error) {
      // Without its other options it cannot be asked yet.
      if (!isRuntimeCliError(error) || error.details?.['missing'] === undefined) throw error;
      output.warn(`The credentials were not checked. ${error.message}`);
      return {accepted: false};
    }
  };
  return {
    what: `secrets of the ${name} backend`,
    shown: [],
    configured: configured.map(({option, url}) => ({url, flag: `--backend-option ${option}=ADDRESS`})),
    file: sources.find((source) => source?.kind === 'config')?.name ?? 'the configuration file',
    async ask(): Promise<Entered> {
      const values = backend.login === undefined ? await askForSecrets(backend, context) : await logInItself();
      const options = Object.keys(values);
      const credentials = {options, values: {...values}, origins: [...originsIn(given)]};
      return {
        facts: {backend: name, options, kind: 'options'},
        secrets: Object.values(values),
        label: `${options.join(', ')} for the ${name} backend`,
        verify: () => verify(values),
        store: (stored: StoredCredentials) => ({...stored, backends: {...stored.backends, [name]: credentials}}),
      };
    },
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
 */
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
  {name: backend, secrets = [], secretEnv = []}: SecretNames,
  context: Pick<CommandContext, 'env' | 'output' | 'stdin' | 'signal'>,
): Pick<BackendLoginContext, 'prompt' | 'openUrl'> {
  const {env, output} = context;
  return {
    async prompt({message: question, secret = false}) {
      if (!canAsk(context)) {
        const options = secrets.map((name) => `${name}=...`).join(',');
        const ways = [options === '' ? [] : `MYCLI_BACKEND_OPTION to ${options}`, secretEnv.join(' and ') || []];
        const message = `The ${backend} backend asks for "${question}", but there is no terminal to ask in.`;
        throw createError('ERR_USAGE', message, {
          suggestions: [['In a terminal, run: ', loginCommand(backend)], `In CI, set ${ways.flat().join(', or ')}.`],
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
