import {readJson} from '../../http/index.js';
import {
  asMatches,
  asNumber,
  asRecord,
  asRecords,
  asText,
  asWarnings,
  bundleIdOf,
  requestedBundleId,
  type Answer,
} from '../answers.js';
import {
  BACKEND_API_VERSION,
  defineBackend,
  type BackendContext,
  type Bundle,
  type BundleItem,
  type StreamedBundle,
  type UploadResult,
} from '../contract.js';
import {multipartBody} from '../multipart-bundle.js';
import {connect, missingOptions, type LegacyBackendOptions} from './connection.js';
import {deploymentItem, findDeployment, listDeployments, newestDeployment} from './deployments.js';
import {downloadArchive} from './download.js';
import {v1Body} from './v1-body.js';

/** The legacy backend: API key, v1 bundles, v2 on request. */
export const legacyBackend = defineBackend<LegacyBackendOptions>({
  apiVersion: BACKEND_API_VERSION,
  name: 'legacy',
  summary: 'The legacy backend: API key, v1 or v2 bundles',
  formats: ['v1', 'v2'],
  capabilities: ['deploy', 'wait', 'list', 'history', 'download', 'delete'],

  check({options, env}) {
    const missing = missingOptions(options, env);
    return Promise.resolve(missing.length === 0 ? {configured: true} : {configured: false, missing});
  },

  async upload(bundle, context) {
    if (bundle.format === 'v1') return uploadV1(bundle, context);
    const {http, url} = connect(context);
    const raw = readJson(
      await http.post(url('v2', 'projects', context.projectSlug, 'bundles'), multipartBody(bundle, context)),
    );
    const answer = asRecord(raw);
    return {
      bundleId: bundleIdOf(answer['id'], 'legacy'),
      warnings: asWarnings(answer['warnings']),
      matches: asMatches(answer['matches']),
      raw,
    };
  },

  uploadStream: uploadV1,

  async deploy({bundleId, targetSlug}, context) {
    const {http, url} = connect(context);
    const id = requestedBundleId(bundleId, 'legacy');
    const before = await newestDeployment(targetSlug, context);
    const response = await http.post(
      url('projects', context.projectSlug, 'target', targetSlug, 'deploy'),
      context.bodies.json({bundle_id: id}),
    );
    const raw = readJson(response);
    return {
      deployment: {bundleId: id, targetSlug, before},
      status: 'queued',
      warnings: asWarnings(asRecord(raw)['warnings']),
      raw,
    };
  },

  getDeployment: findDeployment,

  async listBundles({limit, offset}, context) {
    const {http, url} = connect(context);
    const raw = readJson(
      await http.get(url('projects', context.projectSlug, 'bundles'), {searchParams: {limit, offset}}),
    );
    const answer = asRecord(raw);
    return {items: asRecords(answer['results']).flatMap(bundleItem), total: asNumber(answer['count']), raw};
  },

  async listDeployments({targetSlug, limit, offset}, context) {
    const raw = await listDeployments(targetSlug, {limit, offset}, context);
    const answer = asRecord(raw);
    const items = asRecords(answer['results']).flatMap((item) => deploymentItem(item, targetSlug));
    return {items, total: asNumber(answer['count']), raw};
  },

  download: downloadArchive,

  async deleteBundle({bundleId}, context) {
    const {http, url} = connect(context);
    await http.delete(url('projects', context.projectSlug, 'bundles', String(requestedBundleId(bundleId, 'legacy'))));
  },
});

/** Uploads a v1 bundle, and deploys it in the same step when there is a target. */
async function uploadV1(
  bundle: Bundle | StreamedBundle,
  context: BackendContext<LegacyBackendOptions>,
): Promise<UploadResult> {
  const {http, url} = connect(context);
  const {projectSlug, targetSlug} = context;
  const before = targetSlug === undefined ? undefined : await newestDeployment(targetSlug, context);
  const path = ['projects', projectSlug, 'builds', ...(targetSlug === undefined ? [] : [targetSlug])];
  const raw = readJson(await http.post(url(...path), v1Body(bundle, context)));
  const answer = asRecord(raw);
  const bundleId = bundleIdOf(answer['bundle_id'], 'legacy');
  return {
    bundleId,
    warnings: asWarnings(answer['warnings']),
    deployment: targetSlug === undefined ? undefined : {bundleId, targetSlug, before},
    raw,
  };
}

function bundleItem(item: Answer): readonly BundleItem[] {
  const bundleId = asNumber(item['id']);
  if (bundleId === undefined) return [];
  return [
    {
      bundleId,
      message: asText(item['message']),
      status: bundleStatus(item),
      createdAt: asText(item['created_at']),
      createdBy: asText(item['user']),
      inUseBy: Array.isArray(item['in_use_by']) ? item['in_use_by'].map(String) : undefined,
    },
  ];
}

function bundleStatus(item: Answer): BundleItem['status'] {
  if ((item['deletion_status'] ?? 'ACTIVE') !== 'ACTIVE') return 'deleting';
  switch (item['status']) {
    case 0:
      return 'preparing';
    case 1:
      return 'ready';
    case 2:
      return 'broken';
    default:
      return 'unknown';
  }
}
