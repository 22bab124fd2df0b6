import assert from 'node:assert/strict';
import {createHash} from 'node:crypto';
import type {Bundle} from '../../backends/contract.js';

/** How many bytes there were, and their digest, hex. */
export interface BytesRead {
  readonly size: number;
  readonly sha256: string;
}

/** Reads bytes to their end. */
export async function readBytes(bytes: AsyncIterable<Uint8Array> | Uint8Array): Promise<BytesRead> {
  const hash = createHash('sha256');
  let size = 0;
  for await (const piece of bytes instanceof Uint8Array ? [bytes] : bytes) {
    hash.update(piece);
    size += piece.length;
  }
  return {size, sha256: hash.digest('hex')};
}

/** Asserts that these are the bytes of the bundle's archive, every one. */
export function assertSameBytes({size, sha256}: Bundle, found: BytesRead, where: string): void {
  assert.equal(found.size, size, `${where} ${String(found.size)} bytes of ${String(size)}`);
  assert.equal(found.sha256, sha256, `${where} other bytes: their sha256 differs`);
}
