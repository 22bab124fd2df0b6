/** A tar consists of blocks of this many bytes. */
const blockBytes = 512;
/** Maximum bytes of a header that extends the next entry: long names, pax records. */
const maxExtensionBytes = 64 * 1024;
/** Maximum bytes of all names and extensions of an archive, since they are kept in memory. */
const maxNameBytes = 32 * 1024 * 1024;

/** Format of the numbers in a header that all programs read the same way. */
const octal = /^ *[0-7]+[ \0]*$/;
/** Entry types that all programs read the same way. Some read others, such as `N`, as headers of the next entry. */
const types = /^[0-7\0xgLK]$/;
const extensions: ReadonlySet<string> = new Set(['x', 'g', 'L', 'K']);
const files: ReadonlySet<string> = new Set(['0', '\0', '7']);
/** pax records that say where a file has holes. */
const sparse = /^(?:GNU\.sparse\.|SCHILY\.realsize$|SUN\.holesdata$)/;
const decisive: ReadonlySet<string> = new Set(['path', 'linkpath', 'size']);

/** A header with data about the next entry. */
interface Extension {
  readonly type: string;
  readonly bytes: Buffer;
  filled: number;
}

/**
 * Checks the bytes of a tar on their way to the library that parses it. Refuses tars that programs read differently, so
 * that what we show of an archive is what it unpacks to elsewhere. Also bounds what the library keeps in memory.
 */
export class TarGuard {
  readonly #header = Buffer.alloc(blockBytes);
  #headerFilled = 0;
  /** Bytes of content left, including the padding of the last block. */
  #content = 0;
  #extension: Extension | undefined;
  /** Data about the next entry, by the type of the header it came from. */
  #said = new Map<string, ReadonlyMap<string, string>>();
  #nameBytes = 0;
  /** Zero bytes since the start of the end-of-archive marker. */
  #zeros = 0;

  /**
   * Passes on valid bytes.
   * @throws Error for invalid ones, and if they end too soon.
   */
  async *of(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      this.#look(chunk);
      yield chunk;
    }
    if (this.#zeros < 2 * blockBytes) throw new Error('it is truncated: its end-of-archive marker is missing');
  }

  #look(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#zeros > 0) {
        if (chunk.subarray(at).some((byte) => byte !== 0)) {
          throw new Error('there is data after its end-of-archive marker');
        }
        this.#zeros += chunk.length - at;
        return;
      }
      at += this.#content > 0 ? this.#passContent(chunk.subarray(at)) : this.#passHeader(chunk.subarray(at));
    }
  }

  #passContent(bytes: Buffer): number {
    const length = Math.min(this.#content, bytes.length);
    const extension = this.#extension;
    if (extension) extension.filled += bytes.copy(extension.bytes, extension.filled, 0, length);
    this.#content -= length;
    if (this.#content === 0 && extension) this.#take(extension);
    return length;
  }

  #passHeader(bytes: Buffer): number {
    const length = bytes.copy(this.#header, this.#headerFilled);
    this.#headerFilled += length;
    if (this.#headerFilled < blockBytes) return length;
    this.#headerFilled = 0;
    if (this.#header.some((byte) => byte !== 0)) this.#readHeader();
    else this.#zeros = blockBytes;
    return length;
  }

  #readHeader(): void {
    const header = this.#header;
    verifyChecksum(header);
    const type = header.toString('latin1', 156, 157);
    if (!types.test(type)) throw new Error(`it has an entry of the unknown type ${JSON.stringify(type)}`);
    const own = sizeOf(header);
    if (extensions.has(type)) {
      if (own > maxExtensionBytes)
        throw new Error(`it has a header of ${own} bytes, more than the ${maxExtensionBytes} allowed`);
      const clashes = this.#said.has(type) || (type === 'x' ? this.#said.has('L') || this.#said.has('K') : false);
      if (clashes || (type !== 'x' && type !== 'g' && this.#said.has('x'))) {
        throw new Error('it has several headers for the name of one entry');
      }
      this.#countName(own);
      this.#extension = {type, bytes: Buffer.alloc(own), filled: 0};
      this.#content = padded(own);
      if (own === 0) throw new Error('it has an empty header');
      return;
    }
    const name = this.#said.get('L')?.get('path') ?? this.#said.get('x')?.get('path') ?? nameOf(header);
    const size = this.#sizeSaid() ?? own;
    const isFile = files.has(type);
    // GNU tar reads it as a folder, tar-stream sometimes as a file.
    if (isFile && name.endsWith('/')) {
      throw new Error(`it has a file, ${shown(name)}, that some programs read as a folder`);
    }
    if (!isFile && size !== 0) throw new Error(`it has an entry without content, ${shown(name)}, of ${size} bytes`);
    this.#countName(name.length);
    this.#said = new Map();
    this.#content = padded(size);
  }

  #sizeSaid(): number | undefined {
    const said = this.#said.get('x')?.get('size');
    if (said === undefined) return undefined;
    if (!/^[0-9]{1,16}$/.test(said) || !Number.isSafeInteger(Number(said))) throw unreadable('size');
    return Number(said);
  }

  /** Stores the data of an extension header, once it is complete. */
  #take({type, bytes}: Extension): void {
    this.#extension = undefined;
    if (type === 'x' || type === 'g') {
      const records = paxRecords(bytes);
      for (const key of records.keys()) {
        if (sparse.test(key)) throw new Error('it contains a sparse file');
        if (type === 'g' && decisive.has(key)) throw new Error(`it sets one ${key} for all the entries that follow`);
      }
      if (type === 'x') this.#said.set(type, records);
      return;
    }
    const end = bytes.indexOf(0);
    const text = bytes.toString('utf8', 0, end === -1 ? bytes.length : end);
    if (text === '') throw unreadable('name');
    this.#said.set(type, new Map([[type === 'L' ? 'path' : 'linkpath', text]]));
  }

  #countName(bytes: number): void {
    this.#nameBytes += bytes;
    if (this.#nameBytes > maxNameBytes) throw new Error(`its entry names add up to more than ${maxNameBytes} bytes`);
  }
}

