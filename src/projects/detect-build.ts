import {readdir} from 'node:fs/promises';
import {join, posix} from 'node:path';
import {createError} from '../errors/index.js';
import {asRecord} from '../text/json.js';
import {exists, readTextFile} from '../files/read-file.js';
import type {Framework} from '../frameworks/framework.js';
import {listPaths} from '../text/entry-names.js';
import {shellLine} from '../text/suggest.js';
import {frameworks, otherHosts} from '../frameworks/frameworks.js';
import {buildCommandOf, namesIn, readConfigs, readJson, readProject, type Project} from './read-project.js';
import {serverCodeIn} from '../frameworks/server-files.js';

/** The build of an application, as detected from its files. */
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

interface UnfitBuild {
  readonly problem: string;
  readonly advice: string;
}

/** Where folders are that look like builds. */
const outputFolders = ['build', 'dist', 'out', '_site', 'www', 'public_html'];
/** What builds something, and is in no build. */
const buildTool = /^webpack\.|(?<!\.d)\.[cm]?tsx?$/;
/** What a build has at its top that is a site or a server. */
const entryOrPage = /^(?:index\.html|(?:app|index|main|server|ssr)\.[cm]?js)$/;
/** Where a site may be that nothing builds with a package.json: by hand, by Hugo, by MkDocs. */
const siteFolders = ['.', 'public', 'site'];

/** Detects the framework of a project and its build folder, or else a folder that looks like a build. Runs nothing. */
export async function detectBuild(directory: string): Promise<DetectedBuild | undefined> {
  const project = await readProject(directory);
  const detected = await detectIn(project);
  const isAnswer = detected?.unfit === undefined ? detected?.exists === true : !project.isWorkspace;
  if (isAnswer || isApplication(project, detected)) return detected;
  const members = await builtMembers(project);
  if (members.length === 0) return detected;
  const own = project.isWorkspace ? undefined : detected?.buildCommand;
  const unfit = {
    problem: `There is no build here that can be pushed, but in ${listPaths(members)}.`,
    advice:
      `Name the one that is meant, as in ${shellLine('-C', String(members[0]))}` +
      (own === undefined ? '' : `. To push that of this folder, run ${own} first`),
  };
  return {buildDirectory: 'build', exists: false, static: false, ...detected, unfit};
}

/** Whether a project is itself what it is detected as, not only a folder above others. */
function isApplication({names}: Project, detected: DetectedBuild | undefined): boolean {
  return names.some((name) => name === 'index.html' || detected?.framework?.configFile?.test(name) === true);
}

/** The folders below a project, as of a workspace's members, that have built applications. */
async function builtMembers({directory, isWorkspace}: Project): Promise<readonly string[]> {
  const folders = (await foldersIn(directory)).filter((name) => !outputFolders.includes(name));
  const below = await Promise.all(
    (isWorkspace ? folders : []).map(async (name) =>
      (await foldersIn(join(directory, name))).map((inner) => `${name}/${inner}`),
    ),
  );
  const members: string[] = [];
  for (const folder of [...folders, ...below.flat()].sort()) {
    const member = join(directory, folder);
    const names = await namesIn(member);
    if (!names.includes('package.json') && !names.includes('project.json')) continue;
    const build = await detectIn(await readProject(member));
    // A library has a build, too.
    const isSiteOrServer = build?.static === true || build?.framework !== undefined;
    if (isSiteOrServer && build.exists && build.unfit === undefined) members.push(folder);
  }
  return members;
}

