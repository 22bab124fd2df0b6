import {parseJson} from '../../../errors/json.js';
import {HttpFailure} from '../answer.js';

const quote = 0x22;
const backslash = 0x5c;
/** More than `data` has: a longer key is another one. */
const maxKeyBytes = 8;
const maxRestBytes = 16 * 1024 * 1024;

/**
 * Reads a JSON object in pieces, and decodes the base64 of its member `data` on the way: that string may be larger than
 * any string can be. What is left of the document, with `""` in the place of the data, is small, and is left to
 * `JSON.parse`: this class only has to find the one string.
 */
export class V1BodyReader {
  readonly #decoder = new Base64Decoder();
  readonly #rest: Buffer[] = [];
  #restBytes = 0;
  #inside: 'document' | 'string' | 'data' = 'document';
  #escaped = false;
  #depth = 0;
  /** Bytes of the string at depth 1 that was read last: the key, once a colon follows. */
  #string: number[] = [];
  #key = '';
  #found = false;

  /**
   * Takes the next piece of the document, and returns the bytes of the data in it.
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
   * The document, with an empty string for its data.
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

  /** Takes a byte that is not of the data; says whether it was the quote that begins the data. */
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
    // A copy: a slice would keep the whole piece, with its megabytes of data, in memory.
    if (bytes.length > 0) this.#rest.push(Buffer.from(bytes));
  }
}

/** Decodes base64 in pieces, strictly: the standard alphabet, padded, nothing else. */
class Base64Decoder {
  #carry = '';
  #padded = false;

  push(piece: string): Buffer {
    // JSON may write "/" as "\/".
    const raw = (this.#carry + piece).replaceAll('\\/', '/');
    const usable = raw.endsWith('\\') ? raw.length - 1 : raw.length;
    const end = usable - (usable % 4);
    const text = raw.slice(0, end);
    this.#carry = raw.slice(end);
    if (text === '') return Buffer.alloc(0);
    if (this.#padded) throw notBase64();
    const decoded = Buffer.from(text, 'base64');
    // The decoder skips what is not base64, so that a full length says that all was, but for the URL alphabet, which it
    // takes too. Gigabytes come this way: only the end of the data is looked at letter by letter.
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
