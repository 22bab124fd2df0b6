import {resolve} from 'node:path';
import * as v from 'valibot';
import {createError, type RuntimeCliError} from '../../errors/index.js';
import {verifyRegularFile} from '../../files/read-file.js';
import {parseJson} from '../../text/json.js';
import {archivedConfigSchema} from '../config/content-schema.js';
import {describeProblems, fieldProblems} from '../../settings/schemas.js';
import {reasonOf} from '../../errors/system-failure.js';
import {manifestPathOf, readManifest, type BundleManifest} from '../archive/manifest.js';
import {comparePaths} from '../../text/entry-names.js';
import {markFiles, noMarks} from '../files/patterns.js';
import {withPreview, withRecord} from '../provenance/provenance.js';
import type {BundlePlanOptions} from '../config/check-options.js';
import {withReaders} from './bundle-readers.js';
import {digestFile, invalidArchive, readable, readArchive, type ScannedArchive} from './read-archive.js';
import {isGzip} from './read-tar.js';
import type {Bundle, BundleConfig, BundleFormat} from '../types.js';

/**
 * `message` and `matchMode` are sent alongside an archive and can still be chosen; `rootDir` and `configPath` say where
 * to look if there is no manifest.
 */
type OpenBundleOptions = Partial<BundlePlanOptions>;

/** Options that cannot be applied once the archive is built. */
const contentOptions = ['ssrOnly', 'ssrShared', 'static', 'ssrParameters', 'bundleMetadata'] as const;
const settled = [...contentOptions, 'ignore', 'compressionLevel'] as const;

/** The format of a prebuilt archive, from its manifest or its first bytes, if these tell. */
export async function archiveFormat(path: string): Promise<BundleFormat | undefined> {
  try {
    await verifyRegularFile(path);
    return (await readManifest(path))?.format ?? ((await isGzip(path)) ? 'v2' : undefined);
  } catch {
    // Opening it will report the problem.
    return undefined;
  }
}

/** Prefix of the paths in a v1 archive: the project and a fixed folder. */
export const v1Prefix = /^[^/]+\/bld\//;
const v2Only = ['rootDir', 'configPath', 'matchMode'] as const;

/**
 * Opens a prebuilt archive. Verifies it against its manifest (`FILE.json`); without one, reads a v2 archive as a whole.
 * @throws RuntimeCliError `ERR_ARCHIVE_INVALID`; `ERR_OPTION_INVALID` for an option that does not apply to it.
 */
export async function openBundle(path: string, options: OpenBundleOptions = {}): Promise<Bundle> {
  options.signal?.throwIfAborted();
  const given = settled.filter((option) => options[option] !== undefined && options[option] !== false);
  if (given.length > 0) {
    throw createError('ERR_OPTION_INVALID', `${given.join(', ')} cannot be applied to a prebuilt archive: ${path}.`, {
      suggestions: ['Omit them, or build the archive again with them.'],
    });
  }
  const archive = resolve(path);
  await readable(archive, options, () => verifyRegularFile(archive));
  const manifest = await readManifest(archive);
  if (manifest) return openWithManifest(archive, manifest, options);
  return bundleOf(archive, await scanAlone(archive, options), options);
}

async function openWithManifest(path: string, manifest: BundleManifest, options: OpenBundleOptions): Promise<Bundle> {
  verifyOverrides(path, manifest, options);
  const found = await readable(path, options, () => digestFile(path, options.signal));
  if (found.size !== manifest.size || found.sha256 !== manifest.sha256) {
    throw createError(
      'ERR_ARCHIVE_INVALID',
      `${path} does not match its manifest ${manifestPathOf(path)}: it has ${String(found.size)} bytes and sha256 ` +
        `${found.sha256}, not ${String(manifest.size)} bytes and sha256 ${manifest.sha256}.`,
      {suggestions: [['Copy both files again, or build the archive again with ', {run: ['bundle:build']}]]},
    );
  }
  const {schemaVersion, files: listed, ...rest} = manifest;
  const files = listed.map(({category, executable = false, ...file}) => ({...file, executable, ...noMarks}));
  await markFiles(files, manifest.config, options.signal);
  return withReaders({
    ...rest,
    path,
    message: messageOf(manifest, options),
    matchMode: options.matchMode ?? manifest.matchMode,
    files,
  });
}

