import {RESPONSE_ALREADY_SENT} from '@hono/node-server/utils/response';
import * as v from 'valibot';
import {parseJson} from '../text/json.js';

export type Headers = Readonly<Record<string, string>>;

const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

export function json(status: number, value: unknown, headers: Headers = {}): Response {
  return answer(status, JSON.stringify(value), {'content-type': 'application/json', ...headers});
}

export function answer(status: number, body: string, headers: Headers = {}): Response {
  if (bodiless.has(status)) return new Response(null, {status, headers});
  return new Response(body, {status, headers: {...headers, 'content-length': String(Buffer.byteLength(body))}});
}

/** A refusal in JSON. Some clients read one member, some the other. */
export function failureAnswer({status, message, headers}: HttpFailure): Response {
  return json(status, {detail: message, message}, headers);
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

/** Parses JSON. @throws HttpFailure `status`, naming `what`. */
export function parsed(text: string, what: string, status = 400): unknown {
  try {
    return parseJson(text);
  } catch {
    throw new HttpFailure(status, `${what} is not JSON.`);
  }
}

/** Validates `value` with `schema`. @throws HttpFailure `status`, naming `what` and the invalid member. */
export function validate<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
  what: string,
  status = 400,
): v.InferOutput<Schema> {
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  const [issue] = result.issues;
  const path = v.getDotPath(issue);
  throw new HttpFailure(status, `${what} is invalid${path === null ? '' : ` at "${path}"`}: ${issue.message}.`);
}
