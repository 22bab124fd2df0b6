import {stat} from 'node:fs/promises';
import {resolve} from 'node:path';
import {isRecord, parseJson} from '../../errors/json.js';
import {readTextFile} from '../../files/read-file.js';

/**
 * The warning about a plugin in a folder that has not been built: oclif links it anyway, and then every command would
 * warn. Undefined if it is built, or not readable as a plugin.
 */
export async function describeUnbuiltPlugin(folder: string): Promise<string | undefined> {
  const root = resolve(folder);
  const manifest = await readTextFile(resolve(root, 'package.json')).then(parseJson, () => undefined);
  if (!isRecord(manifest) || !isRecord(manifest['oclif'])) return undefined;
  const {hooks, commands} = manifest['oclif'];
  const declared = [...Object.values(isRecord(hooks) ? hooks : {}).flat(), commands].flatMap(targetOf);
  for (const path of declared) {
    if (await exists(resolve(root, path))) continue;
    return `${String(manifest['name'])} is linked but not built: ${path} does not exist. Build it in ${root}, for example with npm run build.`;
  }
  return undefined;
}

/** The file or folder of a hook or of the commands: a path, or an object with one. */
function targetOf(value: unknown): readonly string[] {
  const target = isRecord(value) ? value['target'] : value;
  return typeof target === 'string' ? [target] : [];
}

/** oclif accepts names without an extension. */
async function exists(path: string): Promise<boolean> {
  for (const candidate of [path, `${path}.js`, `${path}.mjs`, `${path}.cjs`, `${path}.ts`]) {
    if (await stat(candidate).catch(() => undefined)) return true;
  }
  return false;
}
