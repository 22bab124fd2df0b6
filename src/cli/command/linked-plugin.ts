import {stat} from 'node:fs/promises';
import {resolve} from 'node:path';
import satisfies from 'semver/functions/satisfies.js';
import {isRecord, parseJson} from '../../errors/json.js';
import {readTextFile} from '../../files/read-file.js';

/** What is wrong with the package of a plugin, as a sentence, and what to do about it, as another one. */
export interface PluginProblem {
  readonly message: string;
  readonly suggestion: string;
}

/**
 * What is wrong with the package of a plugin. Nothing if it is not readable as a plugin.
 * @param folder The folder of the package.
 * @param version Ours.
 */
export async function findPluginProblems(folder: string, version: string): Promise<readonly PluginProblem[]> {
  const root = resolve(folder);
  const manifest = await readTextFile(resolve(root, 'package.json')).then(parseJson, () => undefined);
  if (!isRecord(manifest) || !isRecord(manifest['oclif'])) return [];
  const name = String(manifest['name']);
  const {hooks, commands} = manifest['oclif'];
  const peer = peerProblem(name, manifest['peerDependencies'], version);
  const declared = [...Object.values(isRecord(hooks) ? hooks : {}).flat(), commands].flatMap(targetOf);
  for (const path of declared) {
    // oclif links it anyway, and then every command would warn.
    if (await exists(resolve(root, path))) continue;
    const message = `${name} is linked but not built: ${path} does not exist.`;
    return [...peer, {message, suggestion: `Build it in ${root}, for example with npm run build.`}];
  }
  if (targetOf(commands).length === 0 || (await exists(resolve(root, 'oclif.manifest.json')))) return peer;
  const message = `${name} has commands but no oclif.manifest.json, so mycli loads all of them at every start.`;
  return [...peer, {message, suggestion: `Run npx oclif manifest in ${root}.`}];
}

function peerProblem(name: string, peers: unknown, version: string): readonly PluginProblem[] {
  const range = isRecord(peers) ? peers['mycli'] : undefined;
  if (typeof range !== 'string' || satisfies(version, range, {includePrerelease: true})) return [];
  const message = `${name} requires mycli ${range}, but this is mycli ${version}.`;
  return [{message, suggestion: 'Update mycli, or install a version of the plugin that is made for it.'}];
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
