import {createError} from '../errors/index.js';
import {reasonOf} from '../errors/system-failure.js';
import {asSentence} from '../errors/sentence.js';
import {verifyRegularFile} from '../files/read-file.js';

/**
 * Executes a TypeScript or JavaScript module from source and returns its exports by name (`default` included). No cache
 * file is left behind, and a second call executes the file again (an `.mjs` file is Node's own to load, once a
 * process).
 * @param path Absolute.
 * @throws RuntimeCliError `ERR_CONFIG_INVALID` that names the file when it cannot be loaded or throws.
 */
export async function loadModule(path: string): Promise<Record<string, unknown>> {
  await verifyRegularFile(path).catch((error: unknown) => {
    throw createError('ERR_CONFIG_INVALID', asSentence(`${path} cannot be read: ${reasonOf(error)}`), {cause: error});
  });
  const {createJiti} = await import('jiti');
  const jiti = createJiti(path, {fsCache: false, moduleCache: false, interopDefault: true});
  try {
    const exported = await jiti.import<Readonly<Record<string, unknown>>>(path);
    // A plain copy: jiti's own object invents a default export where there is none, or where it is undefined. Since 23,
    // Node adds to a CommonJS module the name `module.exports`, for what is its default export anyway.
    const names = Object.keys(exported).filter((name) => name !== 'module.exports');
    return Object.fromEntries(names.map((name) => [name, ownValue(exported, name)]));
  } catch (error) {
    const reason = describe(error, path);
    throw createError('ERR_CONFIG_INVALID', asSentence(`${path} could not be loaded: ${reason}`), {
      suggestions: ['Correct the file, or what it imports: it is executed when it is loaded.'],
      cause: error,
    });
  }
}

/** The value as the module has it, past jiti's proxy: a descriptor is that of the module. */
function ownValue(object: object, name: string): unknown {
  const descriptor = Object.getOwnPropertyDescriptor(object, name);
  return descriptor?.get === undefined ? descriptor?.value : descriptor.get.call(object);
}

/** What a loader says over several lines, the file's path among them, as one sentence. */
function describe(error: unknown, path: string): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replaceAll(path, 'line').replaceAll(/\s+/g, ' ').trim();
}