/** Parses records of the form `LENGTH KEY=VALUE\n`. */
function paxRecords(bytes: Buffer): ReadonlyMap<string, string> {
  const records = new Map<string, string>();
  let at = 0;
  while (at < bytes.length) {
    const gap = bytes.indexOf(' ', at);
    const digits = gap === -1 ? '' : bytes.toString('latin1', at, gap);
    const end = at + Number(digits);
    const equals = bytes.indexOf('=', gap);
    if (!/^[1-9][0-9]{0,5}$/.test(digits) || end > bytes.length || equals <= gap + 1 || equals >= end) {
      throw unreadable('pax record');
    }
    if (bytes[end - 1] !== 0x0a) throw unreadable('pax record');
    const key = bytes.toString('utf8', gap + 1, equals);
    const value = bytes.toString('utf8', equals + 1, end - 1);
    // An empty value removes the previous one, but not in all programs.
    if (decisive.has(key) && (records.has(key) || value === '')) throw unreadable(`pax record ${key}`);
    records.set(key, value);
    at = end;
  }
  return records;
}

function verifyChecksum(header: Buffer): void {
  // The checksum field itself counts as spaces.
  const sum = header.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 0x20 : byte), 0);
  const field = header.toString('latin1', 148, 156);
  if (!octal.test(field) || Number.parseInt(field, 8) !== sum) {
    throw new Error('it is damaged or not a tar file: a header has a wrong checksum');
  }
}

function sizeOf(header: Buffer): number {
  const field = header.subarray(124, 136);
  const first = field[0] ?? 0;
  if (first < 0x80) {
    const text = field.toString('latin1');
    if (!octal.test(text)) throw unreadable('size');
    return Number.parseInt(text, 8);
  }
  // Base 256: a size that is not negative and is safe in JavaScript starts with 0x80 and five zeros.
  const size = field.readUIntBE(6, 6);
  if (first !== 0x80 || field.subarray(1, 6).some((byte) => byte !== 0)) throw unreadable('size');
  return size;
}

function nameOf(header: Buffer): string {
  const text = (start: number, length: number): string => {
    const field = header.subarray(start, start + length);
    const end = field.indexOf(0);
    return field.toString('utf8', 0, end === -1 ? length : end);
  };
  const isUstar = header.toString('latin1', 257, 263) === 'ustar\0';
  const prefix = isUstar ? text(345, 155) : '';
  return prefix === '' ? text(0, 100) : `${prefix}/${text(0, 100)}`;
}

function padded(size: number): number {
  return Math.ceil(size / blockBytes) * blockBytes;
}

function unreadable(what: string): Error {
  return new Error(`it has a ${what} that programs read in different ways`);
}

function shown(name: string): string {
  return JSON.stringify(name.slice(0, 200));
}
