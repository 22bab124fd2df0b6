import * as v from 'valibot';
import type {Operation} from '../../wire/operation.js';
import {pathParameters} from '../../wire/parameters.js';
import {answer, json, validate} from '../answer.js';
import type {Call, Route} from '../runtime-context.js';

type Sent<T> = T extends object ? {readonly [Key in keyof T]: Sent<T[Key]>} : T;

export type AnswerOf<Schema extends v.GenericSchema> = Sent<v.InferInput<Schema>>;

/** What a handler is given: the query or the body, validated. */
type InputOf<Served extends Operation> = Served extends {readonly query: infer Query extends v.GenericSchema}
  ? v.InferOutput<Query>
  : Served extends {readonly json: infer Body extends v.GenericSchema}
    ? v.InferOutput<Body>
    : undefined;

/** What a handler returns: the body. Without one in the description, the status says it all. */
type Handled<Served extends Operation> = Served extends {readonly answer: infer Body extends v.GenericSchema}
  ? Promise<AnswerOf<Body> | Response> | AnswerOf<Body>
  : Promise<Response> | Promise<void>;

export type Handlers<Operations extends Readonly<Record<string, Operation>>> = {
  readonly [Name in keyof Operations]: (call: Call, input: InputOf<Operations[Name]>) => Handled<Operations[Name]>;
};

/** The routes of operations, which validate requests and write answers. */
export function routesOf<Operations extends Readonly<Record<string, Operation>>>(
  operations: Operations,
  handlers: Handlers<Operations>,
): readonly Route[] {
  return Object.entries(operations).map(([name, {method, path, route, query, json: body, statuses = [200]}]) => {
    const inputOf = async (call: Call): Promise<unknown> => {
      if (query) return validate(query, numbersOf(call.query), 'The query');
      return body && validate(body, await call.body.json(), 'The body');
    };
    const handler = handlers[name] as (call: Call, input: unknown) => Promise<unknown>;
    return {
      method,
      path,
      name: route,
      async handle(call) {
        const result = await handler(call, await inputOf(call));
        if (result instanceof Response) return result;
        return result === undefined ? answer(statuses[0], '') : json(statuses[0], result);
      },
    };
  });
}

function numbersOf(query: URLSearchParams): Readonly<Record<string, unknown>> {
  return Object.fromEntries([...query].map(([key, value]) => [key, /^\d+$/.test(value) ? Number(value) : value]));
}

const pathSchema = v.partial(v.object(pathParameters));

export function checkPath(params: Readonly<Record<string, string>>): void {
  const {bundleId} = params;
  validate(pathSchema, bundleId === undefined ? params : {...params, bundleId: Number(bundleId)}, 'The path');
}

/** What is shown of the value of a variable. */
export const maskedValue = '********';
