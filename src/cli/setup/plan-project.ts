import {stat} from 'node:fs/promises';
import {isAbsolute, relative, resolve, sep} from 'node:path';
import {detectBuild, type DetectedBuild} from '../../bundle/files/framework.js';
import {slugMessage} from '../../bundle/option-schemas.js';
import type {MycliConfig} from '../../config.js';
import {createError} from '../../errors/index.js';
import {normalizeOrigin, parseServiceUrl} from '../../http/origin.js';
import type {CommandContext} from '../command/command-context.js';
import {Interview, readSecretInput} from '../command/prompts.js';
import {missingSettings, requireTogether} from '../command/requirements.js';
import type {SettingKey} from '../settings/definitions.js';
import {checkedSecret} from '../settings/load-settings.js';
import {requireSetting, type Setting, type Settings, type ValueSource} from '../settings/settings.js';
import {confirmAddresses, loginTarget, storeLogin, type CredentialKind} from '../credentials/login.js';
import {withStoredCredentials} from '../credentials/stored-settings.js';

/** What setting up a project needs. */
interface ProjectSetup {
  readonly context: CommandContext;
  /** The settings from flags, variables and the last login. */
  readonly settings: Settings;
  /** Whether the user can be asked for the rest. */
  readonly asks: boolean;
  /** Whether to check credentials before storing them. */
  readonly verify: boolean;
}

/** The plan for a project's configuration. */
interface ProjectPlan {
  readonly config: MycliConfig;
  /** Whether a push has credentials. */
  readonly hasCredentials: boolean;
  /** Kind of the stored credentials, if any. */
  readonly stored?: CredentialKind | undefined;
  /** Whether there is a build to push. */
  readonly isBuilt: boolean;
  /** Name of the detected framework. */
  readonly framework?: string | undefined;
}

/**
 * Completes the settings of a new project, by asking if possible, and stores its credentials.
 * @throws RuntimeCliError naming everything that is missing; the errors of a login.
 */
export async function planProject(setup: ProjectSetup): Promise<ProjectPlan> {
  const {context, asks, verify} = setup;
  const detected = await detectBuild(context.cwd);
  if (detected !== undefined) context.output.info(describeBuild(detected));
  const settings = asks ? await interview(setup, detected) : setup.settings;
  const backend = backendOf(settings);
  requireTogether(missingSettings(settings, neededFor(backend, settings)), 'Or run mycli init in a terminal.');
  for (const key of neededFor(backend, settings)) requireSetting(settings, key);
  const login = await credentialsToStore(context, settings, backend, asks);
  if (login !== undefined) {
    await confirmAddresses(context, settings, loginTarget(context, settings, login.kind), asks);
    await storeLogin(context, settings, {...login, verify});
  }
  const buildDirectory = buildDirectoryOf(settings, detected, context.cwd);
  const isStatic = settings.static?.value ?? detected?.static;
  return {
    config: {
      projectSlug: settings.projectSlug?.value,
      targetSlug: settings.targetSlug?.value,
      runtimeBackend: backend,
      ...(backend === 'legacy' ? {origin: address(settings.origin), apiUser: settings.apiUser?.value} : {}),
      ...(backend === 'api' ? {api: apiConfig(settings)} : {}),
      buildDirectory,
      ...(isStatic === true ? {static: true} : {ssrOnly: settings.ssrOnly?.value ?? detected?.ssrOnly}),
    },
    hasCredentials: login !== undefined || hasCredentials(settings, backend),
    stored: login?.kind,
    framework: detected?.framework,
    isBuilt: await stat(resolve(context.cwd, buildDirectory)).then(
      (stats) => stats.isDirectory(),
      () => false,
    ),
  };
}

/** A URL with its scheme. @throws RuntimeCliError `ERR_ORIGIN_INVALID`. */
function address(setting: Setting<string> | undefined): string | undefined {
  return setting && normalizeOrigin(setting.source.name, setting.value);
}

function describeBuild({framework, buildDirectory, static: isStatic}: DetectedBuild): string {
  const what = framework === undefined ? 'Found a build' : `Detected ${framework}`;
  return `${what}: ${isStatic ? 'a static site' : 'an application'} in ${buildDirectory}.`;
}

function apiConfig({apiOrigin, organizationId, tokenUrl, clientId}: Settings): MycliConfig['api'] {
  return {
    origin: address(apiOrigin),
    organizationId: organizationId?.value,
    tokenUrl: tokenUrl?.value,
    clientId: clientId?.value,
  };
}

/** The backend to configure: the given one, or the one that has settings. */
function backendOf({runtimeBackend, apiOrigin, origin}: Settings): string {
  if (runtimeBackend.value !== 'auto') return runtimeBackend.value;
  return apiOrigin !== undefined && origin === undefined ? 'api' : 'legacy';
}

function neededFor(backend: string, {apiToken}: Settings): readonly SettingKey[] {
  if (backend === 'legacy') return ['projectSlug', 'origin'];
  if (backend !== 'api') return ['projectSlug'];
  const client = apiToken === undefined ? (['tokenUrl', 'clientId'] as const) : [];
  return ['projectSlug', 'apiOrigin', 'organizationId', ...client];
}

