import {existsSync, readdirSync, type Dirent} from 'node:fs';
import {join, posix} from 'node:path';
import {exists} from '../files/read-file.js';
import type {Framework} from '../frameworks/framework.js';
import {frameworks} from '../frameworks/frameworks.js';
import {asRecord} from '../text/json.js';
import {firstOf, hasPath, namesIn, type Project, readConfigs, readJsonRecord, readProject} from './read-project.js';
import {hasServerCode} from './server-scripts.js';

/** The row of a build with its paths there, by the project's package.json or files. `isSite`: rows without a server. */
export async function frameworkOfBuild(
  projectDirectory: string,
  buildDirectory: string,
  {isSite = false} = {},
): Promise<Framework | undefined> {
  const {rows} = await rowsOf(await readProject(projectDirectory));
  let isServer: Promise<boolean> | undefined;
  for (const row of isSite ? rows.filter((one) => one.static) : rows) {
    const found = await located(row, buildDirectory);
    if (found !== undefined && !(row.static && (await (isServer ??= hasServerCode(buildDirectory, projectDirectory)))))
      return found;
  }
  return undefined;
}

/** Modules that start a server or export a handler in a build of an unknown framework: the first that exists. */
export const otherEntries = ['ssr', 'server', 'index'].flatMap((name) => [`${name}.mjs`, `${name}.js`]);

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

/** Rows that are recognized by their build alone. If several match the same files, the most general comes first. */
const signedRows = frameworks
  .filter(({signature}) => signature !== undefined)
  .toReversed()
  .map(({signature = [], ...row}) => ({...row, signature, marks: [signature]}));

/** The rows of a project's frameworks: those that its settings tell (`isSet`: there is one) before the usual ones. */
export async function rowsOf(project: Project): Promise<{
  readonly rows: readonly Framework[];
  readonly expected: Framework | undefined;
  readonly isSet: boolean;
}> {
  const has = (names: readonly string[]): boolean =>
    names.some((name) =>
      project.packages.some((found) => found === name || (name.startsWith('/') && `/${found}`.endsWith(name))),
    );
  const byPackage = frameworks.filter(({packages}) => has(packages));
  const named = byPackage.length > 0 ? byPackage : await configured(project);
  const own = named.filter(({isBase}) => isBase !== true);
  const known: Framework[] = [];
  let isSet = false;
  for (const name of new Set((own.length > 0 ? own : named).map((row) => row.name))) {
    const rows = named.filter((row) => row.name === name);
    const texts = await Promise.all(rows.map(({configFile}) => readConfigs(project, configFile)));
    const set = rows.filter(({setting}, index) => {
      if (setting === undefined) return false;
      const text = texts[index] ?? '';
      return 'packages' in setting
        ? has(setting.packages) && setting.unless?.test(text) !== true
        : setting.text.test(text);
    });
    if (known.length === 0) isSet = set.length > 0;
    const usual = rows.filter(({setting}) => setting === undefined);
    for (const row of new Set([...set, ...usual, ...rows]))
      known.push(...placed(row, texts[rows.indexOf(row)], project));
  }
  const sites = known.filter((row) => row.isBase === true && row.static);
  return {rows: [...known.filter((row) => !sites.includes(row)), ...signedRows, ...sites], expected: known[0], isSet};
}

/** The rows whose configuration a project has. */
async function configured(project: Project): Promise<readonly Framework[]> {
  const rows: Framework[] = [];
  for (const row of frameworks) {
    const {configFile, configText} = row;
    const isThere = project.names.some((name) => configFile?.test(name) === true);
    if (isThere && (configText?.test(await readConfigs(project, configFile)) ?? true)) rows.push(row);
  }
  return rows;
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
export async function builtFolders(directory: string, row: Framework): Promise<readonly string[]> {
  const [parent, inside] = row.buildDirectory.split('*');
  const folders =
    parent === undefined || inside === undefined
      ? [row.buildDirectory]
      : (await namesIn(join(directory, parent))).map((name) => `${parent}${name}${inside}`);
  const found = await Promise.all(folders.map((folder) => located(row, join(directory, folder))));
  return folders.filter((_, index) => found[index] !== undefined);
}

/** A row with the paths that its parts have in a build. Undefined if its marks are not there. */
export async function located(row: Framework, build: string): Promise<Framework | undefined> {
  for (const mark of row.marks) {
    const paths = typeof mark === 'string' ? [mark] : mark;
    const found = await Promise.all(paths.map((path) => hasPath(build, path)));
    if (found.every(Boolean)) return row.manifest === undefined ? row : withManifest(row, build, row.manifest);
  }
  const {isNested = false, signature = []} = row;
  const base = isNested ? folderOf(build, signature) : undefined;
  return base === undefined
    ? undefined
    : mapPaths(
        row,
        (path) => path,
        (path) => `${base}/${path}`,
      );
}

/** A folder in a build, as deep as in a workspace, that has `paths`. Synchronous: there may be thousands of folders. */
function folderOf(build: string, paths: readonly string[], base = '', depth = 4): string | undefined {
  const entries = entriesOf(join(build, base));
  const mayHave = (path: string) => entries.some(({name}) => name === path.split('/')[0]);
  if (base !== '' && paths.every(mayHave) && paths.every((path) => existsSync(join(build, base, path)))) return base;
  for (const entry of depth === 0 ? [] : entries) {
    if (!entry.isDirectory() || entry.name === 'node_modules') continue;
    const found = folderOf(build, paths, base === '' ? entry.name : `${base}/${entry.name}`, depth - 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function entriesOf(directory: string): readonly Dirent[] {
  try {
    return readdirSync(directory, {withFileTypes: true});
  } catch {
    return [];
  }
}

async function withManifest(row: Framework, build: string, manifest: string): Promise<Framework> {
  const {serverEntry, publicDir} = await readJsonRecord(join(build, manifest));
  const isFolder = (path: unknown): path is string =>
    typeof path === 'string' && /^\w[\w-]*(?:\/\w[\w-]*)*$/.test(path);
  return {
    ...row,
    ...(typeof serverEntry === 'string' && !serverEntry.includes('..') && {entries: [posix.normalize(serverEntry)]}),
    ...(isFolder(publicDir) && publicDir !== 'server' && {public: [publicDir], publicFolder: publicDir}),
  };
}

/** The name of the workspace's first project, after which its build folder is called. */
export async function angularProject(directory: string): Promise<string> {
  const {projects} = await readJsonRecord(join(directory, 'angular.json'));
  return Object.keys(asRecord(projects))[0] ?? 'app';
}
