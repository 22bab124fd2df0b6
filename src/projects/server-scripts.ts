import {join, posix, relative, sep} from 'node:path';
import {readHead} from '../files/own-files.js';
import {readTextFile} from '../files/read-file.js';
import {isServerModule} from '../frameworks/server-modules.js';
import {frameworks} from '../frameworks/frameworks.js';
import {isAssetPath, serverCodeIn, type ServerScript} from '../frameworks/server-files.js';
import {sourceOf} from '../text/entry-names.js';
import {asRecord, tryJson} from '../text/json.js';
import {importsOf} from './module-imports.js';
import {filesIn, namesIn, readJsonRecord} from './read-project.js';

export interface FoundScripts {
  readonly server: readonly ServerScript[];
  /** What no browser can load, although it may be no server's: what a bundler has yet to resolve, as in a package. */
  readonly unloadable: readonly ServerScript[];
}

/** Where the scripts of a build, or of an archive, are read. */
export interface ScriptSource {
  readonly paths: readonly string[];
  /** The first `headBytes` of a file, byte by byte. */
  readonly head: (path: string) => string;
  /** All of it. */
  readonly text: (path: string) => Promise<string>;
}

/** Bytes of a script that are looked at. What it imports stands at its top, or it is large because that was bundled. */
export const headBytes = 64 * 1024;
const script = /\.[cm]?js$/;
/** Files of any kind whose first line may say what runs them. */
const program = /(?:^|\/)[^./]+$/;
const relativeImport =
  /(?:\bfrom|\bimport\(?|\brequire\s*\(|\bnew URL\()\s*["'`](\.{1,2}\/[^"'`]+|(?<=URL\(["'`])[^"'`:]+\.[cm]?js\b)/g;
/** A path or a URL in an import. All else names a package. */
const address = /^(?:[./]|\w{2,}:\/\/|data:|blob:)/;
/** How an import may name a file. */
const endings = ['', '.js', '.mjs', '.cjs', '.json', '/index.js', '/index.mjs', '/index.cjs'];
/** A package's script for Node beside the one for browsers: `ort.node.min.js`. */
const variant = /\.node(?=\.)/;

/** The file that an import of a path means. */
export function fileNamed(path: string, all: ReadonlySet<string>): string | undefined {
  return endings.map((ending) => `${path}${ending}`).find((one) => all.has(one));
}

export function scriptsOf(directory: string, paths: readonly string[]): ScriptSource {
  const buffer = Buffer.allocUnsafe(headBytes);
  return {
    paths,
    head(path) {
      try {
        return readHead(sourceOf(directory, path), 'latin1', buffer);
      } catch {
        // Packing it reports what is wrong.
        return '';
      }
    },
    text: (path) => readTextFile(sourceOf(directory, path)).catch(() => ''),
  };
}

/** Whether a file may be a script, by its name. */
export function mayBeScript(path: string): boolean {
  return script.test(path) || program.test(path);
}

/** Whether a script has to be parsed: by its first `headBytes`, a server may run it. */
export function mayBeServerScript(path: string, head: string): boolean {
  if (head.startsWith('#!')) return true;
  if (!script.test(path)) return false;
  const imported = /[\s(]*["'`]([^"'`]+)/y;
  // Short words with rare letters first: searches for these take half the time of a regular expression for all of them.
  if (['Bun.s', 'Deno.s', 'Builti'].some((word) => head.includes(word))) return true;
  // Of `import`, `from` and `require`.
  for (const word of ['mport', 'from', 'quire']) {
    for (let at = head.indexOf(word); at !== -1; at = head.indexOf(word, imported.lastIndex)) {
      imported.lastIndex = at + word.length;
      const [, name] = imported.exec(head) ?? [];
      if (name !== undefined && !address.test(name) && (word !== 'quire' || isServerModule(name))) return true;
      imported.lastIndex = at + word.length;
    }
  }
  return false;
}

/** Finds the scripts that import what only Node has, and what these and those `known` to be the server's import. */
export async function findServerScripts(
  {paths, head, text}: ScriptSource,
  known: readonly ServerScript[] = [],
): Promise<FoundScripts> {
  const all = new Set(paths);
  const server = new Map(known.map((one) => [one.path, one]));
  const suspects: string[] = [];
  for (const path of paths) {
    const start = mayBeScript(path) && !server.has(path) ? head(path) : '';
    if (start.startsWith('#!')) server.set(path, {path, reason: 'starts with #!'});
    else if (mayBeServerScript(path, start)) suspects.push(path);
  }
  const unloadable: ServerScript[] = [];
  const mapped = suspects.length === 0 ? [] : await mappedNames(paths, text);
  const isMapped = (name: string) => mapped.some((key) => key === name || (key.endsWith('/') && name.startsWith(key)));
  for (const path of suspects) {
    const {isModule, imports} = await importsOf(await text(path));
    const bare = imports.filter((name) => !address.test(name) && !isMapped(name));
    const name = bare.find(isServerModule);
    const isVariant = variant.test(path) && all.has(path.replace(variant, ''));
    if (name !== undefined && !isVariant) server.set(path, {path, reason: `imports ${name}`});
    else if (isModule && bare[0] !== undefined) unloadable.push({path, reason: `imports ${bare[0]}`});
  }
  for (const {path} of server.values()) {
    for (const [, name = ''] of script.test(path) ? (await text(path)).matchAll(relativeImport) : []) {
      const target = posix.join(posix.dirname(path), name.replace(/[?#].*/, ''));
      const found = fileNamed(target, all);
      if (found !== undefined && !server.has(found))
        server.set(found, {path: found, reason: `imported by ${path}`, isImported: true});
    }
  }
  return {server: [...server.values()], unloadable: unloadable.filter(({path}) => !server.has(path))};
}

/** The scripts at the top of a folder that a server may start with, if they are a server's. */
export async function topServer(directory: string): Promise<readonly ServerScript[]> {
  const names = (await namesIn(directory)).filter((name) => /^(?:app|index|main|server|ssr)\.[cm]?js$/.test(name));
  const started = names.flatMap((path) => (/^ssr\.m?js$/.test(path) ? [{path, reason: 'Runtime starts it'}] : []));
  return (await findServerScripts(scriptsOf(directory, names), started)).server;
}

/** The names that the import maps of pages give to scripts. */
async function mappedNames(paths: readonly string[], text: ScriptSource['text']): Promise<readonly string[]> {
  const names = new Set<string>();
  for (const path of paths.filter((one) => /\.html?$/.test(one))) {
    for (const [, map = ''] of (await text(path)).matchAll(
      /<script\b[^>]*\btype=["']?importmap\b[^>]*>(.*?)<\/script>/gis,
    )) {
      for (const name of Object.keys(asRecord(asRecord(tryJson(map))['imports']))) names.add(name);
    }
  }
  return [...names];
}

/** What runs a program, in a script of package.json. */
const runner = /(?:^|[\s/])(?:node|nodemon|bun|deno|tsx|ts-node|pm2|forever|electron)\s/;
/** What only the package.json of a library has. */
const libraryKeys = ['exports', 'module', 'types', 'typings', 'browser', 'unpkg'];

/**
 * The files of a build that the package.json of project or build starts: by `start` scripts, by `main`, unless a page
 * loads that or it is a library's, or as the framework of a server.
 */
export async function startedScripts(
  project: string,
  build: string,
  {paths, text}: Pick<ScriptSource, 'paths' | 'text'>,
): Promise<readonly ServerScript[]> {
  const all = new Set(paths);
  const found: ServerScript[] = [];
  const add = (path: string | undefined, reason: string) => {
    if (path !== undefined && script.test(path)) found.push({path, reason});
  };
  for (const folder of new Set([project, build])) {
    const manifest = await readJsonRecord(join(folder, 'package.json'));
    const {main, scripts, dependencies} = manifest;
    const fileOf = (name: string) => {
      const path = relative(build, join(folder, name)).split(sep).join('/');
      return fileNamed(path, all);
    };
    const start = Object.entries(asRecord(scripts)).flatMap(([name, command]) =>
      /^start(?::|$)/.test(name) && runner.test(String(command)) ? String(command).split(/\s+/) : [],
    );
    for (const word of start) add(fileOf(word), 'started by package.json');
    if (folder === build) {
      const row = frameworks.find(
        ({isProgram, packages}) => isProgram && packages.some((name) => name in asRecord(dependencies)),
      );
      const own = row?.entries?.find((one) => all.has(one));
      add(own, `a program with ${String(row?.name)}`);
    }
    const entry = typeof main === 'string' ? fileOf(main) : undefined;
    if (entry === undefined) continue;
    const isLibrary = libraryKeys.some((key) => key in manifest) || all.has(entry.replace(script, '.d.ts'));
    if (isLibrary) continue;
    const pages = await Promise.all(paths.filter((one) => /^[^/]+\.html?$/.test(one)).map(text));
    if (!pages.some((page) => page.includes(posix.basename(entry)))) add(entry, 'main of package.json');
  }
  return found;
}

/** Whether a build has code for a server, by names and by scripts outside of the folders of what browsers load. */
export async function hasServerCode(build: string, project = build): Promise<boolean> {
  const paths = await filesIn(build);
  if (serverCodeIn(paths).length > 0) return true;
  const source = scriptsOf(build, paths);
  if ((await startedScripts(project, build, source)).length > 0) return true;
  return (await findServerScripts({...source, paths: paths.filter((path) => !isAssetPath(path))})).server.length > 0;
}
