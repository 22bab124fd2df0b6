import {stat} from 'node:fs/promises';
import {resolve} from 'node:path';
import type {BundleId} from '../backends/contract.js';
import type {RuntimeBackend, RuntimeBackendPreference} from '../backends/select.js';
import {manifestPathOf} from '../bundle/index.js';
import {listPaths} from '../bundle/files/entry-names.js';
import type {BundleFormat} from '../bundle/types.js';
import {createError, isRuntimeCliError} from '../errors/index.js';
import {count} from '../errors/sentence.js';
import {commandLine, flagValue} from '../errors/suggest.js';
import {readManifestContents, type ArchiveContents} from './bundle-contents.js';
import {chooseSourceBackend, describeSource, downloadContents} from './bundle-source.js';
import {compareContents, type ContentsDiff} from './compare-contents.js';
import type {CommonOptions, ConnectionOptions} from './options.js';
import {resolveBackend, resolveStep, type Host} from './steps.js';

/** Options of `verifyBundle`. */
export interface VerifyBundleOptions extends CommonOptions, ConnectionOptions {
  readonly preference: RuntimeBackendPreference;
  readonly projectSlug: string;
  /** ID of an uploaded bundle, or `latest`: the newest usable one by creation time. */
  readonly bundleId: BundleId;
  /**
   * The manifest to compare it with. @default that of a build in the working directory, `bundle.tar.gz.json` or
   * `bundle.tar.json`
   */
  readonly manifest?: string | undefined;
}

/** What `verifyBundle` resolves to, if nothing differs. */
export interface VerifyBundleResult {
  readonly backend: RuntimeBackend;
  readonly projectSlug: string;
  readonly bundleId: BundleId;
  /** Absolute path of the manifest. */
  readonly manifest: string;
  readonly format: BundleFormat;
  /** Digest of the archive, hex. */
  readonly sha256: string;
  /** Number of files, each of which was verified. */
  readonly files: number;
  /** Whether the configuration was verified. False for v1, whose archive does not contain it. */
  readonly configVerified: boolean;
  readonly warnings: readonly string[];
}

/**
 * Downloads a bundle into a temporary folder, and compares its archive and every file in it with a manifest.
 * @throws RuntimeCliError `ERR_BUNDLE_MISMATCH` if anything differs, with what does in `details`;
 * `ERR_ARCHIVE_INVALID` if the manifest cannot be read; for everything else a user can cause; `signal.reason` when
 * aborted.
 */
export async function verifyBundle(options: VerifyBundleOptions, host: Host): Promise<VerifyBundleResult> {
  const {projectSlug} = options;
  const source = {kind: 'bundle', bundleId: options.bundleId} as const;
  const steps = [resolveStep, {name: 'verify', title: `Verify ${describeSource(source)}`}] as const;
  return host.runSteps(steps, async (step) => {
    const manifest = await manifestPath(options, host);
    const stated = await readManifestContents(manifest);
    const command = ['bundle:verify', String(options.bundleId), ...flagValue('--project', projectSlug)];
    const choose = () =>
      chooseSourceBackend(options, [source], command, host).catch((error: unknown) => {
        throw withAdvice(error, manifest, command);
      });
    const selection = await step('resolve', (view) => resolveBackend(view, choose));
    return step('verify', async (view) => {
      const layout = {rootDir: stated.rootDir, configPath: stated.configPath};
      const {bundleId, contents} = await downloadContents(source, selection, {...options, ...layout}, host, view);
      const diff = compareContents(stated, {...contents, config: contents.config ?? stated.config});
      verifySame(bundleId, manifest, stated, contents, diff);
      const configVerified = contents.config !== undefined;
      const warnings = configVerified
        ? []
        : ['The configuration was not verified: the archive of a v1 bundle does not contain it.'];
      for (const warning of warnings) view.warn(warning);
      const files = contents.files.length;
      view.done(`Verified bundle ${String(bundleId)}: ${count(files, 'file')}, sha256 ${contents.sha256.slice(0, 12)}`);
      const {format, sha256} = contents;
      return {
        backend: selection.backend,
        projectSlug,
        bundleId,
        manifest,
        format,
        sha256,
        files,
        configVerified,
        warnings,
      };
    });
  });
}

