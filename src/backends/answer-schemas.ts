import * as v from 'valibot';
import {isRecord} from '../text/json.js';

// What the host relies on in a backend's answers. Other members are left alone.

const bundleIdRule = 'must be a number or a string without control characters';
const bundleId = v.union(
  [v.pipe(v.string(), v.regex(/^\P{Cc}+$/u, bundleIdRule)), v.pipe(v.number(), v.finite())],
  bundleIdRule,
);
const json = v.check(isJson, 'must be plain JSON');
const record = v.custom<Readonly<Record<string, unknown>>>(isRecord, 'must be an object');
const deployment = v.pipe(v.unknown(), json, record);
const raw = v.optional(v.pipe(v.unknown(), json));
const texts = v.optional(v.array(v.string()));
const text = v.optional(v.string());
const statuses = ['queued', 'in_progress', 'finished', 'failed'] as const;
const status = v.picklist(statuses);
const sha256 = v.optional(v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 digest in hexadecimal')));

const deploy = v.looseObject({deployment, status, url: text, warnings: texts, raw});
const bundleItem = v.looseObject({
  bundleId,
  message: text,
  status: v.picklist(['ready', 'preparing', 'broken', 'deleting', 'unknown']),
  createdAt: text,
  createdBy: text,
  inUseBy: texts,
  sha256,
  metadata: v.optional(v.pipe(v.unknown(), json, record)),
});
const deploymentItem = v.looseObject({
  deployment,
  bundleId: v.optional(bundleId),
  status: v.picklist([...statuses, 'unknown']),
  message: text,
  createdAt: text,
  createdBy: text,
  description: text,
  logUrl: text,
  url: text,
});

function listOf<Item extends v.GenericSchema>(item: Item) {
  return v.looseObject({items: v.array(item), cursor: text, total: v.optional(v.number()), raw});
}

/** What each member may answer, except `login`. */
export const answerSchemas = {
  check: v.union(
    [
      v.looseObject({configured: v.literal(true), missing: v.optional(v.never())}),
      v.looseObject({configured: v.literal(false), missing: v.array(v.string())}),
    ],
    'must be {configured: true}, or {configured: false, missing: [...]}',
  ),
  verify: v.looseObject({account: text}, 'must be an object, such as {}'),
  upload: v.looseObject({bundleId, warnings: texts, url: text, raw}),
  deploy,
  promote: deploy,
  getDeployment: v.looseObject({
    status,
    description: text,
    percentage: v.optional(v.number()),
    url: text,
    logUrl: text,
    raw,
  }),
  listBundles: listOf(bundleItem),
  listDeployments: listOf(deploymentItem),
  listTargets: listOf(v.looseObject({targetSlug: v.pipe(v.string(), v.nonEmpty()), url: text})),
  readLogs: v.looseObject({lines: v.array(v.string()), cursor: text}),
  download: v.unknown(),
  deleteBundle: v.unknown(),
} as const;

/** The schema for what a login returns. Its messages must not repeat a value. */
export function loginAnswer(names: readonly string[]) {
  const name = v.picklist(names, 'is listed neither in secrets nor in secretEnv');
  const value = v.pipe(v.string('must be a string'), v.nonEmpty('must not be empty'));
  const some = `must have at least one of: ${names.join(', ') || 'none are listed'}`;
  const secrets = v.pipe(
    v.record(name, value, some),
    v.check((given) => Object.keys(given).length > 0, some),
  );
  return v.looseObject({secrets}, 'must be {secrets: {...}}');
}

/** Printing with `--json` must not fail after everything else has succeeded. */
function isJson(value: unknown): boolean {
  try {
    JSON.stringify(value);
    return true;
  } catch {
    return false;
  }
}
