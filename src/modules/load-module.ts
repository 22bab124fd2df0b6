import {readFile, realpath} from 'node:fs/promises';
import {basename, dirname, extname, join, relative, sep} from 'node:path';
import {pathToFileURL} from 'node:url';
import {types} from 'node:util';
import {createError, systemCode} from '../errors/index.js';
import {unreadable} from '../errors/system-failure.js';
import {placeInProject} from '../errors/places.js';
import {asRecord} from '../text/json.js';
import {asSentence} from '../text/sentence.js';
import {foreignFile, foreignOwner} from '../files/ownership.js';
import {exists, readJsonFile, verifyRegularFile} from '../files/read-file.js';
import {flagValue, shellLine} from '../text/suggest.js';

/** Does what is to be done around code of the user, which may never return. */
export type Guard = <T>(load: () => Promise<T>) => Promise<T>;

/**
 * Executes a TypeScript or JavaScript module from source and returns its exports by name (`default` included). It
 * leaves no cache files, waits for exported promises, and a second call executes the file again, except for JavaScript
 * that Node can load by itself, which it does once per process.
 * @param path Absolute.
 * @param provided Packages that the file can import although they are not installed: their exports, by name.
 * @param guard Runs the code. @default nothing is done around it
 * @throws RuntimeCliError `ERR_CONFIG_INVALID` naming the file when it cannot be loaded or throws.
 */
export async function loadModule(
  path: string,
  provided: Readonly<Record<string, object>> = {},
  guard: Guard = (load) => load(),
): Promise<Record<string, unknown>> {
  await verifyRegularFile(path).catch((error: unknown) => {
    throw unreadable(path, error);
  });
  const file = await realpath(path);
  try {
    const source = await readFile(file, 'utf8');
    return await guard(async () => exportsOf(await execute(file, source, provided), source));
  } catch (error) {
    const reason = describe(error, file);
    // jiti takes it for a separator, and does not find what is imported without an extension.
    const hasBackslash = sep === '/' && file.includes('\\');
    const advice = hasBackslash
      ? 'Rename the folder: a backslash in its path breaks imports. Or write the configuration as JSON.'
      : 'Correct the file, or what it imports: it is executed when it is loaded.';
    throw createError('ERR_CONFIG_INVALID', asSentence(`${path} could not be loaded: ${reason}`), {
      suggestions: [advice],
      cause: error,
    });
  }
}

/** Whose code may run in a project. */
export interface CodeTrust {
  /** Absolute folder of the project. */
  readonly project: string;
  /** Whether code of another user is an error. @default it is run, because the caller chose the project */
  readonly refusesForeign?: boolean | undefined;
  /** Runs the code. @default nothing is done around it */
  readonly guard?: Guard | undefined;
}

/** Executes a module that a project brings, unless it belongs to another user. */
export async function loadProjectModule(path: string, {project, refusesForeign, guard}: CodeTrust) {
  const owner = refusesForeign === true ? foreignOwner(path) : undefined;
  if (owner === undefined) return loadModule(path, {}, guard);
  const advice = `If you trust the project, name it: ${shellLine(...flagValue('--project-directory', project))}`;
  throw foreignFile(path, owner, [advice]);
}

/** Node's own `import`: bundlers and test runners replace the word where they see it. */
const nodesImport = 'data:text/javascript,export default (url) => import(url)';
const moduleSyntax = /(?:^|[\s;}])(?:import|export)\b(?!\s*[(:=])/;

/** Executes a file: the namespace of an ES module, `module.exports` of CommonJS. */
async function execute(file: string, source: string, provided: Readonly<Record<string, object>>): Promise<unknown> {
  const {createJiti} = await import('jiti');
  const options = {fsCache: false, moduleCache: false, interopDefault: true, virtualModules: {...provided}};
  const jiti = createJiti(file, options);
  const ext = extname(file);
  const isModule = ext === '.mjs' || (ext === '.js' && (await packageType(file)) === 'module');
  // Where only its syntax makes a file an ES module, Node guesses that, with a warning.
  if (isModule || !(/^\.[cm]?tsx?$/.test(ext) || moduleSyntax.test(source))) {
    try {
      const {default: load} = await jiti.import<{default(url: string): Promise<object>}>(nodesImport);
      const namespace = await load(pathToFileURL(file).href);
      return isModule ? namespace : asRecord(namespace)['default'];
    } catch (error) {
      if (systemCode(error) === 'ERR_UNKNOWN_FILE_EXTENSION') throw error;
      // What is left to jiti: packages that are provided, paths without an ending, TypeScript, both syntaxes in a file.
    }
  }
  // Not `import`: it would take the path for a URL, in which `#`, `?` and `%` mean something else.
  return jiti.evalModule(source, {id: file, filename: file, ext, async: true, forceTranspile: true});
}

/** `type` of the package.json that a file belongs to. */
async function packageType(file: string): Promise<unknown> {
  const manifest = join(dirname(file), 'package.json');
  if (await exists(manifest)) return asRecord(await readJsonFile(manifest).catch(() => undefined))['type'];
  return dirname(file) === file ? undefined : packageType(dirname(file));
}

/** What a module exports, by name. That of CommonJS is its default export, unless it was an ES module once. */
async function exportsOf(exported: unknown, source: string): Promise<Record<string, unknown>> {
  const object = typeof exported === 'function' || (typeof exported === 'object' && exported !== null) ? exported : {};
  const isNamed =
    types.isModuleNamespaceObject(object) || Object.hasOwn(object, '__esModule') || Object.hasOwn(object, 'default');
  const isEmpty = Object.keys(object).length === 0 && !/\bexports\b/.test(source);
  if (!isNamed && !isEmpty) return exportsOf({default: exported}, source);
  // Since version 23, Node adds the name `module.exports` to what `export *` takes from CommonJS.
  const names = Object.keys(object).filter((name) => name !== 'module.exports' && name !== '__esModule');
  // A promise may be rejected, and nobody else would wait for it.
  const values = await Promise.all(names.map((name) => ownValue(object, name)));
  const found = Object.fromEntries(names.map((name, index) => [name, values[index]]));
  // `exports.default = ...` in a CommonJS module is an export of its default export.
  const {default: inner = found['default']} = asRecord(found['default']);
  return 'default' in found ? {...found, default: await inner} : found;
}

/** The module's own value, bypassing jiti's proxy: property descriptors come from the module. */
function ownValue(object: object, name: string): unknown {
  const descriptor = Object.getOwnPropertyDescriptor(object, name);
  return descriptor?.get === undefined ? descriptor?.value : descriptor.get.call(object);
}

/** Turns a loader's message into one sentence that ends with the place: `x is missing (other.ts:4)`. */
function describe(error: unknown, path: string): string {
  if (!(error instanceof Error)) return String(error);
  const [, parsed, place] = /^ParseError:\s*(?:[A-Z]:\\: )?([^]*?)\s+(\S.*:\d+:\d+)\s*$/.exec(error.message) ?? [];
  const reason = (parsed ?? error.message).replaceAll(path, basename(path)).replaceAll(/\s+/g, ' ').trim();
  // jiti changes columns.
  const own = placeInProject(error, path);
  const shown = place ?? (own && `${own.path}:${own.line}`);
  return shown === undefined ? reason : `${reason} (${relative(dirname(path), shown)})`;
}
