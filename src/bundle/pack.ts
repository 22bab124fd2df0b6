import type {Writable} from 'node:stream';
import {pipeline} from 'node:stream/promises';
import {BlockStream} from './blocks.js';
import {Digest} from './digest.js';
import {gzip} from './gzip.js';
import type {BundlePlan} from './plan.js';
import {tarEntries} from './tar-entries.js';
import type {ByteProgress} from './types.js';
import {writeTar} from './write-tar.js';

/** How a bundle is packed. */
export interface PackOptions {
  /** Ends the packing: it rejects with `signal.reason`. */
  readonly signal?: AbortSignal | undefined;
  /** Told how many bytes of the build's files went into the archive. */
  readonly onProgress?: ((progress: ByteProgress) => void) | undefined;
}

/** What an archive turned out to be. */
export interface PackResult {
  /** Bytes of the archive. */
  readonly size: number;
  /** Digest of the archive, hex. */
  readonly sha256: string;
  /** Digest of the uncompressed tar, hex. */
  readonly contentSha256: string;
}

/** Bytes that are hashed, compressed and written at a time. */
const blockBytes = 1024 * 1024;

/**
 * Packs a bundle into any stream, and ends it (stdout stays open). Memory does not grow with the bundle, and the same
 * content gives the same bytes. When packing fails, `destination` is destroyed and has a part of an archive.
 * @throws RuntimeCliError `ERR_FILE_CHANGED` naming a file that is not as it was when the bundle was planned;
 * `signal.reason` when aborted; whatever `destination` fails with.
 */
export async function packBundle(
  plan: BundlePlan,
  destination: Writable,
  {signal, onProgress}: PackOptions = {},
): Promise<PackResult> {
  signal?.throwIfAborted();
  const blocks = new BlockStream(blockBytes);
  const content = new Digest();
  const compressed = plan.format === 'v2' ? new Digest() : undefined;
  const pack = (tar: AsyncIterable<Buffer>): AsyncIterable<Buffer> =>
    compressed ? compressed.of(gzip(content.of(tar), plan.compressionLevel)) : content.of(tar);
  let transferred = 0;
  const writing = writeTar(tarEntries(plan), blocks, {
    modifiedAt: plan.modifiedAt,
    onBytes: (count) => {
      transferred += count;
      onProgress?.({transferred, total: plan.totalBytes});
    },
  });
  try {
    await pipeline(blocks, pack, destination, {signal});
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    await writing;
  }
  const contentSha256 = content.hex();
  // A v1 archive is the tar itself.
  return {size: (compressed ?? content).size, sha256: compressed?.hex() ?? contentSha256, contentSha256};
}
