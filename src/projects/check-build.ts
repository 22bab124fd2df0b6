import {builtinModules} from 'node:module';
import {join, normalize, posix, relative} from 'node:path';
import {listPaths} from '../text/entry-names.js';
import {onWindows} from '../text/platform.js';
import {shellLine} from '../text/suggest.js';
import {readTextFile} from '../files/read-file.js';
import type {Framework} from '../frameworks/framework.js';
import {findServer, otherEntries} from './build-rows.js';
import {importsOf, type ModuleImports} from './module-imports.js';
import {namesIn} from './read-project.js';
import {fileNamed} from './server-scripts.js';

/** Modules of a server that are read to find what it imports: its entry and the chunks that it loads first. */
const maxModules = 200;
/** Packages named in a warning. */
const listed = 5;

/** Where an application and its build are. Absolute. */
interface Directories {
  readonly project: string;
  readonly build: string;
}

/** What a build lacks: folders that its framework doesn't copy, packages, an entry that can be started. */
export async function buildWarnings(
  framework: Pick<Framework, 'name' | 'copies' | 'entries' | 'isProgram'>,
  directories: Directories,
  paths: readonly string[],
): Promise<readonly string[]> {
  const copies = await presentCopies(framework.copies ?? [], directories.project);
  const missing = copies.filter(({to}) => !paths.some((path) => path.startsWith(`${to}/`)));
  const warnings = missing.map((copy) => {
    const command = copyCommand(directories, copy);
    return `${framework.name} doesn't copy ${copy.from} into the build. Before the push, run: ${command}`;
  });
  const entry = framework.entries?.find((path) => paths.includes(path));
  if (entry === undefined) return warnings;
  const modules = await modulesOf(entry, directories.build, paths);
  if (framework.isProgram === true && !/^ssr\.m?js$/.test(entry)) {
    const first = modules.get(entry)?.hasDefault
      ? 'Add'
      : `Export the app or its handler from ${entry} as default, and add`;
    warnings.push(
      `Runtime starts ssr.js or ssr.mjs, and the build only has ${entry}. ${first} an ssr.mjs to the build: ` +
        `export {default} from './${entry}';`,
    );
  }
  if (framework.isProgram === true) {
    for (const copy of await namedFolders([...modules.values()], directories, paths))
      warnings.push(
        `${entry} names ${copy.from}, which is not in the build. Before the push, run: ${copyCommand(directories, copy)}`,
      );
  }
  const names = missingPackages(modules, paths);
  if (names.length === 0) return warnings;
  return [
    ...warnings,
    `${entry} imports packages that are not in the bundle: ${listPaths(names, listed)}. ` +
      'The server will fail to start. Bundle them into the build (in Vite: ssr.noExternal), or copy node_modules into it.',
  ];
}

/** A warning about a build of no known framework that has server-only files, and nothing that Runtime can start. */
export async function startWarnings(build: string, paths: readonly string[]): Promise<readonly string[]> {
  if (otherEntries.some((path) => paths.includes(path)) || (await findServer(build)) !== undefined) return [];
  return [
    'Nothing in the build is a server that Runtime can start, so every path without a file answers 404. Add an ssr.mjs ' +
      'at its top that listens, or exports an app or a handler as default. For a site without a server, build pages instead.',
  ];
}

/** The commands that complete a build after each run of the framework's own. */
export async function copyCommands(framework: Framework, directories: Directories): Promise<readonly string[]> {
  return (await presentCopies(framework.copies ?? [], directories.project)).map((copy) =>
    copyCommand(directories, copy),
  );
}

type Copy = NonNullable<Framework['copies']>[number];

/** To be typed in the folder of the project. */
function copyCommand({project, build}: Directories, {from, to}: Copy): string {
  if (onWindows) return shellLine('xcopy', '/e', '/i', '/y', normalize(from), join(relative(project, build), to));
  return shellLine('cp', '-r', from, `${posix.join(relative(project, build), posix.dirname(to))}/`);
}

async function presentCopies(copies: readonly Copy[], project: string): Promise<readonly Copy[]> {
  const inside = await Promise.all(copies.map(({from}) => namesIn(join(project, from))));
  return copies.filter((_, index) => inside[index]?.length);
}

interface Module extends ModuleImports {
  readonly source: string;
}

/** The entry of a server and the modules of the build that it loads first, by their paths. */
async function modulesOf(entry: string, build: string, paths: readonly string[]): Promise<ReadonlyMap<string, Module>> {
  const modules = new Map<string, Module>();
  const all = new Set(paths);
  const found = new Set([entry]);
  for (const path of found) {
    const source = await readTextFile(join(build, path)).catch(() => '');
    const module = {source, ...(await importsOf(source))};
    modules.set(path, module);
    for (const specifier of module.imports.filter((name) => name.startsWith('.'))) {
      const file = fileNamed(posix.join(posix.dirname(path), specifier), all);
      if (file !== undefined && found.size < maxModules) found.add(file);
    }
  }
  return modules;
}

/** The packages that modules of a server need and Node would not find. */
function missingPackages(modules: ReadonlyMap<string, Module>, paths: readonly string[]): readonly string[] {
  // A package of pnpm is a link.
  const installed = new Set(paths.flatMap((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []));
  const missing = new Set<string>();
  for (const [path, {imports}] of modules) {
    for (const specifier of imports) {
      // `@scope/name/part` is of the package `@scope/name`.
      const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
      if (!specifier.startsWith('.') && !isFound(name, posix.dirname(path), installed)) missing.add(name);
    }
  }
  return [...missing].sort();
}

/** The folders that a program names, that its project has, and that are not in its build. */
async function namedFolders(
  modules: readonly Module[],
  {project}: Directories,
  paths: readonly string[],
): Promise<readonly Copy[]> {
  const named = ['views', 'public', 'templates', 'static', 'assets'].filter(
    (name) =>
      modules.some(({source}) => new RegExp(`["'\`/]${name}["'\`/]`).test(source)) &&
      !paths.some((path) => path.startsWith(`${name}/`)),
  );
  const copies = named.map((name) => ({from: name, to: name}));
  return presentCopies(copies, project);
}

/** As Node looks for a package, without leaving the build. Paths, URLs and subpath imports are not packages. */
function isFound(name: string, folder: string, installed: ReadonlySet<string>): boolean {
  if (/^[/#]|:/.test(name) || builtinModules.includes(name)) return true;
  if (installed.has(posix.join(folder, 'node_modules', name))) return true;
  return folder !== '.' && isFound(name, posix.dirname(folder), installed);
}
