import {createHash} from 'node:crypto';
import * as v from 'valibot';
import {createError} from '../../errors/index.js';
import {isRecord, tryJson} from '../../text/json.js';
import {reasonOf, systemCode} from '../../errors/system-failure.js';
import {readTextFile} from '../../files/read-file.js';
import {archivedConfigSchema, configJson} from '../config/content-schema.js';
import {describeProblems, fieldProblems, matchModeSchema} from '../../settings/schemas.js';
import {categoryOf} from '../files/patterns.js';
import type {Bundle, BundleContent, BundleFile, BundleFileCategory, PackResult} from '../types.js';
import {asSentence} from '../../text/sentence.js';

/** The manifest stored next to an archive, with everything known about it. */
export interface BundleManifest extends Omit<Bundle, 'path' | 'files' | 'createReadStream' | 'entries'> {
  readonly schemaVersion: 1;
  /** Sorted by path, relative to the build folder. */
  readonly files: readonly ManifestFile[];
}

interface ManifestFile extends Pick<BundleFile, 'path' | 'size' | 'linkTarget'> {
  /** `ssrOnly` files are never served, even if they match ssrShared. */
  readonly category: BundleFileCategory;
  /** Missing if not executable. */
  readonly executable?: boolean | undefined;
}

const digest = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 digest in hexadecimal'));
const bytes = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

const manifestSchema = v.object({
  schemaVersion: v.literal(1, 'must be 1'),
  format: v.picklist(['v1', 'v2']),
  sha256: digest,
  contentSha256: digest,
  size: bytes,
  message: v.string(),
  projectSlug: v.optional(v.string()),
  rootDir: v.optional(v.string()),
  configPath: v.optional(v.string()),
  matchMode: v.optional(matchModeSchema),
  config: archivedConfigSchema,
  provenance: v.optional(
    v.object({
      commit: v.optional(v.string()),
      branch: v.optional(v.string()),
      dirty: v.optional(v.boolean()),
      ci: v.optional(v.object({system: v.optional(v.string()), url: v.optional(v.string())})),
    }),
  ),
  files: v.pipe(
    v.array(
      v.object({
        path: v.string(),
        size: bytes,
        category: v.picklist(['ssrOnly', 'shared', 'static']),
        executable: v.optional(v.boolean()),
        linkTarget: v.optional(v.string()),
      }),
    ),
    v.check((files) => new Set(files.map(({path}) => path)).size === files.length, 'must not list a file twice'),
  ),
});

/** Far more than the manifest of the largest archive that can be read. All of it is in memory. */
const mostBytes = 256 * 1024 * 1024;

/** The path of an archive's manifest: that of the archive with `.json` appended. */
export function manifestPathOf(archivePath: string): string {
  return `${archivePath}.json`;
}

/** The path prefix of a bundle's entries: `rootDir` for v2, `{projectSlug}/bld` for v1. */
export function entryPrefix({rootDir, projectSlug = ''}: Pick<BundleContent, 'rootDir' | 'projectSlug'>): string {
  return rootDir ?? `${projectSlug}/bld`;
}

/** What a plan and an archive have in common. */
export function contentOf(bundle: BundleContent): BundleContent {
  const {format, message, projectSlug, rootDir, configPath, matchMode, config, provenance, files} = bundle;
  return {format, message, projectSlug, rootDir, configPath, matchMode, config, provenance, files};
}

export function manifestText(bundle: Bundle): string {
  const {sha256, contentSha256, size} = bundle;
  const {format, ...content} = contentOf(bundle);
  const files = bundle.files.map((file) => {
    const {path, size, executable, linkTarget} = file;
    return {path, size, category: categoryOf(file), executable: executable || undefined, linkTarget};
  });
  const manifest = {schemaVersion: 1, format, sha256, contentSha256, size, ...content, files};
  return `${JSON.stringify(manifest, undefined, 2)}\n`;
}

/** Undefined if there is none. @throws RuntimeCliError `ERR_ARCHIVE_INVALID` if it is damaged. */
export async function readManifest(archivePath: string): Promise<BundleManifest | undefined> {
  const path = manifestPathOf(archivePath);
  let text: string;
  try {
    text = await readTextFile(path, mostBytes);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw refused(`The manifest ${path} cannot be read: ${reasonOf(error)}`, error);
  }
  const value = tryJson(text);
  const result = v.safeParse(manifestSchema, value);
  if (result.success) return result.output;
  // What lacks this is something else, of which each key would be a problem.
  const isManifest = isRecord(value) && 'contentSha256' in value;
  if (!isManifest) throw refused(`${path} is not a manifest of mycli.`);
  throw refused(`The manifest ${path} is invalid: ${describeProblems(fieldProblems(result.issues))}`);
}

function refused(message: string, cause?: unknown): Error {
  const build = ['Build the archive again with ', {run: ['bundle:build']}];
  const suggestions = [build, 'A v2 archive can also be pushed without its manifest.'];
  return createError('ERR_ARCHIVE_INVALID', asSentence(message), {suggestions, cause});
}

/**
 * A hex digest of everything that defines a bundle: its format, the digest of its content, and what is sent alongside
 * the archive, which for v1 is the configuration. It covers neither the message nor the compression level.
 */
export function bundleFingerprint(bundle: BundleContent & Pick<PackResult, 'contentSha256'>): string {
  const {format, contentSha256, rootDir, configPath, matchMode, config} = bundle;
  const beside = {rootDir, configPath, matchMode, config: format === 'v1' ? configJson(config) : undefined};
  return createHash('sha256')
    .update(JSON.stringify({format, contentSha256, ...beside}))
    .digest('hex');
}
