import {
  asMatches,
  asText,
  asTexts,
  asWarnings,
  bundleIdOf,
  fromTarget,
  numericId,
  pageQuery,
  readAcceptance,
  readAnswer,
  readPage,
  readWritten,
  requestedBundleId,
  multipartBody,
  type Answer,
} from '../answers.js';
import type {StreamedBundle} from '../../bundle/types.js';
import type {BuiltInContext, BuiltInUploadResult, HostBackend} from '../built-in.js';
import type {BodyOptions, Bundle, BundleItem, TargetItem} from '../contract.js';
import {amendError, isRuntimeCliError} from '../../errors/index.js';
import {placeFlags} from '../../errors/suggest.js';
import {connect, missingOptions, type LegacyBackendOptions, type LegacyContext} from './connection.js';
import {deploy, findDeployment, listDeployments, noteBefore, page} from './deployments.js';
import {downloadArchive} from './download.js';

/** The legacy backend: API key, v1 bundles, v2 on request. */
export const legacyBackend = {
  apiVersion: 1,
  name: 'legacy',
  summary: 'The legacy backend: API key, v1 or v2 bundles',
  formats: ['v1', 'v2'],
  bundleIds: 'number',
  offsetCursors: true,
  deploysOnUpload: ['v1'],

  check({options, env}) {
    const missing = missingOptions(options, env);
    return Promise.resolve(missing.length === 0 ? {configured: true} : {configured: false, missing});
  },

  async upload(bundle, context: LegacyContext) {
    if (bundle.format === 'v1') return uploadV1(bundle, context);
    const {http, url} = connect(context);
    const response = await http.post(
      url('v2', 'projects', context.projectSlug, 'bundles'),
      multipartBody(bundle, context),
    );
    return readWritten(listCommand(context), () => {
      const {answer, raw} = readAnswer(response);
      const bundleId = bundleIdOf(answer['id'], 'legacy');
      return {bundleId, warnings: asWarnings(answer['warnings']), matches: asMatches(answer['matches']), raw};
    });
  },

  uploadStream: uploadV1,
  deploy,
  getDeployment: findDeployment,

  async listBundles(range, context: LegacyContext) {
    const {http, url} = connect(context);
    const searchParams = pageQuery(range);
    const response = await http.get(url('projects', context.projectSlug, 'bundles'), {searchParams});
    return readPage(response, page, bundleItem, searchParams);
  },

  listDeployments,

  async listTargets(range, context: LegacyContext) {
    const {http, url} = connect(context);
    const searchParams = pageQuery(range);
    const response = await http.get(url('projects', context.projectSlug, 'target'), {searchParams});
    return readPage(response, page, targetItem, searchParams);
  },

  download: downloadArchive,

  async deleteBundle({bundleId}, context: LegacyContext) {
    const {http, url} = connect(context);
    const id = requestedBundleId(bundleId, 'legacy');
    const response = await unlessInUse(() => http.delete(url('projects', context.projectSlug, 'bundles', String(id))));
    readWritten(listCommand(context), () => readAcceptance(response, []));
  },
} satisfies HostBackend<LegacyBackendOptions>;

/** The service refuses to delete a bundle that a target runs with 409. */
async function unlessInUse<Answer>(remove: () => Promise<Answer>): Promise<Answer> {
  try {
    return await remove();
  } catch (error) {
    if (!isRuntimeCliError(error) || error.status !== 409) throw error;
    throw amendError(error, {
      suggestions: ['If a target runs it, deploy another bundle there first: mycli status tells which one.'],
    });
  }
}

/** Uploads a v1 bundle, and deploys it in the same request if there is a target. */
async function uploadV1(bundle: Bundle | StreamedBundle, context: LegacyContext): Promise<BuiltInUploadResult> {
  const {http, url} = connect(context);
  const {projectSlug, targetSlug} = context;
  const noted = targetSlug === undefined ? undefined : await noteBefore(targetSlug, context);
  const path = ['projects', projectSlug, 'builds', ...(targetSlug === undefined ? [] : [targetSlug])];
  const request = http.post(url(...path), v1Body(bundle, context));
  const response = await (noted ? fromTarget(request) : request);
  return readWritten(listCommand(context), () => {
    const {answer, raw} = readAnswer(response);
    const bundleId = bundleIdOf(answer['bundle_id'], 'legacy');
    return {
      bundleId,
      warnings: [...(noted?.warnings ?? []), ...asWarnings(answer['warnings'])],
      deployment: noted && {bundleId, targetSlug, before: noted.before},
      url: asText(answer[noted ? 'url' : 'bundle_preview_url']),
      raw,
    };
  });
}

/** Tries the API key on the list of projects. */
export async function identifyKey(context: LegacyContext) {
  const {http, url} = connect(context);
  const response = await http.get(url('projects'), {searchParams: {limit: 1}});
  readAnswer(response);
  return {asked: true, serverDate: response.headers.date};
}

function listCommand({projectSlug}: LegacyContext): readonly string[] {
  return ['bundle:list', ...placeFlags({projectSlug, backend: 'legacy'})];
}

/** Servers name the host that customers see first, then that of their own network; a URL says both. */
function targetItem(item: Answer): TargetItem | undefined {
  const targetSlug = asText(item['slug']);
  if (targetSlug === undefined) return undefined;
  const host = asText(item['ssr_external_hostname']) || asText(item['cdn_domain_name']) || undefined;
  return {targetSlug, url: asText(item['url']) ?? (host === undefined ? undefined : `https://${host}`)};
}

function bundleItem(item: Answer): BundleItem | undefined {
  const bundleId = numericId(item['id']);
  if (bundleId === undefined) return undefined;
  return {
    bundleId,
    message: asText(item['message']),
    status: bundleStatus(item),
    createdAt: asText(item['created_at']),
    createdBy: asText(item['user']),
    inUseBy: asTexts(item['in_use_by']),
  };
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

/**
 * The JSON body of a v1 upload. The server expects lists of files, not patterns. The archive is encoded while it is
 * sent.
 */
function v1Body(bundle: Bundle | StreamedBundle, {bodies}: Pick<BuiltInContext, 'bodies'>): BodyOptions {
  const {message, config, files} = bundle;
  const dependencies = config.bundleMetadata?.dependencies;
  function* pathsOf(mark: 'ssrOnly' | 'ssrShared'): Generator<string> {
    for (const file of files) if (file[mark] && file.linkTarget === undefined) yield file.path;
  }
  return bodies.base64Json({
    value: {
      message,
      encoding: 'base64',
      ssr_parameters: config.ssrParameters,
      ...(dependencies === undefined ? {} : {bundle_metadata: {dependencies}}),
    },
    lists: {ssr_only: () => pathsOf('ssrOnly'), ssr_shared: () => pathsOf('ssrShared')},
    field: 'data',
    source: bundle,
  });
}
