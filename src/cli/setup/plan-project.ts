import {basename, join, resolve} from 'node:path';
import {inspect} from 'node:util';
import {optionsOf, refuseUnfitSlugs} from '../../backends/resolve-backend.js';
import {OptionText, stringsIn} from '../../backends/plugins/option-text.js';
import type {BackendRegistration} from '../../backends/registry.js';
import {buildScriptAdvice} from '../../bundle/files/build-output.js';
import {planBundle, privateFilesIn, readIgnoreRules, scanBuildDirectory} from '../../bundle/index.js';
import type {MycliConfig} from '../../config.js';
import {amendError, createError, isRuntimeCliError, type RuntimeCliError} from '../../errors/index.js';
import {advises} from '../../errors/suggestion.js';
import {withLock} from '../../files/lock.js';
import {exists} from '../../files/read-file.js';
import {replaceTextFile} from '../../files/write-files.js';
import {copyCommands} from '../../projects/check-build.js';
import {firstOf, foldersIn, namesIn, readJsonRecord} from '../../projects/read-project.js';
import {detectBuild, isStaticBuild, type DetectedBuild} from '../../projects/detect-build.js';
import {topServer} from '../../projects/server-scripts.js';
import {adviceFor} from '../../projects/unfit-build.js';
import {definitions, variableOf} from '../../settings/definitions.js';
import {listPaths, listReasons} from '../../text/entry-names.js';
import {asRecord} from '../../text/json.js';
import {folderFrom} from '../../text/paths.js';
import {shellLine} from '../../text/suggest.js';
import {isLoopback} from '../../http/origin.js';
import {hasCredentials} from '../../http/redact.js';
import type {CommandContext} from '../command/command-context.js';
import {bundleOptions, missingSettings, requireTogether} from '../command/operation-options.js';
import type {Output} from '../output/output.js';
import {configIn} from '../settings/config-file.js';
import {isPluginBackend, missingApiSettings, serviceUrl, type ServiceKey} from '../settings/connection-options.js';
import {loadWantedBackends} from '../settings/load-backends.js';
import {trustAddresses} from '../settings/credential-file.js';
import {addressesIn} from '../settings/option-addresses.js';
import {optionsFor, readPluginSettings} from '../settings/plugin-settings.js';
import {readBackend} from '../settings/reach-backends.js';
import {flagUsage, missingSetting, type Settings} from '../settings/settings.js';
import {newConfigName, type NewConfigName} from './config-name.js';
import {signIn, type ProjectSetup, type StoredKind} from './login.js';
import {takeOver} from './take-over.js';
import {askYesNo} from './prompts.js';
import {interview, backendOf} from './interview.js';

interface ProjectPlan {
  readonly config: MycliConfig;
  readonly configName: NewConfigName;
  readonly hasCredentials: boolean;
  readonly problem?: RuntimeCliError | undefined;
  readonly stored?: StoredKind | undefined;
  readonly canDeploy: boolean;
  /** The URLs in the configuration that the user gave, not an earlier configuration file. */
  readonly addresses: readonly string[];
  /** Whether the build is there, or it is known how to build it. */
  readonly canBuild: boolean;
  readonly buildSteps: readonly string[];
  /** What a push has to name, because the configuration does not. */
  readonly pushArguments: readonly string[];
  readonly framework?: string | undefined;
}

/** A last login to this machine was one to `runtime:start`, which may be gone: it is only used if it is passed. */
function withoutTrial(settings: Settings): {readonly known: Settings; readonly advice: readonly string[]} {
  const trials = (['origin', 'apiOrigin'] as const).flatMap((key) => {
    const {value = '', source} = settings[key] ?? {};
    const isTrial = source?.kind === 'stored' && URL.canParse(value) && isLoopback(new URL(value).hostname);
    return isTrial ? [{key, flag: `--${String(definitions[key].flag?.name)}`, value}] : [];
  });
  return {
    known: {...settings, ...Object.fromEntries(trials.map(({key}) => [key, undefined]))},
    advice: trials.map(({flag, value}) => `For the local service of your last login, pass ${shellLine(flag, value)}`),
  };
}

