import {randomBytes} from 'node:crypto';
import {pipeline} from 'node:stream/promises';
import type {Backend, BackendContext, BundleId} from 'mycli/backend';
import * as v from 'valibot';
import {
  authorization,
  credentialNames,
  openRegistry,
  optionsSchema,
  type OciOptions,
  type Registry,
} from './registry.js';

/** What a target runs and has run, newest first: the configuration of the manifest that its tag names. */
const deploymentsSchema = v.array(
  v.looseObject({
    deploymentId: v.string(),
    bundleId: v.string(),
    message: v.string(),
    createdAt: v.string(),
  }),
);

const created = 'org.opencontainers.image.created';
const description = 'org.opencontainers.image.description';
const mediaTypes = {v1: 'application/vnd.mycli.bundle.v1.tar', v2: 'application/vnd.mycli.bundle.v2.tar+gzip'};
/** The tags of bundles sort by time: `20261121T120705123Z-1a2b3c4d`. All other tags are targets. */
const idPattern = /^\d{8}T\d{9}Z-[0-9a-f]{8}$/;

/** Bundles as artifacts in an OCI registry. A tag names each bundle, and another what each target runs. */
export const ociBackend: Backend<OciOptions> = {
  apiVersion: 1,
  name: 'oci',
  summary: 'Bundles and deployments in an OCI registry',
  formats: ['v2', 'v1'],
  options: optionsSchema,
  required: ['url'],
  secretEnv: ['OCI_PASSWORD'],
  slugs: {
    project: '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*',
    target: '(?!\\d{8}T\\d{9}Z-)[A-Za-z0-9_][A-Za-z0-9._-]{0,127}',
  },

  async check({env}) {
    const missing = credentialNames.filter((name) => !env[name]);
    return missing.length === 1 ? {configured: false, missing} : {configured: true};
  },

  async verify(context) {
    const headers = await authorization(context);
    await context.http.get(new URL('/v2/', context.options.url).href, {headers});
    return {account: context.env['OCI_USERNAME']};
  },

  async upload(bundle, context) {
    const registry = await openRegistry(context);
    const layer = {mediaType: mediaTypes[bundle.format], digest: `sha256:${bundle.sha256}`, size: bundle.size};
    await registry.putBlob(layer.digest, context.bodies.file(bundle));
    const bundleId = newId();
    // What is of one bundle alone: a manifest is deleted by its digest.
    const config = await registry.putJson('application/vnd.mycli.bundle.v1+json', {bundleId});
    const annotations = {[created]: new Date().toISOString(), [description]: bundle.message};
    const raw = {config, layers: [layer], annotations: {...annotations, 'dev.mycli.bundle': bundleId}};
    await registry.putManifest(bundleId, raw);
    return {bundleId, raw};
  },

  async deploy({bundleId, targetSlug}, context) {
    const registry = await openRegistry(context);
    const {manifest} = await readBundle(bundleId, registry, context);
    const {layers, annotations} = manifest;
    const message = annotations[description] ?? '';
    const times = {deploymentId: newId(), createdAt: new Date().toISOString()};
    const raw = {...times, bundleId: String(bundleId), message};
    const deployments = [raw, ...(await readDeployments(targetSlug, registry)).slice(0, 999)];
    const config = await registry.putJson('application/vnd.mycli.deployments.v1+json', deployments);
    await registry.putManifest(targetSlug, {config, layers, annotations});
    return {deployment: {deploymentId: raw.deploymentId, targetSlug}, status: 'finished', raw};
  },

  async getDeployment({deploymentId, targetSlug}, context) {
    const deployments = await readDeployments(String(targetSlug), await openRegistry(context));
    const raw = deployments.find((deployment) => deployment.deploymentId === deploymentId);
    if (raw) return {status: 'finished', raw};
    throw context.error(
      'ERR_REJECTED',
      `The target "${String(targetSlug)}" has no deployment ${String(deploymentId)}.`,
    );
  },

  async listBundles({limit, cursor}, context) {
    const registry = await openRegistry(context);
    const tags = await registry.listTags();
    const ids = tags
      .filter((tag) => idPattern.test(tag))
      .toSorted()
      .toReversed();
    // The cursor is the last one of the part before.
    const older = ids.filter((id) => cursor === undefined || id < cursor);
    const wanted = older.slice(0, limit);
    const use = await readUse(tags, registry);
    const raw = await eachOf(wanted, async (bundleId) => {
      const found = await registry.readManifest(bundleId);
      // One that was deleted since it was listed is left out.
      return found === undefined ? [] : [{bundleId, ...found}];
    });
    const items = raw.flat().map(({bundleId, manifest: {annotations, layers}, digest}) => ({
      bundleId,
      message: annotations[description],
      createdAt: annotations[created],
      sha256: layers[0]?.digest.replace('sha256:', ''),
      metadata: {digest, size: layers[0]?.size},
      status: 'ready' as const,
      inUseBy: use.get(bundleId) ?? [],
    }));
    return {items, total: ids.length, raw, ...(older.length > limit && {cursor: wanted.at(-1)})};
  },

  async listDeployments({targetSlug}, context) {
    const raw = await readDeployments(targetSlug, await openRegistry(context));
    const items = raw.map(({deploymentId, bundleId, message, createdAt}) => {
      return {deployment: {deploymentId, targetSlug}, bundleId, message, createdAt, status: 'finished' as const};
    });
    return {items, total: raw.length, raw};
  },

  async listTargets(_range, context) {
    const raw = targetsIn(await (await openRegistry(context)).listTags());
    return {items: raw.map((targetSlug) => ({targetSlug})), total: raw.length, raw};
  },

  async download({bundleId, writeTo, resume, onStart}, context) {
    const registry = await openRegistry(context);
    const {layer} = await readBundle(bundleId, registry, context);
    const range = resume && {range: `bytes=${resume.offset}-`, 'if-range': resume.validator};
    const {body, status, headers} = await context.openStream(registry.blobUrl(layer.digest), {
      http: registry.http,
      ...(range && {headers: range}),
    });
    const offset = status === 206 && resume ? resume.offset : 0;
    const validator = headers.etag?.startsWith('"') ? headers.etag : undefined;
    onStart?.({offset, total: layer.size, validator, sha256: layer.digest.replace('sha256:', '')});
    await pipeline(body, writeTo, {signal: context.signal});
  },

  async deleteBundle({bundleId}, context) {
    const registry = await openRegistry(context);
    const {digest} = await readBundle(bundleId, registry, context);
    const targets = (await readUse(await registry.listTags(), registry)).get(String(bundleId));
    if (targets) {
      throw context.error('ERR_REJECTED', `Bundle ${String(bundleId)} is deployed to ${targets.join(', ')}.`, {
        suggestions: ['Deploy another bundle there first.'],
      });
    }
    await registry.deleteManifest(digest);
  },
};

