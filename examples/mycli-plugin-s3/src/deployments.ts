import {randomUUID} from 'node:crypto';
import * as v from 'valibot';
import {backendError, isConflict} from './backend-error.js';
import {readRecord, type BundleRecord} from './bundles.js';
import {nameOf, type Keys} from './keys.js';
import type {Store, Stored} from './store.js';

const deploymentSchema = v.object({
  deploymentId: v.string(),
  bundleId: v.string(),
  message: v.string(),
  /** Key of the archive. */
  archive: v.string(),
  sha256: v.string(),
  /** ISO 8601. */
  deployedAt: v.string(),
});

/**
 * A target's pointer: what it runs, and what it ran before, newest first. In one object, so that both change together.
 */
const pointerSchema = v.object({
  current: v.nullable(deploymentSchema),
  earlier: v.array(deploymentSchema),
});

/** A deployment. */
export type Deployment = v.InferOutput<typeof deploymentSchema>;
type Pointer = v.InferOutput<typeof pointerSchema>;

const emptyPointer: Pointer = {current: null, earlier: []};
/** How many earlier deployments a pointer keeps. */
const historyLength = 100;

/**
 * Points a target to a bundle, unless someone else does at the same time.
 * @throws BackendError `ERR_REJECTED` with status 409 or 412 for the slower one.
 */
export async function switchPointer(
  bundleId: string | number,
  targetSlug: string,
  store: Store,
  keys: Keys,
): Promise<Deployment> {
  const record = await readRecord(bundleId, store, keys);
  const key = keys.pointer(targetSlug);
  const before = (await store.read(key, pointerSchema)) ?? (await createPointer(key, targetSlug, store));
  await requireConditions(key, before, store);
  const deployment = newDeployment(record);
  const {current, earlier} = before.value;
  const after = {current: deployment, earlier: [...(current ? [current] : []), ...earlier].slice(0, historyLength)};
  try {
    await store.write(key, after, before);
  } catch (error) {
    if (!isConflict(error)) throw error;
    const now = await store.read(key, pointerSchema);
    // Nobody wrote, but the condition was refused anyway.
    if (error.status === 412 && now?.etag === before.etag) throw unusableConditions(store);
    // Our write succeeded, its response was lost, and the retry found our own pointer.
    if (now?.value.current?.deploymentId !== deployment.deploymentId) {
      throw conflict(targetSlug, now?.value.current, error.status);
    }
  }
  await undoIfDeleted(record, deployment, before, key, store, keys);
  return deployment;
}

/** The deployments of a target, newest first. */
export async function readDeployments(targetSlug: string, store: Store, keys: Keys): Promise<readonly Deployment[]> {
  const {current, earlier} = (await store.read(keys.pointer(targetSlug), pointerSchema))?.value ?? emptyPointer;
  return [...(current ? [current] : []), ...earlier];
}

/** The targets that run each bundle. */
export async function readUse(store: Store, keys: Keys): Promise<ReadonlyMap<string, readonly string[]>> {
  const pointers = await store.list(keys.pointers);
  const current = await Promise.all(pointers.map(async (key) => (await store.read(key, pointerSchema))?.value.current));
  const use = new Map<string, readonly string[]>();
  for (const [index, key] of pointers.entries()) {
    const bundleId = current[index]?.bundleId;
    if (bundleId !== undefined) use.set(bundleId, [...(use.get(bundleId) ?? []), nameOf(key, keys.pointers)]);
  }
  return use;
}

/**
 * Deletes a bundle that no target runs. It deletes the record first and then checks the pointers again. A deployment
 * checks the record after writing the pointer, so one of the two always notices the other.
 * @throws BackendError `ERR_REJECTED` with status 409 when a target runs it.
 */
export async function deleteUnused(bundleId: string | number, store: Store, keys: Keys): Promise<void> {
  const record = await readRecord(bundleId, store, keys);
  const requireUnused = async () => {
    const targets = (await readUse(store, keys)).get(record.bundleId);
    if (targets) throw inUse(record.bundleId, targets);
  };
  await requireUnused();
  const key = keys.record(record.bundleId);
  await store.remove(key);
  try {
    await requireUnused();
  } catch (error) {
    await store.write(key, record);
    throw error;
  }
  await store.remove(record.archive);
}

function newDeployment({bundleId, message, archive, sha256}: BundleRecord): Deployment {
  return {deploymentId: randomUUID(), bundleId, message, archive, sha256, deployedAt: new Date().toISOString()};
}

/**
 * Creates the pointer of a new target. If two deployments try, one creates it, both continue, and one of them wins.
 * @throws BackendError the conflict if someone has deployed to it by now.
 */
async function createPointer(key: string, targetSlug: string, store: Store): Promise<Stored<Pointer>> {
  let status: number | undefined;
  try {
    await store.write(key, emptyPointer, 'absent');
  } catch (error) {
    if (!isConflict(error)) throw error;
    ({status} = error);
  }
  const made = await store.read(key, pointerSchema);
  if (made?.value.current === null) return made;
  throw conflict(targetSlug, made?.value.current, status ?? 409);
}

/**
 * Some stores ignore conditions, so two deployments could both win.
 * @throws BackendError `ERR_CAPABILITY_UNSUPPORTED`
 */
async function requireConditions(key: string, before: Stored<Pointer>, store: Store): Promise<void> {
  try {
    // No object has this ETag, so the write must fail. If it does not, it has changed nothing.
    await store.write(key, before.value, {etag: '"00000000000000000000000000000000"'});
  } catch (error) {
    if (isConflict(error)) return;
    throw error;
  }
  throw unusableConditions(store);
}

/** Reverts the pointer if the bundle was deleted during the deployment. */
async function undoIfDeleted(
  record: BundleRecord,
  deployment: Deployment,
  before: Stored<Pointer>,
  key: string,
  store: Store,
  keys: Keys,
): Promise<void> {
  try {
    await readRecord(record.bundleId, store, keys);
  } catch (error) {
    // The deployment is live, and nothing says that its bundle is gone.
    if (!isConflict(error)) return;
    const now = await store.read(key, pointerSchema);
    if (now?.value.current?.deploymentId === deployment.deploymentId) {
      await store.write(key, before.value, now);
    }
    throw error;
  }
}

function unusableConditions({bucket}: Store): Error {
  return backendError({
    code: 'ERR_CAPABILITY_UNSUPPORTED',
    message: `The bucket "${bucket}" does not support conditional writes (If-Match), so nothing was deployed.`,
    suggestions: ['Use a store that supports If-Match. Some only do so in unversioned buckets.'],
  });
}

function conflict(targetSlug: string, now: Deployment | null | undefined, status: number | undefined): Error {
  const winner = now ? `: bundle ${now.bundleId} at ${now.deployedAt}` : '';
  return backendError({
    code: 'ERR_REJECTED',
    message: `Someone else deployed to "${targetSlug}" at the same time${winner}.`,
    status,
    suggestions: ['Check what the target runs now, and deploy again to replace it.'],
  });
}

function inUse(bundleId: string, targets: readonly string[]): Error {
  return backendError({
    code: 'ERR_REJECTED',
    message: `Bundle ${bundleId} is deployed to ${targets.join(', ')}.`,
    status: 409,
    suggestions: ['Deploy another bundle there first.'],
  });
}