function hasCredentials({apiKey, apiToken, clientSecret}: Settings, backend: string): boolean {
  if (backend === 'legacy') return apiKey !== undefined;
  return backend !== 'api' || apiToken !== undefined || clientSecret !== undefined;
}

/** Relative to the new file, with slashes. */
function buildDirectoryOf({buildDirectory}: Settings, detected: DetectedBuild | undefined, cwd: string): string {
  if (buildDirectory.source.kind === 'default' && detected !== undefined) return detected.buildDirectory;
  const path = relative(cwd, buildDirectory.value);
  return isAbsolute(path) ? path : path.split(sep).join('/') || '.';
}

const source: ValueSource = {kind: 'flag', name: 'mycli init'};

/** Asks for what flags do not set, offering the values of variables and the last login. */
async function interview({context, settings}: ProjectSetup, detected: DetectedBuild | undefined): Promise<Settings> {
  const questions = new Interview(context);
  let known = settings;
  const ask = async (
    key: 'projectSlug' | 'targetSlug' | 'origin' | 'apiOrigin' | 'organizationId' | 'tokenUrl' | 'clientId',
    text: string,
    check: (answer: string) => void,
    fallback = known[key]?.value,
  ) => {
    if (known[key]?.source.kind === 'flag') return;
    const value = await questions.ask({text, fallback, check});
    const suggested = known[key];
    // What a file suggests stays the file's, for the confirmation of addresses.
    const isFrom = suggested?.source.kind === 'config' && suggested.value === value;
    known = {...known, [key]: value === '' ? undefined : isFrom ? suggested : {value, source}};
  };
  const slug = (answer: string) => {
    const problem = answer === '' ? undefined : slugMessage(answer);
    if (problem !== undefined) throw createError('ERR_OPTION_INVALID', `It ${problem}.`);
  };
  const url = (answer: string) => void normalizeOrigin('It', answer);
  try {
    await ask('projectSlug', 'Project slug', slug);
    await ask('targetSlug', 'Target to deploy to (empty for none)', slug, known.targetSlug?.value ?? '');
    if (known.runtimeBackend.source.kind === 'default') {
      const text = 'Backend, legacy (API key) or api (OAuth)';
      const value = await questions.ask({text, fallback: backendOf(known), check: checkBackend});
      known = {...known, runtimeBackend: {value, source}};
    }
    if (backendOf(known) === 'legacy') await ask('origin', 'URL of the service', url);
    if (backendOf(known) === 'api') {
      await ask('apiOrigin', 'URL of the API', url);
      await ask('organizationId', 'Organization ID', () => undefined);
      if (known.apiToken === undefined) {
        await ask('tokenUrl', 'Token URL', (answer) => void parseServiceUrl('It', answer));
        await ask('clientId', 'Client ID', () => undefined);
      }
    }
    known = await askAboutBuild(questions, known, context.cwd, detected);
  } finally {
    questions.close();
  }
  // The address may have changed.
  const {apiKey, apiToken, clientSecret} = known;
  const own = <T extends {readonly source: ValueSource}>(setting: T | undefined) =>
    setting?.source.kind === 'stored' ? undefined : setting;
  const unstored = {...known, apiKey: own(apiKey), apiToken: own(apiToken), clientSecret: own(clientSecret)};
  return withStoredCredentials(unstored, context.credentialFile);
}

function checkBackend(answer: string): void {
  if (answer === 'legacy' || answer === 'api') return;
  throw createError('ERR_OPTION_INVALID', 'It must be legacy or api.');
}

async function askAboutBuild(
  questions: Interview,
  settings: Settings,
  cwd: string,
  detected: DetectedBuild | undefined,
): Promise<Settings> {
  let known = settings;
  if (known.buildDirectory.source.kind !== 'flag') {
    const fallback = buildDirectoryOf(known, detected, cwd);
    const value = resolve(cwd, await questions.ask({text: 'Build folder', fallback}));
    known = {...known, buildDirectory: {value, source}};
  }
  if (known.static === undefined) {
    const value = await questions.confirm('Is it a static site, without server code?', detected?.static ?? false);
    known = {...known, static: {value, source}};
  }
  return known;
}

/** The credentials that a login would store: from a flag, or typed by the user. */
async function credentialsToStore(
  context: CommandContext,
  settings: Settings,
  backend: string,
  asks: boolean,
): Promise<{readonly kind: CredentialKind; readonly secret: string} | undefined> {
  if (backend !== 'legacy' && backend !== 'api') return undefined;
  const {apiKey, apiToken, clientSecret} = settings;
  const api = apiToken === undefined ? ('client-secret' as const) : ('api-token' as const);
  const kind = backend === 'legacy' ? 'api-key' : api;
  const given = backend === 'legacy' ? apiKey : (apiToken ?? clientSecret);
  if (given?.source.kind === 'flag') return {kind, secret: given.value.reveal()};
  if (!asks || given !== undefined) return undefined;
  const {prompt} = loginTarget(context, settings, kind);
  const {stdin, output, signal} = context;
  const text = `${prompt} (hidden, empty to skip)`;
  const typed = await readSecretInput({stdin, stream: output.stream, prompt: output.clean(text), signal});
  return typed.trim() === '' ? undefined : {kind, secret: checkedSecret(typed, `the ${kind}`)};
}
