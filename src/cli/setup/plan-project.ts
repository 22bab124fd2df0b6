import {join, relative, resolve} from 'node:path';
import {inspect} from 'node:util';
import type {MycliConfig} from '../../config.js';
import {createError, isRuntimeCliError} from '../../errors/index.js';
import {exists} from '../../files/read-file.js';
import {replaceTextFile} from '../../files/write-files.js';
import {copyCommands} from '../../frameworks/check-build.js';
import {detectBuild, type DetectedBuild} from '../../frameworks/detect-framework.js';
import type {CommandContext} from '../command/command-context.js';
import {missingSettings, requireTogether} from '../command/operation-options.js';
import type {CredentialKind} from '../settings/credential-file.js';
import type {SettingKey} from '../../settings/definitions.js';
import {addressOf, isPluginBackend, type AddressKey} from '../settings/connection.js';
import {configIn} from '../settings/config-file.js';
import {readPluginSettings} from '../settings/reach-backends.js';
import {requireSetting, type Settings} from '../settings/settings.js';
import {backendOf, buildDirectoryOf, interview, requireBackend, suggestedProject} from './interview.js';
import {requireConfigured} from './check-credentials.js';
import {signIn, trustAddresses} from './login.js';
import {askYesNo, canAsk} from './prompts.js';

interface ProjectSetup {
  /** Whether the user can be asked for what flags, variables and the last login don't set. */
  readonly asks: boolean;
  /** Whether to take the defaults that the questions show. */
  readonly takesDefaults: boolean;
  readonly verify: boolean;
}

interface ProjectPlan {
  readonly config: MycliConfig;
  /** What a plugin's backend still needs before a push. */
  readonly problem?: string | undefined;
  readonly hasCredentials: boolean;
  /** The variable with the credentials, if they are in the environment only. */
  readonly unstored?: string | undefined;
  readonly stored?: CredentialKind | undefined;
  /** The URLs in the configuration that the user gave, not an earlier configuration file. */
  readonly addresses: readonly string[];
  readonly isBuilt: boolean;
  /** What builds the application, if it is known. */
  readonly buildCommand?: string | undefined;
  readonly afterBuild: readonly string[];
  readonly framework?: string | undefined;
}

/** Completes the settings of a new project, by asking if possible, and stores its credentials. */
export async function planProject(
  context: CommandContext,
  settings: Settings,
  {asks, takesDefaults, verify}: ProjectSetup,
): Promise<ProjectPlan> {
  const {cwd} = context;
  const {value: preference} = settings.runtimeBackend;
  if (isPluginBackend(preference)) await requireBackend(preference, context, settings);
  const detected = await detectBuild(cwd);
  if (detected !== undefined) context.output.info(describeBuild(detected));
  const given = withSchemes(settings, context);
  const answers = asks
    ? await interview(context, given, detected)
    : {...given, projectSlug: given.projectSlug ?? (takesDefaults ? await suggestedSetting(given, cwd) : undefined)};
  const backend = backendOf(answers);
  const needed = neededFor(backend, answers);
  requireTogether(missingSettings(answers, needed), 'Run mycli init in a terminal. Or set each of these:');
  for (const key of needed) requireSetting(answers, key);
  const {user, stored, unstored} = await signIn({context, settings: answers, backend, asks, verify});
  const buildDirectory = buildDirectoryOf(answers, detected, cwd);
  const build = resolve(cwd, buildDirectory);
  const layout = detected?.buildDirectory === buildDirectory ? detected : undefined;
  const isBuilt = await exists(build);
  if (!isBuilt && layout === undefined && answers.buildDirectory.source.kind !== 'default') {
    context.output.warn(
      `The build folder ${buildDirectory} does not exist. Build the application before you push, or correct it in ${newConfigName}.`,
    );
  }
  const isStatic = answers.static?.value ?? layout?.static;
  const framework = isStatic === true ? undefined : layout?.framework;
  return {
    config: {
      projectSlug: answers.projectSlug?.value,
      targetSlug: answers.targetSlug?.value,
      runtimeBackend: backend,
      ...(backend === 'legacy' && {origin: answers.origin?.value, apiUser: user ?? answers.apiUser?.value}),
      ...(backend === 'api' && {
        api: {
          origin: answers.apiOrigin?.value,
          organizationId: answers.organizationId?.value,
          tokenUrl: answers.tokenUrl?.value,
          clientId: answers.clientId?.value,
        },
      }),
      buildDirectory,
      ...(isStatic === true
        ? {static: true}
        : {static: answers.static?.value, ssrOnly: answers.ssrOnly?.value, ssrShared: answers.ssrShared?.value}),
      // They are not for the site's visitors.
      ignore: build === resolve(cwd) ? await notForVisitors(cwd, isStatic === true) : undefined,
    },
    problem: isPluginBackend(backend) ? await problemOf(backend, context, answers) : undefined,
    hasCredentials: stored !== undefined || hasCredentials(answers, backend),
    stored,
    unstored,
    addresses: addressKeys(backend).flatMap((key) => {
      const {[key]: setting} = answers;
      return setting === undefined || setting.source.kind === 'config' ? [] : [setting.value];
    }),
    framework: detected?.framework?.name,
    buildCommand: detected?.buildCommand,
    afterBuild: framework === undefined ? [] : await copyCommands(framework, {project: cwd, build}),
    isBuilt,
  };
}

