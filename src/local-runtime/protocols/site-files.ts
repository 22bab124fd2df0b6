import type {Stats} from 'node:fs';
import {lstat, realpath, stat, type FileHandle} from 'node:fs/promises';
import path from 'node:path';
import {promisify} from 'node:util';
import {brotliCompress, constants, gzip} from 'node:zlib';
import {systemCode} from '../../errors/system-failure.js';
import type {Compression} from '../answer.js';
import {openOwnFile} from '../store/data-folder.js';

/** Encodings of precompressed files, best first, with their file extensions. */
export const encodedFiles = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

/** A file that was found: large ones are open, and small ones in memory. */
export type OpenFile = {readonly size: number} & ({readonly file: FileHandle} | ContentInMemory);

interface ContentInMemory {
  readonly content: Buffer;
  /** The content, compressed. */
  compressed(compression: Compression): Promise<Buffer>;
}

/** A file of a site, and its precompressed variants, by encoding. All are absolute paths without links. */
interface FoundFile {
  readonly plain: string;
  readonly encoded: ReadonlyMap<string, string>;
}

/** Larger files are read anew for each request. */
const maxFileBytes = 256 * 1024;
const maxBytes = 64 * 1024 * 1024;
const maxFound = 10_000;
/** How long a file in memory counts as the one on disk before that is checked again. */
const recheckMs = 200;

/**
 * The files of deployed apps. What was found is remembered, and small files stay in memory, because a deployment never
 * changes. Still, a file in memory is compared with the one on disk from time to time.
 */
export class SiteFiles {
  /** By path, the one used longest ago first. */
  readonly #kept = new Map<string, KeptFile>();
  #bytes = 0;
  readonly #found = new Map<string, FoundFile>();

  /** The file `name` in the folder of a site. */
  async find(folder: string, name: string): Promise<FoundFile | undefined> {
    const key = path.join(folder, name);
    const known = this.#found.get(key);
    if (known) return known;
    const plain = await pathInside(folder, name, 'file');
    if (plain === undefined) return undefined;
    const encoded = new Map<string, string>();
    for (const [encoding, suffix] of encodedFiles) {
      const file = await pathInside(folder, `${name}${suffix}`, 'file');
      if (file !== undefined) encoded.set(encoding, file);
    }
    if (this.#found.size >= maxFound) this.#found.clear();
    const found = {plain, encoded};
    this.#found.set(key, found);
    return found;
  }

  /** Opens a file that was found. Undefined if it is gone, or is now behind a link. */
  async open(file: string): Promise<OpenFile | undefined> {
    const kept = this.#kept.get(file);
    if (kept) {
      this.#kept.delete(file);
      this.#kept.set(file, kept);
      if (performance.now() < kept.checkedAt + recheckMs) return kept;
      const stats = await lstat(file).catch(undefinedIfAbsent);
      if (stats && kept.isStill(stats)) return kept;
      this.#forget(file);
    }
    if ((await realpath(file).catch(undefinedIfAbsent)) !== file) return undefined;
    const handle = await openOwnFile(file).catch(undefinedIfAbsent);
    if (!handle) return undefined;
    const stats = await handle.stat();
    if (stats.size > maxFileBytes) return {size: stats.size, file: handle};
    try {
      const read = new KeptFile(stats, await handle.readFile());
      this.#keep(file, read);
      return read;
    } finally {
      await handle.close();
    }
  }

  #keep(file: string, kept: KeptFile): void {
    this.#forget(file);
    this.#kept.set(file, kept);
    this.#bytes += kept.cost;
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= maxBytes) return;
      this.#forget(oldest);
    }
  }

  #forget(file: string): void {
    this.#bytes -= this.#kept.get(file)?.cost ?? 0;
    this.#kept.delete(file);
  }
}

/** A small file in memory. */
class KeptFile implements ContentInMemory {
  readonly content: Buffer;
  checkedAt = performance.now();
  /** What it counts for, in bytes: its compressed variants are smaller, and there are two. */
  readonly cost: number;
  readonly #stats: Stats;
  readonly #compressed = new Map<Compression, Promise<Buffer>>();

  constructor(stats: Stats, content: Buffer) {
    this.#stats = stats;
    this.content = content;
    this.cost = 2 * content.length + 1024;
  }

  get size(): number {
    return this.content.length;
  }

  isStill({dev, ino, size, ctimeMs}: Stats): boolean {
    this.checkedAt = performance.now();
    const known = this.#stats;
    return dev === known.dev && ino === known.ino && size === known.size && ctimeMs === known.ctimeMs;
  }

  compressed(compression: Compression): Promise<Buffer> {
    const known = this.#compressed.get(compression);
    if (known) return known;
    const made =
      compression === 'br' ? promisify(brotliCompress)(this.content, brotliOptions) : promisify(gzip)(this.content);
    this.#compressed.set(compression, made);
    return made;
  }
}

/** As fast as gzip, with a window that is large enough for scripts and keeps the memory of each request small. */
export const brotliOptions = {
  params: {[constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_LGWIN]: 18},
};

/**
 * The file or folder that a name resolves to, if it is inside the folder. This repeats the check of the upload. Files
 * may be links of the bundle; the folder itself is not a link, nor behind one.
 */
export async function pathInside(folder: string, name: string, kind: 'file' | 'folder'): Promise<string | undefined> {
  const found = await realpath(path.join(folder, name)).catch(undefinedIfAbsent);
  if (!found?.startsWith(folder + path.sep)) return undefined;
  const stats = await stat(found).catch(undefinedIfAbsent);
  return (kind === 'file' ? stats?.isFile() : stats?.isDirectory()) ? found : undefined;
}

/** Failures that do not tell whether a file exists. */
const failures: readonly (string | undefined)[] = ['EMFILE', 'ENFILE', 'ENOMEM', 'EIO'];

/** @throws the error if the system failed. */
export function undefinedIfAbsent(error: unknown): undefined {
  if (failures.includes(systemCode(error))) throw error;
  return undefined;
}
