import {stat} from 'node:fs/promises';
import {posix, resolve} from 'node:path';
import type {BundleId} from '../backends/contract.js';
import {categoryOf, countMatches, openBundle, unmatchedWarnings} from '../bundle/index.js';
import {readManifest} from '../bundle/archive/manifest.js';
import {comparePaths, listPaths} from '../bundle/files/entry-names.js';
import {looksLikeV1, v1Prefix} from '../bundle/prebuilt/open-bundle.js';
import {isGzip, readArchive} from '../bundle/prebuilt/read-archive.js';
import type {Bundle, BundleConfig, BundleFileCategory, BundleFormat} from '../bundle/types.js';
import {secretWarnings} from '../bundle/files/sensitive-files.js';
import type {RuntimeBackend} from '../backends/select.js';
import {flagValue} from '../errors/suggest.js';
import {count} from '../errors/sentence.js';
import {chooseForBundle} from './open-backend.js';
import {resolveBackend, resolveStep, watched, type Host} from './steps.js';
import {describeBundle, downloadBundleFrom, type DownloadBundleOptions} from './download-bundle.js';
import type {CommonOptions} from './options.js';
import {namingCapabilities} from './list.js';

/** Options of `inspectArchive`. */
export interface InspectArchiveOptions extends Pick<CommonOptions, 'signal' | 'onEvent'> {
  /** Root folder of a v2 archive without a manifest. @default 'bld' */
  readonly rootDir?: string | undefined;
  /**
   * Path of the configuration in a v2 archive without a manifest, relative to `rootDir`. @default
   * '.runtime/config.json'
   */
  readonly configPath?: string | undefined;
}

/** Options of `inspectBundle`. */
export type InspectBundleOptions = Omit<DownloadBundleOptions, 'output' | 'force'> & InspectArchiveOptions;

/** A pattern of the configuration, and how many files it matches on its own. */
export interface PatternMatches {
  readonly pattern: string;
  /** Number of files this pattern alone matches. */
  readonly files: number;
}

/** A file of an archive. */
export interface InspectedFile {
  readonly path: string;
  /** Bytes; 0 for a link. */
  readonly size: number;
  /** How the file is used; undefined without a configuration. */
  readonly category?: BundleFileCategory | undefined;
  /** Target of a symbolic link. */
  readonly linkTarget?: string | undefined;
}

/** The contents of an archive. */
export interface ArchiveInspection {
  readonly format: BundleFormat;
  /** Bytes. */
  readonly size: number;
  /** Digest of the archive, hex. */
  readonly sha256: string;
  /** Digest of the uncompressed tar, hex. */
  readonly contentSha256: string;
  /** v2 only. */
  readonly rootDir?: string | undefined;
  /** v2 only. */
  readonly configPath?: string | undefined;
  /** Undefined for a v1 archive without a manifest. */
  readonly config?: BundleConfig | undefined;
  /** Matches of the configuration's patterns. */
  readonly matches: {readonly ssrOnly: readonly PatternMatches[]; readonly ssrShared: readonly PatternMatches[]};
  /** Sorted by path. */
  readonly files: readonly InspectedFile[];
  /** Things a server may refuse, and files that should not be in a bundle. */
  readonly problems: readonly string[];
}

/** The contents of an uploaded bundle. */
export interface BundleInspection extends ArchiveInspection {
  readonly backend: RuntimeBackend;
  readonly projectSlug: string;
  readonly bundleId: BundleId;
}

/**
 * Inspects an archive.
 * @param path relative to the host's working directory.
 * @throws RuntimeCliError `ERR_ARCHIVE_INVALID` when it is damaged or not a bundle; `signal.reason` when aborted.
 */
export async function inspectArchive(
  path: string,
  options: InspectArchiveOptions,
  host: Pick<Host, 'cwd' | 'runSteps'>,
): Promise<ArchiveInspection> {
  return host.runSteps([{name: 'read', title: `Read ${path}`}], (step) =>
    step('read', async (view) => {
      const inspection = await readBundle(resolve(host.cwd, path), options);
      view.done(`Read ${path}: ${count(inspection.files.length, 'file')}`);
      return inspection;
    }),
  );
}

