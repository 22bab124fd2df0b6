import {parseJson} from '../../errors/json.js';
import {HttpFailure} from '../answer.js';

const quote = 0x22;
const backslash = 0x5c;
/** Longer than `data`, since longer keys do not matter. */
const maxKeyBytes = 8;
const maxRestBytes = 16 * 1024 * 1024;

/**
 * Reads a JSON object in chunks, and decodes the base64 of its member `data`, which may exceed the maximum length of a
 * string. The rest of the document, with `""` instead of the data, is small and parsed with `JSON.parse`. This class
 * only has to find that one string.
 */
export class V1BodyReader {
  readonly #decoder = new Base64Decoder();
  readonly #rest: Buffer[] = [];
  #restBytes = 0;
  #inside: 'document' | 'string' | 'data' = 'document';
  #escaped = false;
  #depth = 0;
  /** Bytes of the last string at depth 1, which is a key if a colon follows. */
  #string: number[] = [];
  #key = '';
  #found = false;

  /**
   * Accepts the next chunk of the document. Returns the bytes of the data in it.
   * @throws HttpFailure 400 for data that is not base64, 413 when the rest of the document is too large.
   */
  push(piece: Buffer): Buffer {
    const decoded: Buffer[] = [];
    let restStart = this.#inside === 'data' ? piece.length : 0;
    let at = 0;
    while (at < piece.length) {
      if (this.#inside !== 'data') {
        const dataBegins = this.#step(piece[at] ?? 0);
        at += 1;
        if (dataBegins) {
          this.#keep(piece.subarray(restStart, at));
          restStart = piece.length;
        }
        continue;
      }
      const end = piece.indexOf(quote, at);
      const stop = end === -1 ? piece.length : end;
      decoded.push(this.#decoder.push(piece.toString('latin1', at, stop)));
      at = stop;
      if (end !== -1) {
        this.#decoder.end();
        this.#inside = 'string';
        restStart = end;
      }
    }
    this.#keep(piece.subarray(restStart));
    return Buffer.concat(decoded);
  }

  /**
   * The document, with an empty string as its data.
   * @throws HttpFailure 400 when it is not JSON, or has no data.
   */
  end(): unknown {
    let value: unknown;
    try {
      value = parseJson(new TextDecoder('utf-8', {fatal: true}).decode(Buffer.concat(this.#rest)));
    } catch {
      throw new HttpFailure(400, 'The body is not JSON.');
    }
    if (!this.#found) throw new HttpFailure(400, 'The body has no "data" string.');
    return value;
  }

  /** Handles a byte outside the data. Returns whether it was the quote that starts the data. */
  #step(byte: number): boolean {
    if (this.#inside === 'string') {
      this.#stepInString(byte);
      return false;
    }
    switch (String.fromCharCode(byte)) {
      case '{':
      case '[':
        this.#depth += 1;
        return false;
      case '}':
      case ']':
        this.#depth -= 1;
        return false;
      case ':':
        if (this.#depth === 1) this.#key = Buffer.from(this.#string).toString('latin1');
        return false;
      case ',':
        if (this.#depth === 1) this.#key = '';
        return false;
      case '"':
        return this.#openString();
      default:
        return false;
    }
  }

  #stepInString(byte: number): void {
    if (this.#escaped) this.#escaped = false;
    else if (byte === backslash) this.#escaped = true;
    else if (byte === quote) this.#inside = 'document';
    if (this.#inside === 'string' && this.#depth === 1 && this.#string.length < maxKeyBytes) this.#string.push(byte);
  }

  #openString(): boolean {
    const isData = this.#depth === 1 && this.#key === 'data';
    if (isData && this.#found) throw new HttpFailure(400, 'The body has "data" twice.');
    this.#found ||= isData;
    this.#string = [];
    this.#inside = isData ? 'data' : 'string';
    return isData;
  }

  #keep(bytes: Buffer): void {
    this.#restBytes += bytes.length;
    if (this.#restBytes > maxRestBytes) {
      throw new HttpFailure(413, `The body has more than ${String(maxRestBytes)} bytes besides its data.`);
    }
    // A copy, because a slice would keep the whole chunk, with its megabytes of data, in memory.
    if (bytes.length > 0) this.#rest.push(Buffer.from(bytes));
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
    const end = usable - (usable % 4);
    const text = raw.slice(0, end);
    this.#carry = raw.slice(end);
    if (text === '') return Buffer.alloc(0);
    if (this.#padded) throw notBase64();
    const decoded = Buffer.from(text, 'base64');
    // The decoder skips what is not base64, so a full length proves that everything was, except for the URL alphabet,
    // which it also accepts. With gigabytes of data, only the end is checked letter by letter.
    if (decoded.length !== (text.length / 4) * 3 || text.includes('-') || text.includes('_')) this.#verifyEnd(text);
    return decoded;
  }

  #verifyEnd(text: string): void {
    if (!/^[A-Za-z0-9+/]*={1,2}$/.test(text)) throw notBase64();
    this.#padded = true;
  }

  end(): void {
    if (this.#carry !== '') throw notBase64();
  }
}

function notBase64(): HttpFailure {
  return new HttpFailure(400, '"data" is not base64.');
}
