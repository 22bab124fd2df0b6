import {stat} from 'node:fs/promises';
import {basename, isAbsolute, join, relative, resolve, sep} from 'node:path';
import {slugMessage} from '../../settings/schemas.js';
import {createError} from '../../errors/index.js';
import {isRecord, parseJson} from '../../errors/json.js';
import {readTextFile} from '../../files/read-file.js';
import {isStaticBuild, type DetectedBuild} from '../../frameworks/detect-framework.js';
import {isLoopback, normalizeOrigin, parseServiceUrl} from '../../http/origin.js';
import {missingApiSettings} from '../settings/api-completeness.js';
import {assertTrustedOrigin} from '../settings/connection.js';
import type {CommandContext} from '../command/command-context.js';
import {Interview} from './prompts.js';
import {withStoredCredentials} from '../settings/stored-settings.js';
import type {Settings, ValueSource} from '../settings/settings.js';
import {recognizeService, type RecognizedService} from './recognize-service.js';
import {takeOverProject} from './take-over.js';

/** What an interview about a new project needs. */
interface InterviewContext {
  readonly context: Pick<
    CommandContext,
    'cwd' | 'env' | 'output' | 'stdin' | 'signal' | 'credentialFile' | 'userAgent'
  >;
  readonly settings: Settings;
  readonly detected: DetectedBuild | undefined;
  /** @throws RuntimeCliError when there is no such backend. */
  readonly checkBackend: (name: string) => Promise<void>;
}

type AnswerKey = 'projectSlug' | 'targetSlug' | 'origin' | 'apiOrigin' | 'organizationId' | 'tokenUrl' | 'clientId';
/** A setting with the address of a service. */
export type AddressKey = Extract<AnswerKey, 'origin' | 'apiOrigin' | 'tokenUrl'>;

/** The source of what a user answers. */
const answered: ValueSource = {kind: 'flag', name: 'your answer'};

/** Asks for what neither flags nor variables set, offering what the last login and the project's files suggest. */
export async function interview({context, settings, detected, checkBackend}: InterviewContext): Promise<Settings> {
  const {cwd, credentialFile} = context;
  const questions = new Interview(context);
  const asked = new Set<AnswerKey>();
  let known = await takeOverProject(questions, settings, context);
  const ask = async (key: AnswerKey, text: string, check?: (answer: string) => void, fallback = known[key]?.value) => {
    if (isGiven(known, key) || asked.has(key)) return;
    known = withAnswer(known, key, await questions.ask({text, fallback, check}));
    asked.add(key);
  };
  const askForUrl = async (key: AddressKey) => {
    if (isGiven(known, key) || asked.has(key)) return;
    known = await askForAddress(questions, known, key, context);
    asked.add(key);
  };
  try {
    const isOpen = known.runtimeBackend.source.kind === 'default';
    if (isOpen && !isGiven(known, 'origin') && !isGiven(known, 'apiOrigin')) {
      known = await askForService(questions, known, context, checkBackend);
      asked.add('origin').add('apiOrigin');
    }
    const name = known.projectSlug?.value ?? (await suggestedSlug(cwd));
    await ask('projectSlug', 'Project slug', slugCheck('project slug'), name);
    const target = known.targetSlug?.value ?? '';
    await ask('targetSlug', 'Target to deploy to (empty for none)', slugCheck('target'), target);
    const backend = backendOf(known);
    if (backend === 'legacy') await askForUrl('origin');
    if (backend === 'api') {
      await askForUrl('apiOrigin');
      await ask('organizationId', 'Organization ID');
      if (known.apiToken === undefined) {
        await askForUrl('tokenUrl');
        await ask('clientId', 'Client ID');
      }
    }
    known = await askAboutBuild(questions, known, cwd, detected);
  } finally {
    questions.close();
  }
  return withCredentialsFor(known, credentialFile);
}

