import * as v from 'valibot';
import {HttpFailure, validate} from '../answer.js';
import type {AdmittedCall, Call} from '../context.js';
import type {BundleRecord} from '../store/records.js';

/** A bundle of a project. @throws HttpFailure 404 when there is none with this ID. */
export function findBundle({context}: AdmittedCall, projectSlug: string, id: number): BundleRecord {
  const bundle = context.store.bundle(projectSlug, id);
  if (!bundle) throw new HttpFailure(404, `The project "${projectSlug}" has no bundle ${String(id)}.`);
  return bundle;
}

/** Deletes a bundle. @throws HttpFailure 409 when a target runs or is deploying it. */
export async function deleteBundle({context}: AdmittedCall, bundle: BundleRecord): Promise<void> {
  const {store, deployments, now} = context;
  const [target] = [...deployments.targetsServing(bundle), ...deployments.targetsAwaiting(bundle)];
  if (target !== undefined) throw new HttpFailure(409, `Bundle ${String(bundle.id)} is in use by "${target}".`);
  await store.deleteBundle(bundle, now());
}

/** The requested part of a list. */
interface Range {
  readonly limit: number;
  readonly offset: number;
}

/** Bundles that one request can delete. */
export const maxDeletedBundles = 1000;

/** Rows of a page, at most. */
export const maxLimit = 200;

/** Rows of a page, unless the request says otherwise. */
export const defaultLimit = 25;

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

/** The part of a list in a range. */
export function slice<T>(items: readonly T[], {limit, offset}: Range): readonly T[] {
  return items.slice(offset, offset + limit);
}
