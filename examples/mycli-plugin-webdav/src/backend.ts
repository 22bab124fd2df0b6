import {randomBytes} from 'node:crypto';
import {pipeline} from 'node:stream/promises';
import {setTimeout as delay} from 'node:timers/promises';
import type {Backend, Bundle, BundleId} from 'mycli/backend';
import * as v from 'valibot';
import {credentialNames, openDav, optionsSchema, type Dav, type WebdavOptions} from './dav.js';

/** `bundle.json`, next to the archive. */
const recordSchema = v.looseObject({
  bundleId: v.string(),
  /** Name of the archive in the same folder. */
  archive: v.string(),
  format: v.string(),
  size: v.number(),
  sha256: v.string(),
  message: v.string(),
  /** ISO 8601. */
  createdAt: v.string(),
});
type BundleRecord = v.InferOutput<typeof recordSchema>;

const deploymentSchema = v.looseObject({
  deploymentId: v.string(),
  bundleId: v.string(),
  /** Path of the archive, relative to the project's folder. */
  archive: v.string(),
  sha256: v.string(),
  message: v.string(),
  /** ISO 8601. */
  createdAt: v.string(),
});

/** `targets/SLUG.json`: what a target runs, and what it ran before, newest first. */
const pointerSchema = v.looseObject({current: deploymentSchema, earlier: v.array(deploymentSchema)});
type Pointer = v.InferOutput<typeof pointerSchema>;

/** How many earlier deployments a pointer keeps. */
const historyLength = 100;
/** Number of concurrent requests for a list. */
const concurrency = 4;
/** How long to wait before looking again whether something is gone, in milliseconds. */
const againMs = 20;
/** IDs sort by time: `20261121T120705123Z-1a2b3c4d`. */
const idPattern = /^\d{8}T\d{9}Z-[0-9a-f]{8}$/;

/** Bundles as folders on a WebDAV server; a deployment rewrites the target's pointer while it is locked. */
export const webdavBackend: Backend<WebdavOptions> = {
  apiVersion: 1,
  name: 'webdav',
  summary: 'Bundles and deployments on a WebDAV server',
  formats: ['v2', 'v1'],
  options: optionsSchema,
  required: ['url'],
  secretEnv: ['WEBDAV_PASSWORD'],

  async check({env}) {
    const missing = credentialNames.filter((name) => !env[name]);
    return missing.length === 0 ? {configured: true} : {configured: false, missing};
  },

  async upload(bundle, context) {
    const dav = openDav(context);
    const record = newRecord(bundle);
    const incoming = `incoming/${record.bundleId}/`;
    context.onAbort(async ({http, signal}) => {
      const cleanup = openDav({...context, http});
      // The server may still be writing the file whose upload was aborted, and then its folder stays.
      while (await cleanup.remove(incoming)) await delay(againMs, undefined, {signal});
    });
    try {
      await dav.makeFolders(['', 'incoming/', 'bundles/', 'targets/', incoming]);
      await dav.write(incoming + record.archive, context.bodies.file(bundle, {contentType: archiveType(bundle)}));
      await dav.write(`${incoming}bundle.json`, {json: record});
      await dav.move(incoming, bundleFolder(record.bundleId));
    } catch (error) {
      if (!context.signal.aborted) {
        await dav.remove(incoming).catch(() => {
          context.logger.warn(`Parts of the upload remain in ${dav.base}${incoming}.`);
        });
      }
      throw error;
    }
    return {bundleId: record.bundleId, raw: record};
  },

  async deploy({bundleId, targetSlug}, context) {
    const dav = openDav(context);
    const record = await readRecord(bundleId, dav);
    const file = pointerFile(targetSlug);
    const raw = await dav.locked(file, async (headers) => {
      const before = await dav.read(file, pointerSchema);
      const earlier = before ? [before.current, ...before.earlier].slice(0, historyLength) : [];
      const {message, sha256} = record;
      const archive = bundleFolder(record.bundleId) + record.archive;
      const times = {deploymentId: newId(), createdAt: new Date().toISOString()};
      const current = {...times, bundleId: record.bundleId, archive, sha256, message};
      await dav.write(file, {json: {current, earlier} satisfies Pointer, headers});
      return current;
    });
    return {deployment: {deploymentId: raw.deploymentId, targetSlug}, status: 'finished', raw};
  },

  async getDeployment({deploymentId, targetSlug}, context) {
    const deployments = await readDeployments(String(targetSlug), openDav(context));
    const raw = deployments.find((deployment) => deployment.deploymentId === deploymentId);
    if (raw) return {status: 'finished', raw};
    throw context.error('ERR_REJECTED', `The target "${String(targetSlug)}" has no deployment ${String(deploymentId)}`);
  },

  async listBundles({limit, cursor}, context) {
    const dav = openDav(context);
    const ids = (await dav.list('bundles/'))
      .filter((name) => idPattern.test(name))
      .toSorted()
      .toReversed();
    // The cursor is the last one of the part before.
    const older = ids.filter((id) => cursor === undefined || id < cursor);
    const wanted = older.slice(0, limit);
    const use = await readUse(dav);
    const raw = await readRecords(wanted, dav);
    const items = raw.map(({bundleId, message, createdAt, sha256, format, size}) => {
      const metadata = {format, size};
      return {
        bundleId,
        message,
        createdAt,
        sha256,
        metadata,
        status: 'ready' as const,
        inUseBy: use.get(bundleId) ?? [],
      };
    });
    return {items, total: ids.length, raw, ...(older.length > limit && {cursor: wanted.at(-1)})};
  },

  async listDeployments({targetSlug}, context) {
    const raw = await readDeployments(targetSlug, openDav(context));
    const items = raw.map(({deploymentId, bundleId, message, createdAt}) => {
      return {deployment: {deploymentId, targetSlug}, bundleId, message, createdAt, status: 'finished' as const};
    });
    return {items, total: raw.length, raw};
  },

  async listTargets(_range, context) {
    const raw = (await readTargets(openDav(context))).toSorted();
    return {items: raw.map((targetSlug) => ({targetSlug})), total: raw.length, raw};
  },

  async download({bundleId, writeTo, resume, onStart}, context) {
    const dav = openDav(context);
    const {archive, size, sha256} = await readRecord(bundleId, dav);
    const range = resume && {range: `bytes=${resume.offset}-`, 'if-range': resume.validator};
    const file = bundleFolder(String(bundleId)) + archive;
    const {body, status, headers} = await context.openStream(file, {http: dav.http, ...(range && {headers: range})});
    const offset = status === 206 && resume ? resume.offset : 0;
    // A weak ETag does not say that the bytes are the same.
    const validator = headers.etag?.startsWith('"') ? headers.etag : undefined;
    onStart?.({offset, total: size, validator, sha256});
    await pipeline(body, writeTo, {signal: context.signal});
  },

  async deleteBundle({bundleId}, context) {
    const dav = openDav(context);
    const record = await readRecord(bundleId, dav);
    const targets = (await readUse(dav)).get(record.bundleId);
    if (targets) {
      throw context.error('ERR_REJECTED', `Bundle ${record.bundleId} is deployed to ${targets.join(', ')}`, {
        suggestions: ['Deploy another bundle there first.'],
      });
    }
    // It is gone at once, however long the server takes to remove its files.
    const gone = `incoming/${record.bundleId}/`;
    await dav.move(bundleFolder(record.bundleId), gone);
    await dav.remove(gone);
  },
};

