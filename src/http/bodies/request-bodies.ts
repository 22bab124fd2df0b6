import type {CreateBody} from '../rate-limit/index.js';
import type {BodyOptions, RequestBodies, UploadProgress} from '../types.js';
import {multipartSegments} from './multipart.js';
import {base64Segment, sourceSegment, textSegment, type Segment} from './segment.js';

/**
 * Makes bodies for the client. Each attempt of a request reads its body from the start.
 * @param options - `onProgress`: called at the start of each attempt, after each piece that the connection took, and
 * once more with everything when a server answered before it had read all. It must not throw.
 */
export function createRequestBodies(
  options: {readonly onProgress?: ((progress: UploadProgress) => void) | undefined} = {},
): RequestBodies {
  const body = (contentType: string, segments: readonly Segment[]) =>
    bodyOptions(contentType, segments, options.onProgress ?? (() => undefined));
  return {
    multipart(parts) {
      const {contentType, segments} = multipartSegments(parts);
      return body(contentType, segments);
    },
    base64Json({value, field, source}) {
      const rest = JSON.stringify({...value, [field]: undefined}).slice(0, -1);
      const head = `${rest}${rest === '{' ? '' : ','}${JSON.stringify(field)}:"`;
      return body('application/json', [textSegment(head), base64Segment(source), textSegment('"}')]);
    },
    json: (value) => body('application/json', [textSegment(JSON.stringify(value))]),
    file: (source, contentType = 'application/octet-stream') => body(contentType, [sourceSegment(source)]),
  };
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