/** Asks for the URL of the service first: it tells most of the rest, the backend above all. */
async function askForService(
  questions: Interview,
  settings: Settings,
  context: InterviewContext['context'],
  checkBackend: InterviewContext['checkBackend'],
): Promise<Settings> {
  const likely = backendOf(settings) === 'api' ? 'apiOrigin' : 'origin';
  let found: RecognizedService = {backends: []};
  const known = await askForAddress(questions, settings, likely, context, async (url) => {
    found = await recognizeService(url, context);
    return found.problem;
  });
  const backend = found.backends.includes(backendOf(settings) as 'legacy' | 'api')
    ? backendOf(settings)
    : (found.backends[0] ?? (await askForBackend(questions, backendOf(settings), checkBackend)));
  const other = likely === 'origin' ? 'apiOrigin' : 'origin';
  const key = backend === 'api' ? 'apiOrigin' : 'origin';
  const placed = key === likely ? known : {...known, [likely]: settings[likely], [other]: known[likely]};
  return {...placed, runtimeBackend: {value: backend, source: answered}};
}

/** The address does not tell which kind of service it is. */
async function askForBackend(
  questions: Interview,
  likely: string,
  checkBackend: InterviewContext['checkBackend'],
): Promise<string> {
  questions.tell('With an API key for it, the backend is legacy. With an OAuth client or an access token, it is api.');
  const check = async (answer: string) => {
    if (answer === 'auto') throw createError('ERR_OPTION_INVALID', 'A project has one backend: choose legacy or api.');
    await checkBackend(answer);
  };
  return questions.ask({text: 'Backend', fallback: likely, check});
}

/** The settings with the credentials stored for their addresses, which may have changed. */
function withCredentialsFor(settings: Settings, file: CommandContext['credentialFile']): Promise<Settings> {
  const {apiKey, apiToken, clientSecret} = settings;
  const own = <T extends {readonly source: ValueSource}>(setting: T | undefined) =>
    setting?.source.kind === 'stored' ? undefined : setting;
  const unstored = {...settings, apiKey: own(apiKey), apiToken: own(apiToken), clientSecret: own(clientSecret)};
  return withStoredCredentials(unstored, file);
}

/** Whether a flag or a variable sets it, so that there is nothing to ask. */
function isGiven(settings: Settings, key: AnswerKey): boolean {
  const kind = settings[key]?.source.kind;
  return kind === 'flag' || kind === 'environment';
}

function withAnswer(known: Settings, key: AnswerKey, value: string): Settings {
  const suggested = known[key];
  // What a file suggests stays the file's, for the confirmation of addresses.
  const isFrom = suggested?.source.kind === 'config' && suggested.value === value;
  return {...known, [key]: value === '' ? undefined : isFrom ? suggested : {value, source: answered}};
}

/** The backend to configure: the given one, or the one that `auto` would choose. */
export function backendOf(settings: Settings): string {
  const {runtimeBackend, apiOrigin, origin} = settings;
  if (runtimeBackend.value !== 'auto') return runtimeBackend.value;
  if (missingApiSettings((key) => settings[key] !== undefined).length === 0) return 'api';
  return apiOrigin !== undefined && origin === undefined ? 'api' : 'legacy';
}

/**
 * Asks for a URL, and completes it with its scheme.
 * @param problemOf Says what is wrong with a URL that is valid. Given twice, it is used all the same.
 */
export async function askForAddress(
  questions: Interview,
  known: Settings,
  key: AddressKey,
  {env}: Pick<CommandContext, 'env'>,
  problemOf: (url: string) => Promise<string | undefined> = () => Promise.resolve(undefined),
): Promise<Settings> {
  const text = key === 'tokenUrl' ? 'Token URL' : 'URL of the service';
  let refused: string | undefined;
  const check = async (answer: string) => {
    const url = completeUrl(key, 'The URL', answer);
    assertTrustedOrigin(url, 'the URL', env);
    const problem = refused === url ? undefined : await problemOf(url);
    refused = url;
    if (problem !== undefined) {
      throw createError('ERR_ORIGIN_INVALID', `${url} can't be used now: ${problem}. Enter it again to use it anyway.`);
    }
  };
  const answer = await questions.ask({text, fallback: known[key]?.value, check});
  const url = answer.includes('://') ? answer : completeUrl(key, 'The URL', answer);
  if (url !== answer) questions.tell(`The URL has no scheme: using ${url}.`);
  const suggested = known[key];
  // What a file suggests stays the file's, with its scheme, too.
  return suggested?.source.kind === 'config' && suggested.value === answer
    ? {...known, [key]: {value: url, source: suggested.source}}
    : withAnswer(known, key, url);
}

