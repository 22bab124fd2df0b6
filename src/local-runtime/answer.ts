import {RESPONSE_ALREADY_SENT} from '@hono/node-server/utils/response';
import * as v from 'valibot';

/** The headers of an answer. */
export type Headers = Readonly<Record<string, string>>;

/** Statuses whose answers have no body. */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

/** An answer with a JSON body. */
export function json(status: number, value: unknown, headers: Headers = {}): Response {
  return answer(status, JSON.stringify(value), {'content-type': 'application/json', ...headers});
}

/** An answer with a line of text. */
export function text(status: number, line: string, headers: Headers = {}): Response {
  return answer(status, `${line}\n`, {'content-type': 'text/plain; charset=utf-8', ...headers});
}

/** An answer with a body that is complete. */
export function answer(status: number, body: string, headers: Headers = {}): Response {
  const sent = bodiless.has(status) ? null : body;
  return new Response(sent, {
    status,
    headers: sent === null ? headers : {...headers, 'content-length': String(Buffer.byteLength(sent))},
  });
}

/** What a handler returns that has written the response itself. */
export const alreadySent: Response = RESPONSE_ALREADY_SENT;

/** A refused request: its status, and a sentence for the client. */
export class HttpFailure extends Error {
  readonly status: number;
  readonly headers: Headers;

  constructor(status: number, detail: string, headers: Headers = {}) {
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
