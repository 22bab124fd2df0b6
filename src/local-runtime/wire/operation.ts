import type * as v from 'valibot';
import {answer, json, validate} from '../answer.js';
import type {AdmittedCall, Protocol, Route} from '../context.js';
import type {RouteName} from '../faults.js';
import {range} from './parameters.js';
import type {Part} from './schemas.js';

/** A way to refuse a request, by its name in the document. */
export type RefusalName =
  | 'BadRequest'
  | 'Unauthorized'
  | 'Forbidden'
  | 'NotFound'
  | 'UnknownProject'
  | 'RequestTimeout'
  | 'Conflict'
  | 'TooLarge'
  | 'UnsupportedMediaType'
  | 'Misdirected'
  | 'Unprocessable'
  | 'RateLimited'
  | 'ServerError';

/** A route of the wire, with what the document says of it. */
export interface Operation extends Route {
  readonly name: RouteName;
  /** Its name in the document. */
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  /** A JSON body, which is validated. */
  readonly json?: v.GenericSchema;
  /** A body that the handler reads as a stream. */
  readonly stream?: {readonly type: string; readonly schema: v.GenericSchema};
  /** Of one that answers with a part of a list. */
  readonly query?: v.GenericSchema;
  /** What accepted requests are answered with. @default 200 */
  readonly status?: number;
  /** None: there is no body. */
  readonly answer?: v.GenericSchema;
  /** Other statuses that clients accept. They have the same body, 204 none. */
  readonly also?: readonly number[];
  /** How it refuses, besides the ways that follow from its path, its body and its credentials. */
  readonly refuses?: readonly RefusalName[];
  /** More parts of the operation in the document, and of its responses. */
  readonly marks?: Part;
  readonly responses?: Readonly<Record<string, Part>>;
}

type Sent<T> = T extends object ? {readonly [Key in keyof T]: Sent<T[Key]>} : T;

/** An answer that fits a schema. */
export type AnswerOf<Schema extends v.GenericSchema> = Sent<v.InferInput<Schema>>;

/** An operation whose handler is given a request that was validated, and returns the body of the answer. */
interface Definition<Body, Answer> extends Omit<Operation, 'method' | 'path' | 'name' | 'handle'> {
  readonly json?: v.GenericSchema<unknown, Body>;
  readonly answer?: v.GenericSchema<Answer>;
  handle(call: AdmittedCall, body: Body): Promise<Sent<Answer> | Response> | Sent<Answer> | Response;
}

/** A group of operations with the same admission and the same form of refusals. */
export interface WireProtocol extends Protocol {
  readonly routes: readonly Operation[];
  /** The form of its refusals in the document. */
  readonly kind: 'Legacy' | 'Api' | 'OAuth';
  readonly tag: 'Api' | 'legacy' | 'local';
  /** Names of the security schemes that it accepts. */
  readonly security: readonly string[];
}

/** Makes the route of an operation, which validates requests and writes answers. */
export function operation<Answer = void, Body = unknown>(
  method: Route['method'],
  path: string,
  name: RouteName,
  definition: Definition<Body, Answer>,
): Operation {
  const {json: schema, status = 200} = definition;
  return {
    ...definition,
    method,
    path,
    name,
    async handle(call) {
      const body = schema && validate(schema, await call.body.json(), {status: 400, what: 'The body'});
      // Without a schema, the handler has no use for a body.
      const result = await definition.handle(call, body as Body);
      if (result instanceof Response) return result;
      return result === undefined ? answer(status, '') : json(status, result);
    },
  };
}

export type Range = v.InferOutput<typeof range>;

/** A GET of a list: its handler is given the part that the request asks for. */
export function listOperation<Answer>(
  path: string,
  name: RouteName,
  definition: Omit<Definition<unknown, Answer>, 'handle'> & {
    handle(call: AdmittedCall, range: Range): Sent<Answer>;
  },
): Operation {
  return operation<Answer>('GET', path, name, {
    ...definition,
    query: range,
    handle(call) {
      const digits = [...call.query].map(([key, value]) => [key, /^\d+$/.test(value) ? Number(value) : value]);
      const asked = validate(range, Object.fromEntries(digits), {status: 400, what: 'The query'});
      return definition.handle(call, asked);
    },
  });
}

export function slice<T>(items: readonly T[], {limit, offset}: Range): readonly T[] {
  return items.slice(offset, offset + limit);
}
