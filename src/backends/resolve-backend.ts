import {createHash} from 'node:crypto';
import type {StandardSchemaV1} from '@standard-schema/spec';
import {createError, type RuntimeCliError} from '../errors/index.js';
import {asRecord, ownValue} from '../text/json.js';
import {flagValue} from '../text/suggest.js';
import {createRedactor, passwordsIn} from '../http/redact.js';
import type {Environment} from '../text/platform.js';
import {builtIns, type BackendLocation, type BackendSettings, type NotConfigured} from './built-in-backends.js';
import type {HostBackend} from './host-backend.js';
import {callBackend} from './call.js';
import type {Backend, BackendCheckContext} from './contract.js';
import {OptionText, stringsIn, validateOptionTexts} from './plugins/option-text.js';
import {asSentence} from '../text/sentence.js';
import type {Suggestion} from '../errors/suggestion.js';
import {backendTitle, isBuiltIn, type RuntimeBackend} from './names.js';

export interface BackendSurroundings extends Omit<BackendCheckContext, 'options'> {
  readonly settingNames?: SettingNames | undefined;
}

/** What users call the settings of the built-in backends, by their names in the library. */
export type SettingNames = Readonly<Record<'origin' | 'legacyAuth' | 'apiConnection', readonly string[]>>;

/** A backend with all that the settings say of it, or lack. */
export interface ResolvedBackend {
  /** What the caller calls it: of several with one name, its own name is longer. */
  readonly name: RuntimeBackend;
  readonly backend: HostBackend;
  /** Its options, as its schema has validated them. */
  readonly options: unknown;
  /** Values to mask. */
  readonly secrets: readonly string[];
  /** What it still needs, in words for users; empty when it is configured. */
  readonly missing: readonly string[];
  /** What it requires of slugs, if it cannot take those of the call. */
  readonly unfit: readonly string[];
  /** Why it cannot serve the call. Undefined if it can. */
  readonly problem: RuntimeCliError | undefined;
  /** Where it keeps bundles. @throws if an address is invalid */
  readonly location: () => BackendLocation;
}

/** Resolves a backend with the settings, without the network. @throws if its options are invalid */
export async function resolveBackend(
  backend: HostBackend,
  settings: BackendSettings,
  surroundings: BackendSurroundings,
  name: RuntimeBackend = backend.name,
): Promise<ResolvedBackend> {
  const {settingNames, ...asked} = surroundings;
  const builtIn = builtIns.get(backend.name);
  const options = await optionsOf(backend, settings);
  const {missing: lacking = []} = await backend.check({...asked, options});
  const unfit = unfitSlugs(backend, surroundings);
  const missing = lacking.flatMap(
    (what) => (builtIn && settingNames && ownValue(settingNames, optionIn(what))) ?? what,
  );
  const unable = unfit.length === 0 ? undefined : unfitForSlugs(backend, unfit);
  return {
    name,
    backend,
    options,
    secrets: secretsOf(backend, settings, surroundings.env),
    missing,
    unfit,
    problem: missing.length === 0 ? unable : notConfigured(backend, [...missing, ...unfit], settings, surroundings.env),
    location: () => backendLocation(backend, settings, surroundings),
  };
}

