import {stat} from 'node:fs/promises';
import {resolve} from 'node:path';
import type {MycliConfig} from '../../config.js';
import {copyCommands} from '../../frameworks/check-build.js';
import {detectBuild, type DetectedBuild} from '../../frameworks/detect-framework.js';
import type {CommandContext} from '../command/command-context.js';
import {missingSettings, requireTogether} from '../command/requirements.js';
import type {CredentialKind} from './login.js';
import type {SettingKey} from '../../settings/definitions.js';
import {requireSetting, type Settings} from '../settings/settings.js';
import {backendOf, buildDirectoryOf, completeUrl, interview, suggestedSlug, type AddressKey} from './interview.js';
import {newConfigName} from './new-config.js';
import {signIn} from './sign-in.js';

/** What setting up a project needs. */
interface ProjectSetup {
  readonly context: CommandContext;
  /** The settings from flags, variables and the last login. */
  readonly settings: Settings;
  /** Whether the user can be asked for the rest. */
  readonly asks: boolean;
  /** Whether to take the defaults that the questions show. */
  readonly takesDefaults: boolean;
  /** Whether to check credentials before storing them. */
  readonly verify: boolean;
  /** @throws RuntimeCliError `ERR_BACKEND_UNKNOWN`. */
  readonly checkBackend: (name: string) => Promise<void>;
}

/** The plan for a project's configuration. */
interface ProjectPlan {
  readonly config: MycliConfig;
  /** Whether a push has credentials. */
  readonly hasCredentials: boolean;
  /** The variable with the credentials, if they are in the environment only. */
  readonly unstored?: string | undefined;
  /** Kind of the stored credentials, if any. */
  readonly stored?: CredentialKind | undefined;
  /** The URLs in the configuration that the user gave, not an earlier configuration file. */
  readonly addresses: readonly string[];
  /** Whether there is a build to push. */
  readonly isBuilt: boolean;
  /** What builds the application, if it is known. */
  readonly buildCommand?: string | undefined;
  /** What to run after each build. */
  readonly afterBuild: readonly string[];
  /** Name of the detected framework. */
  readonly framework?: string | undefined;
}

/**
 * Completes the settings of a new project, by asking if possible, and stores its credentials.
 * @throws RuntimeCliError naming everything that is missing; the errors of a login.
 */
export async function planProject(setup: ProjectSetup): Promise<ProjectPlan> {
  const {context, asks, takesDefaults, verify, checkBackend} = setup;
  const {cwd} = context;
  const {value: preference} = setup.settings.runtimeBackend;
  if (preference !== 'auto') await checkBackend(preference);
  const detected = await detectBuild(cwd);
  if (detected !== undefined) context.output.info(describeBuild(detected));
  const given = withSchemes(setup.settings, context);
  const answers = asks
    ? await interview({context, settings: given, detected, checkBackend})
    : takesDefaults
      ? await withDefaults(given, cwd)
      : given;
  const backend = backendOf(answers);
  explainBackend(answers, backend, context);
  requireTogether(missingSettings(answers, neededFor(backend, answers)), 'Run mycli init in a terminal. Or give each:');
  for (const key of neededFor(backend, answers)) requireSetting(answers, key);
  const {settings, stored, unstored} = await signIn({context, settings: answers, backend, asks, verify});
  const buildDirectory = buildDirectoryOf(settings, detected, cwd);
  const layout = detected?.buildDirectory === buildDirectory ? detected : undefined;
  const isStatic = settings.static?.value ?? layout?.static;
  return {
    config: {
      projectSlug: settings.projectSlug?.value,
      targetSlug: settings.targetSlug?.value,
      runtimeBackend: backend,
      ...(backend === 'legacy' ? {origin: settings.origin?.value, apiUser: settings.apiUser?.value} : {}),
      ...(backend === 'api' ? {api: apiConfig(settings)} : {}),
      buildDirectory,
      ...(isStatic === true
        ? {static: true}
        : {static: settings.static?.value, ssrOnly: settings.ssrOnly?.value, ssrShared: settings.ssrShared?.value}),
      // It is not for the site's visitors.
      ignore: resolve(cwd, buildDirectory) === resolve(cwd) ? [newConfigName] : undefined,
    },
    hasCredentials: stored !== undefined || hasCredentials(settings, backend),
    stored,
    unstored,
    addresses: addressKeys(backend).flatMap((key) => {
      const {[key]: setting} = settings;
      return setting === undefined || setting.source.kind === 'config' ? [] : [setting.value];
    }),
    framework: detected?.framework?.name,
    buildCommand: detected?.buildCommand,
    afterBuild:
      isStatic === true || layout?.framework === undefined
        ? []
        : await copyCommands(layout.framework, {project: cwd, build: resolve(cwd, buildDirectory)}),
    isBuilt: await stat(resolve(cwd, buildDirectory)).then(
      (stats) => stats.isDirectory(),
      () => false,
    ),
  };
}

/** What the questions would have suggested. */
async function withDefaults(settings: Settings, cwd: string): Promise<Settings> {
  const name = settings.projectSlug === undefined ? await suggestedSlug(cwd) : undefined;
  if (name === undefined) return settings;
  return {...settings, projectSlug: {value: name, source: {kind: 'default', name: 'package.json'}}};
}

function addressKeys(backend: string): readonly AddressKey[] {
  if (backend === 'legacy') return ['origin'];
  return backend === 'api' ? ['apiOrigin', 'tokenUrl'] : [];
}

/** The settings with a scheme on each address, so that the file says what is used. */
function withSchemes(settings: Settings, {output}: CommandContext): Settings {
  let completed = settings;
  for (const key of ['origin', 'apiOrigin', 'tokenUrl'] as const satisfies readonly AddressKey[]) {
    const setting = settings[key];
    if (setting === undefined) continue;
    const {value, source} = setting;
    const url = completeUrl(key, source.name, value);
    if (!value.includes('://')) output.info(`${source.name} has no scheme: using ${url}.`);
    completed = {...completed, [key]: {value: url, source}};
  }
  return completed;
}

/** Says why one of two backends with settings was chosen. */
function explainBackend(
  {runtimeBackend, origin, apiOrigin}: Settings,
  backend: string,
  {output}: CommandContext,
): void {
  if (runtimeBackend.value !== 'auto' || origin === undefined || apiOrigin === undefined) return;
  const reason = backend === 'api' ? 'its connection is complete' : 'the Api connection is incomplete';
  const other = backend === 'api' ? 'legacy' : 'api';
  output.info(
    `Both backends have settings. Using ${backend}: ${reason}. For the other, pass --runtime-backend ${other}.`,
  );
}

function describeBuild({framework, buildDirectory, static: isStatic}: DetectedBuild): string {
  const what = framework === undefined ? 'Found a build' : `Detected ${framework.name}`;
  const where = buildDirectory === '.' ? 'this folder' : buildDirectory;
  return `${what}: ${isStatic ? 'a static site' : 'an application'} in ${where}.`;
}

function apiConfig({apiOrigin, organizationId, tokenUrl, clientId}: Settings): MycliConfig['api'] {
  return {
    origin: apiOrigin?.value,
    organizationId: organizationId?.value,
    tokenUrl: tokenUrl?.value,
    clientId: clientId?.value,
  };
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
