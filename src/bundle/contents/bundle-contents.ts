import {posix} from 'node:path';
import {setImmediate as nextTurn} from 'node:timers/promises';
import {
  categoryOf,
  countMatches,
  isExclusion,
  openBundle,
  planBundle,
  unmatchedWarnings,
  type BundlePlanOptions,
} from '../index.js';
import {hasSensitiveName, secretWarnings} from '../files/file-kinds.js';
import {Digest} from '../archive/digest.js';
import {entryPrefix, readManifest} from '../archive/manifest.js';
import {readFile} from '../archive/read-files.js';
import {comparePaths, listPaths, sourceOf} from '../../text/entry-names.js';
import {bundleOf, looksLikeV1, scanAlone, v1Prefix} from '../prebuilt/open-bundle.js';
import {readable, readArchive, type ScannedArchive} from '../prebuilt/read-archive.js';
import type {
  Bundle,
  BundleConfig,
  BundleContent,
  BundleFile,
  BundleFileCategory,
  PackResult,
  PlannedBundleFile,
} from '../types.js';

/** Where to look in a v2 archive without a manifest. */
export interface ArchiveLayoutOptions {
  /** Root folder of a v2 archive without a manifest. @default 'bld' */
  readonly rootDir?: string | undefined;
  /** Path of the configuration in an archive without a manifest, below `rootDir`. @default '.runtime/config.json' */
  readonly configPath?: string | undefined;
}

/** A file of a bundle, as far as it can be known without reading the file itself again. */
export interface ContentFile extends Omit<BundleFile, 'ssrOnly' | 'ssrShared'> {
  /** Digest of the content, hex. A link has none. */
  readonly sha256?: string | undefined;
  /** How the file is used; undefined without a configuration. */
  readonly category?: BundleFileCategory | undefined;
}

/**
 * What is known about a bundle: all but the content of its files. A folder has no size and no digests. Without a
 * manifest, an archive does not tell the `matchMode`.
 */
export interface BundleContents
  extends Pick<BundleContent, 'format' | 'rootDir' | 'configPath' | 'matchMode'>, Partial<PackResult> {
  /** Undefined for a v1 archive without a manifest. */
  readonly config?: BundleConfig | undefined;
  /** Sorted by path. */
  readonly files: readonly ContentFile[];
}

/** What is known about an archive. */
export type ArchiveContents = Omit<BundleContents, keyof PackResult> & PackResult;

type ContentsOptions = ArchiveLayoutOptions & {readonly signal?: AbortSignal | undefined};

/** Reads what an archive contains, with the digests of its files. `path`: absolute. */
export async function readArchiveContents(
  path: string,
  {rootDir, configPath, signal}: ContentsOptions,
): Promise<ArchiveContents> {
  const manifest = await readManifest(path);
  if (manifest === undefined) return readBareContents(path, {rootDir, configPath, signal});
  // A manifest knows the layout, whatever a configuration file says about other bundles.
  const bundle = await openBundle(path, {signal});
  const options = {digests: true, isTrusted: true, root: entryPrefix(bundle), signal};
  const {entries} = await readable(path, options, () => readArchive(path, options));
  return {...contentsOf(bundle, entries), matchMode: bundle.matchMode};
}

async function readBareContents(path: string, options: ContentsOptions): Promise<ArchiveContents> {
  const contents = await scanAlone(path, options, true);
  const {size, sha256, contentSha256, entries} = contents;
  if (looksLikeV1(contents)) {
    const files = sortedFiles(entries, (name) => name.replace(v1Prefix, ''));
    return {format: 'v1', size, sha256, contentSha256, files};
  }
  const bundle = await bundleOf(path, contents, options);
  const prefix = `${entryPrefix(bundle)}/`;
  // They are no part of the bundle, but of what is uploaded.
  const outside = entries.filter(({name}) => !name.startsWith(prefix));
  const {files, ...known} = contentsOf(bundle, entries);
  return {...known, files: [...sortedFiles(outside, (name) => posix.relative(prefix, name)), ...files]};
}

function contentsOf(bundle: Bundle, entries: ScannedArchive['entries']): ArchiveContents {
  const {format, size, sha256, contentSha256, config, rootDir, configPath} = bundle;
  const digests = new Map(entries.map((entry) => [entry.name, entry.sha256]));
  const prefix = `${entryPrefix(bundle)}/`;
  const files = bundle.files.map((file) => contentFile(file, digests.get(`${prefix}${file.path}`)));
  return {format, size, sha256, contentSha256, config, rootDir, configPath, files};
}

