import type * as v from 'valibot';
import {answer, json, validate} from '../answer.js';
import type {AdmittedCall, Protocol, Route} from '../context.js';
import type {RouteName} from '../faults.js';
import {range} from './parameters.js';
import type {refusalsOf} from './refusals.js';
import type {Part} from './schemas.js';

/** What an operation of the wire is, for its document. */
export interface OperationFacts {
  readonly method: Route['method'];
  readonly path: string;
  readonly name: RouteName;
  /** Its name in the document. */
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  /** How it refuses. */
  readonly refuses: keyof typeof refusalsOf;
  /** Parts of the operation in the document. */
  readonly marks?: Part;
  /** A body that is read as a stream. */
  readonly stream?: {readonly type: string; readonly schema: v.GenericSchema};
  /** What accepted requests are answered with. */
  readonly answer: {
    readonly status: number;
    readonly description: string;
    /** None: there is no body. */
    readonly schema?: v.GenericSchema;
    readonly headers?: Readonly<Record<string, string>>;
    /** Other statuses that clients accept, with the same body. 204 has none. */
    readonly also?: Readonly<Record<string, string>>;
    /** Answers that its handler makes itself, with their parts in the document. */
    readonly others?: Readonly<Record<string, Part>>;
  };
}

/** What is sent, of which nothing changes any more. */
type Sent<T> = T extends object ? {readonly [Key in keyof T]: Sent<T[Key]>} : T;

/** An answer that fits a schema. */
export type AnswerOf<Schema extends v.GenericSchema> = Sent<v.InferInput<Schema>>;

/** An operation with its handler, which is given a request that was validated and returns the body of the answer. */
interface Definition<Body, Answer> extends OperationFacts {
  /** A JSON body. */
  readonly json?: v.GenericSchema<unknown, Body>;
  readonly answer: OperationFacts['answer'] & {readonly schema?: v.GenericSchema<Answer>};
  handle(call: AdmittedCall, body: Body): Promise<Sent<Answer> | Response> | Sent<Answer> | Response;
}

/** A route of the wire. */
export interface Operation extends OperationFacts, Pick<Route, 'handle'> {
  readonly json?: v.GenericSchema;
  /** Of one that answers with a part of a list. */
  readonly query?: v.GenericSchema;
}

/** A group of operations with the same admission and the same form of refusals. */
export interface WireProtocol extends Protocol {
  readonly routes: readonly Operation[];
  /** How its operations refuse. */
  readonly kind: 'Legacy' | 'Api' | 'OAuth';
  readonly tag: 'Api' | 'legacy' | 'local';
  /** Names of the security schemes that it accepts. */
  readonly security: readonly string[];
}

/** Makes the route of an operation, which validates requests and writes answers. */
export function operation<Answer = void, Body = unknown>(definition: Definition<Body, Answer>): Operation {
  const {json: schema, answer: accepted} = definition;
  return {
    ...definition,
    async handle(call) {
      const body = schema && validate(schema, await call.body.json(), {status: 400, what: 'The body'});
      // Without a schema, the handler has no use for a body.
      const result = await definition.handle(call, body as Body);
      if (result instanceof Response) return result;
      return result === undefined ? answer(accepted.status, '') : json(accepted.status, result, accepted.headers);
    },
  };
}

/** The part of a list that a request asks for. */
export type Range = v.InferOutput<typeof range>;

/** A GET of a list: its handler is given the part that the request asks for. */
export function listOperation<Answer>({
  handle,
  ...facts
}: Omit<Definition<unknown, Answer>, 'handle' | 'method' | 'refuses'> &
  Partial<Pick<OperationFacts, 'refuses'>> & {handle(call: AdmittedCall, range: Range): Sent<Answer>}): Operation {
  const list = operation<Answer>({
    refuses: 'list',
    ...facts,
    method: 'GET',
    handle(call) {
      const digits = [...call.query].map(([name, value]) => [name, /^\d+$/.test(value) ? Number(value) : value]);
      return handle(call, validate(range, Object.fromEntries(digits), {status: 400, what: 'The query'}));
    },
  });
  return {...list, query: range};
}

/** The part of a list in a range. */
export function slice<T>(items: readonly T[], {limit, offset}: Range): readonly T[] {
  return items.slice(offset, offset + limit);
}
