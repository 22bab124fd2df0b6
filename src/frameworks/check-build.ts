import {readdir} from 'node:fs/promises';
import {builtinModules} from 'node:module';
import {join, posix, relative, sep} from 'node:path';
import type {parse as Parse} from 'es-module-lexer';
import {shellLine} from '../text/suggest.js';
import {exists, readTextFile} from '../files/read-file.js';
import {entryOf} from './detect-framework.js';
import type {Framework} from './frameworks.js';

/** Modules of a server that are read to find what it imports: its entry and the chunks that it loads first. */
const maxModules = 200;
/** Packages named in a warning. */
const listed = 5;

/** Where an application and its build are. Absolute. */
interface Directories {
  readonly project: string;
  readonly build: string;
}

/** Warnings about what a build lacks: folders that its framework doesn't copy, packages that its server imports. */
export async function buildWarnings(framework: Framework, directories: Directories): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const copy of await presentCopies(framework, directories.project)) {
    if (await hasFiles(join(directories.build, copy.to))) continue;
    const command = copyCommand(directories, copy);
    missing.push(`${framework.name} doesn't copy ${copy.from} into the build. Before the push, run: ${command}`);
  }
  const entry = await entryOf(framework, directories.build);
  const names = entry === undefined ? [] : await missingPackages(entry, directories.build);
  if (entry === undefined || names.length === 0) return missing;
  const others = names.length > listed ? `, and ${String(names.length - listed)} more` : '';
  return [
    ...missing,
    `${entry} imports packages that are not in the bundle: ${names.slice(0, listed).join(', ')}${others}. ` +
      'The server will fail to start. Bundle them into the build (in Vite: ssr.noExternal), or copy node_modules into it.',
  ];
}

/** The commands that complete a build after each run of the framework's own. */
export async function copyCommands(framework: Framework, directories: Directories): Promise<readonly string[]> {
  return (await presentCopies(framework, directories.project)).map((copy) => copyCommand(directories, copy));
}

type Copy = NonNullable<Framework['copies']>[number];

/** To be typed in the folder of the project. */
function copyCommand({project, build}: Directories, {from, to}: Copy): string {
  const folder = posix.join(relative(project, build).split(sep).join('/'), posix.dirname(to));
  return shellLine('cp', '-r', from, `${folder}/`);
}

async function presentCopies({copies = []}: Framework, project: string): Promise<readonly Copy[]> {
  const isThere = await Promise.all(copies.map(({from}) => hasFiles(join(project, from))));
  return copies.filter((_, index) => isThere[index]);
}

async function hasFiles(directory: string): Promise<boolean> {
  return (await readdir(directory).catch((): string[] => [])).length > 0;
}

/** The packages that the entry, or a module of the build that it imports, needs and Node would not find. */
async function missingPackages(entry: string, build: string): Promise<readonly string[]> {
  const {init, parse} = await import('es-module-lexer');
  await init;
  const missing = new Set<string>();
  const modules = new Set([entry]);
  for (const path of modules) {
    const folder = posix.dirname(path);
    const source = await readTextFile(join(build, path)).catch(() => '');
    for (const specifier of staticImports(parse, source)) {
      const imported = posix.join(folder, specifier);
      if (specifier.startsWith('.')) {
        if (!imported.startsWith('..') && modules.size < maxModules) modules.add(imported);
        continue;
      }
      // `@scope/name/part` is of the package `@scope/name`.
      const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
      if (!missing.has(name) && !(await isInstalled(name, folder, build))) missing.add(name);
    }
  }
  return [...missing].sort();
}

function staticImports(parse: typeof Parse, source: string): readonly string[] {
  try {
    // What is imported when it is needed may never be.
    return parse(source)[0].flatMap(({n, d}) => (n !== undefined && d === -1 ? [n] : []));
  } catch {
    // CommonJS that is no module, or a syntax that the lexer does not know.
    return [];
  }
}

/** As Node looks for a package, without leaving the build. Paths, URLs and subpath imports are not packages. */
async function isInstalled(name: string, folder: string, build: string): Promise<boolean> {
  if (/^[/#]|:/.test(name) || builtinModules.includes(name)) return true;
  if (await exists(join(build, folder, 'node_modules', name))) return true;
  return folder !== '.' && isInstalled(name, posix.dirname(folder), build);
}