async function detectIn(project: Project): Promise<DetectedBuild | undefined> {
  const {directory} = project;
  const {rows, expected, isSet} = await rowsOf(project);
  const buildCommand = buildCommandOf(project, expected?.buildCommand);
  // Elsewhere than the framework usually builds into.
  const elsewhere = rows
    .filter(({buildDirectory}) => /^\w+$/.test(buildDirectory))
    .flatMap((row) => outputFolders.map((buildDirectory) => ({...row, buildDirectory})));
  for (const row of [...rows, ...elsewhere]) {
    const [folder, ...others] = await builtFolders(directory, row);
    if (folder === undefined || (elsewhere.includes(row) && (await isSource(join(directory, folder))))) continue;
    const build = join(directory, folder);
    const isStatic = row.static && !(await hasServerCode(build));
    // A row of static builds knows nothing about a server that the project added.
    const framework = row.static === isStatic ? await located(row, build) : undefined;
    const unfit =
      others.length > 0
        ? several([folder, ...others])
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
  const candidates = [...outputFolders, '.next/standalone', '.output'];
  const built = await Promise.all(candidates.map((folder) => looksBuilt(join(directory, folder))));
  const [found, ...more] = await withSitesFirst(
    directory,
    candidates.filter((_, index) => built[index]),
  );
  if (found !== undefined) {
    // `build` is the default, whatever is beside it.
    const unfit = more.length === 0 || found === 'build' ? undefined : several([found, ...more]);
    const isStatic = await isStaticBuild(join(directory, found));
    return {buildDirectory: found, exists: true, static: isStatic, buildCommand, unfit};
  }
  // With a build script, index.html may be the source of a build.
  const isSite = (folder: string) => isStaticBuild(join(directory, folder));
  const site = buildCommand === undefined ? await firstOf(siteFolders, isSite) : undefined;
  return site === undefined ? undefined : {buildDirectory: site, exists: true, static: true, isGuess: true};
}

/**
 * Folders that look like builds, sites first where `build` is not among them. It is left out if it has neither a page
 * nor a server, as where scripts or icons are, and a site is beside it.
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

function several(folders: readonly string[]): UnfitBuild {
  return {
    problem: `There are several builds: ${folders.join(', ')}.`,
    advice: `Pass the folder of the one to push, as in mycli push ${String(folders[0])}`,
  };
}

/** Why the framework's expected build is not there although something was built. */
async function unfitBuild(
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
    return {
      problem: `${buildDirectory}, the build of ${name}, has no page (index.html) at its top, but below it.`,
      advice:
        site === ''
          ? `If that is the site, run ${shellLine('mycli', 'push', buildDirectory, '--static')}`
          : `Pass the folder of the site, as in ${shellLine('mycli', 'push', folder(site))}` +
            (sites.length === 1 ? '' : `. There are ${listPaths(sites.map(folder))}`),
    };
  }
  return {
    problem: `${buildDirectory}, the build of ${name}, has no page (index.html).`,
    advice:
      'If a server renders its pages, choose the files of that server with --ssr-only GLOB. Otherwise, build it again',
  };
}

/**
 * The sites of a build that has no page at its top, relative to it: the lowest folders that have pages and what the
 * pages load. The build itself, as an empty text, where folders of pages share what they load.
 */
async function sitesIn(build: string): Promise<readonly string[]> {
  const paths = await filesIn(build);
  const loaded = new Set(paths.filter((path) => !path.endsWith('.html')).flatMap(foldersAbove));
  const pages = paths.filter((path) => posix.basename(path) === 'index.html');
  const sites = [...new Set(pages.map((page) => foldersAbove(page).find((folder) => loaded.has(folder)) ?? ''))];
  const isBelow = (site: string) =>
    sites.some((other) => other !== site && `${site}/`.startsWith(other && `${other}/`));
  return sites.filter((site) => !isBelow(site)).sort();
}

/** The folders above a path, the innermost first, without a slash at the end; the last one is empty. */
function foldersAbove(path: string): readonly string[] {
  const folder = posix.dirname(path);
  return folder === '.' ? [''] : [folder, ...foldersAbove(folder)];
}

/** What is wrong with a build whose adapter or preset is for another host. */
async function builtForOtherHost(
  directory: string,
  {name, buildDirectory}: Pick<Framework, 'name' | 'buildDirectory'>,
): Promise<UnfitBuild | undefined> {
  const ofProject = await firstOf(otherHosts, async ({marks}) => (await firstMark(directory, marks)) !== undefined);
  return ofProject ? builtFor(name, ofProject.host) : unfitForHost({name}, join(directory, buildDirectory));
}

/** As `builtForOtherHost`, by the build alone: what is beside it may be of an earlier one. */
async function unfitForHost({name}: Pick<Framework, 'name'>, build: string): Promise<UnfitBuild | undefined> {
  const found = await firstOf(otherHosts, async ({inBuild = []}) => (await firstMark(build, inBuild)) !== undefined);
  return found && builtFor(name, found.host);
}

