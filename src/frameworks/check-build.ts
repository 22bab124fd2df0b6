import {readdir, stat} from 'node:fs/promises';
import {builtinModules} from 'node:module';
import {join, posix, relative, sep} from 'node:path';
import type {parse as Parse} from 'es-module-lexer';
import {shellLine} from '../errors/suggest.js';
import {readTextFile} from '../files/read-file.js';
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
  const [copies, imports] = await Promise.all([
    missingCopies(framework, directories),
    missingPackages(framework, directories.build),
  ]);
  const hints = copies.map(
    (copy) =>
      `${framework.name} doesn't copy ${copy.from} into the build. Before the push, run: ${copyCommand(directories, copy)}`,
  );
  if (imports.names.length === 0) return hints;
  const others = imports.names.length > listed ? `, and ${String(imports.names.length - listed)} more` : '';
  const names = imports.names.slice(0, listed).join(', ');
  return [
    ...hints,
    `${imports.entry} imports packages that are not in the bundle: ${names}${others}. ` +
      'The server will fail to start. Bundle them into the build (in Vite: ssr.noExternal), or copy node_modules into it.',
  ];
}

/** The commands that complete a build after each run of the framework's own. */
export function copyCommands(framework: Framework, directories: Directories): Promise<readonly string[]> {
  return presentCopies(framework, directories.project).then((copies) =>
    copies.map((copy) => copyCommand(directories, copy)),
  );
}

type Copy = NonNullable<Framework['copies']>[number];

/** To be typed in the folder of the project. */
function copyCommand({project, build}: Directories, {from, to}: Copy): string {
  return shellLine(
    'cp',
    '-r',
    from,
    `${posix.join(relative(project, build).split(sep).join('/'), posix.dirname(to))}/`,
  );
}

async function presentCopies({copies = []}: Framework, project: string): Promise<readonly Copy[]> {
  const isThere = await Promise.all(copies.map(({from}) => hasFiles(join(project, from))));
  return copies.filter((_, index) => isThere[index]);
}

async function missingCopies(framework: Framework, {project, build}: Directories): Promise<readonly Copy[]> {
  const copies = await presentCopies(framework, project);
  const isCopied = await Promise.all(copies.map(({to}) => hasFiles(join(build, to))));
  return copies.filter((_, index) => !isCopied[index]);
}

async function hasFiles(directory: string): Promise<boolean> {
  return (await readdir(directory).catch((): string[] => [])).length > 0;
}

/** The packages that the server's entry, or a module of the build that it imports, needs and Node would not find. */
async function missingPackages(
  framework: Framework,
  build: string,
): Promise<{readonly entry: string; readonly names: readonly string[]}> {
  const entry = await entryOf(framework, build);
  if (entry === undefined) return {entry: '', names: []};
  const {init, parse} = await import('es-module-lexer');
  await init;
  /** The folders of the modules that import a package. */
  const importers = new Map<string, Set<string>>();
  const modules = new Set([entry]);
  for (const path of modules) {
    const source = await readTextFile(join(build, path)).catch(() => '');
    for (const specifier of staticImports(parse, source)) {
      if (!specifier.startsWith('.')) {
        const name = packageName(specifier);
        importers.set(name, (importers.get(name) ?? new Set<string>()).add(posix.dirname(path)));
        continue;
      }
      const imported = posix.join(posix.dirname(path), specifier);
      if (!imported.startsWith('..') && modules.size < maxModules) modules.add(imported);
    }
  }
  const missing: string[] = [];
  for (const [name, folders] of importers) {
    const found = await Promise.all([...folders].map((folder) => isInstalled(name, folder, build)));
    if (found.includes(false)) missing.push(name);
  }
  return {entry, names: missing.sort()};
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

/** `@scope/name/part` is of the package `@scope/name`. */
function packageName(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}

/** As Node looks for a package, without leaving the build. Paths, URLs and subpath imports are not packages. */
async function isInstalled(name: string, folder: string, build: string): Promise<boolean> {
  if (/^[/#]|:/.test(name) || builtinModules.includes(name)) return true;
  for (let at = folder; ; at = posix.dirname(at)) {
    const found = await stat(join(build, at, 'node_modules', name)).catch(() => undefined);
    if (found !== undefined) return true;
    if (at === '.') return false;
  }
}
