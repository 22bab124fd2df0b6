import {createHash} from 'node:crypto';
import {createReadStream as createFileStream} from 'node:fs';
import {Readable} from 'node:stream';
import {reasonOf} from '../../errors/system-failure.js';
import {Digest} from '../archive/digest.js';
import {entryPrefix} from '../archive/manifest.js';
import {categoryOf} from '../files/patterns.js';
import type {Bundle, BundleEntry, BundleFile} from '../types.js';
import {invalidArchive, readable, readArchive} from './read-archive.js';
import {readTar} from './read-tar.js';

/** A bundle without the methods that read its archive. */
type BareBundle = Omit<Bundle, 'createReadStream' | 'entries'>;

/** Bytes per read of the whole archive. */
const readBytes = 512 * 1024;
/** A link has no content. */
const digestOfNothing = createHash('sha256').digest('hex');
/** How long a position in the archive is kept for the next entry, in milliseconds. */
const idleMs = 2000;

export function withReaders<Bare extends BareBundle>(bundle: Bare): Bare & Omit<Bundle, keyof BareBundle> {
  const {path} = bundle;
  const createReadStream: Bundle['createReadStream'] = ({start = 0, end} = {}) =>
    createFileStream(path, {start, ...(end !== undefined && {end}), highWaterMark: readBytes});
  const entries: Bundle['entries'] = ({signal} = {}) => readEntries(bundle, signal);
  return {...bundle, createReadStream, entries};
}

/** The archive must have exactly the files of the bundle, in any order: a manifest may say anything. */
async function* readEntries(bundle: BareBundle, signal?: AbortSignal): AsyncGenerator<BundleEntry> {
  const {path, files, configPath} = bundle;
  const prefix = `${entryPrefix(bundle)}/`;
  const options = {digests: true, isTrusted: true, root: entryPrefix(bundle), signal};
  const contents = await readable(path, options, () => readArchive(path, options));
  if (contents.sha256 !== bundle.sha256) throw invalidArchive(path, `its sha256 is not ${bundle.sha256}`);
  const positions = new Positions(path);
  const expected = byPath(files);
  for (const [index, {name, size, linkTarget, sha256 = digestOfNothing}] of contents.entries.entries()) {
    const own = name.startsWith(prefix) ? name.slice(prefix.length) : undefined;
    if (own === undefined || own === configPath) continue;
    const same = expected.get(own) ?? [];
    const file = same.shift();
    if (same.length === 0) expected.delete(own);
    if (file?.size !== size || file.linkTarget !== linkTarget) {
      throw invalidArchive(path, `${JSON.stringify(own)} in it is not the file of the bundle`);
    }
    signal?.throwIfAborted();
    yield bundleEntry(file, sha256, positions, index);
  }
  const [missing] = expected.keys();
  if (missing !== undefined) throw invalidArchive(path, `${JSON.stringify(missing)} is not in it`);
}

/** A path may occur several times in a foreign archive. */
function byPath(files: readonly BundleFile[]): Map<string, BundleFile[]> {
  const found = new Map<string, BundleFile[]>();
  for (const file of files) found.set(file.path, [...(found.get(file.path) ?? []), file]);
  return found;
}

function bundleEntry(file: BundleFile, sha256: string, positions: Positions, index: number): BundleEntry {
  const {path, size, executable, linkTarget, ssrOnly, ssrShared} = file;
  return {
    path,
    size,
    executable,
    ssrOnly,
    ssrShared,
    sha256,
    category: categoryOf(file),
    ...(linkTarget !== undefined && {linkTarget}),
    open: () => Readable.from(positions.read(index, path, sha256), {objectMode: false}),
  };
}

/**
 * Positions in an archive, which can only be read forwards. One is kept for a while: entries that are opened in order
 * cost one pass, and several at the same time one pass each.
 */
class Positions {
  readonly #path: string;
  readonly #idle = new Map<Position, NodeJS.Timeout>();

  constructor(path: string) {
    this.#path = path;
  }

  /** @throws RuntimeCliError `ERR_ARCHIVE_INVALID` if the digest of the content is different now. */
  async *read(index: number, name: string, sha256: string): AsyncGenerator<Buffer> {
    const position = this.#nearest(index);
    const digest = new Digest();
    let isWhole = false;
    try {
      yield* digest.of(await position.advance(index));
      if (digest.hex() !== sha256) throw new Error(`${JSON.stringify(name)} in it has changed`);
      isWhole = true;
    } catch (error) {
      throw invalidArchive(this.#path, reasonOf(error), error);
    } finally {
      if (isWhole) this.#keep(position);
      else await position.close();
    }
  }

  /** The last idle position before an entry, or the start of the archive. */
  #nearest(index: number): Position {
    let nearest: Position | undefined;
    for (const position of this.#idle.keys()) {
      if (position.next <= index && position.next > (nearest?.next ?? -1)) nearest = position;
    }
    if (nearest === undefined) return new Position(this.#path);
    clearTimeout(this.#idle.get(nearest));
    this.#idle.delete(nearest);
    return nearest;
  }

  #keep(position: Position): void {
    const timer = setTimeout(() => {
      this.#idle.delete(position);
      void position.close();
    }, idleMs);
    this.#idle.set(position, timer.unref());
  }
}

/** A place in an archive, between two entries. */
class Position {
  readonly #entries: ReturnType<typeof readTar>;
  /** Index of the next entry. */
  next = 0;

  constructor(path: string) {
    this.#entries = readTar(path);
  }

  /** Skips to an entry, folders aside, whose content must be read before the next call. */
  async advance(index: number): Promise<AsyncIterable<Buffer>> {
    for (;;) {
      const {value, done} = await this.#entries.next();
      if (done) throw new Error('it is shorter than it was');
      if (value.header.type === 'directory') continue;
      this.next += 1;
      if (this.next > index) return value.content;
    }
  }

  async close(): Promise<void> {
    await this.#entries.return(undefined);
  }
}