/**
 * The URL of a service for a new project, with its scheme: `https`, but `http` on this machine, where a server rarely
 * has a certificate.
 * @throws RuntimeCliError `ERR_ORIGIN_INVALID`.
 */
export function completeUrl(key: AddressKey, name: string, value: string): string {
  const url = key === 'tokenUrl' ? parseServiceUrl(name, value).href : normalizeOrigin(name, value);
  return value.includes('://') || !isLoopback(new URL(url).hostname) ? url : url.replace(/^https:/, 'http:');
}

function slugCheck(what: string): (answer: string) => void {
  return (answer) => {
    if (answer === '') return;
    const problem = slugMessage(answer);
    if (problem !== undefined) throw createError('ERR_OPTION_INVALID', `The ${what} ${problem}.`);
    if (/^[\p{L}\p{N}._-]+$/u.test(answer)) return;
    const like = slugOf(answer);
    const example = like === '' ? '' : `, like ${like}`;
    throw createError(
      'ERR_OPTION_INVALID',
      `The ${what} can only contain letters, digits, ".", "_" and "-"${example}.`,
    );
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

/** A slug for the project: the name of its package, or of its folder. */
export async function suggestedSlug(directory: string): Promise<string | undefined> {
  const manifest = await readTextFile(join(directory, 'package.json'))
    .then(parseJson)
    .catch(() => undefined);
  const name = isRecord(manifest) ? manifest['name'] : undefined;
  return (typeof name === 'string' ? slugOf(name) : '') || slugOf(basename(directory)) || undefined;
}

/** A folder relative to the new file, with slashes. */
export function buildDirectoryOf({buildDirectory}: Settings, detected: DetectedBuild | undefined, cwd: string): string {
  if (buildDirectory.source.kind === 'default' && detected !== undefined) return detected.buildDirectory;
  const path = relative(cwd, buildDirectory.value);
  return isAbsolute(path) ? path : path.split(sep).join('/') || '.';
}

async function askAboutBuild(
  questions: Interview,
  settings: Settings,
  cwd: string,
  detected: DetectedBuild | undefined,
): Promise<Settings> {
  let known = settings;
  if (!['flag', 'environment'].includes(known.buildDirectory.source.kind)) {
    const fallback = buildDirectoryOf(known, detected, cwd);
    const check = (answer: string) => checkFolder(answer, cwd);
    const value = resolve(cwd, await questions.ask({text: 'Build folder', fallback, check}));
    known = {...known, buildDirectory: {value, source: answered}};
  }
  // A framework that was recognized is recognized by each push, too.
  if (known.static === undefined && detected?.framework === undefined) {
    const isDetected = detected !== undefined && buildDirectoryOf(known, detected, cwd) === detected.buildDirectory;
    const isStatic = isDetected ? detected.static : await isStaticBuild(known.buildDirectory.value);
    const value = await questions.confirm('Is it a static site, without server code?', isStatic);
    known = {...known, static: {value, source: answered}};
  }
  return known;
}

/** The folder need not exist before the first build. */
async function checkFolder(answer: string, cwd: string): Promise<void> {
  if (answer.includes('://')) throw createError('ERR_OPTION_INVALID', 'The build folder is a path, not a URL.');
  const stats = await stat(resolve(cwd, answer)).catch(() => undefined);
  if (stats !== undefined && !stats.isDirectory()) {
    throw createError('ERR_OPTION_INVALID', `${answer} is a file, not a folder.`);
  }
}
