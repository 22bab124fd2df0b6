import {randomBytes} from 'node:crypto';
import type {Bundle, BundleId, BundleItem, ListRange, ListResult} from 'mycli/backend';
import * as v from 'valibot';
import {backendError} from './backend-error.js';
import {nameOf, type Keys} from './keys.js';
import type {Store} from './store.js';

/** The record of a bundle, next to its archive. It is written last: a bundle without one does not exist. */
export const recordSchema = v.object({
  bundleId: v.string(),
  message: v.string(),
  /** ISO 8601. */
  createdAt: v.string(),
  /** Key of the archive, a gzip tar. */
  archive: v.string(),
  size: v.number(),
  sha256: v.string(),
  contentSha256: v.string(),
  rootDir: v.optional(v.string()),
  configPath: v.optional(v.string()),
});

/** The record of a bundle. */
export type BundleRecord = v.InferOutput<typeof recordSchema>;

/** IDs sort by time: `20261121T120705123Z-1a2b3c4d`. */
const idPattern = /^\d{8}T\d{9}Z-[0-9a-f]{8}$/;

/** Creates the record of a new bundle. `stored`: the key of its archive, if parts of it are there. */
export function newRecord(bundle: Bundle, keys: Keys, stored?: string): BundleRecord {
  const createdAt = new Date().toISOString();
  const bundleId = `${createdAt.replace(/[-:.]/g, '')}-${randomBytes(4).toString('hex')}`;
  const {message, size, sha256, contentSha256, rootDir, configPath} = bundle;
  const archive = stored ?? keys.archive(bundleId);
  return {bundleId, message, createdAt, archive, size, sha256, contentSha256, rootDir, configPath};
}

/**
 * Reads the record of a bundle.
 * @throws BackendError `ERR_REJECTED` with status 404 when there is none.
 */
export async function readRecord(bundleId: BundleId, store: Store, keys: Keys): Promise<BundleRecord> {
  const id = String(bundleId);
  const stored = idPattern.test(id) ? await store.read(keys.record(id), recordSchema) : undefined;
  if (stored) return stored.value;
  throw backendError({
    code: 'ERR_BUNDLE_UNKNOWN',
    message: `There is no bundle "${id}" in ${store.bucket}/${keys.records}.`,
    status: 404,
    suggestions: ['Use the ID that bundle:push printed, or "latest".'],
  });
}

/** Lists bundles, newest first. The cursor is the last one of the part before. `inUseBy`: the targets that run each. */
export async function listRecords(
  {limit, cursor}: ListRange,
  inUseBy: ReadonlyMap<string, readonly string[]>,
  store: Store,
  keys: Keys,
): Promise<ListResult<BundleItem>> {
  const ids = (await store.list(keys.records))
    .map((key) => nameOf(key, keys.records))
    .filter((id) => idPattern.test(id));
  const older = ids.reverse().filter((id) => cursor === undefined || id < cursor);
  const wanted = older.slice(0, limit);
  const stored = await Promise.all(wanted.map((id) => store.read(keys.record(id), recordSchema)));
  // One that was deleted since then is omitted.
  const raw = stored.flatMap((item) => (item ? [item.value] : []));
  const items = raw.map(({bundleId, message, createdAt, sha256, contentSha256, size}) => ({
    bundleId,
    message,
    sha256,
    metadata: {contentSha256, size},
    status: 'ready' as const,
    createdAt,
    inUseBy: inUseBy.get(bundleId) ?? [],
  }));
  return {items, total: ids.length, raw, ...(older.length > limit && {cursor: wanted.at(-1)})};
}
