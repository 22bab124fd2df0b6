import * as v from 'valibot';
import {HttpFailure} from './http-failure.js';

/** A JSON object whose members are of `schema`. valibot alone takes a list for one. */
export function objectOf<Schema extends v.GenericSchema>(schema: Schema) {
  return v.pipe(
    v.custom<object>((value) => typeof value === 'object' && value !== null && !Array.isArray(value), 'not an object'),
    v.record(v.string(), schema),
  );
}

/**
 * `value` in the shape of `schema`.
 * @throws HttpFailure `status`, naming `what` and the member that is wrong.
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
  throw new HttpFailure(status, `${what} is wrong${path === null ? '' : ` at "${path}"`}: ${issue.message}.`);
}
