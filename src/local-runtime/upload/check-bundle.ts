import {text} from 'node:stream/consumers';
import type * as v from 'valibot';
import {markFiles, type PatternLists} from '../../bundle/index.js';
import {isBelow, layoutProblem} from '../../bundle/prebuilt/archive-layout.js';
import {isRuntimeCliError} from '../../errors/index.js';
import {HttpFailure, parsed, validate} from '../answer.js';
import type {legacy} from '../wire/legacy-schemas.js';
import {common, type bundleFields} from '../wire/schemas.js';
import {readArchive, type ArchiveEntry} from './read-archive.js';

const maxConfigBytes = 1024 * 1024;

/** The contents of a checked bundle. */
export interface CheckedBundle {
  readonly ssrParameters: Readonly<Record<string, unknown>>;
  /** All its files except the configuration, relative to `root`. */
  readonly files: readonly string[];
  /** Files that match the patterns, relative to `root`. */
  readonly matches: {readonly ssrOnly: readonly string[]; readonly ssrShared: readonly string[]};
  readonly warnings: readonly string[];
  /** The folder of the archive that contains the files. */
  readonly root: string;
  /** Path of the configuration, relative to `root`. v2 only. */
  readonly configPath?: string;
}

/**
 * Checks a v2 archive and matches its patterns.
 * @throws HttpFailure 422 for an unsafe archive, a missing, duplicate or invalid configuration file, and, if strict, a
 * pattern that matches no file.
 */
export async function checkV2Bundle(
  archive: string,
  {rootDir: root, configPath, matchMode}: v.InferOutput<typeof bundleFields>,
): Promise<CheckedBundle> {
  const configFile = `${root}/${configPath}`;
  const entries: ArchiveEntry[] = [];
  const configs: string[] = [];
  for await (const entry of readArchive(archive)) {
    entries.push(entry);
    if (entry.path !== configFile || entry.type !== 'file') continue;
    if (entry.size > maxConfigBytes) {
      throw new HttpFailure(422, `The configuration file "${configFile}" is larger than ${maxConfigBytes} bytes.`);
    }
    configs.push(await text(entry.content));
  }
  const [config, second] = configs;
  if (config === undefined || second !== undefined) {
    const found = config === undefined ? 'no' : 'more than one';
    throw new HttpFailure(422, `The archive contains ${found} configuration file "${configFile}".`);
  }
  checkLayout(entries, root);
  const blame = {status: 422, what: `The configuration file "${configFile}"`};
  const {ssrOnly, ssrShared, ssrParameters} = validate(common.BundleConfig, parsed(config, blame), blame);
  const files = filesBelow(root, entries).filter((file) => file !== configPath);
  const {matches, unmatched} = await matchFiles({ssrOnly, ssrShared}, files);
  const warnings = (['ssrOnly', 'ssrShared'] as const).flatMap((key) =>
    unmatched[key].map((pattern) => `the ${key} pattern "${pattern}" matches no file`),
  );
  if (matchMode === 'strict' && warnings.length > 0) {
    throw new HttpFailure(422, `The bundle was refused, because matchMode is strict: ${warnings.join('; ')}.`);
  }
  return {ssrParameters, files, matches, warnings, root, configPath};
}

/**
 * Checks a v1 archive: an uncompressed tar with all entries inside `{projectSlug}/bld/`, and every file that the push
 * lists.
 * @throws HttpFailure 422 for anything else, naming it.
 */
export async function checkV1Bundle(
  archive: string,
  projectSlug: string,
  body: v.InferOutput<typeof legacy.LegacyV1Bundle>,
): Promise<CheckedBundle> {
  const {ssr_only: ssrOnly, ssr_shared: ssrShared, ssr_parameters: ssrParameters} = body;
  const root = `${projectSlug}/bld`;
  const entries: ArchiveEntry[] = [];
  for await (const entry of readArchive(archive, {mayBeGzip: false})) entries.push(entry);
  checkLayout(entries, root);
  const stranger = entries.find(({path, type}) => {
    const isParent = type === 'directory' && isBelow(`${root}/`, path);
    return !isBelow(path, root) && !isParent;
  });
  if (stranger) throw new HttpFailure(422, `"${stranger.path}" in the archive is not inside "${root}/".`);
  const files = new Set(filesBelow(root, entries));
  if (files.size === 0) throw new HttpFailure(422, `The archive contains no files inside "${root}/".`);
  for (const [key, list] of Object.entries({ssr_only: ssrOnly, ssr_shared: ssrShared})) {
    const missing = list.find((file) => !files.has(file));
    if (missing !== undefined) {
      throw new HttpFailure(422, `The archive has no file "${missing}" inside "${root}/", but ${key} lists it.`);
    }
  }
  return {ssrParameters, files: [...files], matches: {ssrOnly, ssrShared}, warnings: [], root};
}

/** The files and links below a folder, relative to it. */
function filesBelow(root: string, entries: readonly ArchiveEntry[]): readonly string[] {
  return entries
    .filter(({path, type}) => type !== 'directory' && isBelow(path, root))
    .map(({path}) => path.slice(root.length + 1));
}

/**
 * Checks the layout of entries, so that unpacking them writes nothing twice and nothing through a link. `root` is the
 * folder of the archive that its links must stay in; links outside it must stay in the archive.
 * @throws HttpFailure 422 for a duplicate path, a path inside a file or a link, and a link that leads out.
 */
function checkLayout(entries: readonly ArchiveEntry[], root: string): void {
  const problem = layoutProblem(entries, {root, mayRepeat: false});
  if (!problem) return;
  const {kind, entry, parent = ''} = problem;
  const words = {
    twice: `The archive contains "${entry.path}" twice.`,
    below: `"${entry.path}" in the archive is inside "${parent}", which is not a folder.`,
    'leads-out': `The symbolic link "${entry.path}" does not resolve inside the archive.`,
  };
  throw new HttpFailure(422, words[kind]);
}

/**
 * Matches patterns that a client sent, while the server continues to answer others.
 * @throws HttpFailure 422 for patterns that are invalid or take too long.
 */
async function matchFiles(patterns: PatternLists, paths: readonly string[]) {
  const files = paths.map((path) => ({path, ssrOnly: false, ssrShared: false}));
  const unmatched = await markFiles(files, patterns).catch((error: unknown) => {
    if (isRuntimeCliError(error) && error.code === 'ERR_PATTERN_INVALID') throw new HttpFailure(422, error.message);
    throw error;
  });
  const matched = (setting: keyof PatternLists) => files.filter((file) => file[setting]).map(({path}) => path);
  return {matches: {ssrOnly: matched('ssrOnly'), ssrShared: matched('ssrShared')}, unmatched};
}
