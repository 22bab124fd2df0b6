import * as v from 'valibot';

// What a backend answers, as far as the host relies on it. Members that the contract does not know are left alone.

const bundleId = v.union(
  [v.pipe(v.string(), v.nonEmpty()), v.pipe(v.number(), v.finite())],
  'must be a string or a number',
);
const json = v.check(isJson, 'must be plain JSON');
const deployment = v.pipe(v.unknown(), json, v.record(v.string(), v.unknown()));
const raw = v.optional(v.pipe(v.unknown(), json));
const warnings = v.optional(v.array(v.string()));
const text = v.optional(v.string());
const statuses = ['queued', 'in_progress', 'finished', 'failed'] as const;
const status = v.picklist(statuses);

function listOf<Item extends v.GenericSchema>(item: Item) {
  return v.looseObject({items: v.array(item), total: v.optional(v.number()), raw});
}

/** The answers of the members of a backend that answer something. */
export const answerSchemas = {
  check: v.union(
    [
      v.looseObject({configured: v.literal(true), missing: v.optional(v.never())}),
      v.looseObject({configured: v.literal(false), missing: v.array(v.string())}),
    ],
    'must be {configured: true}, or {configured: false, missing: [...]}',
  ),
  upload: v.looseObject({
    bundleId,
    warnings,
    matches: v.optional(v.record(v.string(), v.unknown())),
    deployment: v.optional(deployment),
    raw,
  }),
  deploy: v.looseObject({deployment, status, warnings, raw}),
  getDeployment: v.looseObject({status, description: text, percentage: v.optional(v.number()), raw}),
  listBundles: listOf(
    v.looseObject({
      bundleId,
      message: text,
      status: v.picklist(['ready', 'preparing', 'broken', 'deleting', 'unknown']),
      createdAt: text,
      createdBy: text,
      inUseBy: v.optional(v.array(v.string())),
    }),
  ),
  listDeployments: listOf(
    v.looseObject({
      deployment,
      bundleId: v.optional(bundleId),
      status: v.picklist([...statuses, 'unknown']),
      message: text,
      createdAt: text,
      createdBy: text,
    }),
  ),
} as const;

/** What is printed with `--json` must not fail when everything else has succeeded. */
function isJson(value: unknown): boolean {
  try {
    JSON.stringify(value);
    return true;
  } catch {
    return false;
  }
}
