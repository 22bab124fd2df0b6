import {accessSync, constants, existsSync, readFileSync, realpathSync, statSync} from 'node:fs';
import {basename, dirname, join, resolve, sep} from 'node:path';
import type {Command} from '@oclif/core';
import type {BackendFailure} from '../../backends/registry.js';
import {createError, reasonOf, systemCode} from '../../errors/index.js';
import {isTrusted} from '../../files/ownership.js';
import {asRecord, isRecord} from '../../text/json.js';
import type {Environment} from '../../text/platform.js';
import {givenValue} from './command-line.js';
import type {Session} from './session.js';

export function skipsPlugins(env: Environment): boolean {
  return !['', '0', 'false'].includes(env['MYCLI_SKIP_PLUGINS'] ?? '');
}

/** Why none of the plugins that the user has installed or linked is loaded. oclif would only quote the system. */
export function pluginListProblem(dataDirectory: string): string | undefined {
  const list = join(dataDirectory, 'package.json');
  try {
    accessSync(list, constants.R_OK);
  } catch (error) {
    return systemCode(error) === 'ENOENT' ? undefined : `${list} cannot be read: ${reasonOf(error)}`;
  }
  const plugins = userPlugins(dataDirectory).map(({folder}) => folder);
  const foreign = isTrusted(list) ? plugins.find((folder) => isForeignPackage(folder)) : list;
  return foreign && `${foreign} belongs to another user`;
}

/** The plugins that the user has installed or linked, from the list that oclif keeps in its data folder. */
export function userPlugins(dataDirectory: string): readonly {readonly name: string; readonly folder: string}[] {
  const {plugins} = asRecord(readPluginManifest(join(dataDirectory, 'package.json'))?.['oclif']);
  return (Array.isArray(plugins) ? plugins : []).map((plugin: unknown) => {
    const {type, name, root} = asRecord(plugin);
    const folder = type === 'link' ? String(root) : join(dataDirectory, 'node_modules', String(name));
    return {name: String(name), folder};
  });
}

/** The commands in the `oclif.manifest.json` of each plugin. Runs no plugin. */
export function declaredCommands(
  root: string,
  dataDirectory: string,
  args: readonly string[],
  {cwd, env}: Pick<Session, 'cwd' | 'env'>,
): readonly Command.Loadable[] {
  if (skipsPlugins(env)) return [];
  const own = userPlugins(dataDirectory).map(({folder}) => folder);
  const ofProject = projectPlugins(root, args, {cwd, env, report: () => undefined}).map((plugin) => plugin.root);
  return [...own, ...ofProject]
    .filter((folder) => !isForeignPackage(folder))
    .flatMap((folder) => Object.values(asRecord(readPluginManifest(join(folder, 'oclif.manifest.json'))?.['commands'])))
    .map((command) => ({args: {}, flags: {}, ...asRecord(command)}) as unknown as Command.Loadable)
    .filter(({id}) => typeof id === 'string');
}

/** Why a folder is no plugin, as a clause that names it. */
export function packageProblem(folder: string): string | undefined {
  const path = join(folder, 'package.json');
  if (!existsSync(path)) return `${path} does not exist`;
  const manifest = readPluginManifest(path);
  if (manifest === undefined) return `${path} is not a JSON object`;
  return isRecord(manifest['oclif']) ? undefined : `${path} has no "oclif"`;
}

/** Whether a folder, or the package.json in it, belongs to another user. */
function isForeignPackage(folder: string): boolean {
  return [folder, join(folder, 'package.json')].some((path) => existsSync(path) && !isTrusted(path));
}

/** For the end of a warning about a plugin. */
export const goesOn = 'The command continues without it.';

export const reinstall = "Install the project's packages again, for example with npm ci.";

interface ProjectPlugin {
  readonly name: string;
  /** Its folder, with symlinks resolved: pnpm and workspaces link packages. */
  readonly root: string;
}

type Manifest = Readonly<Record<string, unknown>>;

/** A package.json, and the folder where dependencies may be hoisted to. */
interface ProjectPackage {
  readonly directory: string;
  readonly top: string;
  readonly manifest: Manifest;
}

const pluginName = /^(?:@[^/]+\/)?mycli-plugin-[^/]+$/;

/**
 * The plugins of a project: its dependencies with a plugin's name, those of its workspace's root, and those of the
 * package that has mycli in its `node_modules`. No `node_modules` is scanned.
 * @param root The folder of our package.
 * @param args What the user typed after `mycli`.
 */