function firstMark(directory: string, marks: readonly string[]): Promise<string | undefined> {
  return firstOf(marks, (mark) => hasPath(directory, mark));
}

function builtFor(name: string, host: string): UnfitBuild {
  return {
    problem: `${name} was built for ${host}.`,
    advice:
      'Choose its adapter or preset for Node.js (Astro: @astrojs/node, SvelteKit: @sveltejs/adapter-node, Nitro: ' +
      "NITRO_PRESET=node-server), or remove the host's plugin from vite.config, and build again",
  };
}

/** Why the server of a build can't be started: it is for another host, or its entry is of another kind. */
export async function unfitEntry(
  {name, unfitEntry: unfit, entries = []}: Framework,
  build: string,
): Promise<UnfitBuild | undefined> {
  const ofHost = await unfitForHost({name}, build);
  if (ofHost !== undefined) return ofHost;
  const entry = unfit && (await entryOf({entries}, build));
  if (unfit === undefined || entry === undefined) return undefined;
  const text = await readTextFile(join(build, entry)).catch(() => '');
  return unfit.text.test(text) ? unfit : undefined;
}

/** The error about a build that can't be pushed: `ERR_BUILD_DIRECTORY`. */
export function unfitError({problem, advice}: UnfitBuild): Error {
  return createError('ERR_BUILD_DIRECTORY', problem, {suggestions: [`${advice}.`]});
}

/**
 * The row of a build, whose project's package.json or own files name the framework. Its paths are those of this build.
 * Undefined if none has its marks there.
 */
export async function frameworkOfBuild(
  projectDirectory: string,
  buildDirectory: string,
): Promise<Framework | undefined> {
  const {rows} = await rowsOf(await readProject(projectDirectory));
  let isServer: Promise<boolean> | undefined;
  for (const row of rows) {
    const found = await located(row, buildDirectory);
    if (found !== undefined && !(row.static && (await (isServer ??= hasServerCode(buildDirectory))))) return found;
  }
  return undefined;
}

/** The server in a build whose project is not at hand, and the module that starts or exports it. */
export async function findServer(
  buildDirectory: string,
): Promise<{readonly framework: Framework; readonly entry: string} | undefined> {
  for (const row of [...signedRows, ...frameworks.filter(({isProgram}) => isProgram !== true)]) {
    const framework = await located(row, buildDirectory);
    const entry = framework && (await entryOf(framework, buildDirectory));
    if (framework !== undefined && entry !== undefined) return {framework, entry};
  }
  return undefined;
}

/** The first of a row's entries that the build has. */
export function entryOf(
  {entries = []}: Pick<Framework, 'entries'>,
  buildDirectory: string,
): Promise<string | undefined> {
  return firstOf(entries, (entry) => exists(join(buildDirectory, entry)));
}

/**
 * Whether a build is a site without server code.
 * @param project Whose framework may build sites without a page at the top: a folder for each language.
 */
export async function isStaticBuild(directory: string, project?: string): Promise<boolean> {
  if (await isSource(directory)) return false;
  if ((await namesIn(directory)).includes('index.html')) {
    return (await programEntry(directory)) === undefined && !(await hasServerCode(directory));
  }
  return project !== undefined && (await frameworkOfBuild(project, directory))?.static === true;
}

/** The entry of a program whose sources a folder has: its own package.json names the packages of a server. */
export async function programEntry(directory: string): Promise<string | undefined> {
  const {dependencies} = await readJson(join(directory, 'package.json'));
  const names = Object.keys(asRecord(dependencies));
  const row = frameworks.find(({isProgram, packages}) => isProgram && packages.some((name) => names.includes(name)));
  return row && entryOf(row, directory);
}

