import {createCipheriv, type Cipher} from 'node:crypto';
import {createWriteStream} from 'node:fs';
import {mkdir, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {pipeline} from 'node:stream/promises';

/** A build directory to measure with. */
export interface Tree {
  readonly name: string;
  /** Bytes of all files together. */
  readonly bytes: number;
  readonly files: number;
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

function compressible(random: Buffer, size: number): string {
  const text: string[] = [];
  for (let length = 0, index = 0; length < size; index++) {
    const word = words[(random[index % random.length] ?? 0) % words.length] ?? '';
    text.push(word);
    length += word.length + 1;
  }
  return text.join(' ').padEnd(size).slice(0, size);
}

/** Writes `tree` into `folder`: one server entry, and files below `static/`, half of them compressible, half not. */
export async function writeTree(folder: string, tree: Tree): Promise<void> {
  const next = seededBytes(tree.files);
  const size = Math.floor(tree.bytes / tree.files);
  await mkdir(folder, {recursive: true});
  await writeFile(path.join(folder, 'ssr.js'), 'export const handler = () => "";\n');
  for (let index = 0; index < tree.files; index++) {
    const parent = path.join(folder, 'static', String(index % 100));
    if (index < 100) await mkdir(parent, {recursive: true});
    const random = next(size);
    await writeFile(
      path.join(parent, `${index}.${index % 200 < 100 ? 'js' : 'bin'}`),
      index % 200 < 100 ? compressible(random, size) : random,
    );
  }
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