/** The name that what is missing begins with. */
function optionIn(what: string): string {
  const [name = ''] = what.split(/[\s.:(]/, 1);
  return name;
}

/** The options in `required` that are not set. */
export function unsetOptions(required: readonly string[], options: unknown): readonly string[] {
  const values = asRecord(options);
  return required.filter((option) => [undefined, null, ''].includes(values[option] as undefined));
}

/** Nothing decides about the options of a backend without a schema, so texts stay texts. */
const anyOptions: NonNullable<Backend['options']> = {
  '~standard': {version: 1, vendor: 'mycli', validate: (value) => ({value})},
};

/** What a schema has found wrong, and where: `retry.limit: must be a number`. */
export function describeIssue({message, path = []}: StandardSchemaV1.Issue): string {
  const keys = path.map((part) => String(typeof part === 'object' ? part.key : part));
  return keys.length === 0 ? message : `${keys.join('.')}: ${message}`;
}

const commaAdvice = 'In MYCLI_BACKEND_OPTION, a value with a comma needs JSON: {"key": "a,b"}';

/** The options of a backend, validated by its schema. Built-in backends take theirs from the settings. */
export async function optionsOf(backend: Backend, settings: BackendSettings): Promise<unknown> {
  const builtIn = builtIns.get(backend.name);
  if (builtIn) return builtIn.options(settings);
  // Validators tend to quote their input.
  const secrets = secretsOf(backend, settings);
  const validate = () => validateOptionTexts(backend.options ?? anyOptions, settings.backendOptions ?? {});
  const result = await callBackend(backend, 'checking its options', undefined, validate, secrets);
  if (!result.issues) return result.value;
  const redact = createRedactor(secrets);
  const hasTexts = Object.values(settings.backendOptions ?? {}).some(
    (value) => value instanceof OptionText && !value.json,
  );
  const problems = result.issues.map((issue) => redact(describeIssue(issue)));
  const message = asSentence(`The options of the ${backend.name} backend are invalid: ${problems.join('; ')}`);
  throw createError('ERR_OPTION_INVALID', message, {
    suggestions: [...optionSuggestions(backend, problems), ...(hasTexts ? [commaAdvice] : [])],
    details: {backend: backend.name, problems},
  });
}

/** What a backend requires of slugs. A plugin's that says nothing may put them into URLs as they are. */
export function unfitSlugs({name, slugs = {}}: Pick<Backend, 'name' | 'slugs'>, given: GivenSlugs): readonly string[] {
  if (isBuiltIn(name)) return builtIns.get(name)?.unfitSlugs?.(given) ?? [];
  const kinds = [['project', given.projectSlug] as const, ['target', given.targetSlug] as const];
  return kinds.flatMap(([kind, slug]) => {
    const {[kind]: own} = slugs;
    const pattern = own === undefined ? plainSlug : new RegExp(`^(?:${own})$`, 'u');
    if (slug === undefined || slug === '' || pattern.test(slug)) return [];
    const what = own === undefined ? 'without blanks, "/", "\\", "?", "&", "#" and "%"' : `that matches ${own}`;
    return [`a ${kind} slug ${what}, not "${slug}"`];
  });
}

/** @throws RuntimeCliError `ERR_OPTION_INVALID` */
export function refuseUnfitSlugs(backend: Pick<Backend, 'name' | 'slugs'>, given: GivenSlugs): void {
  const unfit = unfitSlugs(backend, given);
  if (unfit.length > 0) throw unfitForSlugs(backend, unfit);
}

type GivenSlugs = Pick<BackendCheckContext, 'projectSlug' | 'targetSlug'>;

const plainSlug = /^[^\s\p{Cc}/\\?&#%]+$/u;

/** The error of a configured backend that cannot take the slugs of a call. */
export function unfitForSlugs({name}: Pick<Backend, 'name'>, unfit: readonly string[]): RuntimeCliError {
  const legacy = ', or use Runtime (API key): pass --runtime-backend legacy and --origin URL, and set an API key';
  return createError('ERR_OPTION_INVALID', `The ${backendTitle(name)} backend requires ${unfit.join(', and ')}.`, {
    suggestions: [`Correct the slug${isBuiltIn(name) ? legacy : ''}.`],
    details: {backend: name, problems: unfit},
  });
}

export function notConfigured(
  {name: backend, secrets, secretEnv}: Pick<Backend, 'name' | 'secrets' | 'secretEnv'>,
  missing: readonly string[],
  settings: BackendSettings,
  env: Environment,
): RuntimeCliError {
  const plugin: NotConfigured = {
    code: 'ERR_CREDENTIALS_MISSING',
    suggestions: optionSuggestions({name: backend, secrets, secretEnv}, missing),
  };
  const {code, suggestions} = builtIns.get(backend)?.unconfigured(settings, env) ?? plugin;
  return createError(code, `The ${backendTitle(backend)} backend is not configured: missing ${missing.join(', ')}.`, {
    suggestions,
    details: {backend, missing},
  });
}

/**
 * How to set options. A secret is neither passed as a flag nor put into a file.
 * @param wrong what begins with their names, or has them in its words: `a password`
 */
export function optionSuggestions(
  {name: backend, secrets = [], secretEnv = []}: Pick<Backend, 'name' | 'secrets' | 'secretEnv'>,
  wrong: readonly string[],
): readonly Suggestion[] {
  const isAbout = (text: string, name: string) =>
    optionIn(text) === name || (/^[^:.]+ /.test(text) && text.split(/[^\w-]+/).includes(name));
  const secret = secrets.filter((name) => wrong.some((text) => isAbout(text, name)));
  const pairs = secret.map((name) => `${name}=...`).join(',');
  const variables = secretEnv.filter((name) => wrong.some((text) => isAbout(text, name)));
  const login = {run: ['auth:login', ...flagValue('--runtime-backend', backend)]};
  return [
    ...(variables.length === 0 ? [] : [[`Set ${variables.join(' and ')}, or run in a terminal: `, login]]),
    ...(secret.length === 0
      ? []
      : [[`Add ${pairs} to MYCLI_BACKEND_OPTION (key=value,key=value, or JSON), or run in a terminal: `, login]]),
    ...(wrong.every((text) => [...secret, ...variables].some((name) => isAbout(text, name)))
      ? []
      : [`Pass --backend-option key=value, or set "backends.${backend}" in the configuration file.`]),
  ];
}

/** The values of a backend's secret options and variables, and the passwords of URLs in all options. */
export function secretsOf(
  {secrets = [], secretEnv = []}: Pick<Backend, 'secrets' | 'secretEnv'>,
  {backendOptions = {}}: Pick<BackendSettings, 'backendOptions'>,
  env: Environment = {},
): readonly string[] {
  const own = [...secrets.map((name) => backendOptions[name]), ...secretEnv.map((name) => env[name])];
  return [...own.flatMap(stringsIn), ...stringsIn(backendOptions).flatMap(passwordsIn)];
}

/** Where a backend keeps bundles. Options may be relative paths: equal ones in two folders are two places. */
export function backendLocation(
  {name, secrets = []}: Pick<Backend, 'name' | 'secrets'>,
  settings: BackendSettings,
  {configDirectory, env}: Pick<BackendSurroundings, 'configDirectory' | 'env'>,
): BackendLocation {
  const builtIn = builtIns.get(name);
  if (builtIn) return {backend: name, ...builtIn.location(settings, env)};
  const plain = Object.entries(settings.backendOptions ?? {}).filter(([key]) => !secrets.includes(key));
  const sorted = plain.sort(([a], [b]) => (a < b ? -1 : 1));
  const json = JSON.stringify(sorted.length === 0 ? [] : [configDirectory, sorted]);
  return {backend: name, optionsSha256: createHash('sha256').update(json).digest('hex')};
}
