import {buffer} from 'node:stream/consumers';
import type {BundlePlan} from '../plan.js';
import {tarEntries, type TarEntry} from './tar-entries.js';
import {writeTar} from './write-tar.js';

/** A tar consists of records of this many bytes. */
const recordBytes = 512;
/** And ends with as many zeros. */
const endBytes = 2 * recordBytes;
/** A name, or the target of a link, that any header has room for. */
const shortName = /^[\x20-\x7e]{1,100}$/;

/** The exact size of a bundle's tar: that of a v1 archive, and about the most that a compressed one can have. */
export async function archiveSize(plan: BundlePlan): Promise<number> {
  let size = endBytes;
  const long: TarEntry[] = [];
  for (const entry of tarEntries(plan)) {
    size += wholeRecords(contentSize(entry));
    if (isShort(entry)) size += recordBytes;
    else long.push(entry.kind === 'file' ? {kind: 'content', name: entry.name, content: Buffer.alloc(0)} : entry);
  }
  return long.length === 0 ? size : size + (await headerBytes(long, plan));
}

/** How long the headers of `entries` are is for archiver to say. */
async function headerBytes(entries: readonly TarEntry[], {modifiedAt}: BundlePlan): Promise<number> {
  const {length} = await buffer(writeTar(entries, {modifiedAt}));
  return length - endBytes;
}

function isShort(entry: TarEntry): boolean {
  const name = entry.kind === 'folder' ? `${entry.name}/` : entry.name;
  return shortName.test(name) && (entry.kind !== 'link' || shortName.test(entry.target));
}

function contentSize(entry: TarEntry): number {
  if (entry.kind === 'file') return entry.size;
  return entry.kind === 'content' ? entry.content.length : 0;
}

function wholeRecords(size: number): number {
  return Math.ceil(size / recordBytes) * recordBytes;
}
