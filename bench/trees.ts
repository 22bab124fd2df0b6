import {createCipheriv, type Cipher} from 'node:crypto';
import {createWriteStream, readFileSync, writeFileSync} from 'node:fs';
import {mkdir, readdir} from 'node:fs/promises';
import path from 'node:path';
import {pipeline} from 'node:stream/promises';
import {deflateRawSync} from 'node:zlib';

/** A build folder to measure with. */
export interface Tree {
  readonly name: string;
  /** Bytes of all files together. */
  readonly bytes: number;
  readonly files: number;
  /** Share of the files that compress well, 0 to 1; the others not at all. @default 0.5 */
  readonly text?: number | undefined;
  /** Whether only pushes are measured, to save time. */
  readonly pushesOnly?: boolean | undefined;
}

/** Size of the files of which there are many. */
export const smallFileBytes = 4000;

const words = 'return const import from function value => await ( ) { } ; , = . export async string number'.split(' ');

/** The same bytes for the same seed, as fast as the cipher. */
function seededBytes(seed: number): (size: number) => Buffer {
  const key = Buffer.alloc(16);
  key.writeUInt32LE(seed);
  const cipher: Cipher = createCipheriv('aes-128-ctr', key, Buffer.alloc(16));
  return (size) => cipher.update(Buffer.alloc(size));
}

/** Size of the text that files are cut from: more than the largest file, and than any compressor looks back. */
const textBytes = 8_000_000;

function makeText(random: Buffer): Buffer {
  const text: string[] = [];
  for (let length = 0, index = 0; length < textBytes; index++) {
    const word = words[(random[index % random.length] ?? 0) % words.length] ?? '';
    text.push(word);
    length += word.length + 1;
  }
  return Buffer.from(text.join(' ')).subarray(0, textBytes);
}

/**
 * Writes `tree` into `folder`: one server entry, and files below `static/`, some compressible, some not. Synchronously,
 * as that is faster with many small files.
 */
export async function writeTree(folder: string, tree: Tree): Promise<void> {
  const next = seededBytes(tree.files);
  const text = makeText(next(textBytes));
  const size = Math.floor(tree.bytes / tree.files);
  // Of each 200 files, the first are text.
  const isText = (index: number) => index % 200 < 200 * (tree.text ?? 0.5);
  const cutText = () => {
    const from = next(4).readUInt32LE() % (text.length - size);
    return text.subarray(from, from + size);
  };
  await mkdir(folder, {recursive: true});
  writeFileSync(path.join(folder, 'ssr.js'), 'export const handler = () => "";\n');
  for (let index = 0; index < tree.files; index++) {
    const parent = path.join(folder, 'static', String(index % 100));
    if (index < 100) await mkdir(parent, {recursive: true});
    const [extension, content] = isText(index) ? ['js', cutText()] : ['bin', next(size)];
    writeFileSync(path.join(parent, `${index}.${extension}`), content);
  }
}

/** What a folder is made of. */
export interface Composition {
  readonly files: number;
  readonly bytes: number;
  /** Share of the bytes in files without a NUL in their first 8,000 bytes, as git tells text. 0 to 1. */
  readonly text: number;
  /** Share of the bytes in other files whose first 64 kB zlib makes less than 5 % smaller: media, fonts, archives. */
  readonly compressed: number;
}

/** Looks at every file of a folder. Links are not followed. */
export async function compositionOf(folder: string): Promise<Composition> {
  const sums = {files: 0, bytes: 0, text: 0, compressed: 0};
  for (const entry of await readdir(folder, {recursive: true, withFileTypes: true})) {
    if (!entry.isFile()) continue;
    const content = readFileSync(path.join(entry.parentPath, entry.name));
    sums.files += 1;
    sums.bytes += content.length;
    if (!content.subarray(0, 8000).includes(0)) sums.text += content.length;
    else if (isCompressed(content.subarray(0, 64_000))) sums.compressed += content.length;
  }
  return {...sums, text: sums.text / sums.bytes, compressed: sums.compressed / sums.bytes};
}

function isCompressed(sample: Buffer): boolean {
  return deflateRawSync(sample).length > 0.95 * sample.length;
}

/** Writes a file of `bytes` that do not compress. */
export async function writeNoise(file: string, bytes: number): Promise<void> {
  const next = seededBytes(bytes);
  const piece = 1_000_000;
  const pieces = function* () {
    for (let left = bytes; left > 0; left -= piece) yield next(Math.min(piece, left));
  };
  await pipeline(pieces, createWriteStream(file));
}
