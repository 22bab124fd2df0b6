import {join} from 'node:path';
import type {Framework} from '../frameworks/framework.js';
import {listPaths} from '../text/entry-names.js';
import {buildCommandOf, firstOf, foldersIn, namesIn, type Project, readProject} from './read-project.js';
import {builtSites, isSource} from './built-sites.js';
import {angularProject, builtFolders, frameworkOfBuild, located, rowsOf} from './build-rows.js';
import {hasServerCode, topServer} from './server-scripts.js';
import {builtForOtherHost, several, unfitBuild, unfitEntry, type Member, type UnfitBuild} from './unfit-build.js';

export interface DetectedBuild {
  /** Undefined if the folder only looks like a build. */
  readonly framework?: Framework | undefined;
  /** Relative to the project, with slashes. */
  readonly buildDirectory: string;
  /** Whether the folder exists, so the application was built. */
  readonly exists: boolean;
  /** Whether it has no server code. */
  readonly static: boolean;
  /** What builds the application, as typed in its folder. */
  readonly buildCommand?: string | undefined;
  /** Why what was built can't be pushed, and what to do. */
  readonly unfit?: UnfitBuild | undefined;
  /** Whether the folder may as well hold something else, so that only what names it takes it. */
  readonly isGuess?: boolean;
}

/** Where folders are that look like builds. */
const outputFolders = ['build', 'dist', 'out', '_site', 'www', 'public_html'];

/** What builds something, and is in no build. */
const buildTool = /^webpack\.|(?<!\.d)\.[cm]?tsx?$/;

/** What a build has at its top that is a site or a server. */
const entryOrPage = /^(?:index\.html|(?:app|index|main|server|ssr)\.[cm]?js)$/;

/** Where a site may be that nothing builds with a package.json: by hand, by Hugo, by MkDocs. */
const siteFolders = ['.', 'public', 'site'];

/**
 * Detects the framework of a project and its build folder, or else a folder that looks like a build. Runs nothing.
 * @param isConfigured whether it is about to get a configuration
 */
export async function detectBuild(directory: string, isConfigured = false): Promise<DetectedBuild | undefined> {
  const project = await readProject(directory);
  const detected = await detectIn(project);
  const isAnswer = detected?.unfit === undefined ? detected?.exists === true : !project.isWorkspace;
  // What a workspace builds for its members is below folders like those of an application.
  const mayBeOfMembers = project.isWorkspace && detected?.framework === undefined && detected?.static === false;
  if ((isAnswer && !mayBeOfMembers) || isApplication(project, detected)) return detected;
  const parent = {...project, isConfigured: isConfigured || project.isConfigured};
  const members = await membersOf(parent, (build) => build?.exists === true && build.unfit === undefined);
  const outputs = project.isWorkspace ? await builtOutputs(directory) : [];
  const [folder] = outputs;
  // One of each kind.
  const projects = [false, true].flatMap((inherits) => members.find((member) => member.inherits === inherits) ?? []);
  const instead = projects.length > 0 ? {projects} : folder !== undefined ? {folder} : undefined;
  if (instead === undefined) return detected ?? oddSite(project);
  const names = members.map((member) => member.folder);
  const own = project.isWorkspace ? undefined : detected?.buildCommand;
  const unfit = {
    problem: `This project has no build of its own, but there are builds in ${listPaths([...names, ...outputs])}.`,
    advice: own === undefined ? 'Choose one of them: run' : `Run ${own} first, or choose one of them: run`,
    instead,
  };
  return {buildDirectory: 'build', exists: false, static: false, ...detected, unfit};
}

/** A site in a folder of any name, where nothing else is known to build one. */
async function oddSite(project: Project): Promise<DetectedBuild | undefined> {
  if (project.isWorkspace || buildCommandOf(project, undefined) !== undefined) return undefined;
  const [site, ...others] = await builtSites(project.directory);
  if (site === undefined) return undefined;
  const unfit = others.length > 0 ? several(site, others) : undefined;
  return {buildDirectory: site, exists: true, static: true, isGuess: true, unfit};
}