export function projectPlugins(
  root: string,
  args: readonly string[],
  {
    cwd,
    env,
    report,
  }: {readonly cwd: string; readonly env: Environment; readonly report: (problem: BackendFailure) => void},
): readonly ProjectPlugin[] {
  if (skipsPlugins(env)) return [];
  const directory = resolve(cwd, givenValue(args, '--cwd', '-C') ?? '');
  const start = existsSync(directory) ? realpathSync(directory) : directory;
  const found = new Map<string, ProjectPlugin>();
  const problems = new Map<string, BackendFailure>();
  for (const project of [...packagesAround(start), ...dependentPackage(root)]) {
    for (const name of dependenciesOf(project).filter((dependency) => !found.has(dependency))) {
      const folder = findPackage(name, project);
      const problem = problemOf(name, folder, project);
      if (problem !== undefined) problems.set(name, problem);
      else if (folder !== undefined) found.set(name, {name, root: realpathSync(folder)});
    }
  }
  for (const problem of problems.values()) if (!found.has(problem.plugin)) report(problem);
  return [...found.values()];
}

function problemOf(plugin: string, folder: string | undefined, project: ProjectPackage): BackendFailure | undefined {
  if (folder === undefined) {
    const message = `The plugin ${plugin} is in ${join(project.directory, 'package.json')}, but not installed.`;
    return {plugin, message, suggestion: "Install the project's packages, for example with npm ci."};
  }
  if (isForeignPackage(folder)) {
    const message = `Ignored the plugin ${plugin}, because ${folder} belongs to another user.`;
    return {plugin, message, suggestion: reinstall};
  }
  const broken = packageProblem(folder);
  if (broken === undefined) return undefined;
  return {plugin, message: `Plugin ${plugin} is left out: ${broken}.`, suggestion: reinstall};
}

/**
 * The nearest package up to the repository's root, and the root of its workspace. A package.json of another user ends
 * the search: whoever can write to a parent folder must not decide what runs here.
 */
function packagesAround(start: string): readonly ProjectPackage[] {
  let nearest: Omit<ProjectPackage, 'top'> | undefined;
  for (let directory = start; ; directory = dirname(directory)) {
    const path = join(directory, 'package.json');
    if (existsSync(path) && !isTrusted(path)) break;
    const manifest = readPluginManifest(path);
    if (manifest !== undefined) nearest ??= {directory, manifest};
    const isTop = manifest?.['workspaces'] !== undefined || existsSync(join(directory, 'pnpm-workspace.yaml'));
    if (isTop && manifest !== undefined && nearest !== undefined)
      return [
        {...nearest, top: directory},
        {directory, manifest, top: directory},
      ];
    if (dirname(directory) === directory || existsSync(join(directory, '.git'))) break;
  }
  return nearest === undefined ? [] : [{...nearest, top: nearest.directory}];
}

function dependentPackage(root: string): readonly ProjectPackage[] {
  const modules = dirname(root);
  const directory = dirname(modules);
  const path = join(directory, 'package.json');
  if (basename(modules) !== 'node_modules' || !existsSync(path) || !isTrusted(path)) return [];
  const manifest = readPluginManifest(path);
  return manifest === undefined ? [] : [{directory, manifest, top: directory}];
}

function dependenciesOf({manifest}: ProjectPackage): readonly string[] {
  const lists = [manifest['dependencies'], manifest['devDependencies']];
  return lists
    .flatMap((list) => Object.keys(asRecord(list)))
    .filter((name) => pluginName.test(name))
    .sort();
}

/** Looks where npm, pnpm and Yarn put a dependency: in the package's folder, or hoisted up to the workspace's root. */
function findPackage(name: string, {directory, top}: ProjectPackage): string | undefined {
  for (let parent = directory; ; parent = dirname(parent)) {
    const folder = join(parent, 'node_modules', name);
    if (existsSync(join(folder, 'package.json'))) return folder;
    if (parent === top || dirname(parent) === parent) return undefined;
  }
}

export function readPluginManifest(path: string): Manifest | undefined {
  try {
    // Reading a named pipe would block, regardless of signals.
    if (!statSync(path).isFile()) return undefined;
    const manifest: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return isRecord(manifest) ? manifest : undefined;
  } catch {
    return undefined;
  }
}

