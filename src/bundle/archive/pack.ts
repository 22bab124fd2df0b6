import type {Writable} from 'node:stream';
import {pipeline} from 'node:stream/promises';
import {BlockStream, ReadMemory, freeWhenWritten} from './memory.js';
import {Digest, type FileDigests} from './digest.js';
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
}

/** What `packBundle` knows about the destination. */
interface PackDestination {
  /** Whether chunks may be reused once the stream has written them, as with a file. @default false */
  readonly forgets?: boolean | undefined;
  /** Collects the digests of the plan's files, without those that are links. @default files are not hashed */
  readonly digests?: FileDigests | undefined;
}

/** Bytes hashed, compressed and written at a time. */
const blockBytes = 1024 * 1024;
/** Minimum bytes between progress reports. Thousands of small files do not deserve a line each. */
const progressBytes = 256 * 1024;

/**
 * Packs a bundle into any stream, and ends it (stdout stays open). Memory does not grow with the bundle, and the same
 * content results in the same bytes. If packing fails, `destination` is destroyed with a partial archive in it.
 * @throws RuntimeCliError `ERR_FILE_CHANGED` naming a file that changed since the bundle was planned; `signal.reason`
 * if aborted; any error of `destination`.
 */
export async function packBundle(
  plan: BundlePlan,
  destination: Writable,
  {signal, onProgress, forgets = false, digests}: PackOptions & PackDestination = {},
): Promise<PackResult> {
  signal?.throwIfAborted();
  const {blocks, written} = startTar(plan, {onProgress, digests});
  const content = new Digest();
  const compressed = plan.format === 'v2' ? new Digest() : undefined;
  const free = forgets
    ? freeWhenWritten(
        destination,
        () => (compressed ?? content).size,
        (block) => blocks.recycle(block),
      )
    : undefined;
  const pack = (tar: AsyncIterable<Buffer>): AsyncIterable<Buffer> =>
    compressed ? compressed.of(gzip(content.of(tar), plan.compressionLevel, free)) : handOn(content.of(tar), free);
  try {
    await pipeline(blocks, pack, destination, {signal});
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    await written;
  }
  const contentSha256 = content.hex();
  // A v1 archive is the tar itself.
  return {size: (compressed ?? content).size, sha256: compressed?.hex() ?? contentSha256, contentSha256};
}

/** Passes the blocks on unchanged. */
async function* handOn(blocks: AsyncIterable<Buffer>, free?: (block: Buffer) => void): AsyncGenerator<Buffer> {
  for await (const block of blocks) {
    yield block;
    free?.(block);
  }
}

/**
 * Starts writing the tar of a bundle into `blocks`, which fails with the same errors as `packBundle`. `written` never
 * rejects, and resolves once no more files are being read.
 */
export function startTar(
  plan: BundlePlan,
  {onProgress, digests}: Pick<PackOptions & PackDestination, 'onProgress' | 'digests'> = {},
): {readonly blocks: BlockStream; readonly written: Promise<void>} {
  const memory = new ReadMemory();
  const blocks = new BlockStream(blockBytes, (chunk) => memory.giveBack(chunk));
  let transferred = 0;
  let told = 0;
  const written = writeTar(tarEntries(plan), blocks, {
    memory,
    digests,
    modifiedAt: plan.modifiedAt,
    onBytes: (count) => {
      transferred += count;
      if (count === 0 || (transferred < told + progressBytes && transferred < plan.totalBytes)) return;
      told = transferred;
      onProgress?.({transferred, total: plan.totalBytes});
    },
  });
  return {blocks, written};
}
