import {resolve} from 'node:path';
import {backendTitle} from '../../backends/names.js';
import {OptionText} from '../../backends/plugins/option-text.js';
import type {BackendRegistration} from '../../backends/registry.js';
import type {Backend} from '../../backends/contract.js';
import {unfitSlugs, unsetOptions} from '../../backends/resolve-backend.js';
import {createError} from '../../errors/index.js';
import {slugMessage} from '../../settings/schemas.js';
import {folderFrom} from '../../text/paths.js';
import type {CommandContext} from '../command/command-context.js';
import {type ServiceKey, checkUrl, missingApiSettings} from '../settings/connection-options.js';
import {loadAllBackends, loadWantedBackends} from '../settings/load-backends.js';
import {storedSettings} from '../settings/load-settings.js';
import {optionsFor} from '../settings/plugin-settings.js';
import {isTyped, type ValueSource, type Settings, type Setting} from '../settings/settings.js';
import {type TerminalQuestion, askText, askChoice} from './prompts.js';

type AnswerKey = ServiceKey | 'projectSlug' | 'targetSlug' | 'organizationId' | 'clientId' | 'buildDirectory';
const answered: ValueSource = {kind: 'flag', name: 'your answer'};
type QuestionOptions = Pick<TerminalQuestion, 'fallback' | 'check'>;

/** Asks for a setting, unless a flag or a variable sets it. */
async function askFor(
  context: CommandContext,
  settings: Settings,
  key: AnswerKey,
  {text, ...options}: QuestionOptions & {readonly text: string},
): Promise<Settings> {
  const {[key]: suggested} = settings;
  if (isGiven(context, suggested)) return settings;
  const value = await askText({text, fallback: suggested?.value, ...options}, context);
  // What a file suggests stays the file's, for the confirmation of addresses.
  const isFrom = suggested?.source.kind === 'config' && suggested.value === value;
  return {...settings, [key]: value === '' ? undefined : {value, source: isFrom ? suggested.source : answered}};
}

/** Asks for the address of a service, which has to be one that credentials may be sent to. */
export function askForUrl(context: CommandContext, settings: Settings, key: ServiceKey, what = 'URL of the service') {
  const text = settings[key]?.source.kind === 'stored' ? `${what} (from your last login)` : what;
  return askFor(context, settings, key, {text, check: (answer) => checkUrl(key, answer, context.env)});
}

export function askForOrganization(context: CommandContext, settings: Settings): Promise<Settings> {
  return askFor(context, settings, 'organizationId', {text: 'Organization ID'});
}

/** Asks where a built-in backend is, and who is to log in. If that was wrong, it can be asked again. */
export async function askForService(context: CommandContext, settings: Settings, backend: string): Promise<Settings> {
  let known = settings;
  if (backend === 'legacy') known = await askForUrl(context, known, 'origin');
  if (backend === 'api') {
    known = await askForUrl(context, known, 'apiOrigin');
    known = await askForOrganization(context, known);
    if (known.apiToken === undefined) {
      known = await askForUrl(context, known, 'tokenUrl', 'Token URL');
      known = await askFor(context, known, 'clientId', {text: 'Client ID'});
    }
  }
  return known;
}

