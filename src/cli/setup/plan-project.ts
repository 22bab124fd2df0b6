import {stat} from 'node:fs/promises';
import {join, relative, resolve} from 'node:path';
import {finished} from 'node:stream/promises';
import {backendTitle} from '../../backends/select.js';
import type {MycliConfig} from '../../config.js';
import {createError} from '../../errors/index.js';
import {isRecord} from '../../errors/json.js';
import {stageFile} from '../../files/write-files.js';
import {copyCommands} from '../../frameworks/check-build.js';
import {detectBuild, type DetectedBuild} from '../../frameworks/detect-framework.js';
import type {CommandContext} from '../command/command-context.js';
import {missingSettings, requireTogether} from '../command/requirements.js';
import type {CredentialKind} from '../settings/credential-file.js';
import type {SettingKey} from '../../settings/definitions.js';
import {configIn} from '../settings/config-file.js';
import {requireSetting, type Settings} from '../settings/settings.js';
import {backendOf, buildDirectoryOf, completeUrl, interview, suggestedProject, type AddressKey} from './interview.js';
import {trustAddresses} from './login.js';
import {askYesNo, canAsk} from './prompts.js';
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
  let answers = given;
  if (asks) answers = await interview({context, settings: given, detected, checkBackend});
  else if (takesDefaults) {
    // What the questions would have suggested.
    const value = await suggestedProject(given, cwd);
    const source = {kind: 'default', name: 'package.json'} as const;
    answers = {...given, projectSlug: given.projectSlug ?? (value === undefined ? undefined : {value, source})};
  }
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
  const other = backend === 'api' ? 'legacy' : 'api';
  const reason = backend === 'api' ? 'its connection is complete' : 'that of the other is incomplete';
  output.info(
    `Both backends have settings. Using ${backendTitle(backend)}: ${reason}. ` +
      `For ${backendTitle(other)}, pass --runtime-backend ${other}.`,
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

const newConfigName = 'mycli.config.ts';

/**
 * Refuses to set up a project that is already set up.
 * @throws RuntimeCliError `ERR_OUTPUT` naming the configuration file.
 */
export async function refuseExistingConfig(directory: string): Promise<void> {
  const path = await configIn(directory);
  if (path === undefined) return;
  throw createError('ERR_OUTPUT', `${path} already contains a configuration.`, {
    suggestions: [`Edit it, or pass --force to write a new ${newConfigName}.`],
  });
}

/**
 * Writes a typed configuration file, in place of any that is there. Returns its path.
 * @throws RuntimeCliError `ERR_OUTPUT` when it cannot be written.
 */
async function writeConfig(directory: string, config: MycliConfig): Promise<string> {
  const path = join(directory, newConfigName);
  const source = `import {defineConfig} from 'mycli';\n\nexport default defineConfig(${literal(config, '')});\n`;
  const staged = await stageFile(path, 0o666, async (stream) => {
    stream.end(source);
    await finished(stream);
  });
  await staged.place().finally(() => staged.discard());
  return path;
}

/** A value as TypeScript, formatted as Prettier would. */
function literal(value: unknown, indent: string): string {
  if (typeof value === 'string') return quoted(value);
  if (Array.isArray(value)) return `[${value.map((item) => literal(item, indent)).join(', ')}]`;
  if (!isRecord(value)) return JSON.stringify(value);
  const inner = `${indent}  `;
  const members = Object.entries(value).filter(([, item]) => item !== undefined);
  return `{\n${members.map(([key, item]) => `${inner}${key}: ${literal(item, inner)},\n`).join('')}${indent}}`;
}

function quoted(text: string): string {
  return /[\p{Cc}\u2028\u2029]/u.test(text) ? JSON.stringify(text) : `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`;
}

/**
 * Offers to set up a project that nothing configures, in a terminal. Returns its settings, or those that were given.
 * @param checkBackend Throws when there is no such backend.
 * @throws RuntimeCliError of `mycli init`.
 */
export async function offerSetup(
  context: CommandContext,
  settings: Settings,
  checkBackend: (name: string) => Promise<void>,
): Promise<Settings> {
  const {cwd, output} = context;
  if (output.json || !canAsk(context) || (await configIn(cwd)) !== undefined) return settings;
  if (!(await askYesNo('This project is not set up. Set it up now?', true, context))) return settings;
  const plan = await planProject({context, settings, asks: true, takesDefaults: false, verify: true, checkBackend});
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