async function problemOf(name: string, context: CommandContext, settings: Settings): Promise<string | undefined> {
  const chosen = {...settings, runtimeBackend: {...settings.runtimeBackend, value: name}};
  const registration = await requireBackend(name, context, settings);
  try {
    const used = await readPluginSettings(registration, context, chosen);
    await requireConfigured(context, chosen, {...used, backend: registration.backend});
    return undefined;
  } catch (error) {
    if (!isRuntimeCliError(error)) throw error;
    return [error.message, ...error.suggestions].join(' ');
  }
}

/** What the question about the project would have suggested. */
async function suggestedSetting(settings: Settings, cwd: string): Promise<Settings['projectSlug']> {
  const value = await suggestedProject(settings, cwd);
  return value === undefined ? undefined : {value, source: {kind: 'default', name: 'package.json'}};
}

/** What a project's own folder has besides its site. A server may need its packages. */
async function notForVisitors(cwd: string, isStatic: boolean): Promise<readonly string[]> {
  const names = isStatic ? ['package.json', 'package-lock.json', 'pnpm-lock.yaml', 'yarn.lock', 'node_modules'] : [];
  const found = await Promise.all(names.map((name) => exists(join(cwd, name))));
  return [newConfigName, ...names.filter((_, index) => found[index])];
}

function addressKeys(backend: string): readonly AddressKey[] {
  if (backend === 'legacy') return ['origin'];
  return backend === 'api' ? ['apiOrigin', 'tokenUrl'] : [];
}

/** The settings with a scheme on each address, so that the file says what is used. */
function withSchemes(settings: Settings, context: CommandContext): Settings {
  let completed = settings;
  for (const key of ['origin', 'apiOrigin', 'tokenUrl'] as const satisfies readonly AddressKey[]) {
    const setting = settings[key];
    if (setting === undefined) continue;
    completed = {...completed, [key]: {value: addressOf(context, key, setting, false), source: setting.source}};
  }
  return completed;
}

function describeBuild({framework, buildDirectory, static: isStatic}: DetectedBuild): string {
  const what = framework === undefined ? 'Found a build' : `Detected ${framework.name}`;
  const where = buildDirectory === '.' ? 'this folder' : buildDirectory;
  return `${what}: ${isStatic ? 'a static site' : 'an application'} in ${where}.`;
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

const newConfigName = 'mycli.config.ts';

/** Refuses to set up a project that is already set up. */
export async function refuseExistingConfig(directory: string): Promise<void> {
  const path = await configIn(directory);
  if (path === undefined) return;
  throw createError('ERR_OUTPUT', `${path} already contains a configuration.`, {
    suggestions: [`Edit it, or pass --force to write a new ${newConfigName}.`],
  });
}

/** Writes a typed configuration file, in place of any that is there. Returns its path. */
async function writeConfig(directory: string, config: MycliConfig): Promise<string> {
  const path = join(directory, newConfigName);
  // Without the keys that are undefined.
  const plain: unknown = JSON.parse(JSON.stringify(config));
  const literal = inspect(plain, {compact: false, depth: null});
  const source = `import {defineConfig} from 'mycli';\n\nexport default defineConfig(${literal});\n`;
  await replaceTextFile(path, source);
  return path;
}

/**
 * Offers to set up a project that nothing configures, in a terminal. Returns its settings, or those that were given.
 */
export async function offerSetup(context: CommandContext, settings: Settings): Promise<Settings> {
  const {cwd, output} = context;
  const isSetUp = settings.projectSlug !== undefined || (await configIn(cwd)) !== undefined;
  if (isSetUp || output.json || !canAsk(context)) return settings;
  if (!(await askYesNo('This project is not set up. Set it up now?', true, context))) return settings;
  const plan = await planProject(context, settings, {asks: true, takesDefaults: false, verify: true});
  const file = await writeProject(context, plan);
  output.info(`Wrote ${relative(cwd, file)}.`);
  return context.loadSettings();
}

/** Writes the configuration of a plan, whose addresses are trusted from then on. Returns its path. */
export async function writeProject(context: CommandContext, {config, addresses}: ProjectPlan): Promise<string> {
  const file = await writeConfig(context.cwd, config);
  if (addresses.length > 0) await trustAddresses(context, addresses);
  return file;
}
