import {stat} from 'node:fs/promises';
import {homedir} from 'node:os';
import {basename, isAbsolute, join, relative, resolve, sep} from 'node:path';
import {backendTitle} from '../../backends/select.js';
import {slugMessage} from '../../settings/schemas.js';
import {createError} from '../../errors/index.js';
import {asSentence} from '../../errors/sentence.js';
import {isRecord, parseJson} from '../../errors/json.js';
import {readTextFile} from '../../files/read-file.js';
import {isStaticBuild, type DetectedBuild} from '../../frameworks/detect-framework.js';
import {normalizeOrigin} from '../../http/origin.js';
import type {CommandContext} from '../command/command-context.js';
import {assertTrustedOrigin, missingApiSettings, serviceUrl, type AddressKey} from '../settings/connection.js';
import type {BackendRegistration} from '../../backends/registry.js';
import type {Setting, Settings, ValueSource} from '../settings/settings.js';
import {storedSettings} from '../settings/load-settings.js';
import {loadAllBackends} from '../settings/reach-backends.js';
import {askChoice, askText, askYesNo} from './prompts.js';

type BuiltIn = 'legacy' | 'api';
type AnswerKey = AddressKey | 'projectSlug' | 'targetSlug' | 'organizationId' | 'clientId';

const answered: ValueSource = {kind: 'flag', name: 'your answer'};

/** Asks for what neither flags nor variables set, offering what the last login and the project's files suggest. */
export async function interview(
  context: CommandContext,
  settings: Settings,
  detected: DetectedBuild | undefined,
): Promise<Settings> {
  let known = await takeOverProject(settings, context);
  const ask = async (key: AnswerKey, text: string, check?: (answer: string) => void, fallback = known[key]?.value) => {
    if (!isGiven(known[key])) known = withAnswer(known, key, await askText({text, fallback, check}, context));
  };
  const isOpen = known.runtimeBackend.source.kind === 'default';
  const asksForService = isOpen && !isGiven(known.origin) && !isGiven(known.apiOrigin);
  if (asksForService) known = await askForService(known, context);
  await ask('projectSlug', 'Project slug', slugCheck('project slug'), await suggestedProject(known, context.cwd));
  const target = known.targetSlug?.value ?? '';
  await ask('targetSlug', 'Target to deploy to (empty for none)', slugCheck('target'), target);
  const backend = backendOf(known);
  const addresses = {legacy: ['origin'], api: ['apiOrigin']} as const;
  const needed = backend === 'legacy' || backend === 'api' ? addresses[backend] : [];
  for (const key of asksForService ? [] : needed) {
    if (!isGiven(known[key])) known = await askForAddress(known, key, context);
  }
  if (backend === 'api') await ask('organizationId', 'Organization ID');
  if (backend === 'api' && known.apiToken === undefined) {
    if (!isGiven(known.tokenUrl)) known = await askForAddress(known, 'tokenUrl', context);
    await ask('clientId', 'Client ID');
  }
  known = await askAboutBuild(known, detected, context);
  // Those that are stored for the addresses, which may have changed.
  const own = <T extends {readonly source: ValueSource}>(setting: T | undefined) =>
    setting?.source.kind === 'stored' ? undefined : setting;
  const {apiKey, apiToken, clientSecret} = known;
  const unstored = {...known, apiKey: own(apiKey), apiToken: own(apiToken), clientSecret: own(clientSecret)};
  return {...unstored, ...(await storedSettings(unstored, context.credentialFile))};
}

/** Asks for the URL of the service first: it tells most of the rest, the backend above all. */
async function askForService(settings: Settings, context: CommandContext): Promise<Settings> {
  const likely = backendOf(settings);
  const likelyKey = likely === 'api' ? 'apiOrigin' : 'origin';
  let found: readonly BuiltIn[] = [];
  const known = await askForAddress(settings, likelyKey, context, async (url) => {
    const {backends, problem} = await recognizeService(url, context);
    found = backends;
    return problem;
  });
  const backend = found.find((name) => name === likely) ?? found[0] ?? (await askForBackend(settings, context));
  const key = backend === 'api' ? 'apiOrigin' : 'origin';
  const placed = {...known, [likelyKey]: settings[likelyKey], [key]: known[likelyKey]};
  return {...placed, runtimeBackend: {value: backend, source: answered}};
}

