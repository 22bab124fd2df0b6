import {HttpFailure} from '../answer.js';
import type {Call} from '../context.js';
import type {BundleRecord} from '../store/store.js';

/** A bundle of a project. @throws HttpFailure 404 when there is none with this ID. */
export function findBundle({context}: Call, projectSlug: string, id: number): BundleRecord {
  const bundle = context.store.bundle(projectSlug, id);
  if (!bundle) throw new HttpFailure(404, `The project "${projectSlug}" has no bundle ${id}.`);
  return bundle;
}

/** Deletes a bundle. @throws HttpFailure 409 when a target runs or is deploying it. */
export async function deleteBundle({context}: Call, bundle: BundleRecord): Promise<void> {
  const {store, deployments, now} = context;
  const [target] = [...deployments.targetsServing(bundle), ...deployments.targetsAwaiting(bundle)];
  if (target !== undefined) throw new HttpFailure(409, `Bundle ${bundle.id} is in use by "${target}".`);
  await store.deleteBundle(bundle, now());
}