/** Completes the settings of a new project, by asking if possible, and stores its credentials. */
export async function planProject(
  context: CommandContext,
  settings: Settings,
  setup: ProjectSetup,
): Promise<ProjectPlan> {
  const {cwd, output} = context;
  const {value: preference} = settings.runtimeBackend;
  // What the project's configuration will imply is not known yet.
  output.completeHints({typed: [], settings: []});
  (await loadWantedBackends(context, settings))?.find(preference);
  const built = await checkGuess(await detectBuild(cwd, true), cwd);
  const detected = await checkServer(built, context, settings, setup.asks);
  const isDetected = detected?.exists === true || detected?.framework !== undefined;
  if (isDetected) output.info(describeBuild(detected));
  if (detected?.unfit !== undefined)
    output.warn(detected.unfit.problem, [adviceFor(detected.unfit, {cwd, project: cwd})]);
  const server = await serverBeside(detected, cwd);
  if (server !== undefined) output.warn(server);
  const taken = await takeOver(context, settings, setup.mode);
  const {known, advice} = withoutTrial(taken);
  const suggested = await withSuggestions(known, detected, cwd);
  const {origin, apiOrigin} = taken;
  if (setup.asks && !isPluginBackend(preference) && (origin ?? apiOrigin) === undefined) {
    const start = {run: ['runtime:start', '--data', '.runtime-data']};
    output.info(['For a service on this machine, run ', start]);
  }
  const asked = setup.asks ? await interview(context, {...suggested, origin, apiOrigin}) : suggested;
  const last = [asked.origin, asked.apiOrigin].find((setting) => setting?.source.kind === 'stored');
  if (last !== undefined) output.info(`Service: ${last.value} (from your last login).`);
  const backend = backendOf(asked);
  const plugin = (await loadWantedBackends(context, asked))?.find(backend);
  const options = plugin && (await plainOptions(plugin, asked, output));
  // The secret is asked for.
  const ofApi = () => missingApiSettings(asked).filter((key) => key !== 'clientSecret');
  const needed = backend === 'api' ? ofApi() : addressKeys(backend);
  requireTogether(
    missingSettings(asked, ['projectSlug', ...needed], (key) => {
      // Its configuration is what is about to be written.
      const error = missingSetting(key, flagUsage(definitions[key].flag), variableOf(key));
      return error.code === 'ERR_ORIGIN_MISSING' ? amendError(error, {suggestions: advice}) : error;
    }),
  );
  const slugs = {projectSlug: asked.projectSlug?.value, targetSlug: asked.targetSlug?.value};
  refuseUnfitSlugs(plugin?.backend ?? {name: backend}, slugs);
  const {answers, stored} = await signIn(context, asked, backend, setup);
  const {problem, source} = (plugin && (await readiness(plugin, context, answers))) ?? {};
  if (source?.kind === 'stored' && stored === undefined)
    output.info(`Credentials: those stored for ${backend} (from your last login).`);
  const addressOf = (key: ServiceKey) => {
    const {[key]: setting} = answers;
    return setting && serviceUrl(key, setting.source.name, setting.value);
  };
  const build = answers.buildDirectory.value;
  const buildDirectory = folderFrom(cwd, build);
  const layout = detected?.buildDirectory === buildDirectory ? detected : undefined;
  const isUsual = answers.buildDirectory.source.kind === 'default';
  // The usual folder may hold what builds the application.
  const isBuilt = !(isUsual && layout === undefined) && (await exists(build));
  const isOther = !isUsual && layout === undefined && build !== resolve(cwd, 'build');
  if (isOther && !isBuilt) output.warn(`The folder ${buildDirectory} does not exist yet.`);
  else if (isOther && isDetected) output.info(`Using ${buildDirectory}, not ${detected.buildDirectory}.`);
  // A folder that is only expected would keep a later push from finding where the build is.
  // So would one that is only there, while what was built can't be pushed.
  const isKnown = isUsual
    ? isBuilt && detected?.unfit === undefined
    : isBuilt || suggested.buildDirectory.source.kind !== 'default' || build !== suggested.buildDirectory.value;
  // A site beside files that are not for visitors: the user decides, and then a push names it.
  const isNamed = isUsual && !isKnown && detected?.isGuess === true;
  const isReady = isBuilt && layout?.unfit === undefined;
  const isStatic = answers.static?.value ?? (layout?.exists === true ? layout.static : undefined);
  const framework = isStatic === true ? undefined : layout?.framework;
  const hasOrigin = backend === 'legacy' || (backend === 'api' && answers.origin?.source.kind !== 'stored');
  const configName = await newConfigName(cwd, await configIn(cwd));
  const {apiKey, apiToken, clientKey, clientSecret} = answers;
  const secrets = backend === 'legacy' ? [apiKey] : [apiToken, clientKey, clientSecret];
  return {
    config: {
      ...slugs,
      runtimeBackend: backend,
      // Also with OAuth, as far as it is known: some commands are only served with the API key.
      ...(hasOrigin && {origin: addressOf('origin'), apiUser: answers.apiUser?.value}),
      ...(backend === 'api' && {
        api: {
          origin: addressOf('apiOrigin'),
          organizationId: answers.organizationId?.value,
          tokenUrl: addressOf('tokenUrl'),
          clientId: answers.clientId?.value,
          scopes: answers.scopes?.value,
        },
      }),
      ...(options && {backends: {[backend]: options}}),
      buildDirectory: isKnown ? buildDirectory : undefined,
      ...(isStatic === true
        ? {static: true}
        : {static: answers.static?.value, ssrOnly: answers.ssrOnly?.value, ssrShared: answers.ssrShared?.value}),
      // They are not for the site's visitors.
      ignore: build === resolve(cwd) && isStatic === true ? await filesBesideSite(cwd) : undefined,
    },
    configName,
    hasCredentials: plugin ? !advises('auth:login', problem?.advice ?? []) : [stored, ...secrets].some(Boolean),
    problem,
    stored,
    canDeploy: plugin === undefined || plugin.backend.deploy !== undefined,
    addresses: [
      ...addressKeys(backend).flatMap((key) => (answers[key]?.source.kind === 'config' ? [] : (addressOf(key) ?? []))),
      ...addressesIn(options),
    ],
    canBuild: isReady || isNamed || detected?.buildCommand !== undefined,
    buildSteps: [
      ...(isReady || detected?.buildCommand === undefined ? [] : [detected.buildCommand]),
      ...(framework === undefined ? [] : await copyCommands(framework, {project: cwd, build})),
    ],
    pushArguments: isNamed ? [detected.buildDirectory, '--static'] : [],
    framework: detected?.framework?.name,
  };
}