/** Whether a folder, which may be missing, is where a project is built into by a command that is known. */
export async function isBuildOf(project: string, folder: string): Promise<boolean> {
  const {buildCommand, buildDirectory = ''} = (await detectBuild(project)) ?? {};
  return buildCommand !== undefined && join(project, buildDirectory) === folder;
}

/** The build of a project, if that and not the folder of the project is certainly what is to be pushed. */
export async function certainBuild(directory: string): Promise<DetectedBuild | undefined> {
  const detected = await detectBuild(directory);
  if (detected === undefined || detected.isGuess === true || (await topServer(directory)).length > 0) return undefined;
  const {framework, buildDirectory, exists, buildCommand, unfit} = detected;
  if (unfit === undefined ? !exists : unfit.instead === undefined) return undefined;
  if (!detected.static) return exists && framework === undefined ? undefined : detected;
  // A page may be a site's, beside the documentation of it.
  const mayBeSite = (await namesIn(directory)).includes('index.html') && !outputFolders.includes(buildDirectory);
  const isBuilt = (framework ?? buildCommand) !== undefined && !mayBeSite;
  return isBuilt || (await isSource(directory)) ? detected : undefined;
}

/** Whether a project is itself what it is detected as, not only a folder above others. */
function isApplication({names}: Project, detected: DetectedBuild | undefined): boolean {
  return names.some((name) => name === 'index.html' || detected?.framework?.configFile?.test(name) === true);
}

/** Files of a project; any other folder may have others below it that are none of its own. */
const projectFile = /^(?:package\.json|project\.json|mycli\.config\.\w+|\.git)$/;

/** The folders of a workspace's applications, built or not. None if its root has an application or a build itself. */
export async function applicationsBelow(directory: string): Promise<readonly string[]> {
  const project = await readProject(directory);
  const detected = await detectIn(project);
  if (!project.isWorkspace || detected?.exists === true || isApplication(project, detected)) return [];
  return (await membersOf(project, () => true)).map(({folder}) => folder);
}

/** The folders below a project, as of a workspace's members, that have applications which `fits` takes. */
async function membersOf(
  {directory, names, isWorkspace, isConfigured}: Project,
  fits: (build: DetectedBuild | undefined) => boolean,
): Promise<readonly Member[]> {
  if (!isWorkspace && !names.some((name) => projectFile.test(name))) return [];
  const folders = (await foldersIn(directory)).filter((name) => !outputFolders.includes(name));
  const below = isWorkspace ? await foldersInside(directory, folders) : [];
  const members: Member[] = [];
  for (const folder of [...folders, ...below].sort()) {
    const member = join(directory, folder);
    const files = await namesIn(member);
    if (!files.includes('package.json') && !files.includes('project.json')) continue;
    const project = await readProject(member);
    const build = await detectIn(project);
    // A library has a build, too.
    const isSiteOrServer = build?.static === true || build?.framework !== undefined;
    if ((isSiteOrServer || project.isConfigured) && fits(build))
      members.push({folder, inherits: isConfigured && !project.isConfigured});
  }
  return members;
}

/** What a workspace builds of its members into a folder of its own: `dist/apps/web`. */
async function builtOutputs(directory: string): Promise<readonly string[]> {
  const folders = await foldersInside(directory, await foldersInside(directory, ['dist']));
  const names = await Promise.all(folders.map((folder) => namesIn(join(directory, folder))));
  return folders.filter((_, index) => names[index]?.some((name) => entryOrPage.test(name))).sort();
}

/** The folders inside some of a project, relative to it. */
async function foldersInside(directory: string, parents: readonly string[]): Promise<readonly string[]> {
  const names = await Promise.all(parents.map((parent) => foldersIn(join(directory, parent))));
  return parents.flatMap((parent, index) => (names[index] ?? []).map((name) => `${parent}/${name}`));
}

