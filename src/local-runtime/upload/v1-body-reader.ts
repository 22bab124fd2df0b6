import {isRecord} from '../../text/json.js';
import {HttpFailure, parsed} from '../answer.js';

const quote = 0x22;
const maxRestBytes = 16 * 1024 * 1024;

/**
 * Reads a JSON object in chunks, and decodes the base64 of its member `data`, which may exceed the maximum length of a
 * string. The rest of the document, with `""` instead of the data, is small and parsed with `JSON.parse`.
 */
export class V1BodyReader {
  readonly #decoder = new Base64Decoder();
  #rest = Buffer.alloc(0);
  #at: 'before' | 'data' | 'after' = 'before';

  /**
   * Accepts the next chunk of the document. Returns the bytes of the data in it.
   * @throws HttpFailure 400 for data that is not base64, 413 when the rest of the document is too large.
   */
  push(piece: Buffer): Buffer {
    if (this.#at === 'after') {
      this.#keep(piece);
      return Buffer.alloc(0);
    }
    if (this.#at === 'before') {
      this.#keep(piece);
      const start = startOfData(this.#rest.toString('latin1'));
      if (start === undefined) return Buffer.alloc(0);
      this.#at = 'data';
      const data = this.#rest.subarray(start);
      this.#rest = this.#rest.subarray(0, start);
      return this.push(data);
    }
    const end = piece.indexOf(quote);
    if (end === -1) return this.#decoder.push(piece.toString('latin1'));
    this.#at = 'after';
    const data = this.#decoder.push(piece.toString('latin1', 0, end));
    this.#decoder.end();
    this.#keep(piece.subarray(end));
    return data;
  }

  /**
   * The document, with an empty string as its data.
   * @throws HttpFailure 400 when it is not JSON, or has no data or several.
   */
  end(): unknown {
    const value = parsed(this.#rest.toString('utf8'), 'The body');
    if (this.#at === 'before') throw new HttpFailure(400, 'The body has no "data" string.');
    if (isRecord(value) && value['data'] !== '') throw new HttpFailure(400, 'The body has "data" twice.');
    return value;
  }

  #keep(bytes: Buffer): void {
    if (this.#rest.length + bytes.length > maxRestBytes) {
      throw new HttpFailure(413, `The body has more than ${maxRestBytes} bytes besides its data.`);
    }
    this.#rest = Buffer.concat([this.#rest, bytes]);
  }
}

/** Where the string of the member `data` starts, after its quote, in the beginning of a document. */
function startOfData(text: string): number | undefined {
  for (const {0: found, index} of text.matchAll(/"data"\s*:\s*"/g)) {
    const start = index + found.length;
    // It is a member of the document, and not of an object in it, if only one brace is left to close.
    if (isDocument(`${text.slice(0, start)}"}`)) return start;
  }
  return undefined;
}

function isDocument(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) && value['data'] === '';
  } catch {
    return false;
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
