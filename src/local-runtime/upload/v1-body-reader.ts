import {HttpFailure, parsed} from '../answer.js';

const maxRestBytes = 16 * 1024 * 1024;

/**
 * Reads a JSON object in chunks, and decodes the base64 of its member `data`, which may exceed the maximum length of a
 * string. The rest of the document, with `""` instead of the data, is small and parsed with `JSON.parse`.
 */
export class V1BodyReader {
  readonly #decoder = new Base64Decoder();
  readonly #finder = new DataFinder();
  readonly #rest: Buffer[] = [];
  #restBytes = 0;
  #at: 'before' | 'data' | 'after' = 'before';

  /**
   * Accepts the next chunk of the document. Returns the bytes of the data in it.
   * @throws HttpFailure 400 for data that is not base64, 413 when the rest of the document is too large.
   */
  push(piece: Buffer): Buffer {
    if (this.#at !== 'data') {
      const start = this.#finder.find(piece);
      this.#keep(piece.subarray(0, start));
      if (start === undefined) return Buffer.alloc(0);
      this.#at = 'data';
      return this.push(piece.subarray(start));
    }
    const end = piece.indexOf(quote);
    if (end === -1) return this.#decoder.push(piece.toString('latin1'));
    this.#at = 'after';
    const data = this.#decoder.push(piece.toString('latin1', 0, end));
    this.#decoder.end();
    this.#finder.goOn();
    this.push(piece.subarray(end));
    return data;
  }

  /**
   * The document, with an empty string as its data.
   * @throws HttpFailure 400 when it is not JSON, or has no data or several.
   */
  end(): unknown {
    const value = parsed(Buffer.concat(this.#rest).toString('utf8'), 'The body');
    if (this.#at === 'before') throw new HttpFailure(400, 'The body has no "data" string.');
    return value;
  }

  #keep(bytes: Buffer): void {
    this.#restBytes += bytes.length;
    if (this.#restBytes > maxRestBytes) {
      throw new HttpFailure(413, `The body has more than ${maxRestBytes} bytes besides its data.`);
    }
    this.#rest.push(bytes);
  }
}

const [quote, backslash, colon] = [0x22, 0x5c, 0x3a];
const opening: ReadonlySet<number> = new Set(Buffer.from('{['));
const closing: ReadonlySet<number> = new Set(Buffer.from('}]'));
const space: ReadonlySet<number> = new Set(Buffer.from(' \t\n\r'));

/** Follows a JSON object byte by byte, to the value of its member `data`. Whether it is JSON is found out later. */
class DataFinder {
  #depth = 0;
  #inString = false;
  #isEscaped = false;
  /** The last string, as it is written, until something follows it. */
  #string = '';
  #isData = false;
  #count = 0;

  /**
   * Where the value of `data` starts in a piece, after its quote; undefined if it does not.
   * @throws HttpFailure 400 for a second `data`.
   */
  find(piece: Buffer): number | undefined {
    for (let at = 0; at < piece.length; at += 1) {
      const byte = piece.readUInt8(at);
      if (this.#inString) this.#readString(byte);
      else if (byte === quote) {
        if (this.#isData) return at + 1;
        this.#inString = true;
        this.#string = '';
      } else if (byte === colon) {
        this.#isData = this.#depth === 1 && this.#string === 'data';
        if (this.#isData) this.#count += 1;
        if (this.#count > 1) throw new HttpFailure(400, 'The body has "data" twice.');
      } else if (!space.has(byte)) {
        this.#isData = false;
        this.#string = '';
        if (opening.has(byte)) this.#depth += 1;
        if (closing.has(byte)) this.#depth -= 1;
      }
    }
    return undefined;
  }

  /** The value of `data` has been read, up to its quote. */
  goOn(): void {
    this.#isData = false;
    this.#inString = true;
  }

  #readString(byte: number): void {
    if (byte === quote && !this.#isEscaped) {
      this.#inString = false;
      return;
    }
    this.#isEscaped = byte === backslash && !this.#isEscaped;
    // One character more than the key tells it apart.
    if (this.#string.length <= 'data'.length) this.#string += String.fromCharCode(byte);
  }
}

/** Decodes base64 in chunks, strictly: only the standard alphabet, with padding. */
class Base64Decoder {
  #carry = '';
  #padded = false;

  push(piece: string): Buffer {
    // JSON may escape "/" as "\/".
    const raw = (this.#carry + piece).replaceAll('\\/', '/');
    const usable = raw.endsWith('\\') ? raw.length - 1 : raw.length;
    const text = raw.slice(0, usable - (usable % 4));
    this.#carry = raw.slice(text.length);
    const decoded = Buffer.from(text, 'base64');
    if (text !== '' && this.#padded) throw notBase64();
    // The decoder skips what is not base64, so a full length proves that everything was, except for the URL alphabet,
    // which it also accepts. With gigabytes of data, only the end is checked letter by letter.
    if (decoded.length === (text.length / 4) * 3 && !text.includes('-') && !text.includes('_')) return decoded;
    if (!/^[A-Za-z0-9+/]*={1,2}$/.test(text)) throw notBase64();
    this.#padded = true;
    return decoded;
  }

  end(): void {
    if (this.#carry !== '') throw notBase64();
  }
}

function notBase64(): HttpFailure {
  return new HttpFailure(400, '"data" is not base64.');
}