/** The address does not tell which kind of service it is. */
async function askForBackend(settings: Settings, context: CommandContext): Promise<string> {
  const choices = ['legacy', 'api', ''].map((value) => ({value, name: backendTitle(value) || "A plugin's backend"}));
  const chosen = await askChoice('What do you deploy to?', choices, context);
  if (chosen !== '') return chosen;
  const check = async (name: string) => {
    if (name === 'auto') throw createError('ERR_OPTION_INVALID', 'A project has one backend.');
    await requireBackend(name, context, settings);
  };
  return askText({text: 'Name of the backend', check}, context);
}

export async function requireBackend(
  name: string,
  context: CommandContext,
  settings: Settings,
): Promise<BackendRegistration> {
  const registry = await loadAllBackends(context, settings);
  registry.get(name);
  return registry.find(name);
}

/** A path of each backend that refuses or answers a stranger, where another service says that there is nothing. */
const paths = {
  legacy: 'api/projects/',
  api: 'storefront/deployments/v1/organizations/none/storefronts/none/bundles',
} as const;
const recognitionTimeoutMs = 5000;
const known: ReadonlySet<number> = new Set([200, 401, 403]);

/**
 * Asks an address, without credentials, which of the built-in backends it serves.
 * @returns No backend and the problem if it can't be reached; no backend if it answers, but knows the paths of neither.
 */
async function recognizeService(
  address: string,
  {env, signal, config, output}: CommandContext,
): Promise<{readonly backends: readonly BuiltIn[]; readonly problem?: string | undefined}> {
  const {probe} = await import('../../http/probe.js');
  const base = address.endsWith('/') ? address : `${address}/`;
  const ask = async (backend: BuiltIn) => {
    const url = new URL(paths[backend], base);
    const request = {url, accepts: (code: number) => known.has(code), timeoutMs: recognitionTimeoutMs};
    const {status, problem} = await probe(request, {env, signal, userAgent: config.userAgent, logger: output});
    return {backend, status, problem};
  };
  const answers = await Promise.all([ask('legacy'), ask('api')]);
  if (answers.every(({status}) => status === undefined)) return {backends: [], problem: answers[0].problem};
  return {backends: answers.filter(({status = 0}) => known.has(status)).map(({backend}) => backend)};
}

/** Whether a flag, a variable or an answer sets it, so that there is nothing to ask. */
function isGiven(setting: {readonly source: ValueSource} | undefined): boolean {
  return setting?.source.kind === 'flag' || setting?.source.kind === 'environment';
}

/** @param answer what was entered for the value */
function withAnswer(known: Settings, key: AnswerKey, value: string, answer = value): Settings {
  const suggested = known[key];
  // What a file suggests stays the file's, for the confirmation of addresses.
  const isFrom = suggested?.source.kind === 'config' && suggested.value === answer;
  return {...known, [key]: value === '' ? undefined : {value, source: isFrom ? suggested.source : answered}};
}

/** The backend to configure: the given one, or the one that `auto` would choose. */
export function backendOf(settings: Settings): string {
  const {runtimeBackend, apiOrigin, origin} = settings;
  if (runtimeBackend.value !== 'auto') return runtimeBackend.value;
  if (missingApiSettings(settings).length === 0) return 'api';
  return apiOrigin !== undefined && origin === undefined ? 'api' : 'legacy';
}

/**
 * Asks for a URL, and completes it with its scheme.
 * @param problemOf Says what is wrong with a URL that is valid. Given twice, it is used all the same.
 */
