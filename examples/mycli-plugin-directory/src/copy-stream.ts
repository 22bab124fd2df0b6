import {createHash} from 'node:crypto';
import type {Readable, Writable} from 'node:stream';
import {pipeline} from 'node:stream/promises';
import type {BackendContext} from 'mycli/backend';

/**
 * Copies `source` to `target`, ends it, and reports progress.
 * @returns the SHA-256 of the copied bytes, hex
 */
export async function copyStream(
  source: Readable,
  target: Writable,
  total: number,
  {signal, onProgress}: Pick<BackendContext, 'signal' | 'onProgress'>,
): Promise<string> {
  const hash = createHash('sha256');
  let transferred = 0;
  async function* watched(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      hash.update(chunk);
      transferred += chunk.length;
      yield chunk;
      onProgress({transferred, total});
    }
  }
  try {
    await pipeline(source, watched, target, {signal});
  } catch (error) {
    // The pipeline's own error would hide why it was aborted.
    signal.throwIfAborted();
    throw error;
  }
  return hash.digest('hex');
}