/** Whether a page loads what only a build makes a script of. */
async function isSource(directory: string): Promise<boolean> {
  const page = await readTextFile(join(directory, 'index.html')).catch(() => '');
  return /<script\b[^>]*\bsrc=["']?(?:[^"'>]*\.(?:[cm]?tsx?|jsx|vue|svelte)\b|\/src\/)/.test(page);
}

/** Rows that are told by what they build alone. Of those that are told alike, the most general comes first. */
const signedRows = frameworks
  .filter(({signature}) => signature !== undefined)
  .toReversed()
  .map(({signature = [], ...row}) => ({...row, signature, marks: [signature]}));

/**
 * The rows of a project's frameworks: those that its settings tell first, then the usual one; then those that its build
 * may tell. `isSet`: whether settings tell the expected one.
 */
async function rowsOf(project: Project): Promise<{
  readonly rows: readonly Framework[];
  readonly expected: Framework | undefined;
  readonly isSet: boolean;
}> {
  const has = (names: readonly string[]): boolean =>
    names.some((name) =>
      project.packages.some((found) => found === name || (name.startsWith('/') && `/${found}`.endsWith(name))),
    );
  const isConfigured = ({configFile}: Framework) => project.names.some((name) => configFile?.test(name) === true);
  const byPackage = frameworks.filter(({packages}) => has(packages));
  const named = byPackage.length > 0 ? byPackage : frameworks.filter(isConfigured);
  const own = named.filter(({isBase}) => isBase !== true);
  const known: Framework[] = [];
  let isSet = false;
  for (const name of new Set((own.length > 0 ? own : named).map((row) => row.name))) {
    const rows = named.filter((row) => row.name === name);
    const texts = await Promise.all(rows.map(({configFile}) => readConfigs(project, configFile)));
    const set = rows.filter(({setting}, index) => {
      if (setting === undefined) return false;
      return 'packages' in setting ? has(setting.packages) : setting.text.test(texts[index] ?? '');
    });
    if (known.length === 0) isSet = set.length > 0;
    const usual = rows.filter(({setting}) => setting === undefined);
    for (const row of new Set([...set, ...usual, ...rows]))
      known.push(...placed(row, texts[rows.indexOf(row)], project));
  }
  const sites = known.filter((row) => row.isBase === true && row.static);
  return {rows: [...known.filter((row) => !sites.includes(row)), ...signedRows, ...sites], expected: known[0], isSet};
}

/** A row with the folder that the project's settings name, as it is usually, and where Nx builds. */
function placed(row: Framework, texts = '', {nx}: Project): readonly Framework[] {
  const [, folder] = row.output?.setting.exec(texts) ?? [];
  const set = folder === undefined ? [] : [withOutput(row, posix.normalize(folder).replace(/\/$/, ''))];
  const ofNx = nx && {
    ...row,
    buildDirectory: row.buildDirectory.replace(/^(?:dist\/\*|dist|build|out)(?=\/|$)/, nx.output),
  };
  return [...set, row, ...(ofNx === undefined || ofNx.buildDirectory === row.buildDirectory ? [] : [ofNx])];
}

function withOutput(row: Framework, folder: string): Framework {
  const usual = row.output?.folder ?? '';
  const isBelow = (path: string) => path === usual || path.startsWith(`${usual}/`);
  return mapPaths(row, (path) => (isBelow(path) ? `${folder}${path.slice(usual.length)}` : path));
}

/** A row whose paths in project and build are other ones. */
function mapPaths(row: Framework, change: (path: string) => string, inBuild = change): Framework {
  const {buildDirectory, signature, copies, entries, publicFolder, unfit} = row;
  return {
    ...row,
    buildDirectory: change(buildDirectory),
    ...(unfit && {unfit: {...unfit, marks: unfit.marks.map(change)}}),
    ...(signature && {signature: signature.map(inBuild)}),
    ...(row.public && {public: row.public.map(inBuild)}),
    ...(copies && {copies: copies.map(({from, to}) => ({from: change(from), to: inBuild(to)}))}),
    ...(entries && {entries: entries.map(inBuild)}),
    ...(publicFolder !== undefined && {publicFolder: inBuild(publicFolder)}),
  };
}

/** The folders that builds of a row are in, relative to the project. */
async function builtFolders(directory: string, row: Framework): Promise<readonly string[]> {
  const [parent, inside] = row.buildDirectory.split('*');
  const folders =
    parent === undefined || inside === undefined
      ? [row.buildDirectory]
      : (await namesIn(join(directory, parent))).map((name) => `${parent}${name}${inside}`);
  const found = await Promise.all(folders.map((folder) => located(row, join(directory, folder))));
  return folders.filter((_, index) => found[index] !== undefined);
}

/** A row with the paths that its parts have in a build. Undefined if its marks are not there. */
async function located(row: Framework, build: string): Promise<Framework | undefined> {
  for (const mark of row.marks) {
    const paths = typeof mark === 'string' ? [mark] : mark;
    if (await hasAll(build, paths)) return row.manifest === undefined ? row : withManifest(row, build, row.manifest);
  }
  const {isNested = false, signature = []} = row;
  const base = isNested ? await folderOf(build, signature) : undefined;
  return base === undefined
    ? undefined
    : mapPaths(
        row,
        (path) => path,
        (path) => `${base}/${path}`,
      );
}

/** A folder in a build that has all of `paths`, at the depth at which a workspace may have an application. */
async function folderOf(build: string, paths: readonly string[], base = '', depth = 4): Promise<string | undefined> {
  const entries = await readdir(join(build, base), {withFileTypes: true}).catch(() => []);
  for (const entry of depth === 0 ? [] : entries) {
    if (!entry.isDirectory() || entry.name === 'node_modules') continue;
    const folder = posix.join(base, entry.name);
    if (await hasAll(join(build, folder), paths)) return folder;
    const below = await folderOf(build, paths, folder, depth - 1);
    if (below !== undefined) return below;
  }
  return undefined;
}

async function withManifest(row: Framework, build: string, manifest: string): Promise<Framework> {
  const {serverEntry, publicDir} = await readJson(join(build, manifest));
  const isFolder = (path: unknown): path is string =>
    typeof path === 'string' && /^\w[\w-]*(?:\/\w[\w-]*)*$/.test(path);
  return {
    ...row,
    ...(typeof serverEntry === 'string' && !serverEntry.includes('..') && {entries: [posix.normalize(serverEntry)]}),
    ...(isFolder(publicDir) && publicDir !== 'server' && {public: [publicDir], publicFolder: publicDir}),
  };
}

async function hasAll(directory: string, paths: readonly string[]): Promise<boolean> {
  const found = await Promise.all(paths.map((path) => hasPath(directory, path)));
  return found.every(Boolean);
}

/** Whether a path exists, in which a first `*` stands for any folder. */
async function hasPath(directory: string, path: string): Promise<boolean> {
  if (!path.startsWith('*/')) return exists(join(directory, path));
  const names = await namesIn(directory);
  return (await firstOf(names, (name) => exists(join(directory, name, path.slice(2))))) !== undefined;
}

async function looksBuilt(directory: string): Promise<boolean> {
  const names = await namesIn(directory);
  if (names.some((name) => buildTool.test(name)) && !names.includes('index.html')) return false;
  return names.some((name) => name !== '.gitignore') && !(await isSource(directory));
}

/** Whether a build has code for a server. */
async function hasServerCode(directory: string): Promise<boolean> {
  return serverCodeIn(await filesIn(directory)).length > 0;
}

async function foldersIn(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, {withFileTypes: true}).catch(() => []);
  const folders = entries.filter((entry) => entry.isDirectory()).map(({name}) => name);
  return folders.filter((name) => name !== 'node_modules' && !name.startsWith('.'));
}

/** The files of a folder, but for packages: they are no part of a site. */
async function filesIn(directory: string, folder = ''): Promise<readonly string[]> {
  const entries = await readdir(join(directory, folder), {withFileTypes: true}).catch(() => []);
  const found: string[] = [];
  for (const entry of entries) {
    const path = `${folder}${entry.name}`;
    if (!entry.isDirectory()) found.push(path);
    else if (entry.name !== 'node_modules' && entry.name !== '.git')
      found.push(...(await filesIn(directory, `${path}/`)));
  }
  return found;
}

/** The name of the workspace's first project, after which its build folder is called. */
async function angularProject(directory: string): Promise<string> {
  const {projects} = await readJson(join(directory, 'angular.json'));
  return Object.keys(asRecord(projects))[0] ?? 'app';
}

async function firstOf<Value>(
  values: readonly Value[],
  isTrue: (value: Value) => Promise<boolean>,
): Promise<Value | undefined> {
  for (const value of values) {
    if (await isTrue(value)) return value;
  }
  return undefined;
}