function messageOf({message, provenance}: BundleManifest, options: OpenBundleOptions): string {
  const chosen = options.message ?? message;
  return withPreview(options.recordCommit ? withRecord(chosen, provenance) : chosen, options.preview);
}

/** `rootDir` and `configPath` must match the archive. No v2 option applies to v1. */
function verifyOverrides(path: string, manifest: BundleManifest, options: OpenBundleOptions): void {
  const wrong = v2Only.filter((option) => {
    if (options[option] === undefined) return false;
    return manifest.format === 'v1' || (option !== 'matchMode' && options[option] !== manifest[option]);
  });
  if (wrong.length === 0) return;
  throw createError(
    'ERR_OPTION_INVALID',
    `${wrong.join(', ')} contradicts what the ${manifest.format} archive ${path} was built with.`,
    {suggestions: ['Omit it, or build the archive again with it.']},
  );
}

/** Where the files and the configuration are in a v2 archive without a manifest. */
function placeIn({rootDir = 'bld', configPath = '.runtime/config.json'}: OpenBundleOptions) {
  return {rootDir, configPath, configName: `${rootDir}/${configPath}`};
}

/** Reads a v2 archive without a manifest. */
export async function scanAlone(path: string, options: OpenBundleOptions, digests = false): Promise<ScannedArchive> {
  const {rootDir, configName} = placeIn(options);
  const {signal} = options;
  return readable(path, options, () => readArchive(path, {wanted: configName, root: rootDir, digests, signal}));
}

/** The bundle of an archive that `scanAlone` has read. */
export async function bundleOf(path: string, contents: ScannedArchive, options: OpenBundleOptions): Promise<Bundle> {
  const {matchMode = 'strict', signal} = options;
  const {rootDir, configPath, configName} = placeIn(options);
  const config = configOf(path, configName, contents);
  const files = contents.entries
    .filter(({name}) => name.startsWith(`${rootDir}/`) && name !== configName)
    .map(({name, ...entry}) => ({path: name.slice(rootDir.length + 1), ...entry, ...noMarks}))
    .sort((a, b) => comparePaths(a.path, b.path));
  await markFiles(files, config, signal);
  const {size, sha256, contentSha256} = contents;
  const message = withPreview(options.message ?? `Bundle ${sha256.slice(0, 12)}`, options.preview);
  const place = {rootDir, configPath, matchMode};
  return withReaders({format: 'v2', path, size, sha256, contentSha256, ...place, config, message, files});
}

function configOf(path: string, name: string, {wanted, entries, compressed}: ScannedArchive): BundleConfig {
  if (wanted === undefined) throw missingConfigError(path, name, entries, compressed);
  const found = entries.filter((entry) => entry.name === name).length;
  if (found > 1) throw invalidArchive(path, `it has ${String(found)} entries named ${name}, not one`);
  let value: unknown;
  try {
    value = parseJson(wanted.toString('utf8'));
  } catch (error) {
    throw invalidArchive(path, `${name} in it is not valid JSON: ${reasonOf(error)}`, error);
  }
  const result = v.safeParse(archivedConfigSchema, value);
  if (result.success) return result.output;
  throw invalidArchive(path, `${name} in it is invalid: ${describeProblems(fieldProblems(result.issues))}`);
}

function missingConfigError(
  path: string,
  name: string,
  entries: ScannedArchive['entries'],
  compressed: boolean,
): RuntimeCliError {
  if (looksLikeV1({compressed, entries})) {
    return createError('ERR_ARCHIVE_INVALID', `${path} looks like a v1 archive, but its manifest is missing.`, {
      suggestions: [`A v1 archive does not contain its configuration: put ${manifestPathOf(path)} next to it.`],
    });
  }
  return createError('ERR_ARCHIVE_INVALID', `${path} is not a bundle: it has no entry ${name}.`, {
    suggestions: [
      ['Build it with ', {run: ['bundle:build']}],
      'If its configuration is elsewhere, set rootDir and configPath in mycli.config.',
    ],
  });
}

/** Whether an archive without a manifest has the v1 layout, which does not include the configuration. */
export function looksLikeV1({compressed, entries}: Pick<ScannedArchive, 'compressed' | 'entries'>): boolean {
  return !compressed && entries.length > 0 && entries.every(({name}) => v1Prefix.test(name));
}
