import {join, posix, sep} from 'node:path';
import {createError, type Suggestion} from '../errors/index.js';
import {exists, readTextFile} from '../files/read-file.js';
import type {Framework} from '../frameworks/framework.js';
import {otherHosts, type OtherHost} from '../frameworks/other-hosts.js';
import {foldersOf} from '../frameworks/server-files.js';
import {listPaths} from '../text/entry-names.js';
import {folderFrom} from '../text/paths.js';
import {flagValue, shellLine} from '../text/suggest.js';
import {filesIn, firstOf, hasPath, readJsonRecord, readProject} from './read-project.js';
import {entryOf} from './build-rows.js';

/** A project below another one. */
export interface Member {
  readonly folder: string;
  /** Whether the configuration of the project above is its, too. */
  readonly inherits: boolean;
}

export interface UnfitBuild {
  readonly problem: string;
  /** Without a full stop: a command may follow. */
  readonly advice: string;
  /** What to take: a folder, or one of some projects below. Relative to the project. */
  readonly instead?:
    | {readonly folder: string; readonly isSite?: boolean}
    | {readonly projects: readonly Member[]}
    | undefined;
}

export function several(folder: string, others: readonly string[]): UnfitBuild {
  const problem = `There are several builds: ${[folder, ...others].join(', ')}.`;
  return {problem, advice: 'Choose one of them: run', instead: {folder}};
}

/** Why the framework's expected build is not there although something was built. */
export async function unfitBuild(
  directory: string,
  {name, buildDirectory, static: isStatic}: Framework,
  {rows, isSet, isBuilt}: {readonly rows: readonly Framework[]; readonly isSet: boolean; readonly isBuilt: boolean},
): Promise<UnfitBuild | undefined> {
  const {unfit} = isSet ? {} : (rows.find((row) => row.name === name && row.unfit !== undefined) ?? {});
  const mark = await firstOf(unfit?.marks ?? [], (path) => exists(join(directory, path)));
  if (unfit !== undefined && mark !== undefined) return unfit;
  const other = await builtForOtherHost(directory, {name, buildDirectory});
  if (other !== undefined || !isStatic || !isBuilt) return other;
  const sites = await sitesIn(join(directory, buildDirectory));
  const [site] = sites;
  if (site !== undefined) {
    const folder = (path: string) => posix.join(buildDirectory, path);
    const where = site === '' ? '' : `, in ${listPaths(sites.map(folder))}`;
    return {
      problem: `${buildDirectory}, the build of ${name}, has no page (index.html) at its top, only below it${where}.`,
      advice: 'To push that as the site, run',
      instead: {folder: folder(site), isSite: site === ''},
    };
  }
  return {
    problem: `${buildDirectory}, the build of ${name}, has no page (index.html).`,
    advice:
      `If a server renders its pages, pass ${shellLine(buildDirectory)} --ssr-only GLOB, which chooses the files of that ` +
      'server. Otherwise, build it again',
  };
}

/**
 * The sites of a build that has no page at its top: folders that have pages and all that these load. The build itself,
 * as an empty string, where folders of pages share what they load.
 */
async function sitesIn(build: string): Promise<readonly string[]> {
  const paths = await filesIn(build);
  const loaded = new Set(paths.filter((path) => !path.endsWith('.html')).flatMap(foldersOf));
  const pages = paths.filter((path) => posix.basename(path) === 'index.html');
  const folders = pages.map((page) => foldersOf(page).findLast((folder) => loaded.has(folder)) ?? '');
  const isBelow = (folder: string) => folders.some((other) => other !== folder && folder.startsWith(other));
  const sites = new Set(folders.filter((folder) => !isBelow(folder)));
  // Pages two folders down are of several sites, whatever they share.
  return sites.has('') && pages.every((page) => page.split('/').length > 2)
    ? pages.map((page) => posix.dirname(page)).sort()
    : [...sites].map((folder) => folder.replace(/\/$/, '')).sort();
}

/** What is wrong with a build whose adapter or preset is for another host. */
export async function builtForOtherHost(
  directory: string,
  {name, buildDirectory}: Pick<Framework, 'name' | 'buildDirectory'>,
): Promise<UnfitBuild | undefined> {
  const ofProject = await firstOf(otherHosts, ({marks = []}) => hasAny(directory, marks));
  return ofProject ? builtFor(name, ofProject) : unfitForHost(name, join(directory, buildDirectory));
}

