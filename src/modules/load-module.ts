import {basename, dirname, extname, isAbsolute, relative, sep} from 'node:path';
import {pathToFileURL} from 'node:url';
import {createError} from '../errors/index.js';
import {reasonOf} from '../errors/system-failure.js';
import {asRecord} from '../text/json.js';
import {asSentence} from '../text/sentence.js';
import {foreignFile, foreignOwner} from '../files/ownership.js';
import {verifyRegularFile} from '../files/read-file.js';

/**
 * Executes a TypeScript or JavaScript module from source and returns its exports by name (`default` included). It
 * leaves no cache files, waits for exported promises, and a second call executes the file again, except for `.mjs`
 * files, which Node loads once per process.
 * @param path Absolute.
 * @param provided Packages that the file can import although they are not installed: their exports, by name.
 * @throws RuntimeCliError `ERR_CONFIG_INVALID` naming the file when it cannot be loaded or throws.
 */
export async function loadModule(
  path: string,
  provided: Readonly<Record<string, object>> = {},
): Promise<Record<string, unknown>> {
  await verifyRegularFile(path).catch((error: unknown) => {
    throw createError('ERR_CONFIG_INVALID', asSentence(`${path} cannot be read: ${reasonOf(error)}`), {cause: error});
  });
  if (sep === '/' && path.includes('\\')) {
    throw createError('ERR_CONFIG_INVALID', `${path} cannot be loaded: its path contains a backslash.`, {
      suggestions: ['Rename the folder, or write the configuration as JSON.'],
    });
  }
  const {createJiti} = await import('jiti');
  const jiti = createJiti(path, {
    fsCache: false,
    moduleCache: false,
    interopDefault: true,
    virtualModules: {...provided},
  });
  try {
    const exported = await jiti.import<Readonly<Record<string, unknown>>>(path);
    // Copy to a plain object: jiti's own invents a default export if there is none or it is undefined. Since version
    // 23, Node adds the name `module.exports` to a CommonJS module, for what is its default export anyway.
    const names = Object.keys(exported).filter((name) => name !== 'module.exports');
    // A promise may be rejected, and nobody else would wait for it.
    const values = await Promise.all(names.map((name) => ownValue(exported, name)));
    const found = Object.fromEntries(names.map((name, index) => [name, values[index]]));
    // Of CommonJS in TypeScript, jiti gives away what is exported.
    if (extname(path) === '.cts' && !('default' in found)) return {...found, default: found};
    // `exports.default = ...` in a CommonJS module is an export of its default export.
    const {default: inner = found['default']} = asRecord(found['default']);
    return 'default' in found ? {...found, default: await inner} : found;
  } catch (error) {
    const reason = describe(error, path);
    throw createError('ERR_CONFIG_INVALID', asSentence(`${path} could not be loaded: ${reason}`), {
      suggestions: ['Correct the file, or what it imports: it is executed when it is loaded.'],
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
}

/**
 * Executes a module that a project brings.
 * @throws RuntimeCliError `ERR_CONFIG_FOREIGN`, and as `loadModule` does.
 */
export async function loadProjectModule(path: string, {project, refusesForeign}: CodeTrust) {
  const owner = refusesForeign === true ? foreignOwner(path) : undefined;
  if (owner === undefined) return loadModule(path);
  const advice = `If you trust the project, name it: --project-directory ${project}`;
  throw foreignFile(path, owner, [advice]);
}

/** The module's own value, bypassing jiti's proxy: property descriptors come from the module. */
function ownValue(object: object, name: string): unknown {
  const descriptor = Object.getOwnPropertyDescriptor(object, name);
  return descriptor?.get === undefined ? descriptor?.value : descriptor.get.call(object);
}

/** Turns a loader's message into one sentence that ends with the place: `x is missing (other.ts:4)`. */
function describe(error: unknown, path: string): string {
  if (!(error instanceof Error)) return String(error);
  const [, parsed, place] = /^ParseError:\s*([^]*?)\s+(\S.*:\d+:\d+)\s*$/.exec(error.message) ?? [];
  const reason = (parsed ?? error.message).replaceAll(path, basename(path)).replaceAll(/\s+/g, ' ').trim();
  const shown = place ?? placeOf(error, path);
  return shown === undefined ? reason : `${reason} (${relative(dirname(path), shown)})`;
}

/** Where the user's code threw. jiti changes columns, and names files by path, Node an `.mjs` by URL. */
function placeOf({stack = ''}: Error, path: string): string | undefined {
  const places = stack.split('\n').flatMap((line) => /^ +at (?:.*\()?(.+:\d+):\d+\)?$/.exec(line)?.[1] ?? []);
  const url = pathToFileURL(path).href;
  const own = places.map((place) => (place.startsWith(url) ? path + place.slice(url.length) : place));
  return own.find((place) => isAbsolute(place) && !/[/\\]node_modules[/\\]/.test(place));
}
