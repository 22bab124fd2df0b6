import {rm} from 'node:fs/promises';
import {outputError} from '../../errors/system-failure.js';
import {withReaders} from '../prebuilt/archive-reader.js';
import {manifestPathOf, stageManifest} from './manifest.js';
import {packBundle, type PackOptions} from './pack.js';
import type {BundlePlan} from '../plan.js';
import {stageFile, type StagedFile} from '../../files/stage-file.js';
import type {Bundle} from '../types.js';

/** How a bundle is written to a file. */
export interface WriteBundleOptions extends PackOptions {
  /** Absolute path of the archive. */
  readonly path: string;
  /** Permissions of the archive, before the umask. @default 0o600 */
  readonly mode?: number | undefined;
  /** Asked just before files are put into their places: what it rejects with leaves the old ones there. */
  readonly verify?: (() => Promise<void>) | undefined;
  /** Writes the manifest too, `<path>.json`. @default false */
  readonly manifest?: boolean | undefined;
}

/**
 * Packs a bundle into a file, which is complete or not there, whatever happens. Its manifest is never that of another archive.
 * @throws RuntimeCliError as `packBundle`; `ERR_OUTPUT` when the file cannot be written; `signal.reason` when aborted.
 */
export async function writeBundle(plan: BundlePlan, options: WriteBundleOptions): Promise<Bundle> {
  const {path, mode = 0o600, manifest = false, verify, ...packing} = options;
  const archive = await stageFile(path, mode, (stream) => packBundle(plan, stream, {...packing, forgets: true}));
  try {
    const {format, message, projectSlug, rootDir, configPath, matchMode, config, files} = plan;
    const bundle = withReaders({
      ...{format, path, ...archive.result},
      ...{message, projectSlug, rootDir, configPath, matchMode, config, files},
    });
    if (manifest) {
      await placeWithManifest(archive, bundle, mode, verify);
    } else {
      await verify?.();
      await archive.place();
    }
    return bundle;
  } finally {
    await archive.discard();
  }
}

/**
 * Places an archive and its manifest when both are complete. A process that is killed in between leaves an archive without
 * a manifest, the old one or the new one.
 */
async function placeWithManifest(
  archive: StagedFile<unknown>,
  bundle: Bundle,
  mode: number,
  verify: WriteBundleOptions['verify'],
): Promise<void> {
  const manifest = await stageManifest(bundle, mode);
  const old = manifestPathOf(bundle.path);
  try {
    await verify?.();
    await rm(old, {force: true}).catch((error: unknown) => {
      throw outputError(old, error);
    });
    await archive.place();
    await manifest.place();
  } finally {
    await manifest.discard();
  }
}