async function askForAddress(
  known: Settings,
  key: AddressKey,
  context: CommandContext,
  problemOf: (url: string) => Promise<string | undefined> = () => Promise.resolve(undefined),
): Promise<Settings> {
  const {env, output} = context;
  let refused: string | undefined;
  const check = async (answer: string) => {
    const url = serviceUrl(key, 'The URL', answer);
    assertTrustedOrigin(url, 'the URL', env);
    const problem = refused === url ? undefined : await problemOf(url);
    refused = url;
    if (problem !== undefined) {
      const why = asSentence(`${url} can't be used now: ${problem}`);
      throw createError('ERR_ORIGIN_INVALID', `${why} Enter it again to use it anyway.`);
    }
  };
  const text = key === 'tokenUrl' ? 'Token URL' : 'URL of the service';
  const answer = await askText({text, fallback: known[key]?.value, check}, context);
  const url = answer.includes('://') ? answer : serviceUrl(key, 'The URL', answer);
  if (url !== answer) output.info(`The URL has no scheme: using ${url}.`);
  return withAnswer(known, key, url, answer);
}

function slugCheck(what: string): (answer: string) => void {
  return (answer) => {
    const isPlain = /^[\p{L}\p{N}._-]*$/u.test(answer);
    const like = slugOf(answer);
    const charset = `can only contain letters, digits, ".", "_" and "-"${like === '' ? '' : `, like ${like}`}`;
    const problem = (answer === '' ? undefined : slugMessage(answer)) ?? (isPlain ? undefined : charset);
    if (problem !== undefined) throw createError('ERR_OPTION_INVALID', `The ${what} ${problem}.`);
  };
}

