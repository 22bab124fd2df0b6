import {accessSync, constants, existsSync, lstatSync, readFileSync, realpathSync, statSync} from 'node:fs';
import {basename, dirname, join, resolve} from 'node:path';
import type {Interfaces} from '@oclif/core';
import {isRecord} from '../../errors/json.js';
import type {Environment} from '../../http/types.js';
import {givenValue, leadingWords} from './command-line.js';

/** Whether `MYCLI_SKIP_PLUGINS` disables plugins. */
export function skipsPlugins(env: Environment): boolean {
  return !['', '0', 'false'].includes(env['MYCLI_SKIP_PLUGINS'] ?? '');
}

/** The hook that is asked before a change. */
export const beforeHook = 'mycli:before-write';
/** The hook that is told the outcome of a change. */
export const afterHook = 'mycli:after';

/** Whether a plugin follows changes. Loads none of its code. */
export function followsWrites({plugins}: Pick<Interfaces.Config, 'plugins'>): boolean {
  return [...plugins.values()].some(({hooks}) => [beforeHook, afterHook].some((hook) => hooks[hook] !== undefined));
}

/** A plugin among the dependencies of a package. */
export interface ProjectPlugin {
  readonly name: string;
  /** Its folder, with symlinks resolved: pnpm and workspaces link packages. */
  readonly root: string;
}

/** Where a command runs. */
interface Surroundings {
  readonly cwd: string;
  readonly env: Environment;
  /** ID of the user, if the platform has one. */
  readonly uid: number | undefined;
}

/** A package.json, and the folder where dependencies may be hoisted to. */
interface ProjectPackage {
  readonly directory: string;
  readonly top: string;
  readonly manifest: Readonly<Record<string, unknown>>;
}

const pluginName = /^(?:@[^/]+\/)?mycli-plugin-[^/]+$/;

/** Our commands that neither reach a backend nor list plugins, so that they need not look for any. */
export const localCommands: ReadonlySet<string> = new Set([
  ...['backend:create', 'bundle:build', 'build', 'config:show', 'runtime:start'],
]);

/**
 * The plugins of a project: dependencies and devDependencies with the name of a plugin, of the package that the working
 * directory belongs to, of its workspace's root, and of the package that has mycli in its `node_modules`. Each is
 * looked up where it would be installed; no `node_modules` is scanned.
 * @param root The folder of our package.
 * @param args What the user typed after `mycli`.
 */
export function projectPlugins(
  root: string,
  args: readonly string[],
  {cwd, env, uid}: Surroundings,
): readonly ProjectPlugin[] {
  if (skipsPlugins(env) || isLocal(args)) return [];
  const found = new Map<string, ProjectPlugin>();
  for (const project of [...packagesAround(workingDirectory(args, cwd), uid), ...dependentPackage(root)]) {
    for (const name of dependenciesOf(project)) {
      const plugin = found.has(name) ? undefined : findPlugin(name, project);
      if (plugin !== undefined) found.set(name, plugin);
    }
  }
  return [...found.values()];
}

function isLocal(args: readonly string[]): boolean {
  const words = leadingWords(args);
  return [1, 2].some((count) => localCommands.has(words.slice(0, count).join(':')));
}

/** The folder that `--cwd` names, or the working directory. */
function workingDirectory(args: readonly string[], cwd: string): string {
  const directory = resolve(cwd, givenValue(args, '--cwd', '-C') ?? '');
  try {
    return realpathSync(directory);
  } catch {
    return directory;
  }
}

/**
 * The nearest package from `start` up to the repository's root, and the root of its workspace. Anything but a file of
 * the user's own ends the search: whoever can write to a parent folder must not decide what runs here.
 */
function packagesAround(start: string, uid: number | undefined): readonly ProjectPackage[] {
  let nearest: Omit<ProjectPackage, 'top'> | undefined;
  for (let directory = start; ; directory = dirname(directory)) {
    const path = join(directory, 'package.json');
    const isOwn = isOwnFile(path, uid);
    if (isOwn === false) break;
    const manifest = isOwn && readManifest(path);
    if (manifest !== undefined) nearest ??= {directory, manifest};
    const isTop = manifest?.['workspaces'] !== undefined || existsSync(join(directory, 'pnpm-workspace.yaml'));
    if (isTop && manifest !== undefined && nearest !== undefined) {
      const workspace = {directory, manifest, top: directory};
      return nearest.directory === directory ? [workspace] : [{...nearest, top: directory}, workspace];
    }
    if (dirname(directory) === directory || existsSync(join(directory, '.git'))) break;
  }
  return nearest === undefined ? [] : [{...nearest, top: nearest.directory}];
}

/** The package in whose `node_modules` we are installed. */
function dependentPackage(root: string): readonly ProjectPackage[] {
  const modules = dirname(root);
  if (basename(modules) !== 'node_modules') return [];
  const directory = dirname(modules);
  const manifest = readManifest(join(directory, 'package.json'));
  return manifest === undefined ? [] : [{directory, manifest, top: directory}];
}

function dependenciesOf({manifest}: ProjectPackage): readonly string[] {
  const lists = [manifest['dependencies'], manifest['devDependencies']];
  const names = lists.flatMap((list) => (isRecord(list) ? Object.keys(list) : []));
  return names.filter((name) => pluginName.test(name)).sort();
}

/** Looks where npm, pnpm and Yarn put a dependency: in the package's folder, or hoisted up to the workspace's root. */
function findPlugin(name: string, {directory, top}: ProjectPackage): ProjectPlugin | undefined {
  for (let parent = directory; ; parent = dirname(parent)) {
    const folder = join(parent, 'node_modules', name);
    const manifest = readManifest(join(folder, 'package.json'));
    if (manifest !== undefined) return isRecord(manifest['oclif']) ? {name, root: realpathSync(folder)} : undefined;
    if (parent === top || dirname(parent) === parent) return undefined;
  }
}

function readManifest(path: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const manifest: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return isRecord(manifest) ? manifest : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether a regular file of the user's own is there; if it is a link, both it and what it leads to are. Undefined if
 * nothing is there.
 */
function isOwnFile(path: string, uid: number | undefined): boolean | undefined {
  try {
    const link = lstatSync(path, {throwIfNoEntry: false});
    if (link === undefined) return undefined;
    const file = statSync(path);
    accessSync(path, constants.R_OK);
    return file.isFile() && (uid === undefined || (link.uid === uid && file.uid === uid));
  } catch {
    // A link to nothing, or a file or folder that cannot be read.
    return false;
  }
}
