import type * as v from 'valibot';
import {answer, json, validate} from '../answer.js';
import type {Call, Protocol, Route} from '../context.js';
import type {RouteName} from '../faults.js';
import type {Part} from './schemas.js';

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
  /** Whether it is refused while a deployment runs. */
  readonly mayConflict?: boolean;
  /** More parts of the operation in the document, and of its responses. */
  readonly marks?: Part;
  readonly responses?: Readonly<Record<string, Part>>;
}

type Sent<T> = T extends object ? {readonly [Key in keyof T]: Sent<T[Key]>} : T;

/** An answer that fits a schema. */
export type AnswerOf<Schema extends v.GenericSchema> = Sent<v.InferInput<Schema>>;

/** An operation whose handler is given a query or a body that was validated, and returns the body of the answer. */
interface Definition<Input, Answer> extends Omit<Operation, 'method' | 'path' | 'name' | 'handle'> {
  readonly query?: v.GenericSchema<unknown, Input>;
  readonly json?: v.GenericSchema<unknown, Input>;
  readonly answer?: v.GenericSchema<Answer>;
  handle(call: Call, input: Input): Promise<Sent<Answer> | Response> | Sent<Answer> | Response;
}

/** A group of operations with the same admission and the same form of refusals. */
export interface WireProtocol extends Protocol {
  readonly routes: readonly Operation[];
  /** The form of its refusals in the document. */
  readonly kind: 'Legacy' | 'Api' | 'OAuth';
  /** Names of the security schemes that it accepts. */
  readonly security: readonly string[];
}

/** Makes the route of an operation, which validates requests and writes answers. */
export function operation<Answer = void, Input = unknown>(
  method: Route['method'],
  path: string,
  name: RouteName,
  definition: Definition<Input, Answer>,
): Operation {
  const {query, json: body, status = 200} = definition;
  const inputOf = async (call: Call) => {
    if (query) return validate(query, numbersOf(call.query), 'The query');
    return body && validate(body, await call.body.json(), 'The body');
  };
  return {
    ...definition,
    method,
    path,
    name,
    async handle(call) {
      // Without a schema, the handler has no use for an input.
      const result = await definition.handle(call, (await inputOf(call)) as Input);
      if (result instanceof Response) return result;
      return result === undefined ? answer(status, '') : json(status, result);
    },
  };
}

function numbersOf(query: URLSearchParams): Readonly<Record<string, unknown>> {
  return Object.fromEntries([...query].map(([key, value]) => [key, /^\d+$/.test(value) ? Number(value) : value]));
}
