import type {BundleContent, BundleFile, PlannedBundleFile} from '../types.js';
import {comparePaths} from './entry-names.js';

/** The marks of a file, one bit each. */
const marks = {executable: 1, ssrOnly: 2, ssrShared: 4, ascii: 8} as const;
/** Where a record has what. Its path follows. */
const at = {marks: 0, size: 1, modified: 9, pathBytes: 17, path: 21} as const;
/** Bits of a place that say where a record is in its page; the others say which page. */
const offsetBits = 20;
/** Bytes of a page. A longer record has a page of its own. */
const pageBytes = 1 << offsetBits;

/** Memory for records. A view reads numbers much faster than a Buffer before V8 has optimized anything. */
class Page {
  readonly bytes: Buffer;
  readonly view: DataView;

  constructor(size: number) {
    this.bytes = Buffer.allocUnsafeSlow(size);
    this.view = new DataView(this.bytes.buffer);
  }
}

const noPage = new Page(0);

/**
 * The files of a build, in about 50 bytes each, none of them in V8's heap: as objects, they would take three times as
 * much, and twice that again while V8 moves them about. An object is only made while the table is iterated.
 */
export class FileTable implements Iterable<PlannedBundleFile> {
  readonly #pages: Page[] = [];
  /** Bytes in use of the last page. */
  #filled = 0;
  /** Where the records are, in the order of the files. */
  #places = new Uint32Array(1024);
  #length = 0;
  #bytes = 0;
  /** Targets of links, of which there are few, by the places of their records. */
  readonly #targets = new Map<number, string>();