function sortedFiles(entries: ScannedArchive['entries'], pathOf: (name: string) => string): readonly ContentFile[] {
  return entries
    .map(({name, ...entry}) => ({path: pathOf(name), ...entry}))
    .sort((a, b) => comparePaths(a.path, b.path));
}

function contentFile(file: BundleFile, sha256: string | undefined): ContentFile {
  const {path, size, executable, linkTarget} = file;
  return {path, size, sha256, category: categoryOf(file), executable, linkTarget};
}

/** Reads what the bundle of a build folder would contain, by the same rules as a build. */
export async function readFolderContents(
  options: BundlePlanOptions,
): Promise<{readonly contents: BundleContents; readonly warnings: readonly string[]}> {
  const plan = await planBundle(options);
  const {format, rootDir, configPath, matchMode, config, warnings} = plan;
  const files: ContentFile[] = [];
  for (const file of plan.files) {
    const digest = file.linkTarget === undefined ? await digestOf(file, plan.buildDirectory) : undefined;
    files.push(contentFile(file, digest));
    options.signal?.throwIfAborted();
  }
  return {contents: {format, rootDir, configPath, matchMode, config, files}, warnings};
}

async function digestOf(file: PlannedBundleFile, buildDirectory: string): Promise<string> {
  const digest = new Digest();
  for (const piece of readFile({...file, source: sourceOf(buildDirectory, file.path)})) {
    digest.update(piece);
    await nextTurn();
  }
  return digest.hex();
}

/** A pattern of the configuration, and how many files it matches on its own. */
export interface PatternMatches {
  /** As the configuration of the bundle has it. */
  readonly pattern: string;
  /** Number of files this pattern alone matches. */
  readonly files: number;
}

/** The contents of an archive. */
export interface ArchiveInspection extends Omit<ArchiveContents, 'matchMode'> {
  /** Matches of the configuration's patterns. */
  readonly matches: {
    /** Of each pattern of `ssrOnly`. */
    readonly ssrOnly: readonly PatternMatches[];
    /** Of each pattern of `ssrShared`. */
    readonly ssrShared: readonly PatternMatches[];
  };
  /** Things a server may refuse, and files that should not be in a bundle. */
  readonly problems: readonly string[];
}

/** Inspects an archive. `archive`: absolute path. */
export async function inspectFile(
  archive: string,
  options: ArchiveLayoutOptions & {readonly signal?: AbortSignal | undefined},
): Promise<ArchiveInspection> {
  const {matchMode, ...contents} = await readArchiveContents(archive, options);
  return {...contents, ...(await analyse(contents, options.signal))};
}

async function analyse(
  {config, files}: Pick<ArchiveContents, 'config' | 'files'>,
  signal?: AbortSignal,
): Promise<Pick<ArchiveInspection, 'matches' | 'problems'>> {
  const paths = files.map(({path}) => path);
  const common = [...duplicateProblems(paths), ...secretWarnings(files.filter(hasSensitiveName))];
  if (config === undefined) return {matches: {ssrOnly: [], ssrShared: []}, problems: common};
  const counts = await countMatches(config, paths, signal);
  const matchesOf = (setting: 'ssrOnly' | 'ssrShared') =>
    config[setting].map((pattern, index) => ({pattern, files: counts[setting][index] ?? 0}));
  const unmatchedOf = (setting: 'ssrOnly' | 'ssrShared') =>
    config[setting].filter((pattern, index) => counts[setting][index] === 0 && !isExclusion(pattern));
  const runs = config.ssrOnly.length === 0 || files.some(({category}) => category === 'ssrOnly');
  return {
    matches: {ssrOnly: matchesOf('ssrOnly'), ssrShared: matchesOf('ssrShared')},
    problems: [
      ...unmatchedWarnings({ssrOnly: unmatchedOf('ssrOnly'), ssrShared: unmatchedOf('ssrShared')}, paths),
      ...(runs ? [] : ['No file is server-only, so there is nothing to run on the server.']),
      ...common,
    ],
  };
}

/** Programs disagree on which duplicate wins. */
function duplicateProblems(paths: readonly string[]): readonly string[] {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const path of paths.map((name) => posix.normalize(name))) (seen.has(path) ? repeated : seen).add(path);
  if (repeated.size === 0) return [];
  return [`More than one entry is named ${listPaths([...repeated])}.`];
}
