import type {FileHandle} from 'node:fs/promises';
import type {Readable} from 'node:stream';
import * as v from 'valibot';

/** What a file can be compressed with while it is sent. */
export type Compression = 'br' | 'gzip';

/** A part of an open file. The sender closes it. */
export interface FileBody {
  readonly file: FileHandle;
  readonly start: number;
  /** Before any compression. */
  readonly length: number;
  readonly compression?: Compression | undefined;
}

/** A body of unknown length, sent as it comes. The sender destroys it. */
export interface StreamBody {
  readonly stream: Readable;
}

/** An answer to a request. */
export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | string[]>> | undefined;
  readonly body?: string | Buffer | FileBody | StreamBody | undefined;
}

/** An answer with a JSON body. */
export function json(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): Answer {
  return {status, headers: {'content-type': 'application/json', ...headers}, body: JSON.stringify(value)};
}

/** An answer with a line of text. */
export function text(status: number, line: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return {status, headers: {'content-type': 'text/plain; charset=utf-8', ...headers}, body: `${line}\n`};
}

/** A refused request: its status, and a sentence for the client. */
export class HttpFailure extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, detail: string, headers: Readonly<Record<string, string>> = {}) {
    super(detail);
    this.name = 'HttpFailure';
    this.status = status;
    this.headers = headers;
  }
}

/** A JSON object with members of `schema`. valibot's own schema accepts arrays. */
export function objectOf<Schema extends v.GenericSchema>(schema: Schema) {
  return v.pipe(
    v.custom<object>(
      (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
      'must be an object',
    ),
    v.record(v.string(), schema),
  );
}

/**
 * Validates `value` with `schema`.
 * @throws HttpFailure `status`, naming `what` and the invalid member.
 */
export function validate<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
  {status, what}: {readonly status: number; readonly what: string},
): v.InferOutput<Schema> {
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  const [issue] = result.issues;
  const path = v.getDotPath(issue);
  throw new HttpFailure(status, `${what} is invalid${path === null ? '' : ` at "${path}"`}: ${issue.message}.`);
}
