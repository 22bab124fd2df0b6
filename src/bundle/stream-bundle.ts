import {Writable} from 'node:stream';
import {Digest} from './digest.js';
import {packBundle, startTar} from './pack.js';
import type {BundlePlan} from './plan.js';
import {tarEntries} from './tar-entries.js';
import {tarSize} from './tar-size.js';
import {ThreadDigest} from './thread-digest.js';
import type {PackResult, StreamedBundle} from './types.js';

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
  const read = (): AsyncGenerator<Buffer> => {
    result = undefined;
    return readTar(plan, (packed) => (result = packed));
  };
  return {
    bundle: {
      ...{format, message, projectSlug, config, files},
      size: await tarSize(tarEntries(plan)),
      read,
    },
    packed: async (signal) => result ?? packBundle(plan, nowhere(), {signal}),
  };
}

/**
 * Hashing takes a quarter of the time of a large upload, and has a thread of its own then. Small files take longer to open
 * than to hash.
 */
const threadBytes = {total: 256 * 1024 * 1024, eachFile: 64 * 1024};

/** The tar of a bundle, piece by piece. `onEnd` is called when it was read to its end, and hashed. */
async function* readTar(plan: BundlePlan, onEnd: (result: PackResult) => void): AsyncGenerator<Buffer> {
  const {totalBytes, files} = plan;
  const onThread = totalBytes >= threadBytes.total && totalBytes / files.length >= threadBytes.eachFile;
  const content = onThread ? new ThreadDigest() : new Digest();
  const {blocks, written} = startTar(plan, {shared: onThread});
  try {
    for await (const block of blocks as AsyncIterable<Buffer>) {
      const hashed = content.update(block);
      yield block;
      await hashed;
      blocks.recycle(block);
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
