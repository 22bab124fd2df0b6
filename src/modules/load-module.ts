import {createError} from '../errors/index.js';
import {reasonOf} from '../errors/system-failure.js';
import {verifyRegularFile} from './read-text-file.js';

/**
 * Executes a TypeScript or JavaScript module from source and returns its exports by name (`default` included). No cache
 * file is left behind, and a second call executes the file again (an `.mjs` file is Node's own to load, once a process).
 * @param path Absolute.
 * @throws RuntimeCliError `ERR_CONFIG_INVALID` that names the file when it cannot be loaded or throws.
 */
export async function loadModule(path: string): Promise<Record<string, unknown>> {
  await verifyRegularFile(path).catch((error: unknown) => {
    throw createError('ERR_CONFIG_INVALID', `${path} cannot be read: ${reasonOf(error)}`, {cause: error});
  });
  const {createJiti} = await import('jiti');
  // With its `interopDefault` a default export that is undefined would be the module itself.
  const jiti = createJiti(path, {fsCache: false, moduleCache: false, interopDefault: false});
  try {
    const exported = await jiti.import<Readonly<Record<string, unknown>>>(path);
    // Since 23, Node adds to a CommonJS module the name `module.exports`, for what is its default export anyway.
    const names = Object.keys(exported).filter((name) => name !== 'module.exports');
    return Object.fromEntries(names.map((name) => [name, exported[name]]));
  } catch (error) {
    const reason = describe(error, path);
    throw createError('ERR_CONFIG_INVALID', `${path} could not be loaded: ${reason}`, {
      suggestions: ['The file is executed to read it: correct what it says, or what it imports.'],
      cause: error,
    });
  }
}

/** What a loader says over several lines, the file's path among them, as one sentence. */
function describe(error: unknown, path: string): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replaceAll(path, 'line').replaceAll(/\s+/g, ' ').trim();
}
