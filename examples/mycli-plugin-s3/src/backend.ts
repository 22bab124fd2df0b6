import type {Backend} from 'mycli/backend';
import {discardUpload, downloadArchive, findEarlierUpload, mayResume, uploadArchive} from './archives.js';
import {backendError} from './backend-error.js';
import {listRecords, newRecord, readRecord} from './bundles.js';
import {deleteUnused, readDeployments, readUse, switchPointer} from './deployments.js';
import {keysOf} from './keys.js';
import {optionsSchema, type S3Options} from './options.js';
import {openStore} from './store.js';

/** Bundles as objects of an S3-compatible store; a deployment is a conditional write of the target's pointer. */
export const s3Backend = {
  apiVersion: 1 as const,
  name: 's3',
  summary: 'Bundles and deployments in an S3-compatible store',
  formats: ['v2'],
  options: optionsSchema,
  required: ['bucket'],
  secretEnv: ['AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'],
  // The largest object that S3 stores.
  limits: {maxBundleBytes: 5 * 1024 ** 4},

  async upload(bundle, context) {
    const keys = keysOf(context);
    using store = await openStore(context);
    const earlier = await findEarlierUpload(store, context);
    const record = newRecord(bundle, keys, earlier?.archive);
    const recordKey = keys.record(record.bundleId);
    const written = [recordKey, record.archive];
    const discard = async (signal: AbortSignal) => {
      await discardUpload(written, context, signal);
      await context.state?.remove();
    };
    context.onAbort(({signal}) => discard(signal));
    let isStored = false;
    let resumedBytes = 0;
    try {
      const {archive} = record;
      resumedBytes = await uploadArchive(
        bundle,
        {archive, record: recordKey, ...(earlier && {earlier})},
        store,
        context,
      );
      isStored = true;
      await store.write(recordKey, record);
    } catch (error) {
      const isKept = !isStored && mayResume(error, context);
      if (!context.signal.aborted && !isKept) await discard(AbortSignal.timeout(10_000));
      throw error;
    }
    return {bundleId: record.bundleId, resumedBytes, raw: record};
  },

  async deploy({bundleId, targetSlug}, context) {
    using store = await openStore(context);
    const raw = await switchPointer(bundleId, targetSlug, store, keysOf(context));
    return {deployment: {deploymentId: raw.deploymentId, targetSlug}, status: 'finished' as const, raw};
  },

  async getDeployment({deploymentId, targetSlug}, context) {
    using store = await openStore(context);
    const deployments = await readDeployments(String(targetSlug), store, keysOf(context));
    const raw = deployments.find((deployment) => deployment.deploymentId === deploymentId);
    if (raw) return {status: 'finished' as const, raw};
    throw backendError({
      code: 'ERR_REJECTED',
      message: `The target "${String(targetSlug)}" has no deployment ${String(deploymentId)}.`,
      status: 404,
    });
  },

  async listBundles(range, context) {
    const keys = keysOf(context);
    using store = await openStore(context);
    return await listRecords(range, await readUse(store, keys), store, keys);
  },

  async listDeployments({targetSlug}, context) {
    using store = await openStore(context);
    const raw = await readDeployments(targetSlug, store, keysOf(context));
    const items = raw.map(({deploymentId, bundleId, message, deployedAt}) => ({
      deployment: {deploymentId, targetSlug},
      bundleId,
      status: 'finished' as const,
      message,
      createdAt: deployedAt,
    }));
    return {items, total: items.length, raw};
  },

  async download({bundleId, writeTo, onStart}, context) {
    using store = await openStore(context);
    const record = await readRecord(bundleId, store, keysOf(context));
    onStart?.({offset: 0, total: record.size, sha256: record.sha256});
    await downloadArchive(record, writeTo, store, context);
  },

  async deleteBundle({bundleId}, context) {
    using store = await openStore(context);
    await deleteUnused(bundleId, store, keysOf(context));
  },
} satisfies Backend<S3Options>;
