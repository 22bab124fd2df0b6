import {join, posix} from 'node:path';
import type * as v from 'valibot';
import {markFiles, type PatternLists} from '../../bundle/index.js';
import {isBelow} from '../../bundle/prebuilt/archive-layout.js';
import {readArchive, type ScannedArchive} from '../../bundle/prebuilt/read-archive.js';
import {isRuntimeCliError} from '../../errors/index.js';
import {exists} from '../../files/read-file.js';
import {onWindows} from '../../text/platform.js';
import {HttpFailure, parsed, validate} from '../answer.js';
import {common, type bundleFields} from '../../wire/bundles.js';
import type {legacySchemas} from '../../wire/legacy.js';

export interface CheckedBundle extends Pick<ScannedArchive, 'size' | 'sha256'> {
  readonly ssrParameters: Readonly<Record<string, unknown>>;
  /** All its files except the configuration, relative to `root`. */
  readonly files: readonly string[];
  readonly matches: {readonly ssrOnly: readonly string[]; readonly ssrShared: readonly string[]};
  readonly warnings: readonly string[];
  /** The folder of the archive that contains the files. */
  readonly root: string;
  /** Path of the configuration, relative to `root`. v2 only. */
  readonly configPath?: string;
}

/** Checks a v2 archive and matches its patterns. @throws HttpFailure 422 */
export async function checkV2Bundle(
  archive: string,
  {rootDir: root, configPath, matchMode}: v.InferOutput<typeof bundleFields>,
): Promise<CheckedBundle> {
  const configFile = `${root}/${configPath}`;
  const {entries, wanted, size, sha256} = await readUpload(archive, root, configFile);
  if (!wanted) throw new HttpFailure(422, `The archive contains no configuration file "${configFile}".`);
  const what = `The configuration file "${configFile}"`;
  const document = parsed(wanted.toString('utf8'), what, 422);
  const {ssrOnly, ssrShared, ssrParameters} = validate(common.BundleConfig, document, what, 422);
  const files = filesBelow(root, entries).filter((file) => file !== configPath);
  const {matches, unmatched} = await matchFiles({ssrOnly, ssrShared}, files);
  const warnings = (['ssrOnly', 'ssrShared'] as const).flatMap((key) =>
    unmatched[key].map((pattern) => `the ${key} pattern "${pattern}" matches no file`),
  );
  if (matchMode === 'strict' && warnings.length > 0) {
    throw new HttpFailure(422, `The bundle was refused, because matchMode is strict: ${warnings.join('; ')}.`);
  }
  return {size, sha256, ssrParameters, files, matches, warnings, root, configPath};
}

/** Checks a v1 archive, and that it has every file that the push lists. @throws HttpFailure 422 */
export async function checkV1Bundle(
  archive: string,
  projectSlug: string,
  body: v.InferOutput<typeof legacySchemas.LegacyV1Bundle>,
): Promise<CheckedBundle> {
  const {ssr_only: ssrOnly, ssr_shared: ssrShared, ssr_parameters: ssrParameters} = body;
  const root = `${projectSlug}/bld`;
  const {compressed, entries, size, sha256} = await readUpload(archive, root);
  if (compressed) throw new HttpFailure(422, 'A v1 archive must be an uncompressed tar file, not gzip.');
  const stranger = entries.find(({name}) => !isBelow(name, root));
  if (stranger) throw new HttpFailure(422, `"${stranger.name}" in the archive is not inside "${root}/".`);
  const files = new Set(filesBelow(root, entries));
  if (files.size === 0) throw new HttpFailure(422, `The archive contains no files inside "${root}/".`);
  for (const [key, list] of Object.entries({ssr_only: ssrOnly, ssr_shared: ssrShared})) {
    const missing = list.find((file) => !files.has(file));
    if (missing !== undefined) {
      throw new HttpFailure(422, `The archive has no file "${missing}" inside "${root}/", but ${key} lists it.`);
    }
  }
  return {size, sha256, ssrParameters, files: [...files], matches: {ssrOnly, ssrShared}, warnings: [], root};
}

/** The files and links below a folder, relative to it. */
function filesBelow(root: string, entries: ScannedArchive['entries']): readonly string[] {
  return entries.filter(({name}) => isBelow(name, root)).map(({name}) => name.slice(root.length + 1));
}

/** Reads an archive, and the content of the entry `wanted`. @throws HttpFailure 422 if it is damaged or unsafe. */
async function readUpload(archive: string, root: string, wanted?: string): Promise<ScannedArchive> {
  return readArchive(archive, {root, wanted, strict: true}).catch((error: unknown) => {
    // Errors of zlib and the tar parser are the client's fault; a failing disk is not.
    const isOurs = !(error instanceof Error) || ('code' in error && !String(error.code).startsWith('Z_'));
    throw isOurs ? error : new HttpFailure(422, `The archive was refused: ${error.message}.`);
  });
}

/** @throws HttpFailure 422 for patterns that are invalid or take too long. */
async function matchFiles(patterns: PatternLists, paths: readonly string[]) {
  const files = paths.map((path) => ({path, ssrOnly: false, ssrShared: false}));
  const unmatched = await markFiles(files, patterns).catch((error: unknown) => {
    if (isRuntimeCliError(error) && error.code === 'ERR_PATTERN_INVALID') throw new HttpFailure(422, error.message);
    throw error;
  });
  const matched = (setting: keyof PatternLists) => files.filter((file) => file[setting]).map(({path}) => path);
  return {matches: {ssrOnly: matched('ssrOnly'), ssrShared: matched('ssrShared')}, unmatched};
}

/** Characters and endings that no name has on Windows, and the names of its devices. */
const notOnWindows = /[<>:"|?*]|[. ]$|^(?:con|prn|aux|nul|(?:com|lpt)[0-9¹²³])(?:\.|$)/i;

/** Refuses what the disk of this runtime cannot hold. `folder` is on that disk and contains `archive`. */
export async function refuseUnfitNames(files: readonly string[], folder: string): Promise<void> {
  const unfit = onWindows && files.find((file) => file.split('/').some((name) => notOnWindows.test(name)));
  if (unfit)
    throw new HttpFailure(422, `This runtime runs on Windows, where no file can be named "${unfit}". Rename it.`);
  const same = (await exists(join(folder, 'ARCHIVE'))) ? sameNames(files) : undefined;
  if (same === undefined) return;
  const names = `"${same[0]}" and "${same[1]}"`;
  throw new HttpFailure(422, `${names} would be the same file on this runtime's disk. Rename one of them.`);
}

/** Two of the paths or folders that differ only in upper and lower case, or in how letters are composed. */
export function sameNames(files: readonly string[]): readonly [string, string] | undefined {
  const known = new Map<string, string>();
  for (const file of files) {
    for (let name = file; name !== '.'; name = posix.dirname(name)) {
      const key = name.normalize().toLowerCase();
      const other = known.get(key);
      if (other === name) break;
      if (other !== undefined) return [other, name];
      known.set(key, name);
    }
  }
  return undefined;
}
