import {
  asText,
  asTexts,
  fetchPage,
  fromTarget,
  multipartBody,
  numericId,
  readAcceptance,
  readAnswer,
  uploadResult,
  type Answer,
} from '../answers.js';
import type {StreamedBundle} from '../../bundle/types.js';
import {checkResult, type BuiltInContext, type BuiltInUploadResult, type HostBackend} from '../built-in.js';
import type {BodyOptions, Bundle, BundleItem, TargetItem} from '../contract.js';
import {amendError, isRuntimeCliError} from '../../errors/index.js';
import {connect, missingOptions, type LegacyBackendOptions, type LegacyContext} from './connection.js';
import {deploy, getDeployment, listDeployments, noteBefore, page} from './deployments.js';
import {downloadArchive} from './download.js';

/** The legacy backend: API key, v1 bundles, v2 on request. */
export const legacyBackend = {
  apiVersion: 1,
  name: 'legacy',
  summary: 'Runtime (API key): v1 or v2 bundles',
  formats: ['v1', 'v2'],
  bundleIds: 'number',
  offsetCursors: true,
  deploysOnUpload: ['v1'],

  async check({options, env}) {
    return checkResult(missingOptions(options, env));
  },

  async upload(bundle, context: LegacyContext) {
    if (bundle.format === 'v1') return uploadV1(bundle, context);
    const {http, url} = connect(context);
    const path = url('v2', 'projects', context.projectSlug, 'bundles');
    const response = await http.post(path, multipartBody(bundle, context));
    return uploadResult(readAnswer(response), 'legacy', 'id');
  },

  uploadStream: uploadV1,
  deploy,
  getDeployment,

  async listBundles(range, context: LegacyContext) {
    const {http, url} = connect(context);
    return fetchPage(http, url('projects', context.projectSlug, 'bundles'), range, page, bundleItem);
  },

  listDeployments,

  async listTargets(range, context: LegacyContext) {
    const {http, url} = connect(context);
    return fetchPage(http, url('projects', context.projectSlug, 'target'), range, page, targetItem);
  },

  download: downloadArchive,

  async deleteBundle({bundleId}, context: LegacyContext) {
    const {http, url} = connect(context);
    const response = await http
      .delete(url('projects', context.projectSlug, 'bundles', String(bundleId)))
      .catch((error: unknown) => {
        if (!isRuntimeCliError(error) || error.status !== 409) throw error;
        throw amendError(error, {
          suggestions: [
            ['If a target runs it, deploy another bundle there first: ', {run: ['status']}, ' tells which one.'],
          ],
        });
      });
    readAcceptance(response, []);
  },
} satisfies HostBackend<LegacyBackendOptions>;

/** Uploads a v1 bundle, and deploys it in the same request if there is a target. */
async function uploadV1(bundle: Bundle | StreamedBundle, context: LegacyContext): Promise<BuiltInUploadResult> {
  const {http, url} = connect(context);
  const {projectSlug, targetSlug} = context;
  const noted = targetSlug === undefined ? undefined : await noteBefore(targetSlug, context);
  const path = ['projects', projectSlug, 'builds', ...(targetSlug === undefined ? [] : [targetSlug])];
  const request = http.post(url(...path), v1Body(bundle, context));
  const response = await (noted ? fromTarget(request) : request);
  const answer = readAnswer(response);
  const {bundleId, warnings = [], raw} = uploadResult(answer, 'legacy', 'bundle_id');
  return {
    bundleId,
    warnings: [...(noted?.warnings ?? []), ...warnings],
    deployment: noted && {bundleId, targetSlug, before: noted.before},
    url: asText(answer[noted ? 'url' : 'bundle_preview_url']),
    raw,
  };
}

export async function identifyKey(context: LegacyContext) {
  const {http, url} = connect(context);
  readAnswer(await http.get(url('projects'), {searchParams: {limit: 1}}));
  return {asked: true};
}

/** Servers name the host that customers see first, then that of their own network; a URL says both. */
function targetItem(item: Answer): TargetItem | undefined {
  const targetSlug = asText(item['slug']);
  if (targetSlug === undefined) return undefined;
  const host = asText(item['ssr_external_hostname']) || asText(item['cdn_domain_name']) || undefined;
  return {targetSlug, url: asText(item['url']) ?? (host === undefined ? undefined : `https://${host}`)};
}

const bundleStatuses = new Map<unknown, BundleItem['status']>([
  [0, 'preparing'],
  [1, 'ready'],
  [2, 'broken'],
]);

function bundleItem(item: Answer): BundleItem | undefined {
  const bundleId = numericId(item['id']);
  if (bundleId === undefined) return undefined;
  const isActive = (item['deletion_status'] ?? 'ACTIVE') === 'ACTIVE';
  return {
    bundleId,
    message: asText(item['message']),
    status: isActive ? (bundleStatuses.get(item['status']) ?? 'unknown') : 'deleting',
    createdAt: asText(item['created_at']),
    createdBy: asText(item['user']),
    inUseBy: asTexts(item['in_use_by']),
  };
}

/**
 * The JSON body of a v1 upload. The server expects lists of files, not patterns. The archive is encoded while it is
 * sent.
 */
function v1Body(bundle: Bundle | StreamedBundle, {bodies}: Pick<BuiltInContext, 'bodies'>): BodyOptions {
  const {message, config, files} = bundle;
  const dependencies = config.bundleMetadata?.dependencies;
  const pathsOf = (mark: 'ssrOnly' | 'ssrShared') =>
    files.filter((file) => file[mark] && file.linkTarget === undefined).map(({path}) => path);
  return bodies.base64Json({
    value: {
      message,
      encoding: 'base64',
      ssr_parameters: config.ssrParameters,
      ...(dependencies === undefined ? {} : {bundle_metadata: {dependencies}}),
      ssr_only: pathsOf('ssrOnly'),
      ssr_shared: pathsOf('ssrShared'),
    },
    field: 'data',
    source: bundle,
  });
}
