import {Readable} from 'node:stream';
import busboy from 'busboy';
import type {Got} from 'got';
import {createHttpClient, type ByteSource, type HttpClientOptions} from '../../src/http/index.js';
import type {StreamingClient} from '../../src/http/types.js';
import {isRuntimeCliError, type RuntimeCliError} from '../../src/errors/index.js';
import type {RecordedRequest} from './with-server.js';

/** Retries without noticeable waits. */
export const quick = {maxRetries: 3, baseDelayMs: 1, maxDelayMs: 5};

/** A client for tests, with what it logged: all of it, and without what is for those who look for a fault. */
export async function testClient(options: Partial<HttpClientOptions> = {}): Promise<{
  readonly http: Got & StreamingClient;
  readonly log: readonly string[];
  readonly remarks: readonly string[];
}> {
  const log: string[] = [];
  const remarks: string[] = [];
  const remark = (message: string) => {
    log.push(message);
    remarks.push(message);
  };
  const http = await createHttpClient({
    env: {},
    userAgent: 'test/1.2.3',
    logger: {debug: (message) => void log.push(message), info: remark, warn: remark},
    rateLimit: quick,
    ...options,
  });
  return {http, log, remarks};
}

/** Bytes that do not repeat at any chunk's length, read in small and odd pieces. */
export function testSource(size: number, chunkSize = 65_521): ByteSource & {readonly bytes: Buffer} {
  const bytes = Buffer.alloc(size);
  for (let index = 0; index < size; index += 1) bytes[index] = (index * 31 + (index >> 8)) & 0xff;
  return {
    bytes,
    size,
    createReadStream: ({start = 0} = {}) =>
      Readable.from(
        (function* () {
          for (let at = start; at < size; at += chunkSize) yield bytes.subarray(at, at + chunkSize);
        })(),
        {objectMode: false},
      ),
  };
}

/** A large source that takes no memory. */
export function zeroSource(size: number): ByteSource {
  const chunk = Buffer.alloc(512 * 1024);
  return {
    size,
    createReadStream: () =>
      Readable.from(
        (function* () {
          for (let at = 0; at < size; at += chunk.length) yield chunk.subarray(0, Math.min(chunk.length, size - at));
        })(),
        {objectMode: false},
      ),
  };
}

/** What a rejected call rejected with: it must be an error of the catalogue. */
export async function rejection(promise: Promise<unknown>): Promise<RuntimeCliError> {
  const error = await reasonOf(promise);
  if (!isRuntimeCliError(error)) throw new Error('not an error of the catalogue', {cause: error});
  return error;
}

/** Whatever a call rejected with. */
export async function reasonOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => {
      throw new Error('it was expected to fail');
    },
    (error: unknown) => error,
  );
}

/** Parses a multipart request with a parser of other people. */
export async function parseMultipart({headers, body}: RecordedRequest): Promise<{
  readonly fields: Readonly<Record<string, string>>;
  readonly files: readonly {name: string; filename: string; mimeType: string; bytes: Buffer}[];
  /** Names of all parts. */
  readonly order: readonly string[];
}> {
  const fields: Record<string, string> = {};
  const files: {name: string; filename: string; mimeType: string; bytes: Buffer}[] = [];
  const order: string[] = [];
  const parser = busboy({headers, limits: {fileSize: Infinity}});
  parser.on('field', (name, value) => {
    order.push(name);
    fields[name] = value;
  });
  parser.on('file', (name, stream, {filename, mimeType}) => {
    order.push(name);
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => files.push({name, filename: filename ?? '', mimeType, bytes: Buffer.concat(chunks)}));
  });
  await new Promise((resolve, reject) => {
    parser.on('close', resolve);
    parser.on('error', reject);
    parser.end(body);
  });
  return {fields, files, order};
}
