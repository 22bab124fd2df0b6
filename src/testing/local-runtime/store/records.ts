import * as v from 'valibot';

/** Ids become paths: from the disk, too, they are taken only in the form in which they are made. */
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

/** A bundle that was accepted. A deleted one keeps its record, so that its id is never used again. */
export type BundleRecord = Readonly<v.InferOutput<typeof bundleRecordSchema>>;

/** Shape of `bundles/{id}/contents.json`. */
export const bundleContentsSchema = v.object({
  root: v.string(),
  served: v.array(v.string()),
});

/** What of a bundle a deployment serves: `served` are paths below `root`, a folder of the archive. */
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

/** A deployment: its state at any time follows from its times, so that it goes on over restarts. */
export type DeploymentRecord = Readonly<v.InferOutput<typeof deploymentRecordSchema>>;
