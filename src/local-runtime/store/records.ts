import * as v from 'valibot';

/** IDs are used in paths, so even those on disk are accepted only in the form in which they are created. */
const serialNumber = v.pipe(v.number(), v.safeInteger(), v.minValue(1));

/** Shape of `bundles/{id}/bundle.json`. */
export const bundleRecordSchema = v.object({
  id: serialNumber,
  projectSlug: v.string(),
  format: v.picklist(['v1', 'v2']),
  message: v.string(),
  createdAt: v.string(),
  createdBy: v.string(),
  size: v.number(),
  sha256: v.string(),
  ssrParameters: v.record(v.string(), v.unknown()),
  deletedAt: v.optional(v.string()),
});

/** An accepted bundle. A deleted one keeps its record, so that its ID is never reused. */
export type BundleRecord = Readonly<v.InferOutput<typeof bundleRecordSchema>>;

/** Shape of `bundles/{id}/contents.json`. */
export const bundleContentsSchema = v.object({
  root: v.string(),
  served: v.array(v.string()),
  /** v2 only. */
  configPath: v.optional(v.string()),
  /** v1 only: the archive does not say which of its files are shared. */
  shared: v.optional(v.array(v.string())),
});

/** What is in an archive, and what is served of it. Its paths are relative to `root`, a folder of the archive. */
export type BundleContents = Readonly<v.InferOutput<typeof bundleContentsSchema>>;

/** Shape of `deployments/{number}.json`. */
export const deploymentRecordSchema = v.object({
  number: serialNumber,
  deploymentId: v.pipe(v.string(), v.uuid()),
  projectSlug: v.string(),
  targetSlug: v.string(),
  bundleId: serialNumber,
  message: v.string(),
  createdBy: v.string(),
  createdAt: v.string(),
  startsAt: v.string(),
  endsAt: v.string(),
  outcome: v.picklist(['finished', 'failed']),
});

/** A deployment. Its state is computed from its times, so it continues across restarts. */
export type DeploymentRecord = Readonly<v.InferOutput<typeof deploymentRecordSchema>>;