/** `@scope/My Shop` becomes `my-shop`. */
function slugOf(name: string): string {
  const words = name
    .replace(/^@[^/]*\//, '')
    .toLowerCase()
    .split(/[^a-z\d]+/);
  return words.filter((word) => word !== '').join('-');
}

/** The project that is set, or a slug for it: the name of its package, or of its folder. */
export async function suggestedProject({projectSlug}: Settings, directory: string): Promise<string | undefined> {
  if (projectSlug !== undefined) return projectSlug.value;
  const {name} = await readObject(join(directory, 'package.json'));
  return (typeof name === 'string' ? slugOf(name) : '') || slugOf(basename(directory)) || undefined;
}

/** A folder relative to the new file, with slashes. */
export function buildDirectoryOf({buildDirectory}: Settings, detected: DetectedBuild | undefined, cwd: string): string {
  if (buildDirectory.source.kind === 'default' && detected !== undefined) return detected.buildDirectory;
  const path = relative(cwd, buildDirectory.value);
  return isAbsolute(path) ? path : path.split(sep).join('/') || '.';
}

async function askAboutBuild(
  settings: Settings,
  detected: DetectedBuild | undefined,
  context: CommandContext,
): Promise<Settings> {
  const {cwd} = context;
  let known = settings;
  if (!isGiven(known.buildDirectory)) {
    const fallback = buildDirectoryOf(known, detected, cwd);
    const check = (answer: string) => checkFolder(answer, cwd);
    const value = resolve(cwd, await askText({text: 'Build folder', fallback, check}, context));
    known = {...known, buildDirectory: {value, source: answered}};
  }
  // A framework that was recognized is recognized by each push, too.
  if (known.static !== undefined || detected?.framework !== undefined) return known;
  const isDetected = detected !== undefined && buildDirectoryOf(known, detected, cwd) === detected.buildDirectory;
  const isStatic = isDetected ? detected.static : await isStaticBuild(known.buildDirectory.value);
  const value = await askYesNo('Is it a static site, without server code?', isStatic, context);
  return {...known, static: {value, source: answered}};
}

/** The folder need not exist before the first build. */
async function checkFolder(answer: string, cwd: string): Promise<void> {
  if (answer.includes('://')) throw createError('ERR_OPTION_INVALID', 'The build folder is a path, not a URL.');
  const stats = await stat(resolve(cwd, answer)).catch(() => undefined);
  if (stats !== undefined && !stats.isDirectory()) {
    throw createError('ERR_OPTION_INVALID', `${answer} is a file, not a folder.`);
  }
}

// What other clients of the same service keep. Nothing of it is read before the user agrees.

/** Variables by what they set, those that win first, and the key in `dw.json`. */
const otherProject = {
  origin: {variables: ['MRT_CLOUD_ORIGIN', 'SFCC_MRT_CLOUD_ORIGIN'], field: 'mrtOrigin'},
  projectSlug: {variables: ['MRT_PROJECT', 'SFCC_MRT_PROJECT'], field: 'mrtProject'},
  targetSlug: {variables: ['MRT_ENVIRONMENT', 'MRT_TARGET', 'SFCC_MRT_ENVIRONMENT'], field: 'mrtEnvironment'},
} as const;
const keyVariables = ['MRT_API_KEY', 'SFCC_MRT_API_KEY'];

const projectFile = 'dw.json';
const standardHost = 'cloud.mobify.com';

/** Offers what a project has set up for another client, for the settings that are not set. */
async function takeOverProject(settings: Settings, context: CommandContext): Promise<Settings> {
  const {cwd, env} = context;
  const path = join(cwd, projectFile);
  const isSet = (name: string) => (env[name] ?? '') !== '';
  const found: string[] = Object.values(otherProject).flatMap(({variables}) => variables.filter(isSet));
  if (await isFile(path)) found.push(projectFile);
  const question = `Use the address, project and target set up for another client in ${listed(found)}?`;
  if (found.length === 0 || !(await askYesNo(question, true, context))) return settings;
  const content = await readProjectFile(path);
  const settingOf = (key: keyof typeof otherProject): Setting<string> | undefined => {
    const {variables, field} = otherProject[key];
    const name = variables.find(isSet);
    // A file of the project, whose address has to be confirmed before it is given credentials.
    const source: ValueSource = name === undefined ? {kind: 'config', name: path} : {kind: 'environment', name};
    const value = textOf(name === undefined ? content[field] : env[name]);
    return value === undefined ? undefined : {value, source};
  };
  return {
    ...settings,
    origin: settings.origin ?? settingOf('origin'),
    projectSlug: settings.projectSlug ?? settingOf('projectSlug'),
    targetSlug: settings.targetSlug ?? settingOf('targetSlug'),
  };
}

interface OtherKey {
  readonly apiKey: string;
  readonly apiUser?: string | undefined;
}

/** Offers the API key for a service: of a variable, of `dw.json`, else of the user's own file for its host. */
export async function takeOverKey(origin: string, context: CommandContext): Promise<OtherKey | undefined> {
  const {cwd, env, output} = context;
  const {host} = new URL(normalizeOrigin('the address', origin));
  const ownFile = host === standardHost ? '.mobify' : `.mobify--${host}`;
  const own = join(env['HOME'] ?? homedir(), ownFile);
  const found = keyVariables.filter((name) => (env[name] ?? '') !== '');
  if (await isFile(join(cwd, projectFile))) found.push(projectFile);
  if (await isFile(own)) found.push(`~/${ownFile}`);
  const question = `Use the API key of another client in ${listed(found)} for ${origin}?`;
  if (found.length === 0 || !(await askYesNo(question, true, context))) return undefined;
  const variable = keyVariables.map((name) => env[name] ?? '').find((value) => value !== '');
  const shared = variable ?? textOf((await readProjectFile(join(cwd, projectFile)))['mrtApiKey']);
  const {api_key: ownKey, username} = await readObject(own);
  const apiKey = shared ?? textOf(ownKey);
  if (apiKey === undefined) return undefined;
  output.addSecrets([apiKey]);
  return {apiKey, apiUser: shared === undefined ? textOf(username) : undefined};
}

/** A file can have several configurations, of which one is active. */
async function readProjectFile(path: string): Promise<Readonly<Record<string, unknown>>> {
  const content = await readObject(path);
  const {configs} = content;
  const active: unknown = Array.isArray(configs)
    ? configs.find((config: unknown) => isRecord(config) && config['active'] === true)
    : undefined;
  return isRecord(active) && content['active'] !== true ? {...content, ...active} : content;
}

/** An empty object if there is no such file, or it is not JSON: it is not ours to complain about. */
async function readObject(path: string): Promise<Readonly<Record<string, unknown>>> {
  const value = await readTextFile(path)
    .then(parseJson)
    .catch(() => undefined);
  return isRecord(value) ? value : {};
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? false;
}

const listed = (names: readonly string[]) => new Intl.ListFormat('en', {type: 'disjunction'}).format(names);
