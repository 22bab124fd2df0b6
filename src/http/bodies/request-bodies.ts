import type {CreateBody} from '../rate-limit/index.js';
import type {BodyOptions, ByteSource, RequestBodies, StreamSource, UploadProgress} from '../types.js';
import {multipartSegments} from './multipart.js';
import {base64Segment, sourceSegment, textSegment, type Segment} from './segment.js';

/** How bodies are read, and who is told. */
export interface RequestBodiesOptions {
  /**
   * Called at the start of each attempt, after each piece that the connection took, and once more with everything when a server
   * answered before it had read all. It must not throw.
   */
  readonly onProgress?: ((progress: UploadProgress) => void) | undefined;
  /**
   * Reads a source in place of its own reader, when it can: from the first byte on, a chunk being good until the next is asked
   * for, which is enough for the client.
   */
  readonly readLent?: ((source: ByteSource | StreamSource) => AsyncIterable<Uint8Array> | undefined) | undefined;
}

/** Makes bodies for the client. Each attempt of a request reads its body from the start. */
export function createRequestBodies(options: RequestBodiesOptions = {}): RequestBodies {
  const readable = (source: ByteSource | StreamSource): StreamSource => ({
    size: source.size,
    read: () => options.readLent?.(source) ?? ownReader(source),
  });
  const body = (contentType: string, segments: readonly Segment[]) =>
    bodyOptions(contentType, segments, options.onProgress ?? (() => undefined));
  return {
    multipart(parts) {
      const {contentType, segments} = multipartSegments(parts, readable(parts.file.source));
      return body(contentType, segments);
    },
    base64Json({value, field, source}) {
      const rest = JSON.stringify({...value, [field]: undefined}).slice(0, -1);
      const head = `${rest}${rest === '{' ? '' : ','}${JSON.stringify(field)}:"`;
      return body('application/json', [textSegment(head), base64Segment(readable(source)), textSegment('"}')]);
    },
    json: (value) => body('application/json', [textSegment(JSON.stringify(value))]),
    file: (source, contentType = 'application/octet-stream') => body(contentType, [sourceSegment(readable(source))]),
  };
}

function ownReader(source: ByteSource | StreamSource): AsyncIterable<Uint8Array> {
  return 'createReadStream' in source ? (source.read?.() ?? source.createReadStream()) : source.read();
}

function bodyOptions(
  contentType: string,
  segments: readonly Segment[],
  onProgress: (progress: UploadProgress) => void,
): BodyOptions {
  const total = segments.reduce((sum, {size}) => sum + size, 0);
  let last: UploadProgress | undefined;
  const report = (transferred: number, attempt: number) => {
    last = {transferred, total, attempt};
    onProgress(last);
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
  // The client calls it when the request has succeeded.
  const confirmBody = () => {
    if (last !== undefined && last.transferred < total) report(total, last.attempt);
  };
  return {
    headers: {'content-type': contentType, 'content-length': String(total)},
    context: {createBody, confirmBody},
  };
}
