import type {Writable} from 'node:stream';
import {pipeline} from 'node:stream/promises';
import {Digest} from './digest.js';
import {gzip} from './gzip.js';
import type {BundlePlan} from '../plan.js';
import {tarEntries} from './tar-entries.js';
import type {ByteProgress, PackResult} from '../types.js';
import {writeTar} from './write-tar.js';

/** Options for packing a bundle. */
export interface PackOptions {
  /** Aborts packing, which rejects with `signal.reason`. */
  readonly signal?: AbortSignal | undefined;
  /** Called with the number of the build's bytes archived so far, at most every 256 KiB and at the end. */
  readonly onProgress?: ((progress: ByteProgress) => void) | undefined;
  /** Called once all files are read, while the last of them are being compressed: this thread has little to do then. */
  readonly onRead?: (() => void) | undefined;
}

/** Minimum bytes between progress reports. Thousands of small files do not deserve a line each. */
const progressBytes = 256 * 1024;

/**
 * Packs a bundle into any stream, and ends it (stdout stays open). If that fails, `destination` is destroyed with a
 * partial archive in it.
 * @throws RuntimeCliError `ERR_FILE_CHANGED`; `signal.reason` if aborted; any error of `destination`.
 */
export async function packBundle(
  plan: BundlePlan,
  destination: Writable,
  {signal, onProgress, onRead}: PackOptions = {},
): Promise<PackResult> {
  signal?.throwIfAborted();
  const content = new Digest();
  const compressed = plan.format === 'v2' ? new Digest() : undefined;
  const pack = (source: AsyncIterable<Buffer>): AsyncIterable<Buffer> => {
    const tar = content.of(notifyEnd(source, onRead));
    return compressed ? compressed.of(gzip(tar, plan.compressionLevel)) : tar;
  };
  try {
    await pipeline(tarOf(plan, {onProgress}), pack, destination, {
      signal,
    });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
  const contentSha256 = content.hex();
  // A v1 archive is the tar itself.
  return {size: (compressed ?? content).size, sha256: compressed?.hex() ?? contentSha256, contentSha256};
}

/** Passes the blocks on unchanged. @param onEnd Called after the last one. */
async function* notifyEnd(blocks: AsyncIterable<Buffer>, onEnd?: () => void): AsyncGenerator<Buffer> {
  yield* blocks;
  onEnd?.();
}

/** The tar of a bundle, as `writeTar` makes it. */
export function tarOf(plan: BundlePlan, {onProgress}: Pick<PackOptions, 'onProgress'> = {}): AsyncGenerator<Buffer> {
  let transferred = 0;
  let reported = 0;
  const onBytes = (count: number): void => {
    transferred += count;
    if (transferred < reported + progressBytes && transferred < plan.totalBytes) return;
    reported = transferred;
    onProgress?.({transferred, total: plan.totalBytes});
  };
  return writeTar(tarEntries(plan), {modifiedAt: plan.modifiedAt, onBytes});
}