function newId(): string {
  return `${new Date().toISOString().replaceAll(/[-:.]/g, '')}-${randomBytes(4).toString('hex')}`;
}

async function readBundle(bundleId: BundleId, registry: Registry, context: BackendContext<OciOptions>) {
  const id = String(bundleId);
  // It becomes part of a URL, and a target's tag is no bundle.
  const found = idPattern.test(id) ? await registry.readManifest(id) : undefined;
  const layer = found?.manifest.layers[0];
  if (found !== undefined && layer !== undefined) return {...found, layer};
  throw context.error('ERR_BUNDLE_UNKNOWN', `There is no bundle "${id}" in the repository.`);
}

async function readDeployments(
  targetSlug: string,
  registry: Registry,
): Promise<v.InferOutput<typeof deploymentsSchema>> {
  const found = await registry.readManifest(targetSlug);
  if (found === undefined) return [];
  return v.parse(deploymentsSchema, await registry.http.get(registry.blobUrl(found.manifest.config.digest)).json());
}

function targetsIn(tags: readonly string[]): readonly string[] {
  return tags.filter((tag) => !idPattern.test(tag)).toSorted();
}

/** The targets that run each bundle. */
async function readUse(tags: readonly string[], registry: Registry): Promise<ReadonlyMap<string, readonly string[]>> {
  const use = new Map<string, readonly string[]>();
  const found = await eachOf(targetsIn(tags), async (target) => ({
    target,
    bundleId: (await registry.readManifest(target))?.manifest.annotations['dev.mycli.bundle'] ?? '',
  }));
  for (const {target, bundleId} of found) use.set(bundleId, [...(use.get(bundleId) ?? []), target]);
  return use;
}

/** Asks four at a time. */
async function eachOf<Item, Result>(items: readonly Item[], ask: (item: Item) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < items.length; start += 4)
    results.push(...(await Promise.all(items.slice(start, start + 4).map(ask))));
  return results;
}
