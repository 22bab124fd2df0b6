import type {StreamedBundle} from '../types.js';

/**
 * Key of a bundle's hidden reader, which only the host's own request bodies use. Copies of the bundle do not have it.
 */
const lender = Symbol('lender');

/** A source that can be read into reused memory: a chunk is valid only until the next one is requested. */
type Lender = Pick<StreamedBundle, 'size'> & {readonly [lender]?: StreamedBundle['read'] | undefined};

/** Turns `bundle` into a lender. */
export function lend<Bundle extends object>(bundle: Bundle, read: StreamedBundle['read']): Bundle {
  return Object.defineProperty(bundle, lender, {value: read});
}

/**
 * Reads a bundle into reused memory: a chunk is valid only until the next one is requested. Fresh memory would burden
 * the garbage collector. Undefined for anything but a bundle, or for a copy of one.
 */
export function readLent(source: Lender): AsyncIterable<Uint8Array> | undefined {
  return source[lender]?.();
}