async function readBundle(archive: string, options: InspectArchiveOptions): Promise<ArchiveInspection> {
  const {rootDir, configPath, signal} = options;
  // A manifest knows the layout, whatever a configuration file says about other bundles.
  if (await readManifest(archive)) return describeArchive(await openBundle(archive, {signal}), signal);
  const bare = await describeBareV1(archive, signal);
  return bare ?? describeArchive(await openBundle(archive, {rootDir, configPath, signal}), signal);
}

/**
 * Downloads a bundle to a temporary folder and inspects it.
 * @throws RuntimeCliError for everything a user can cause; `signal.reason` when aborted.
 */
export async function inspectBundle(options: InspectBundleOptions, host: Host): Promise<BundleInspection> {
  const command = ['bundle:inspect', options.bundleId, ...flagValue('--project', options.projectSlug)];
  const steps = [
    resolveStep,
    {name: 'read', title: `Download ${describeBundle(options.bundleId)} and read it`},
  ] as const;
  return host.runSteps(steps, async (step) => {
    const selection = await step('resolve', (view) =>
      resolveBackend(view, () =>
        chooseForBundle(options, ['download', ...namingCapabilities(options.bundleId)], command, host),
      ),
    );
    return step('read', async (view) => {
      const workspace = await host.createTemporaryDirectory();
      try {
        const output = resolve(workspace.path, 'archive');
        const download = {...watched(options, view), output};
        const {backend, projectSlug, bundleId} = await downloadBundleFrom(selection, download, host);
        const inspection = await readBundle(output, options);
        view.done(`Read bundle ${String(bundleId)}: ${count(inspection.files.length, 'file')}`);
        return {backend, projectSlug, bundleId, ...inspection};
      } finally {
        await workspace.remove();
      }
    });
  });
}

async function describeArchive(bundle: Bundle, signal?: AbortSignal): Promise<ArchiveInspection> {
  const {format, size, sha256, contentSha256, rootDir, configPath, config} = bundle;
  const paths = bundle.files.map(({path}) => path);
  const counts = await countMatches(config, paths, signal);
  const matchesOf = (setting: 'ssrOnly' | 'ssrShared') =>
    config[setting].map((pattern, index) => ({pattern, files: counts[setting][index] ?? 0}));
  return {
    ...{format, size, sha256, contentSha256, rootDir, configPath, config},
    matches: {ssrOnly: matchesOf('ssrOnly'), ssrShared: matchesOf('ssrShared')},
    files: bundle.files.map((file) => ({
      path: file.path,
      size: file.size,
      category: categoryOf(file),
      linkTarget: file.linkTarget,
    })),
    problems: [
      ...(await unmatchedWarnings(config, {counts, paths}, signal)),
      ...(config.ssrOnly.length === 0 || bundle.files.some(({ssrOnly}) => ssrOnly)
        ? []
        : ['No file is server-only, so there is nothing to run on the server.']),
      ...duplicateProblems(paths),
      ...secretWarnings(paths),
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

/** A v1 archive without a manifest contains only its files. */
async function describeBareV1(archive: string, signal?: AbortSignal): Promise<ArchiveInspection | undefined> {
  const isFile = (await stat(archive).catch(() => undefined))?.isFile() === true;
  // Opening it will report what is wrong.
  if (!isFile || (await isGzip(archive).catch(() => true))) return undefined;
  const contents = await readArchive(archive, {signal}).catch(() => {
    signal?.throwIfAborted();
    return undefined;
  });
  if (contents === undefined || !looksLikeV1(contents)) return undefined;
  const {size, sha256, contentSha256, entries} = contents;
  const files = entries
    .map(({name, ...entry}) => ({path: name.replace(v1Prefix, ''), size: entry.size, linkTarget: entry.linkTarget}))
    .sort((a, b) => comparePaths(a.path, b.path));
  return {
    format: 'v1',
    ...{size, sha256, contentSha256, files},
    matches: {ssrOnly: [], ssrShared: []},
    problems: [...duplicateProblems(files.map(({path}) => path)), ...secretWarnings(files.map(({path}) => path))],
  };
}
