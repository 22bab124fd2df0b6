/** Bytes that are read at once, at most. */
export const slabBytes = 1024 * 1024;

/** Memory that files are read into. It is used again when its bytes were copied: fresh buffers are work for the garbage collector. */
export class ReadMemory {
  readonly #free: Buffer[] = [];
  /** Of each slab, the bytes that somebody may still look at. */
  readonly #inUse = new Map<ArrayBufferLike, number>();
  #slab: Buffer = Buffer.alloc(0);
  #taken = 0;

  /** @param size Bytes, at most `slabBytes`. All of them are given back later, in any pieces. */
  take(size: number): Buffer {
    if (this.#taken + size > this.#slab.length) {
      this.#slab = this.#free.pop() ?? Buffer.allocUnsafeSlow(slabBytes);
      this.#taken = 0;
    }
    const {buffer} = this.#slab;
    this.#inUse.set(buffer, (this.#inUse.get(buffer) ?? 0) + size);
    this.#taken += size;
    return this.#slab.subarray(this.#taken - size, this.#taken);
  }

  /** Releases a piece for reuse. Ignores memory from elsewhere. */
  giveBack({buffer, length}: Buffer): void {
    const inUse = this.#inUse.get(buffer);
    // Nothing of a slab may come when all of it has, and must not make it free a second time.
    if (inUse === undefined || length === 0) return;
    this.#inUse.set(buffer, inUse - length);
    if (inUse > length) return;
    if (buffer === this.#slab.buffer) this.#taken = 0;
    else this.#free.push(Buffer.from(buffer));
  }
}
