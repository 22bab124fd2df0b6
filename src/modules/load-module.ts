import {createError} from '../errors/index.js';
import {reasonOf} from '../errors/system-failure.js';
import {asSentence} from '../errors/sentence.js';
import {verifyRegularFile} from '../files/read-file.js';

/**
 * Executes a TypeScript or JavaScript module from source and returns its exports by name (`default` included). It
 * leaves no cache files, and a second call executes the file again, except for `.mjs` files, which Node loads once per
 * process.
 * @param path Absolute.
 * @throws RuntimeCliError `ERR_CONFIG_INVALID` naming the file when it cannot be loaded or throws.
 */
export async function loadModule(path: string): Promise<Record<string, unknown>> {
  await verifyRegularFile(path).catch((error: unknown) => {
    throw createError('ERR_CONFIG_INVALID', asSentence(`${path} cannot be read: ${reasonOf(error)}`), {cause: error});
  });
  const {createJiti} = await import('jiti');
  const jiti = createJiti(path, {fsCache: false, moduleCache: false, interopDefault: true});
  try {
    const exported = await jiti.import<Readonly<Record<string, unknown>>>(path);
    // Copy to a plain object: jiti's own invents a default export if there is none or it is undefined. Since version
    // 23, Node adds the name `module.exports` to a CommonJS module, for what is its default export anyway.
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

/** The module's own value, bypassing jiti's proxy: property descriptors come from the module. */
function ownValue(object: object, name: string): unknown {
  const descriptor = Object.getOwnPropertyDescriptor(object, name);
  return descriptor?.get === undefined ? descriptor?.value : descriptor.get.call(object);
}

/** Turns a loader's message of several lines, which includes the file's path, into one sentence. */
function describe(error: unknown, path: string): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replaceAll(path, 'line').replaceAll(/\s+/g, ' ').trim();
}
