import {randomBytes} from 'node:crypto';
import {open} from 'node:fs/promises';
import {createError, isRuntimeCliError} from '../errors/index.js';
import type {CreateBody} from './rate-limit/index.js';
import type {
  BodyOptions,
  BuiltInBodies,
  ByteSource,
  FileSource,
  MultipartParts,
  StreamSource,
  UploadProgress,
} from './types.js';

function readable(source: ByteSource | FileSource | StreamSource): StreamSource {
  if ('read' in source) return source;
  return {
    size: source.size,
    read: () => ('createReadStream' in source ? source.createReadStream() : piecesOf(source)),
  };
}

/** Bytes of a file to read at a time. */
const pieceBytes = 512 * 1024;

/** The pieces of a file, each until the next is asked for. */
async function* piecesOf({path}: FileSource): AsyncGenerator<Buffer> {
  const file = await open(path);
  try {
    const memory = Buffer.allocUnsafe(pieceBytes);
    for (;;) {
      const {bytesRead} = await file.read(memory);
      if (bytesRead === 0) return;
      yield memory.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

/** Creates bodies, which each attempt reads from the start. Progress is that of what the connection accepted. */
export function createRequestBodies(onProgress: (progress: UploadProgress) => void = () => undefined): BuiltInBodies {
  return {
    multipart(parts) {
      const {contentType, segments} = multipartSegments(parts, readable(parts.file.source));
      return bodyOptions(contentType, segments, onProgress, {onlyWhole: true});
    },
    base64Json({value, field, source}) {
      const members = JSON.stringify({...value, [field]: undefined}).slice(0, -1);
      const start = textSegment(`${members}${members === '{' ? '' : ','}${JSON.stringify(field)}:"`);
      const segments = [start, base64Segment(readable(source)), textSegment('"}')];
      const {size} = source;
      return bodyOptions('application/json', segments, onProgress, {onlyWhole: true, total: size, counted: size});
    },
    file(source, {contentType = 'application/octet-stream', start = 0, end = source.size - 1} = {}) {
      const range = start === 0 && end === source.size - 1 ? undefined : {start, end};
      const part = {size: end - start + 1, read: () => source.createReadStream(range)};
      return bodyOptions(contentType, [sourceSegment(part)], onProgress, {before: start, total: source.size});
    },
  };
}

interface BodyFacts {
  /** It says itself where it ends: no service can use a part of it, so it can be sent again. @default false */
  readonly onlyWhole?: boolean;
  /** Number of bytes of the whole that were sent before it. @default 0 */
  readonly before?: number;
  /** Number of bytes of the whole. @default its length */
  readonly total?: number;
  /** Number of bytes reported as progress. @default its length */
  readonly counted?: number;
}

function bodyOptions(
  contentType: string,
  segments: readonly Segment[],
  onProgress: (progress: UploadProgress) => void,
  {onlyWhole = false, before = 0, ...facts}: BodyFacts,
): BodyOptions {
  const length = segments.reduce((sum, {size}) => sum + size, 0);
  const {total = length, counted = length} = facts;
  const report = (transferred: number, attempt: number) => {
    const share = length === 0 ? 1 : transferred / length;
    onProgress({transferred: before + Math.floor(share * counted), total, attempt});
  };
  const createBody: CreateBody = async function* (attempt) {
    let transferred = 0;
    report(transferred, attempt);
    for (const segment of segments) {
      for await (const chunk of segment.read()) {
        yield chunk;
        transferred += chunk.length;
        report(transferred, attempt);
      }
    }
  };
  return {
    headers: {'content-type': contentType, 'content-length': String(length)},
    context: {createBody, onlyWhole},
  };
}

/** A `multipart/form-data` body: the file with the bytes of `source` first, then the fields. */
function multipartSegments({file, fields}: MultipartParts, source: StreamSource) {
  const boundary = `mycli-${randomBytes(24).toString('hex')}`;
  const disposition = (name: string) => `--${boundary}\r\ncontent-disposition: form-data; name="${quoted(name)}"`;
  const texts = Object.entries(fields).map(([name, value]) => `\r\n${disposition(name)}\r\n\r\n${value}`);
  const fileHead = `${disposition(file.name)}; filename="${quoted(file.filename)}"\r\ncontent-type: ${file.contentType}`;
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    segments: [
      textSegment(`${fileHead}\r\n\r\n`),
      sourceSegment(source),
      textSegment(`${texts.join('')}\r\n--${boundary}--\r\n`),
    ],
  };
}

/** As in the HTML standard: escapes the three characters that would end a quoted name. */
function quoted(name: string): string {
  return name.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22');
}

interface Segment {
  readonly size: number;
  read(): Iterable<Buffer> | AsyncIterable<Buffer>;
}

function textSegment(text: string): Segment {
  const bytes = Buffer.from(text);
  return {size: bytes.length, read: () => [bytes]};
}

function sourceSegment(source: StreamSource): Segment {
  return {size: source.size, read: () => readExactly(source)};
}

/** A segment with the bytes of a source in base64, encoded while they are read. */
function base64Segment(source: StreamSource): Segment {
  return {size: 4 * Math.ceil(source.size / 3), read: () => encodeBase64(readExactly(source))};
}

/** Bytes to encode at a time: strings of more than 128 KiB would each get memory anew from the system. */
const groupBytes = 90 * 1024;

/** Encodes into one buffer, since each chunk is sent before the next is asked for: new ones take a fifth longer. */
async function* encodeBase64(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  // Room for a group and what was left of the one before.
  const memory = Buffer.allocUnsafe(((groupBytes + 3) / 3) * 4);
  const encode = (bytes: Buffer) => memory.subarray(0, memory.write(bytes.toString('base64'), 'latin1'));
  let rest = Buffer.alloc(0);
  for await (const chunk of chunks) {
    for (let start = 0; start < chunk.length; start += groupBytes) {
      const group = chunk.subarray(start, start + groupBytes);
      const bytes = rest.length === 0 ? group : Buffer.concat([rest, group]);
      // Only whole groups of 3 bytes can be encoded without padding.
      const end = bytes.length - (bytes.length % 3);
      if (end > 0) yield encode(bytes.subarray(0, end));
      rest = Buffer.from(bytes.subarray(end));
    }
  }
  if (rest.length > 0) yield encode(rest);
}

// Content-Length has been sent: a shorter source would stall the request, a longer one would break it.
async function* readExactly(source: StreamSource): AsyncGenerator<Buffer> {
  const {size} = source;
  let read = 0;
  try {
    for await (const chunk of source.read()) {
      const bytes = asBuffer(chunk);
      read += bytes.length;
      if (read > size) break;
      yield bytes;
    }
  } catch (error) {
    throw isRuntimeCliError(error) ? error : changed(`cannot be read: ${String(error)}`, error);
  }
  if (read !== size) throw changed(`had ${size} bytes and now has ${read > size ? 'more' : `only ${read}`}`);
}

/** Shares the memory. */
function asBuffer({buffer, byteOffset, byteLength}: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

function changed(what: string, cause?: unknown): Error {
  return createError('ERR_FILE_CHANGED', `The file changed while it was being sent: it ${what}.`, {
    suggestions: ['Make sure that nothing writes to the file during the upload, then try again.'],
    cause,
  });
}