function newRecord({format, size, sha256, message}: Bundle): BundleRecord {
  const archive = format === 'v1' ? 'bundle.tar' : 'bundle.tar.gz';
  return {bundleId: newId(), archive, format, size, sha256, message, createdAt: new Date().toISOString()};
}

function newId(): string {
  return `${new Date().toISOString().replaceAll(/[-:.]/g, '')}-${randomBytes(4).toString('hex')}`;
}

function archiveType({format}: Bundle): string {
  return format === 'v1' ? 'application/x-tar' : 'application/gzip';
}

function bundleFolder(bundleId: string): string {
  return `bundles/${bundleId}/`;
}

function pointerFile(targetSlug: string): string {
  return `targets/${encodeURIComponent(targetSlug)}.json`;
}

async function readRecord(bundleId: BundleId, dav: Dav): Promise<BundleRecord> {
  const id = String(bundleId);
  // It becomes part of a path.
  const record = idPattern.test(id) ? await dav.read(`${bundleFolder(id)}bundle.json`, recordSchema) : undefined;
  if (record) return record;
  throw dav.error('ERR_BUNDLE_UNKNOWN', `There is no bundle "${id}" in ${dav.base}bundles/`);
}

/** Reads records, a few at a time. One that was deleted since it was listed is omitted. */
async function readRecords(ids: readonly string[], dav: Dav): Promise<readonly BundleRecord[]> {
  const records: (BundleRecord | undefined)[] = [];
  for (let start = 0; start < ids.length; start += concurrency) {
    const some = ids.slice(start, start + concurrency);
    records.push(...(await Promise.all(some.map((id) => dav.read(`${bundleFolder(id)}bundle.json`, recordSchema)))));
  }
  return records.filter((record) => record !== undefined);
}

async function readDeployments(targetSlug: string, dav: Dav): Promise<Pointer['earlier']> {
  const pointer = await dav.read(pointerFile(targetSlug), pointerSchema);
  return pointer ? [pointer.current, ...pointer.earlier] : [];
}

/** The targets that something has been deployed to. */
async function readTargets(dav: Dav): Promise<readonly string[]> {
  const names = await dav.list('targets/');
  return names
    .filter((name) => name.endsWith('.json'))
    .map((name) => decodeURIComponent(name.slice(0, -'.json'.length)));
}

/** The targets that run each bundle. */
async function readUse(dav: Dav): Promise<ReadonlyMap<string, readonly string[]>> {
  const use = new Map<string, readonly string[]>();
  for (const target of await readTargets(dav)) {
    const [current] = await readDeployments(target, dav);
    if (current) use.set(current.bundleId, [...(use.get(current.bundleId) ?? []), target]);
  }
  return use;
}
