import {Writable} from 'node:stream';
import {Digest} from './digest.js';
import {lend} from './lent-chunks.js';
import {packBundle, startTar} from './pack.js';
import type {BundlePlan} from '../plan.js';
import {tarEntries} from './tar-entries.js';
import {tarSize} from './tar-size.js';
import {ThreadDigest} from './thread-digest.js';
import type {PackResult, StreamedBundle} from '../types.js';

/** A bundle that is packed while it is sent, and what its archive turned out to be. */
export interface BundleStream {
  readonly bundle: StreamedBundle;
  /** Of the archive that was read last; one that was not read to its end, or not hashed, is packed once more for this alone. */
  packed(signal: AbortSignal): Promise<PackResult>;
}

/**
 * A v1 bundle that needs no file: the length of its tar follows from the list of files. Its stream fails with
 * `ERR_FILE_CHANGED` naming a file that is not as it was when the bundle was planned.
 */
export async function streamBundle(plan: BundlePlan): Promise<BundleStream> {
  const {format, message, projectSlug, config, files} = plan;
  let result: PackResult | undefined;
  const readWith = (chunks: 'kept' | 'lent') => (): AsyncGenerator<Buffer> => {
    result = undefined;
    return readTar(plan, chunks, (packed) => (result = packed));
  };
  const bundle: StreamedBundle = {
    ...{format, message, projectSlug, config, files},
    size: await tarSize(tarEntries(plan)),
    read: readWith('kept'),
  };
  return {
    bundle: lend(bundle, readWith('lent')),
    packed: async (signal) => result ?? packBundle(plan, nowhere(), {signal}),
  };
}

/**
 * Hashing takes a quarter of the time of a large upload, and has a thread of its own then. Small files take longer to open
 * than to hash.
 */
const threadBytes = {total: 256 * 1024 * 1024, eachFile: 64 * 1024};

/**
 * The tar of a bundle, piece by piece. `onEnd` is called when it was read to its end, and hashed.
 * @param chunks `kept`: the reader may keep them, they are memory of its own. `lent`: they are good until the next is asked
 * for, and may be in memory that several threads share.
 */
async function* readTar(
  plan: BundlePlan,
  chunks: 'kept' | 'lent',
  onEnd: (result: PackResult) => void,
): AsyncGenerator<Buffer> {
  const {totalBytes, files} = plan;
  const onThread = totalBytes >= threadBytes.total && totalBytes / files.length >= threadBytes.eachFile;
  const content = onThread ? new ThreadDigest() : new Digest();
  const {blocks, written} = startTar(plan, {shared: onThread});
  try {
    for await (const block of blocks as AsyncIterable<Buffer>) {
      const hashed = content.update(block);
      // Not every interface takes shared memory, and a copy of it is much less work than hashing.
      yield chunks === 'kept' && onThread ? Buffer.from(block) : block;
      await hashed;
      if (chunks === 'lent' || onThread) blocks.recycle(block);
    }
    const sha256 = await content.hex();
    if (sha256 !== undefined) onEnd({size: content.size, sha256, contentSha256: sha256});
  } finally {
    blocks.destroy();
    await written;
    if (content instanceof ThreadDigest) await content.end();
  }
}

function nowhere(): Writable {
  return new Writable({
    write(_chunk, _encoding, done) {
      done();
    },
  });
}
