import {readdir} from 'node:fs/promises';
import {basename, dirname, join} from 'node:path';
import {asRecord} from '../text/json.js';
import {folderFrom} from '../text/paths.js';
import {isTrusted} from '../files/ownership.js';
import {exists, readJsonFile, readTextFile} from '../files/read-file.js';

/** What the files of a project say about it. */
export interface Project {
  /** Absolute. */
  readonly directory: string;
  readonly packages: readonly string[];
  /** The files in its folder. */
  readonly names: readonly string[];
  readonly buildScript?: string | undefined;
  /** How its own package manager runs a script, and a command of a package. */
  readonly manager: {readonly run: string; readonly execute: string};
  /** Whether it has a configuration of mycli. */
  readonly isConfigured: boolean;
  /** Whether it is the root of a workspace. */
  readonly isWorkspace: boolean;
  /** The name by which Nx knows it, and where Nx may build it into, relative to the project. */
  readonly nx?: {readonly name: string; readonly output: string} | undefined;
}

const managers = [
  {files: ['pnpm-lock.yaml', 'pnpm-workspace.yaml'], run: 'pnpm run', execute: 'pnpm exec'},
  {files: ['yarn.lock'], run: 'yarn run', execute: 'yarn'},
  {files: ['bun.lock', 'bun.lockb'], run: 'bun run', execute: 'bunx'},
  {files: ['package-lock.json'], run: 'npm run', execute: 'npx'},
] as const;

const workspaceFiles = ['pnpm-workspace.yaml', 'nx.json', 'lerna.json'];

/** Reads what is known about a project. Runs nothing. */
export async function readProject(directory: string): Promise<Project> {
  const names = await namesIn(directory);
  const {name, scripts, dependencies, devDependencies, workspaces, mycli} = await readJsonRecord(
    join(directory, 'package.json'),
  );
  const packages = [dependencies, devDependencies].flatMap((list) => Object.keys(asRecord(list)));
  const {manager = managers[3], nxRoot} = await workspaceOf(directory);
  const build = asRecord(scripts)['build'];
  return {
    directory,
    packages,
    names,
    buildScript: typeof build === 'string' ? build : undefined,
    manager,
    isConfigured: mycli !== undefined || names.some((file) => file.startsWith('mycli.config.')),
    isWorkspace: workspaces !== undefined || names.some((file) => workspaceFiles.includes(file)),
    nx: nxRoot === undefined || nxRoot === directory ? undefined : await nxProject(directory, nxRoot, name),
  };
}

/** What the folders of a project and of the workspace above it say about it. */
async function workspaceOf(directory: string) {
  let manager: (typeof managers)[number] | undefined;
  let nxRoot: string | undefined;
  for (let folder = directory; ; folder = dirname(folder)) {
    const names = await namesIn(folder);
    // As with plugins: whoever can write to a parent folder says nothing about this project.
    if (folder !== directory && !isTrusted(join(folder, 'package.json'))) return {manager, nxRoot};
    const {workspaces, devDependencies} = await readJsonRecord(join(folder, 'package.json'));
    const isNx = names.includes('nx.json') || 'nx' in asRecord(devDependencies);
    const isRoot = isNx || workspaces !== undefined || names.includes('pnpm-workspace.yaml');
    if (isRoot || folder === directory) {
      manager ??= managers.find(({files}) => files.some((file) => names.includes(file)));
    }
    if (isNx) nxRoot ??= folder;
    if (isRoot || names.includes('.git') || folder === dirname(folder)) return {manager, nxRoot};
  }
}

async function nxProject(directory: string, root: string, packageName: unknown) {
  const {name = packageName} = await readJsonRecord(join(directory, 'project.json'));
  return {
    name: typeof name === 'string' ? name : basename(directory),
    output: `${folderFrom(directory, root)}/dist/${folderFrom(root, directory)}`,
  };
}

/** The command that builds a project, as typed in its folder. `command`: the framework's own. */
export function buildCommandOf({buildScript, manager, nx}: Project, command: string | undefined): string | undefined {
  if (buildScript !== undefined) return `${manager.run} build`;
  if (nx !== undefined) return `${manager.execute} nx build ${nx.name}`;
  return command === undefined ? undefined : `${manager.execute} ${command}`;
}

/** What the configuration files of a project say, that of Vite too, on which many build, and its build script. */
export async function readConfigs(
  {directory, names, buildScript = ''}: Project,
  file: RegExp | undefined,
): Promise<string> {
  const files = names.filter((name) => file?.test(name) === true || /^vite\.config\.[cm]?[jt]s$/.test(name));
  const texts = await Promise.all(files.map((name) => readTextFile(join(directory, name)).catch(() => '')));
  return [...texts, buildScript].join('\n');
}

/** An object of a JSON file; an empty one if it is missing or invalid, which the tool that it belongs to reports. */
export async function readJsonRecord(path: string): Promise<Readonly<Record<string, unknown>>> {
  return asRecord(await readJsonFile(path).catch(() => undefined));
}

export function namesIn(directory: string): Promise<string[]> {
  return readdir(directory).catch((): string[] => []);
}

/** Whether a path exists, in which a first `*` stands for any folder. */
export async function hasPath(directory: string, path: string): Promise<boolean> {
  if (!path.startsWith('*/')) return exists(join(directory, path));
  const names = await namesIn(directory);
  return (await firstOf(names, (name) => exists(join(directory, name, path.slice(2))))) !== undefined;
}

export async function foldersIn(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, {withFileTypes: true}).catch(() => []);
  const folders = entries.filter((entry) => entry.isDirectory()).map(({name}) => name);
  return folders.filter((name) => name !== 'node_modules' && !name.startsWith('.'));
}

/** The files of a folder, but for packages: they are no part of a site. */
export async function filesIn(directory: string, folder = ''): Promise<readonly string[]> {
  const entries = await readdir(join(directory, folder), {withFileTypes: true}).catch(() => []);
  const found: string[] = [];
  for (const entry of entries) {
    const path = `${folder}${entry.name}`;
    if (entry.isFile() || entry.isSymbolicLink()) found.push(path);
    else if (entry.isDirectory() && entry.name !== 'node_modules' && entry.name !== '.git')
      found.push(...(await filesIn(directory, `${path}/`)));
  }
  return found;
}

export async function firstOf<Value>(
  values: readonly Value[],
  isTrue: (value: Value) => Promise<boolean>,
): Promise<Value | undefined> {
  for (const value of values) {
    if (await isTrue(value)) return value;
  }
  return undefined;
}
