import type {StreamedBundle} from '../types.js';

/** Under it, unseen and not part of a copy, a bundle has the reader that only the host's own bodies use. */
const lender = Symbol('lender');

/** What can be read into memory that is used again: a chunk is good until the next is asked for. */
type Lender = Pick<StreamedBundle, 'size'> & {readonly [lender]?: StreamedBundle['read'] | undefined};

/** Makes `bundle` a lender. */
export function lend<Bundle extends object>(bundle: Bundle, read: StreamedBundle['read']): Bundle {
  return Object.defineProperty(bundle, lender, {value: read});
}

/**
 * Reads a bundle into the same memory again and again: a chunk is good until the next is asked for. Fresh memory would be
 * work for the garbage collector. Nothing for what is no bundle, or a copy of one.
 */
export function readLent(source: Lender): AsyncIterable<Uint8Array> | undefined {
  return source[lender]?.();
}