/** Without a download, only the archive can be compared that is to be uploaded. */
function withAdvice(error: unknown, manifest: string, command: readonly string[]): unknown {
  if (!isRuntimeCliError(error) || error.details?.['capability'] !== 'download') return error;
  const {backend} = error.details;
  const archive = manifest.replace(/\.json$/, '');
  return createError(
    'ERR_CAPABILITY_UNSUPPORTED',
    `The ${String(backend)} backend cannot download bundles, so an uploaded one cannot be verified.`,
    {
      suggestions: [
        ...(backend === 'api'
          ? ['If the legacy backend has the bundle, run:', commandLine(...command, '--runtime-backend', 'legacy')]
          : []),
        'Or compare the archive with its manifest before you upload it:',
        commandLine('bundle:diff', archive, manifest, '--exit-code'),
      ],
      details: error.details,
      cause: error,
    },
  );
}

/** The manifests of builds with the default output. */
const defaultManifests = ['bundle.tar.gz', 'bundle.tar'].map((archive) => manifestPathOf(archive));

async function manifestPath({manifest, cwd = '.'}: VerifyBundleOptions, host: Host): Promise<string> {
  const absolute = (path: string) => resolve(host.cwd, cwd, path);
  if (manifest !== undefined) return absolute(manifest);
  const found = [];
  for (const path of defaultManifests) if (await stat(absolute(path)).catch(() => undefined)) found.push(path);
  const [only, another] = found;
  if (only !== undefined && another === undefined) return absolute(only);
  throw createError(
    'ERR_OPTION_INVALID',
    only === undefined ? 'There is no manifest to verify against.' : `Both ${found.join(' and ')} exist.`,
    {suggestions: ['Pass the manifest that bundle:build wrote next to the archive with --manifest FILE.']},
  );
}

/** @throws RuntimeCliError `ERR_BUNDLE_MISMATCH` naming everything that differs. */
function verifySame(
  bundleId: BundleId,
  manifest: string,
  stated: ArchiveContents,
  found: ArchiveContents,
  {changes, config, total}: ContentsDiff,
): void {
  const archiveKeys = ['size', 'sha256', 'contentSha256'] as const;
  const archive = archiveKeys.filter((key) => stated[key] !== found[key]);
  const paths = (change: 'added' | 'removed' | 'changed') =>
    changes.filter((one) => one.change === change).map(({path}) => path);
  const named = [
    ...(total.changed > 0 ? [`Changed: ${listPaths(paths('changed'))}.`] : []),
    ...(total.removed > 0 ? [`Missing: ${listPaths(paths('removed'))}.`] : []),
    ...(total.added > 0 ? [`Not in the manifest: ${listPaths(paths('added'))}.`] : []),
    ...(config.length > 0 ? [`Changed settings: ${listPaths(config.map(({key}) => key))}.`] : []),
  ];
  if (named.length === 0 && archive.length === 0) return;
  const difference =
    named.length > 0
      ? `differs from its manifest ${manifest}`
      : `has the files of its manifest ${manifest}, but was packed differently`;
  const digests = stated.sha256 === found.sha256 ? [] : [`Its sha256 is ${found.sha256}, not ${stated.sha256}.`];
  throw createError('ERR_BUNDLE_MISMATCH', `Bundle ${String(bundleId)} ${difference}.`, {
    suggestions: [
      ...named,
      ...digests,
      'Check that this is the manifest of that bundle. If it is, do not deploy the bundle; push it again.',
    ],
    details: {
      ...{bundleId, manifest, changes, config},
      archive: Object.fromEntries(
        Object.entries({expected: stated, actual: found}).map(([side, one]) => [
          side,
          Object.fromEntries(archive.map((key) => [key, one[key]])),
        ]),
      ),
    },
  });
}
