import {createReadStream} from 'node:fs';
import {packBundle, type PackOptions} from './pack.js';
import type {BundlePlan} from './plan.js';
import type {Bundle} from './types.js';
import {writeAtomically} from './write-atomically.js';

/** How a bundle is written to a file. */
export interface WriteBundleOptions extends PackOptions {
  /** Absolute path of the archive. */
  readonly path: string;
  /** Permissions of the archive, before the umask. @default 0o600 */
  readonly mode?: number | undefined;
}

/** Bytes of one read of an archive. */
const readBytes = 512 * 1024;

/**
 * Packs a bundle into a file, which is complete or not there, whatever happens.
 * @throws RuntimeCliError as `packBundle`; `ERR_OUTPUT` when the file cannot be written; `signal.reason` when aborted.
 */
export async function writeBundle(plan: BundlePlan, options: WriteBundleOptions): Promise<Bundle> {
  const {path, mode = 0o600, ...packing} = options;
  const packed = await writeAtomically(path, mode, (stream) => packBundle(plan, stream, packing));
  const {format, message, projectSlug, rootDir, configPath, matchMode, config, files} = plan;
  return {
    format,
    path,
    ...packed,
    message,
    projectSlug,
    rootDir,
    configPath,
    matchMode,
    config,
    files,
    createReadStream: archiveReader(path),
  };
}

/** Opens the archive at `path`, from `start` on. */
export function archiveReader(path: string): Bundle['createReadStream'] {
  return ({start = 0} = {}) => createReadStream(path, {start, highWaterMark: readBytes});
}