async function detectIn(project: Project): Promise<DetectedBuild | undefined> {
  const {directory, names} = project;
  const {rows, expected, isSet} = await rowsOf(project);
  const buildCommand = buildCommandOf(project, expected?.buildCommand);
  // Elsewhere than the framework usually builds into.
  const there = outputFolders.filter((name) => names.includes(name));
  const elsewhere = rows
    .filter(({buildDirectory}) => /^\w+$/.test(buildDirectory))
    .flatMap((row) => there.map((buildDirectory) => ({...row, buildDirectory})));
  for (const row of [...rows, ...elsewhere]) {
    const [folder, ...others] = await builtFolders(directory, row);
    if (folder === undefined || (elsewhere.includes(row) && (await isSource(join(directory, folder))))) continue;
    const build = join(directory, folder);
    const isStatic = row.static && !(await hasServerCode(build, directory));
    // A row of static builds knows nothing about a server that the project added.
    const framework = row.static === isStatic ? await located(row, build) : undefined;
    const unfit =
      others.length > 0
        ? several(folder, others)
        : await (framework
            ? unfitEntry(framework, build)
            : builtForOtherHost(directory, {...row, buildDirectory: folder}));
    return {framework, buildDirectory: folder, exists: true, static: isStatic, buildCommand, unfit};
  }
  if (expected !== undefined) {
    const buildDirectory = expected.buildDirectory.replace('*', await angularProject(directory));
    const isBuilt = (await namesIn(join(directory, buildDirectory))).length > 0;
    const unfit = await unfitBuild(directory, {...expected, buildDirectory}, {rows, isSet, isBuilt});
    return {framework: expected, buildDirectory, exists: isBuilt, static: expected.static, buildCommand, unfit};
  }
  const candidates = [...outputFolders, '.next/standalone', '.output', ...(project.nx ? [project.nx.output] : [])];
  const built = await Promise.all(candidates.map((folder) => looksBuilt(join(directory, folder))));
  const folders = candidates.filter((_, index) => built[index]);
  const [found, ...more] = await withSitesFirst(directory, folders);
  if (found !== undefined) {
    // `build` is the default, whatever is beside it.
    const own = {name: 'The project', buildDirectory: found};
    const unfit =
      more.length === 0 || found === 'build' ? await builtForOtherHost(directory, own) : several(found, more);
    const isStatic = await isStaticBuild(join(directory, found), directory);
    return {buildDirectory: found, exists: true, static: isStatic, buildCommand, unfit};
  }
  // With a build script, index.html may be the source of a build.
  const isSite = (folder: string) => isStaticBuild(join(directory, folder));
  const site = buildCommand === undefined ? await firstOf(siteFolders, isSite) : undefined;
  if (site !== undefined) return {buildDirectory: site, exists: true, static: true, isGuess: true};
  const unfit = await builtForOtherHost(directory, {name: 'The project', buildDirectory: 'build'});
  return unfit && {buildDirectory: 'build', exists: false, static: false, buildCommand, unfit};
}

/**
 * Sites come first, unless `build` is among the folders. It is left out beside a site if it has neither page nor
 * server.
 */
async function withSitesFirst(directory: string, folders: readonly string[]): Promise<readonly string[]> {
  const areSites = await Promise.all(folders.map((folder) => isStaticBuild(join(directory, folder))));
  const sites = folders.filter((_, index) => areSites[index]);
  if (sites.length === 0) return folders;
  if (folders[0] === 'build') {
    const build = join(directory, 'build');
    const isMeant = (await namesIn(build)).some((name) => entryOrPage.test(name)) || (await hasServerCode(build));
    return isMeant ? folders : folders.slice(1);
  }
  return [...sites, ...folders.filter((folder) => !sites.includes(folder))];
}

/** Whether a build is a site without server code. Those of some frameworks (`project`) have folders for languages. */
export async function isStaticBuild(directory: string, project?: string): Promise<boolean> {
  if (await isSource(directory)) return false;
  if ((await namesIn(directory)).includes('index.html')) {
    return !(await hasServerCode(directory, project));
  }
  return project !== undefined && (await frameworkOfBuild(project, directory, {isSite: true})) !== undefined;
}

async function looksBuilt(directory: string): Promise<boolean> {
  const names = await namesIn(directory);
  // An entry of a server may have its configuration beside it, which is TypeScript.
  if (names.some((name) => buildTool.test(name)) && !names.some((name) => entryOrPage.test(name))) return false;
  return names.some((name) => name !== '.gitignore') && !(await isSource(directory));
}