export async function interview(context: CommandContext, settings: Settings): Promise<Settings> {
  const {cwd} = context;
  let known = settings;
  const ask = async (key: AnswerKey, text: string, options: QuestionOptions = {}) => {
    known = await askFor(context, known, key, {text, ...options});
  };
  const isOpen =
    known.runtimeBackend.source.kind === 'default' &&
    isGiven(context, known.origin) === isGiven(context, known.apiOrigin);
  if (isOpen) known = {...known, runtimeBackend: {value: await askForBackend(context, known), source: answered}};
  const backend = backendOf(known);
  known = await askForService(context, known, backend);
  const plugin = (await loadWantedBackends(context, known))?.find(backend);
  if (plugin) known = {...known, backendOptions: await askForOptions(context, known, plugin)};
  const service = plugin?.backend ?? {name: backend};
  await ask('projectSlug', 'Project slug', {check: slugCheck(service, 'projectSlug')});
  const {targetSlug} = known;
  if (plugin === undefined || plugin.backend.deploy) {
    const what = 'A target is an environment of the project, such as production or staging, with its own URL.';
    if (!isGiven(context, targetSlug)) context.output.info(what);
    // Enter must not make each later push one to production.
    const fallback = targetSlug?.value ?? 'staging';
    await ask('targetSlug', 'Target to deploy to ("-" for none)', {fallback, check: slugCheck(service, 'targetSlug')});
  }
  if (known.targetSlug?.value === '-') known = {...known, targetSlug: undefined};
  const {buildDirectory: suggested} = known;
  await ask('buildDirectory', 'Build folder', {fallback: folderFrom(cwd, suggested.value)});
  const {buildDirectory} = known;
  known = {...known, buildDirectory: {...buildDirectory, value: resolve(cwd, buildDirectory.value)}};
  // What is stored for the addresses, which may have changed. Settings with a default are never stored.
  const unstored = Object.entries(known).filter(([, setting]) => setting?.source.kind !== 'stored');
  const answers = Object.fromEntries<unknown>(unstored) as Settings;
  return {...answers, ...(await storedSettings(answers, context.credentialFile))};
}
/** Whether there is nothing to ask: it was typed, or is imported. */
function isGiven({configFile}: CommandContext, setting: Setting<unknown> | undefined): boolean {
  const isImported = setting?.source.kind === 'config' && setting.source.name !== configFile?.path;
  return setting?.source !== answered && (isImported || isTyped(setting));
}
async function askForOptions(
  context: CommandContext,
  settings: Settings,
  registration: BackendRegistration,
): Promise<Settings['backendOptions']> {
  const {name, backend} = registration;
  const {required = [], secrets = []} = backend;
  const options = {...optionsFor(registration, settings)};
  for (const option of unsetOptions(required, options).filter((one) => !secrets.includes(one))) {
    options[option] = new OptionText(await askText({text: `Option "${option}" of the ${name} backend`}, context));
  }
  const {value, source} = settings.backendOptions;
  return {value: {...value, [name]: options}, source};
}

async function askForBackend(context: CommandContext, settings: Settings): Promise<string> {
  const {registrations} = await loadAllBackends(context, settings);
  const names = new Set([backendOf(settings), ...registrations.map(({name}) => name)]);
  const choices = [...names].map((name) => ({value: name, name: backendTitle(name)}));
  return askChoice('Which service do you deploy to?', choices, context);
}
/** The backend to configure: the given one, or the one that `auto` would choose. */
export function backendOf(settings: Settings): string {
  const {runtimeBackend, apiOrigin, origin} = settings;
  if (runtimeBackend.value !== 'auto') return runtimeBackend.value;
  if (missingApiSettings(settings).length === 0) return 'api';
  return apiOrigin !== undefined && origin === undefined ? 'api' : 'legacy';
}

const plainRule = 'can only contain letters, digits, ".", "_" and "-"';

/** Refuses a slug that the backend would not take. `-` is none. */
function slugCheck(backend: Pick<Backend, 'name' | 'slugs'>, key: 'projectSlug' | 'targetSlug') {
  return (answer: string): void => {
    if (answer === '' || answer === '-') return;
    const isPlain = backend.name !== 'legacy' || /^[\p{L}\p{N}._-]*$/u.test(answer);
    const [unfit] = unfitSlugs(backend, {[key]: answer}).map((what) => `must be ${what}`);
    const problem = slugMessage(answer) ?? unfit ?? (isPlain ? undefined : plainRule);
    if (problem !== undefined) throw createError('ERR_OPTION_INVALID', `It ${problem}.`);
  };
}
