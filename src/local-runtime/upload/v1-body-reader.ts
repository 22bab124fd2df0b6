import {HttpFailure, parsed} from '../answer.js';

/** How large the document is without its data, and each of its strings, at most. Parts are read again until whole. */
const [maxRestBytes, maxPartBytes] = [16 * 1024 * 1024, 64 * 1024];

/**
 * The next part of a JSON document: a bracket, a string, with the colon if it is a key, or what is between them. A
 * string is a part only once it is clear whether a colon follows.
 */
const part =
  /(?<opening>[{[])|(?<closing>[}\]])|"(?<string>[^"\\]*(?:\\[^][^"\\]*)*)"(?:\s*(?<colon>:)\s*(?=\S)|(?=\s*[^\s:]))|[^"{}[\]]+/y;

/**
 * Reads a JSON object in chunks, and decodes the base64 of its member `data`, which may exceed the maximum length of a
 * string. The rest of the document, with `""` instead of the data, is small and parsed with `JSON.parse`.
 */
export class V1BodyReader {
  readonly #decoder = new Base64Decoder();
  /** The document without its data, up to the last whole part. Bytes as characters. */
  #rest = '';
  /** What follows the rest. */
  #pending = '';
  #depth = 0;
  #hasData = false;
  #place: 'before' | 'data' | 'after' = 'before';

  /** Accepts the next chunk of the document. Returns the bytes of the data in it. */
  push(piece: Buffer): Buffer {
    this.#pending += piece.toString('latin1');
    if (this.#place !== 'data') this.#readParts();
    if (this.#place !== 'data') return Buffer.alloc(0);
    const end = this.#pending.indexOf('"');
    const data = this.#decoder.push(end === -1 ? this.#pending : this.#pending.slice(0, end));
    this.#pending = end === -1 ? '' : this.#pending.slice(end + 1);
    if (end === -1) return data;
    this.#decoder.end();
    this.#place = 'after';
    this.#rest += '"';
    this.#readParts();
    return data;
  }

  /** The document, with an empty string as its data. */
  end(): unknown {
    const value = parsed(Buffer.from(this.#rest + this.#pending, 'latin1').toString('utf8'), 'The body');
    if (this.#place === 'before') throw new HttpFailure(400, 'The body has no "data" string.');
    return value;
  }

  /** Moves whole parts from `#pending` to `#rest`, up to the data. */
  #readParts(): void {
    let at = 0;
    for (;;) {
      part.lastIndex = at;
      const {opening, closing, string, colon} = part.exec(this.#pending)?.groups ?? {};
      if (part.lastIndex === 0) break;
      at = part.lastIndex;
      if (opening !== undefined) this.#depth += 1;
      if (closing !== undefined) this.#depth -= 1;
      if (colon === undefined || string !== 'data' || this.#depth !== 1) continue;
      if (this.#hasData) throw new HttpFailure(400, 'The body has "data" twice.');
      this.#hasData = true;
      if (this.#pending[at] !== '"') continue;
      at += 1;
      this.#place = 'data';
      break;
    }
    this.#rest += this.#pending.slice(0, at);
    this.#pending = this.#pending.slice(at);
    if (this.#place === 'data') return;
    if (this.#rest.length > maxRestBytes || this.#pending.length > maxPartBytes) {
      const limits = `more than ${maxRestBytes} bytes besides its data, or a string of more than ${maxPartBytes}`;
      throw new HttpFailure(413, `The body has ${limits}.`);
    }
  }
}

/** Decodes base64 in chunks, strictly: only the standard alphabet, with padding. */
class Base64Decoder {
  #carry = '';
  #isPadded = false;

  push(piece: string): Buffer {
    // JSON may escape "/" as "\/".
    const raw = (this.#carry + piece).replaceAll('\\/', '/');
    const usable = raw.endsWith('\\') ? raw.length - 1 : raw.length;
    const text = raw.slice(0, usable - (usable % 4));
    this.#carry = raw.slice(text.length);
    if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || (this.#isPadded && text !== '')) throw notBase64();
    this.#isPadded ||= text.endsWith('=');
    return Buffer.from(text, 'base64');
  }

  end(): void {
    if (this.#carry !== '') throw notBase64();
  }
}

function notBase64(): HttpFailure {
  return new HttpFailure(400, '"data" is not base64.');
}