/** As `builtForOtherHost`, by the build alone: what is beside it may be of an earlier one. */
export async function unfitForHost(name: string, build: string): Promise<UnfitBuild | undefined> {
  const found = await firstOf(otherHosts, ({inBuild = []}) => hasAny(build, inBuild));
  if (found !== undefined) return builtFor(name, found);
  const {preset} = await readJsonRecord(join(build, 'nitro.json'));
  if (typeof preset !== 'string' || /^node(?:[-_](?:server|cluster|middleware))?$/.test(preset)) return undefined;
  return {
    problem: `${name} was built with the preset ${preset} of Nitro, which is not for servers of Node.js.`,
    advice: 'Choose the preset node-server (NITRO_PRESET=node-server, or preset in its configuration), and build again',
  };
}

async function hasAny(directory: string, paths: readonly string[]): Promise<boolean> {
  return (await firstOf(paths, (path) => hasPath(directory, path))) !== undefined;
}

function builtFor(name: string, {host, advice}: OtherHost): UnfitBuild {
  return {
    problem: `${name} was built for ${host}.`,
    advice:
      advice ??
      'Choose its adapter or preset for Node.js (Astro: @astrojs/node, SvelteKit: @sveltejs/adapter-node, Nitro: ' +
        "NITRO_PRESET=node-server), or remove the host's plugin from vite.config, and build again",
  };
}

/** Why the server of a build can't be started: it is for another host, or its entry is of another kind. */
export async function unfitEntry(
  {name, unfitEntry: unfit, entries = []}: Framework,
  build: string,
): Promise<UnfitBuild | undefined> {
  const ofHost = await unfitForHost(name, build);
  if (ofHost !== undefined) return ofHost;
  const entry = unfit && (await entryOf({entries}, build));
  if (unfit === undefined || entry === undefined) return undefined;
  const text = await readTextFile(join(build, entry)).catch(() => '');
  return unfit.text.test(text) && unfit.unless?.test(text) !== true ? unfit : undefined;
}

/** Where a build was looked for. */
export interface Places {
  /** The directory that suggested paths are relative to. */
  readonly cwd: string;
  /** Where other commands than mycli's are typed. @default cwd */
  readonly shell?: string;
  /** That of the application. */
  readonly project: string;
  /** What to run with the folder of a build: nothing if empty. @default bundle:push */
  readonly command?: readonly string[] | undefined;
}

/** What to do about a build that can't be pushed. Without a command that was to take the build: a push. */
export function adviceFor({advice, instead}: UnfitBuild, {cwd, project, command = []}: Places): Suggestion {
  if (instead === undefined) return `${advice}.`;
  const show = (folder: string) => folderFrom(cwd, join(project, folder));
  const again = command.length > 0;
  const run = again ? command : ['bundle:push'];
  if ('projects' in instead) {
    const words = withoutFolder(run);
    const commands = instead.projects.map(({folder, inherits}) => {
      const inherited = [...words, ...flagValue('--project-directory', show(folder))];
      return inherits ? {run: inherited, again} : {run: words, again, project: show(folder)};
    });
    return commands.flatMap((command, index) => [index === 0 ? `${advice} ` : ' or ', command]);
  }
  const flags = instead.isSite === true ? ['--static'] : [];
  return [`${advice} `, {run: [...run, show(instead.folder), ...flags], again}];
}

/** The words of a command, without the flag that the folder of a build was to follow. */
export function withoutFolder(command: readonly string[]): readonly string[] {
  return command.filter((word) => word !== '--build-directory');
}

/** The error about a build that can't be pushed: `ERR_BUILD_DIRECTORY`. */
export function unfitError(unfit: UnfitBuild, places: Places): Error {
  return createError('ERR_BUILD_DIRECTORY', unfit.problem, {suggestions: [adviceFor(unfit, places)]});
}

/** Warnings about parts of a project that only another host runs, so that no build has them. */
export async function partWarnings(project: string, build: string): Promise<readonly string[]> {
  const {names: files, packages} = await readProject(project);
  const names = [...files, ...packages];
  const found: string[] = [];
  const parts = otherHosts.flatMap(({host, parts: own = []}) => own.map((part) => ({host, ...part})));
  for (const {host, path, beside} of parts) {
    const isOthers = beside === undefined || names.some((name) => beside.test(name));
    // Any project may have an API beside it.
    if (path.startsWith('..') && !(await exists(join(project, '../redwood.toml')))) continue;
    const place = join(project, path);
    if (isOthers && !`${place}${sep}`.startsWith(`${build}${sep}`) && (await exists(place)))
      found.push(`${path} (${host})`);
  }
  if (found.length === 0) return [];
  return [
    `The bundle leaves out what only another host runs: ${found.join(', ')}. If the site needs it, keep it there and call it ` +
      'by its URL, or make it part of a server (docs/guides/frameworks.md, Other servers).',
  ];
}