interface PluginProblem {
  readonly message: string;
  readonly suggestion: string;
}

/** What is wrong with the package of a plugin, for this version of mycli. */
export async function findPluginProblems(folder: string, version: string): Promise<readonly PluginProblem[]> {
  const root = resolve(folder);
  const manifest = readPluginManifest(join(root, 'package.json'));
  if (!isRecord(manifest?.['oclif'])) return [];
  const name = String(manifest['name']);
  const {commands} = manifest['oclif'];
  const peer = await peerProblem(name, manifest['peerDependencies'], version);
  // oclif links it anyway, and then every command would warn.
  const lacking = lackingPart(root);
  if (lacking !== undefined) return [...peer, lacking];
  if (targetOf(commands).length === 0 || existsSync(join(root, 'oclif.manifest.json'))) return peer;
  const message = `${name} has commands but no oclif.manifest.json, so mycli loads all of them at every start.`;
  return [...peer, {message, suggestion: `Run npx oclif manifest in ${root}.`}];
}

/** A file that the package.json of a plugin names, and that is not there. */
export function lackingPart(root: string): PluginProblem | undefined {
  const manifest = readPluginManifest(join(root, 'package.json'));
  const {hooks, commands} = asRecord(manifest?.['oclif']);
  const name = String(manifest?.['name']);
  const lacking = [
    ...Object.values(asRecord(hooks))
      .flat()
      .flatMap(targetOf)
      .filter((path) => typescriptOf(root, path) === undefined),
    ...(commandSources(root) === undefined ? targetOf(commands) : []),
  ].find((path) => !isThere(root, path));
  if (lacking === undefined) return undefined;
  if (isInModules(root)) {
    const suggestion = 'Report it to its authors: "files" in its package.json may leave it out.';
    return {message: `${name} lacks ${lacking}.`, suggestion};
  }
  const message = `${name} is linked but not built: ${lacking} does not exist.`;
  return {message, suggestion: `Build it in ${root}, for example with npm run build.`};
}

/** oclif accepts names without an extension. */
function isThere(root: string, path: string): boolean {
  return ['', '.js', '.ts'].some((ending) => existsSync(resolve(root, path + ending)));
}

function isInModules(root: string): boolean {
  return root.split(sep).includes('node_modules');
}

/** The folder of the TypeScript of a linked plugin's commands, if they are not built: `src/commands`, `commands`. */
export function commandSources(root: string): string | undefined {
  const {commands} = asRecord(readPluginManifest(join(root, 'package.json'))?.['oclif']);
  return targetOf(commands).flatMap((path) => typescriptOf(root, path, '') ?? [])[0];
}

/** The TypeScript of a file of a linked plugin that is not built: `hook.ts` or `src/hook.ts` for `dist/hook.js`. */
export function typescriptOf(root: string, path: string, ending = '.ts'): string | undefined {
  const [, rest] = /^(?:\.\/)?[^/]+\/(.+?)(?:\.js)?$/.exec(path) ?? [];
  if (rest === undefined || isThere(root, path) || isInModules(root)) return undefined;
  return [rest + ending, `src/${rest}${ending}`].map((file) => resolve(root, file)).find((file) => existsSync(file));
}

async function peerProblem(name: string, peers: unknown, version: string): Promise<readonly PluginProblem[]> {
  const {default: satisfies} = await import('semver/functions/satisfies.js');
  const range = asRecord(peers)['mycli'];
  if (typeof range !== 'string' || satisfies(version, range, {includePrerelease: true})) return [];
  const message = `${name} requires mycli ${range}, but this is mycli ${version}.`;
  return [{message, suggestion: 'Update mycli, or install a version of the plugin that is made for it.'}];
}

/** The file or folder of a hook or of the commands: a path, or an object with one. */
export function targetOf(value: unknown): readonly string[] {
  const target = isRecord(value) ? value['target'] : value;
  return typeof target === 'string' ? [target] : [];
}

/** Requires npm: without it, oclif would report that the registry has no such package. */
export async function requireNpm(env: Environment): Promise<void> {
  const {findPackageManager} = await import('../../files/programs.js');
  if (findPackageManager('npm', env) !== undefined) return;
  throw createError('ERR_PROGRAM_MISSING', 'npm is not in PATH.', {
    suggestions: ['npm comes with Node.js: add the folder that contains it to PATH, then try again.'],
  });
}
