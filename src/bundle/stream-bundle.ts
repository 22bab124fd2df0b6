import {Writable} from 'node:stream';
import {Digest} from './digest.js';
import {packBundle, startTar} from './pack.js';
import type {BundlePlan} from './plan.js';
import {tarEntries} from './tar-entries.js';
import {tarSize} from './tar-size.js';
import type {PackResult, StreamedBundle} from './types.js';

/** A bundle that is packed while it is sent, and what its archive turned out to be. */
export interface BundleStream {
  readonly bundle: StreamedBundle;
  /** Of the archive that was read last; one that nobody has read to its end is packed once more, for this alone. */
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

/** The tar of a bundle, piece by piece. `onEnd` is called when it was read to its end. */
async function* readTar(plan: BundlePlan, onEnd: (result: PackResult) => void): AsyncGenerator<Buffer> {
  const {blocks, written} = startTar(plan);
  const content = new Digest();
  try {
    for await (const block of blocks as AsyncIterable<Buffer>) {
      content.update(block);
      yield block;
      blocks.recycle(block);
    }
    const sha256 = content.hex();
    onEnd({size: content.size, sha256, contentSha256: sha256});
  } finally {
    blocks.destroy();
    await written;
  }
}

function nowhere(): Writable {
  return new Writable({
    write(_chunk, _encoding, done) {
      done();
    },
  });
}