/** What a plugin's backend still needs before a push can use it, and where its secrets come from. */
async function readiness(registration: BackendRegistration, context: CommandContext, settings: Settings) {
  try {
    const used = await readPluginSettings(registration, context, settings);
    const {resolved} = await readBackend(context, settings, registration.backend, used);
    return {problem: resolved.problem, source: used.source};
  } catch (error) {
    if (isRuntimeCliError(error)) return {problem: error, source: undefined};
    throw error;
  }
}

/**
 * The options of a plugin's backend for the configuration file, as its schema takes them, if there are any. Without
 * secrets, and without URLs that may have one.
 */
async function plainOptions(registration: BackendRegistration, settings: Settings, output: Output) {
  const {secrets = []} = registration.backend;
  const given = optionsFor(registration, settings);
  const valid = asRecord(await optionsOf(registration.backend, {backendOptions: given}).catch(() => undefined));
  const entries = Object.entries(given).flatMap(([name, value]) => {
    if (secrets.includes(name)) return [];
    if (stringsIn(value).some(hasCredentials)) {
      output.warn(`${name} was not written to the configuration, because its URL has credentials.`, [
        'Set it in MYCLI_BACKEND_OPTION.',
      ]);
      return [];
    }
    return [[name, value instanceof OptionText && typeof valid[name] === 'string' ? value.text : value] as const];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

function describeBuild(detected: DetectedBuild): string {
  const {framework, buildDirectory, exists: isBuilt, static: isStatic, buildCommand} = detected;
  if (framework !== undefined && !isBuilt) {
    return buildCommand === undefined
      ? `Detected ${framework.name}. ${buildScriptAdvice(buildDirectory)}`
      : `Detected ${framework.name}, which builds into ${buildDirectory}.`;
  }
  const what = framework === undefined ? 'Found a build' : `Detected ${framework.name}`;
  const where = buildDirectory === '.' ? 'this folder' : buildDirectory;
  return `${what}: ${isStatic ? 'a static site' : 'an application'} in ${where}.`;
}

/** A page makes no site: if the folder also has files that no visitor needs, the user has to decide. */
async function checkGuess(detected: DetectedBuild | undefined, cwd: string): Promise<DetectedBuild | undefined> {
  if (detected?.isGuess !== true) return detected;
  const {buildDirectory} = detected;
  const folder = resolve(cwd, buildDirectory);
  const {files} = await scanBuildDirectory(folder, await readIgnoreRules([cwd, folder], packageFiles));
  const found = privateFilesIn(files);
  if (found.length === 0) return detected;
  const names = listPaths(found);
  const problem = `${buildDirectory === '.' ? 'This folder' : buildDirectory} has an index page, but also files that no visitor needs: ${names}.`;
  const advice = 'If it is your site, list those that are not for visitors in .bundleignore, then run';
  return {...detected, unfit: {problem, advice, instead: {folder: buildDirectory, isSite: true}}};
}

/** A build of no known framework that a push would refuse for want of a server, or the site in it if that is meant. */
async function checkServer(
  detected: DetectedBuild | undefined,
  context: CommandContext,
  settings: Settings,
  asks: boolean,
): Promise<DetectedBuild | undefined> {
  if (detected?.exists !== true || detected.static || detected.framework !== undefined || detected.unfit !== undefined)
    return detected;
  const {buildDirectory} = detected;
  const {cwd, env, guardCode} = context;
  const content = {...(await bundleOptions(settings)), buildDirectory, format: 'v2' as const};
  const refused = await planBundle({...content, cwd, env, guardCode, now: () => new Date()}).catch(
    (error: unknown) => isRuntimeCliError(error) && error.code === 'ERR_SSR_ENTRY_MISSING',
  );
  if (refused !== true) return detected;
  const folders = (await foldersIn(resolve(cwd, buildDirectory))).map((name) => `${buildDirectory}/${name}`);
  const site = await firstOf(folders, (folder) => isStaticBuild(resolve(cwd, folder)));
  const problem = `${buildDirectory} has no server script (ssr.js, ssr.mjs or a folder server).`;
  if (site === undefined) return {...detected, unfit: {problem, advice: 'Build the server of the application into it'}};
  if (asks && (await askYesNo(`${problem} Push only ${site}, as a static site?`, false, context)))
    return {...detected, buildDirectory: site, static: true};
  const advice = `Build it, or, if ${site} is a static site, run`;
  return {...detected, unfit: {problem, advice, instead: {folder: site, isSite: true}}};
}

/** A warning about a server in a project of which only a folder with a page would be pushed. */
async function serverBeside(detected: DetectedBuild | undefined, cwd: string): Promise<string | undefined> {
  if (detected?.isGuess !== true || detected.buildDirectory === '.') return undefined;
  const server = await topServer(cwd);
  if (server.length === 0) return undefined;
  return (
    `${detected.buildDirectory} would be pushed as a static site, without the server beside it: ${listReasons(server)}. ` +
    'If the site needs it, push a folder that has both (docs/guides/frameworks.md, Other servers).'
  );
}

async function withSuggestions(settings: Settings, detected: DetectedBuild | undefined, cwd: string) {
  const source = {kind: 'default', name: 'detected'} as const;
  const {name} = await readJsonRecord(join(cwd, 'package.json'));
  const slug = slugOf(typeof name === 'string' ? name : '') || slugOf(basename(cwd));
  const {projectSlug = slug === '' ? undefined : {value: slug, source}, buildDirectory} = settings;
  const isCertain = detected !== undefined && !(detected.exists && detected.unfit !== undefined);
  if (buildDirectory.source.kind !== 'default' || !isCertain) return {...settings, projectSlug};
  return {...settings, projectSlug, buildDirectory: {value: resolve(cwd, detected.buildDirectory), source}};
}

/** Letters that are no letter with a mark. */
const spelled: Readonly<Record<string, string>> = {ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd'};

/** `@scope/Łódź Shop` becomes `lodz-shop`. */
function slugOf(name: string): string {
  const letters = name.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  return letters
    .replaceAll(/[ßæœøłđ]/g, (letter) => spelled[letter] ?? letter)
    .replace(/^@[^/]*\//, '')
    .replaceAll(/[^a-z\d]+/g, '-')
    .replaceAll(/^-|-$/g, '');
}

function addressKeys(backend: string): readonly ServiceKey[] {
  if (backend === 'legacy') return ['origin'];
  return backend === 'api' ? ['apiOrigin', 'tokenUrl'] : [];
}

/** What npm and its like have in the folder of a site. */
const packageFiles = ['package.json', 'package-lock.json', 'pnpm-lock.yaml', 'yarn.lock', 'node_modules'];

/** What a project's own folder has, or gets from bundle:build, besides its site. A server may need its packages. */
async function filesBesideSite(cwd: string): Promise<readonly string[]> {
  const names = await namesIn(cwd);
  return [...packageFiles.filter((name) => names.includes(name)), 'bundle.tar*'];
}

export async function refuseExistingConfig(directory: string): Promise<void> {
  const path = await configIn(directory);
  if (path === undefined) return;
  throw createError('ERR_OUTPUT', `${path} already contains a configuration.`, {
    suggestions: [`Edit it, or pass --force to write a new ${await newConfigName(directory, path)}.`],
  });
}

/** Writes the configuration file, whose addresses are trusted from then on. Returns its path. */
export async function writeProject(
  context: CommandContext,
  {config, configName, addresses}: ProjectPlan,
  force: boolean,
): Promise<string> {
  const path = join(context.cwd, configName);
  await withLock(path, async () => {
    // While questions were answered, another one may have been written.
    if (!force) await refuseExistingConfig(context.cwd);
    await replaceTextFile(path, configText(configName, config));
  });
  if (addresses.length > 0) {
    // The project is set up all the same: a login asks to confirm the address.
    await trustAddresses(context.credentialFile, addresses).catch((error: unknown) =>
      context.output.debug(String(error)),
    );
  }
  return path;
}

function configText(name: NewConfigName, config: MycliConfig): string {
  const json = JSON.stringify(config, undefined, 2);
  if (name === 'mycli.config.json') return `${json}\n`;
  // Without the keys that are undefined.
  const plain: unknown = JSON.parse(json);
  const literal = inspect(plain, {compact: false, depth: null}).replace(/\n\}$/, ',\n}');
  if (name === 'mycli.config.ts') {
    return `import {defineConfig} from 'mycli';\n\nexport default defineConfig(${literal});\n`;
  }
  return `/** @type {import('mycli').MycliConfig} */\nconst config = ${literal};\n\nexport default config;\n`;
}
