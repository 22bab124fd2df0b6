import {readdir} from 'node:fs/promises';
import {join} from 'node:path';
import {asRecord, isRecord, parseJson} from '../text/json.js';
import {exists, readTextFile} from '../files/read-file.js';
import {frameworks, type Framework} from './frameworks.js';
import {serverCodeIn} from './server-files.js';

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
}

/** Where folders are that look like builds, the most distinctive first. */
const outputFolders = ['.next/standalone', '.output', 'build', 'dist', 'out', '_site'];

const lockFiles = [
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
] as const;

/** Detects the framework of a project and its build folder, or else a folder that looks like a build. Runs nothing. */
export async function detectBuild(directory: string): Promise<DetectedBuild | undefined> {
  const rows = await rowsOf(directory);
  const buildCommand = await buildCommandOf(directory, rows[0]);
  for (const row of rows) {
    const folder = await builtFolder(directory, row);
    if (folder === undefined) continue;
    const isStatic = row.static && !(await hasServerCode(join(directory, folder)));
    // A row of static builds knows nothing about a server that the project added.
    const framework = row.static === isStatic ? row : undefined;
    return {framework, buildDirectory: folder, exists: true, static: isStatic, buildCommand};
  }
  const [expected] = rows;
  if (expected !== undefined) {
    const buildDirectory = expected.buildDirectory.replace('*', await angularProject(directory));
    const isBuilt = await exists(join(directory, buildDirectory));
    return {framework: expected, buildDirectory, exists: isBuilt, static: expected.static, buildCommand};
  }
  const found = await firstOf(outputFolders, (folder) => hasFiles(join(directory, folder)));
  if (found !== undefined) {
    return {buildDirectory: found, exists: true, static: await isStaticBuild(join(directory, found)), buildCommand};
  }
  // The folder itself is a site. With a build script, index.html may be the source of a build.
  const isSite = buildCommand === undefined && (await isStaticBuild(directory));
  return isSite ? {buildDirectory: '.', exists: true, static: true} : undefined;
}

/** The row of a build, whose project's package.json names the framework. Undefined if none has its marks there. */
export async function frameworkOfBuild(
  projectDirectory: string,
  buildDirectory: string,
): Promise<Framework | undefined> {
  for (const row of await rowsOf(projectDirectory)) {
    const isOther = row.static && (await hasServerCode(buildDirectory));
    if (!isOther && (await hasMark(buildDirectory, row))) return row;
  }
  return undefined;
}

/** The server in a build whose project is not at hand, and the module that starts or exports it. */
export async function findServer(
  buildDirectory: string,
): Promise<{readonly framework: Framework; readonly entry: string} | undefined> {
  for (const framework of frameworks) {
    const entry = await entryOf(framework, buildDirectory);
    if (entry !== undefined && (await hasMark(buildDirectory, framework))) return {framework, entry};
  }
  return undefined;
}

/** The first of a row's entries that the build has. */
export function entryOf({entries = []}: Framework, buildDirectory: string): Promise<string | undefined> {
  return firstOf(entries, (entry) => exists(join(buildDirectory, entry)));
}

/** Whether a build is a site without server code. */
export async function isStaticBuild(directory: string): Promise<boolean> {
  return (await namesIn(directory)).includes('index.html') && !(await hasServerCode(directory));
}

/** The rows of the project's framework: those that its settings tell first, then the usual one. */
async function rowsOf(directory: string): Promise<readonly Framework[]> {
  const {dependencies, devDependencies} = await readManifest(directory);
  const packages = [dependencies, devDependencies].flatMap((list) => Object.keys(asRecord(list)));
  const isOf = ({packages: names}: Framework): boolean =>
    names.some((name) =>
      packages.some((found) => found === name || (name.startsWith('/') && `/${found}`.endsWith(name))),
    );
  const name = frameworks.find(isOf)?.name;
  const rows = frameworks.filter((row) => row.name === name);
  const isSet = await Promise.all(rows.map((row) => hasSetting(row, directory, packages)));
  const set = rows.filter((_, index) => isSet[index]);
  const usual = rows.filter(({setting}) => setting === undefined);
  return [...new Set([...set, ...usual, ...rows])];
}

async function hasSetting({setting}: Framework, directory: string, packages: readonly string[]): Promise<boolean> {
  if (setting === undefined) return false;
  if ('packages' in setting) return setting.packages.some((name) => packages.includes(name));
  const files = (await namesIn(directory)).filter((name) => setting.files.test(name));
  const texts = await Promise.all(files.map((name) => readTextFile(join(directory, name)).catch(() => '')));
  return texts.some((text) => setting.text.test(text));
}

/** The folder that a row's build is in, relative to the project. */
async function builtFolder(directory: string, row: Framework): Promise<string | undefined> {
  const [parent, inside] = row.buildDirectory.split('*');
  const folders =
    parent === undefined || inside === undefined
      ? [row.buildDirectory]
      : (await namesIn(join(directory, parent))).map((name) => `${parent}${name}${inside}`);
  return firstOf(folders, (folder) => hasMark(join(directory, folder), row));
}

async function hasMark(buildDirectory: string, {marks}: Framework): Promise<boolean> {
  return (await firstOf(marks, (mark) => exists(join(buildDirectory, mark)))) !== undefined;
}

async function hasFiles(directory: string): Promise<boolean> {
  return (await namesIn(directory)).some((name) => name !== '.gitignore');
}

/** Whether a build has code for a server. */
async function hasServerCode(directory: string): Promise<boolean> {
  return serverCodeIn(await filesIn(directory)).length > 0;
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

/** How the project's own package manager runs its build script, or else the framework's command. */
async function buildCommandOf(directory: string, row: Framework | undefined): Promise<string | undefined> {
  const {scripts} = await readManifest(directory);
  if (!isRecord(scripts) || typeof scripts['build'] !== 'string')
    return row === undefined ? undefined : `npx ${row.buildCommand}`;
  const names = await namesIn(directory);
  const manager = lockFiles.find(([file]) => names.includes(file))?.[1] ?? 'npm';
  return `${manager} run build`;
}

/** The name of the workspace's first project, after which its build folder is called. */
async function angularProject(directory: string): Promise<string> {
  const {projects} = await readJson(join(directory, 'angular.json'));
  return (isRecord(projects) ? Object.keys(projects)[0] : undefined) ?? 'app';
}

const readManifest = (directory: string) => readJson(join(directory, 'package.json'));

/** An object of a JSON file; an empty one if it is missing or invalid, which the tool that it belongs to reports. */
async function readJson(path: string): Promise<Readonly<Record<string, unknown>>> {
  const value = await readTextFile(path)
    .then(parseJson)
    .catch(() => undefined);
  return asRecord(value);
}

function namesIn(directory: string): Promise<string[]> {
  return readdir(directory).catch((): string[] => []);
}

async function firstOf(
  values: readonly string[],
  isTrue: (value: string) => Promise<boolean>,
): Promise<string | undefined> {
  for (const value of values) {
    if (await isTrue(value)) return value;
  }
  return undefined;
}
