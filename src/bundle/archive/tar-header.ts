import {buffer} from 'node:stream/consumers';
import type {TarEntry} from './tar-entries.js';

/** A tar consists of records of this many bytes. */
export const recordBytes = 512;
/** Bytes of zeros that end a tar. */
export const endBytes = 2 * recordBytes;

/** Bytes for a name, or for the target of a link, in a header. */
const nameBytes = 100;
/** Bytes for the folders in front of a name, without the slash between them. */
const prefixBytes = 155;
/** The largest size that 11 octal digits can tell. */
const mostOctalBytes = 0o77777777777;
/** Where the fields of a header start. */
const field = {
  ...{name: 0, mode: 100, owner: 108, group: 116, size: 124, time: 136, checksum: 148, type: 156},
  ...{magic: 257, deviceMajor: 329, deviceMinor: 337, prefix: 345},
} as const;

/** What a checksum counts in its own place. */
const noChecksum = ' '.repeat(field.type - field.checksum);

/** What the headers of an archive have in common: that of a file which lacks name, size and checksum. */
export function commonHeader(modifiedAt: Date): Buffer {
  const header = Buffer.alloc(recordBytes);
  header.write(octal(0o644, 6), field.mode);
  const zeros: readonly number[] = [field.owner, field.group, field.deviceMajor, field.deviceMinor];
  for (const at of zeros) header.write(octal(0, 6), at);
  header.write(octal(Math.floor(modifiedAt.getTime() / 1000), 11), field.time);
  header.write(`${noChecksum}0`, field.checksum);
  header.write('ustar\x0000', field.magic);
  return header;
}

/** Writes the header of an entry to `record`. @param common What `commonHeader` returned. */
export function writeHeader(record: Buffer, entry: TarEntry, common: Buffer): void {
  const {name = '', prefix = ''} = splitName(entry.name) ?? {};
  common.copy(record);
  record.write(name, field.name, 'latin1');
  if (prefix !== '') record.write(prefix, field.prefix, 'latin1');
  if (isExecutable(entry)) record.write(octal(0o755, 6), field.mode, 'latin1');
  // The target of a link follows the type.
  if (entry.kind === 'link') record.write(`2${entry.target}`, field.type, 'latin1');
  writeSize(record, contentSize(entry));
}

/**
 * The headers of those of `entries` whose name or target is too long for `writeHeader` or not ASCII: a pax header with
 * that, and the usual one. archiver writes them, as if the files were empty, and many at a time: it takes a fraction of
 * a millisecond for each archive.
 */
export async function longHeaders(
  entries: readonly TarEntry[],
  modifiedAt: Date,
): Promise<ReadonlyMap<TarEntry, Buffer>> {
  const long = entries.filter((entry) => !fitsOneHeader(entry));
  if (long.length === 0) return new Map();
  const {TarArchive} = await import('archiver');
  const archive = new TarArchive();
  for (const entry of long) {
    const link = entry.kind === 'link' && {type: 'symlink' as const, linkname: entry.target};
    archive.append('', {name: entry.name, mode: isExecutable(entry) ? 0o755 : 0o644, date: modifiedAt, ...link});
  }
  const [tar] = await Promise.all([buffer(archive), archive.finalize()]);
  let start = 0;
  const cut = (entry: TarEntry): Buffer => {
    const pax = tar.toString('latin1', start + field.type, start + field.type + 1) === 'x';
    const paxSize = pax ? parseInt(tar.toString('latin1', start + field.size, start + field.time), 8) : 0;
    const end = start + (pax ? recordBytes : 0) + wholeRecords(paxSize) + recordBytes;
    const headers = tar.subarray(start, end);
    const header = headers.subarray(-recordBytes);
    header.write(noChecksum, field.checksum);
    writeSize(header, contentSize(entry));
    start = end;
    return headers;
  };
  return new Map(long.map((entry) => [entry, cut(entry)]));
}

/** Entries that archiver is given at a time. */
const groupSize = 100;

/**
 * The entries in their order, in groups for `longHeaders`: one that does not need it alone, so that it waits for no
 * others, and one that does together with those that follow.
 */
export function* inGroups(entries: Iterable<TarEntry>): Generator<readonly TarEntry[]> {
  let group: TarEntry[] = [];
  for (const entry of entries) {
    group.push(entry);
    if (group.length < groupSize && !(group.length === 1 && fitsOneHeader(entry))) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}

/** Whether a single header holds the name of an entry and the target of a link. */
export function fitsOneHeader(entry: TarEntry): boolean {
  return splitName(entry.name) !== undefined && (entry.kind !== 'link' || isShort(entry.target));
}

/** Bytes of the records that content of this size takes. */
export function wholeRecords(size: number): number {
  return Math.ceil(size / recordBytes) * recordBytes;
}

/** Bytes of an entry's content. */
export function contentSize(entry: TarEntry): number {
  switch (entry.kind) {
    case 'file':
      return entry.size;
    case 'content':
      return entry.content.length;
    case 'link':
      return 0;
  }
}

/** Whether an entry gets mode 0755. All others get 0644, whatever the file's own mode. */
function isExecutable(entry: TarEntry): boolean {
  return entry.kind === 'link' || (entry.kind === 'file' && entry.executable);
}

/** Cuts folders off the start of a name until the rest fits. Undefined if it never does, or is not ASCII. */
function splitName(path: string): {readonly name: string; readonly prefix: string} | undefined {
  if (isShort(path)) return {name: path, prefix: ''};
  const slash = path.indexOf('/', path.length - nameBytes - 1);
  if (slash < 0 || slash > prefixBytes || !isAscii(path)) return undefined;
  return {name: path.slice(slash + 1), prefix: path.slice(0, slash)};
}

function isShort(name: string): boolean {
  return name.length <= nameBytes && isAscii(name);
}

function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length;
}

/**
 * Writes the size, then the checksum, in whose field `noChecksum` must be. A size too large for 11 octal digits is
 * written in binary.
 */
function writeSize(header: Buffer, size: number): void {
  if (size <= mostOctalBytes) header.write(octal(size, 11), field.size, 'latin1');
  else {
    header.writeUInt32BE(0x80000000, field.size);
    header.writeBigUInt64BE(BigInt(size), field.size + 4);
  }
  let sum = 0;
  for (let at = 0; at < recordBytes; at++) sum += header[at] ?? 0;
  header.write(`${octal(sum, 6)}\0`, field.checksum, 'latin1');
}

/** As many octal digits, and a space. */
function octal(value: number, digits: number): string {
  return `${value.toString(8).padStart(digits, '0')} `;
}
