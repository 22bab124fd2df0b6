import {posix} from 'node:path';
import {setImmediate as nextTurn} from 'node:timers/promises';
import {categoryOf, openBundle, planBundle, type BundlePlanOptions} from '../index.js';
import {Digest} from '../archive/digest.js';
import {readManifest} from '../archive/manifest.js';
import {readFile} from '../archive/read-files.js';
import {entryPrefix} from '../archive/tar-entries.js';
import {comparePaths, sourceOf} from '../../text/entry-names.js';
import {looksLikeV1, v1Prefix} from '../prebuilt/open-bundle.js';
import {readable, readArchive, type ScannedArchive} from '../prebuilt/read-archive.js';
import {isGzip} from '../prebuilt/read-tar.js';
import type {
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
  /**
   * Path of the configuration in a v2 archive without a manifest, relative to `rootDir`. @default
   * '.runtime/config.json'
   */
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

/**
 * Reads what an archive contains, with the digests of its files.
 * @param path Absolute.
 */
export async function readArchiveContents(
  path: string,
  {rootDir, configPath, signal}: ArchiveLayoutOptions & {readonly signal?: AbortSignal | undefined},
): Promise<ArchiveContents> {
  // A manifest knows the layout, whatever a configuration file says about other bundles.
  const hasManifest = (await readManifest(path)) !== undefined;
  const bare = hasManifest ? undefined : await readBareV1(path, signal);
  if (bare !== undefined) return bare;
  const bundle = await openBundle(path, hasManifest ? {signal} : {rootDir, configPath, signal});
  const {format, size, sha256, contentSha256, config} = bundle;
  const prefix = `${entryPrefix(bundle)}/`;
  // Opening it has shown that it is no bomb.
  const options = {digests: true, isTrusted: true, root: entryPrefix(bundle), signal};
  const {entries} = await readable(path, options, () => readArchive(path, options));
  const digests = new Map(entries.map((entry) => [entry.name, entry.sha256]));
  // They are no part of the bundle, but of what is uploaded.
  const outside = hasManifest ? [] : entries.filter(({name}) => !name.startsWith(prefix));
  return {
    format,
    size,
    sha256,
    contentSha256,
    config,
    rootDir: bundle.rootDir,
    configPath: bundle.configPath,
    matchMode: hasManifest ? bundle.matchMode : undefined,
    files: [
      ...sortedFiles(outside, (name) => posix.relative(prefix, name)),
      ...bundle.files.map((file) => contentFile(file, digests.get(`${prefix}${file.path}`))),
    ],
  };
}

/** A v1 archive without a manifest contains only its files. Undefined for any other, which is opened to report why. */
async function readBareV1(path: string, signal?: AbortSignal): Promise<ArchiveContents | undefined> {
  if (await isGzip(path).catch(() => true)) return undefined;
  const contents = await readArchive(path, {digests: true, signal}).catch(() => {
    signal?.throwIfAborted();
    return undefined;
  });
  if (contents === undefined || !looksLikeV1(contents)) return undefined;
  const {size, sha256, contentSha256, entries} = contents;
  const files = sortedFiles(entries, (name) => name.replace(v1Prefix, ''));
  return {format: 'v1', size, sha256, contentSha256, files};
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

/** Reads what the bundle of a build directory would contain, by the same rules as a build. */
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
