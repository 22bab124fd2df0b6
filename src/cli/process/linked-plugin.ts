import {stat} from 'node:fs/promises';
import {resolve} from 'node:path';
import {isRecord, parseJson} from '../../errors/json.js';
import {readTextFile} from '../../files/read-file.js';

/**
 * What to say of a plugin in a folder whose files are not there yet: oclif links it all the same, and each command would
 * complain. Nothing when it is built, or is not readable as a plugin.
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

/** The file or folder of a hook or of the commands: a path, or an object that names one. */
function targetOf(value: unknown): readonly string[] {
  const target = isRecord(value) ? value['target'] : value;
  return typeof target === 'string' ? [target] : [];
}

/** oclif takes names without their ending. */
async function exists(path: string): Promise<boolean> {
  for (const candidate of [path, `${path}.js`, `${path}.mjs`, `${path}.cjs`, `${path}.ts`]) {
    if (await stat(candidate).catch(() => undefined)) return true;
  }
  return false;
}
