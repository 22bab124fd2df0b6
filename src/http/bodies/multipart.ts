import {randomBytes} from 'node:crypto';
import type {RequestBodies, StreamSource} from '../types.js';
import {sourceSegment, textSegment, type Segment} from './segment.js';

type Parts = Parameters<RequestBodies['multipart']>[0];

/** A `multipart/form-data` body: the file, whose bytes are those of `source`, first, then the fields. */
export function multipartSegments(
  {file, fields}: Parts,
  source: StreamSource,
): {
  readonly contentType: string;
  readonly segments: readonly Segment[];
} {
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

/** As the HTML standard has it: the three characters that would end a quoted name. */
function quoted(name: string): string {
  return name.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22');
}
