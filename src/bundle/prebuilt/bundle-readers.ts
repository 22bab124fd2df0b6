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
  const read = contentReader(path);
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
    yield bundleEntry(file, sha256, () => read(index, file.path, sha256));
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

function bundleEntry(file: BundleFile, sha256: string, read: () => AsyncGenerator<Buffer>): BundleEntry {
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
    open: () => Readable.from(read(), {objectMode: false}),
  };
}

/** A place in an archive, between two entries. */
interface Position {
  readonly entries: ReturnType<typeof readTar>;
  /** Index of the next entry. */
  next: number;
}

type ReadContent = (index: number, name: string, sha256: string) => AsyncGenerator<Buffer>;

/**
 * Reads contents from an archive, which can only be read forwards. Positions are kept for a while: entries that are
 * opened in order cost one pass, and several at the same time one pass each. `ERR_ARCHIVE_INVALID` if one has changed.
 */
function contentReader(path: string): ReadContent {
  const idle = new Map<Position, NodeJS.Timeout>();
  const positionBefore = (index: number): Position => {
    const [nearest] = [...idle.keys()].filter(({next}) => next <= index).sort((one, other) => other.next - one.next);
    if (nearest === undefined) return {entries: readTar(path), next: 0};
    clearTimeout(idle.get(nearest));
    idle.delete(nearest);
    return nearest;
  };
  const close = async (position: Position): Promise<void> => {
    idle.delete(position);
    await position.entries.return();
  };
  return async function* read(index, name, sha256) {
    const position = positionBefore(index);
    const digest = new Digest();
    let isWhole = false;
    try {
      yield* digest.of(await contentAt(position, index));
      if (digest.hex() !== sha256) throw new Error(`${JSON.stringify(name)} in it has changed`);
      isWhole = true;
    } catch (error) {
      throw invalidArchive(path, reasonOf(error), error);
    } finally {
      if (isWhole) idle.set(position, setTimeout(() => void close(position), idleMs).unref());
      else await close(position);
    }
  };
}

/** Skips to an entry, folders aside, whose content must be read before the next call. */
async function contentAt(position: Position, index: number): Promise<AsyncIterable<Buffer>> {
  for (;;) {
    const {value, done} = await position.entries.next();
    if (done) throw new Error('it is shorter than it was');
    if (value.header.type === 'directory') continue;
    position.next += 1;
    if (position.next > index) return value.content;
  }
}