  /** The paths, one at a time, whenever they are iterated. */
  readonly paths: Iterable<string> = {[Symbol.iterator]: () => this.#eachPath()};

  get length(): number {
    return this.#length;
  }

  /** The sum of the sizes. */
  get bytes(): number {
    return this.#bytes;
  }

  add(file: PlannedBundleFile): void {
    const {path, linkTarget} = file;
    const place = this.#placeFor(at.path + maxBytesOf(path));
    const {bytes, view} = this.#pageOf(place);
    const start = offsetOf(place);
    const length = bytes.write(path, start + at.path);
    bytes[start] = marksOf(file) | (length === path.length ? marks.ascii : 0);
    view.setFloat64(start + at.size, file.size);
    view.setFloat64(start + at.modified, file.modifiedMs);
    view.setUint32(start + at.pathBytes, length);
    this.#filled = start + at.path + length;
    if (linkTarget !== undefined) this.#targets.set(place, linkTarget);
    if (this.#length === this.#places.length) {
      const places = new Uint32Array(2 * this.#length);
      places.set(this.#places);
      this.#places = places;
    }
    this.#places[this.#length++] = place;
    this.#bytes += file.size;
  }

  /**
   * Takes out what is at a path: several files, if their names differ in bytes that are not UTF-8. Needs a sorted
   * table.
   */
  remove(path: string): void {
    const index = this.#indexFrom(path);
    while (this.#pathFrom(index) === path) {
      this.#bytes -= this.#fileAt(this.#places[index] ?? 0).size;
      this.#places.copyWithin(index, index + 1, this.#length--);
    }
  }

  /** Whether there is a file at a path. Needs a sorted table. */
  has(path: string): boolean {
    return this.firstFrom(path) === path;
  }

  /** The first path that does not come before `path`, if any. Needs a sorted table. */
  firstFrom(path: string): string | undefined {
    return this.#pathFrom(this.#indexFrom(path));
  }

  /** Sorts the files by path, as `comparePaths` does. */
  sort(): void {
    this.#used().sort((a, b) => this.#compare(a, b));
  }

  *[Symbol.iterator](): Generator<PlannedBundleFile> {
    for (const place of this.#used()) yield this.#fileAt(place);
  }

  *#eachPath(): Generator<string> {
    for (const place of this.#used()) yield this.#pathAt(place);
  }

  /** Iterates the files. Marks set on a file are kept once the next one is requested. */
  *marked(): Generator<{-readonly [Key in keyof PlannedBundleFile]: PlannedBundleFile[Key]}> {
    for (const place of this.#used()) {
      const file = this.#fileAt(place);
      yield file;
      const {view} = this.#pageOf(place);
      const start = offsetOf(place);
      view.setUint8(start, marksOf(file) | (view.getUint8(start) & marks.ascii));
    }
  }

  /**
   * The files as an array, for `plan.files` and `bundle.files`. Its length, and the objects of an iteration, come from
   * the table; anything else makes all the objects, once.
   */
  asArray(): readonly PlannedBundleFile[] {
    let isMade = false;
    const make = (files: PlannedBundleFile[]): PlannedBundleFile[] => {
      if (!isMade) for (const file of this) files.push(file);
      isMade = true;
      return files;
    };
    return new Proxy<PlannedBundleFile[]>([], {
      get: (files, key) => {
        if (key === 'length') return this.length;
        if (key === Symbol.iterator) return () => (isMade ? files : this)[Symbol.iterator]();
        return Reflect.get(make(files), key) as unknown;
      },
      has: (files, key) => Reflect.has(make(files), key),
      ownKeys: (files) => Reflect.ownKeys(make(files)),
      getOwnPropertyDescriptor: (files, key) => Reflect.getOwnPropertyDescriptor(make(files), key),
    });
  }

  #used(): Uint32Array {
    return this.#places.subarray(0, this.#length);
  }

  /** The place of a new record. @param room The most that it can have, in bytes. */
  #placeFor(room: number): number {
    if (this.#pages.length === 0 || this.#filled + room > pageBytes) {
      this.#pages.push(new Page(Math.max(room, pageBytes)));
      this.#filled = 0;
    }
    return (((this.#pages.length - 1) << offsetBits) | this.#filled) >>> 0;
  }

  /** How many paths come before `path`. */
  #indexFrom(path: string): number {
    let [low, high] = [0, this.#length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (comparePaths(this.#pathAt(this.#places[middle] ?? 0), path) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #pathFrom(index: number): string | undefined {
    const place = this.#used()[index];
    return place === undefined ? undefined : this.#pathAt(place);
  }

  #pageOf(place: number): Page {
    return this.#pages[place >>> offsetBits] ?? noPage;
  }

  #pathAt(place: number): string {
    const {bytes, view} = this.#pageOf(place);
    const start = offsetOf(place);
    const end = start + at.path + view.getUint32(start + at.pathBytes);
    return bytes.toString(view.getUint8(start) & marks.ascii ? 'latin1' : 'utf8', start + at.path, end);
  }

  #fileAt(place: number): PlannedBundleFile {
    const {view} = this.#pageOf(place);
    const start = offsetOf(place);
    const has = view.getUint8(start);
    const file = {
      path: this.#pathAt(place),
      size: view.getFloat64(start + at.size),
      modifiedMs: view.getFloat64(start + at.modified),
      executable: (has & marks.executable) !== 0,
      ssrOnly: (has & marks.ssrOnly) !== 0,
      ssrShared: (has & marks.ssrShared) !== 0,
    };
    const linkTarget = this.#targets.get(place);
    return linkTarget === undefined ? file : {...file, linkTarget};
  }

  #compare(a: number, b: number): number {
    const {bytes, view} = this.#pageOf(a);
    const start = offsetOf(a);
    const length = view.getUint32(start + at.pathBytes);
    const {bytes: otherBytes, view: otherView} = this.#pageOf(b);
    const otherStart = offsetOf(b);
    const otherLength = otherView.getUint32(otherStart + at.pathBytes);
    const end = at.path + Math.min(length, otherLength);
    for (let index = at.path; index < end; index += 1) {
      const byte = bytes[start + index];
      const otherByte = otherBytes[otherStart + index];
      if (byte !== otherByte) return rank(byte) - rank(otherByte);
    }
    return length - otherLength;
  }
}

/**
 * Gives `content` a real array of files, made on first access, for plugins and users of the library. The proxy that
 * `asArray` returns behaves like one, but cannot be cloned, which sending it to a worker does.
 */
export function withOwnFiles<Content extends Pick<BundleContent, 'files'>>(content: Content): Content {
  const {files} = content;
  let own: readonly BundleFile[] | undefined;
  return Object.defineProperty(content, 'files', {get: () => (own ??= [...files]), enumerable: true});
}

function offsetOf(place: number): number {
  return place & (pageBytes - 1);
}

/** The paths of files, one at a time, whenever they are iterated. */
export function pathsOf(files: Iterable<Pick<PlannedBundleFile, 'path'>>): Iterable<string> {
  return {
    *[Symbol.iterator]() {
      for (const {path} of files) yield path;
    },
  };
}

/** The most bytes that a text can have in UTF-8. */
function maxBytesOf({length}: string): number {
  return 3 * length;
}

function marksOf({executable, ssrOnly, ssrShared}: PlannedBundleFile): number {
  return (executable ? marks.executable : 0) | (ssrOnly ? marks.ssrOnly : 0) | (ssrShared ? marks.ssrShared : 0);
}

/** Orders bytes of UTF-8 as `comparePaths` orders UTF-16, where U+E000 to U+FFFF come after higher code points. */
function rank(byte = 0): number {
  return byte === 0xee || byte === 0xef ? byte + 0x10 : byte;
}
