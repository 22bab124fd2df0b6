import type {Writable} from 'node:stream';
import {pipeline} from 'node:stream/promises';
import {BlockPool, freeWhenWritten} from './blocks.js';
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
  /** Called once all files are read, while the last of them are being compressed: this thread has little to do then. */
  readonly onRead?: (() => void) | undefined;
}

/** What `packBundle` knows about the destination. */
interface PackDestination {
  /** Whether chunks may be reused once the stream has written them, as with a file. @default false */
  readonly forgets?: boolean | undefined;
  /** Collects the digests of the plan's files, without those that are links. @default files are not hashed */
  readonly digests?: FileDigests | undefined;
}

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
  {signal, onProgress, onRead, forgets = false, digests}: PackOptions & PackDestination = {},
): Promise<PackResult> {
  signal?.throwIfAborted();
  const pool = new BlockPool();
  const blocks = tarOf(plan, {pool, onProgress, digests});
  const content = new Digest();
  const compressed = plan.format === 'v2' ? new Digest() : undefined;
  const given = (): number => (compressed ?? content).size;
  const free = forgets ? freeWhenWritten(destination, given, (block) => pool.giveBack(block)) : undefined;
  const pack = (source: AsyncIterable<Buffer>): AsyncIterable<Buffer> => {
    const tar = content.of(notifyEnd(source, onRead));
    return compressed ? compressed.of(gzip(tar, plan.compressionLevel, free)) : handOn(tar, free);
  };
  try {
    await pipeline(blocks, pack, destination, {signal});
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    await blocks.return(undefined);
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

/** Passes the blocks on unchanged. @param free Called with each once the next is asked for. */
async function* handOn(blocks: AsyncIterable<Buffer>, free?: (block: Buffer) => void): AsyncGenerator<Buffer> {
  for await (const block of blocks) {
    yield block;
    free?.(block);
  }
}

/** Options of `tarOf`. */
interface TarOfOptions extends Pick<PackOptions & PackDestination, 'onProgress' | 'digests'> {
  /** Where blocks come from. A reader may give them back. */
  readonly pool?: BlockPool | undefined;
}

/** The tar of a bundle in blocks, as `writeTar` makes it. Whoever stops reading it early must `return` it. */
export function tarOf(plan: BundlePlan, {onProgress, ...options}: TarOfOptions = {}): AsyncGenerator<Buffer> {
  let transferred = 0;
  let told = 0;
  const onBytes = (count: number): void => {
    transferred += count;
    if (transferred < told + progressBytes && transferred < plan.totalBytes) return;
    told = transferred;
    onProgress?.({transferred, total: plan.totalBytes});
  };
  return writeTar(tarEntries(plan), {...options, modifiedAt: plan.modifiedAt, onBytes});
}
