import * as v from 'valibot';
import type {Call} from '../context.js';
import {validate} from '../validate.js';

/** Which part of a list is asked for. */
export interface Range {
  readonly limit: number;
  readonly offset: number;
}

const maxLimit = 200;
const defaultLimit = 25;

const wholeNumber = (minimum: number, maximum: number) =>
  v.pipe(v.string(), v.regex(/^\d+$/), v.transform(Number), v.minValue(minimum), v.maxValue(maximum));

const rangeSchema = v.object({
  limit: v.optional(wholeNumber(1, maxLimit), String(defaultLimit)),
  offset: v.optional(wholeNumber(0, Number.MAX_SAFE_INTEGER), '0'),
});

/** Reads `?limit&offset`. @throws HttpFailure 400 for a limit outside 1 to 200 or a negative offset. */
export function readRange({query}: Call): Range {
  const given = {limit: query.get('limit') ?? undefined, offset: query.get('offset') ?? undefined};
  return validate(rangeSchema, given, {status: 400, what: 'The query'});
}

/** The part of a list that a range names. */
export function slice<T>(items: readonly T[], {limit, offset}: Range): readonly T[] {
  return items.slice(offset, offset + limit);
}
