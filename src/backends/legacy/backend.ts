import type * as v from 'valibot';
import type {StreamedBundle} from '../../bundle/types.js';
import {amendError, createError, isRuntimeCliError} from '../../errors/index.js';
import {asRecord} from '../../text/json.js';
import {legacy, type legacySchemas} from '../../wire/legacy.js';
import {fetchPage, fromTarget, multipartBody, readAcceptance, readAnswer, readObject, readUpload} from '../answers.js';
import {checkResult, type BuiltInContext, type BuiltInUploadResult} from '../host-backend.js';
import type {BodyOptions, Bundle, BundleItem} from '../contract.js';
import type {BuiltInBackend} from '../members.js';
import {connectLegacy, missingOptions, type LegacyBackendOptions, type LegacyContext} from './connection.js';
import {deploy, getDeployment, listLegacyDeployments, noteBefore} from './legacy-deployments.js';
import {downloadArchive} from './download.js';
import {targetMembers} from './legacy-targets.js';

const {operations} = legacy;

/** Runtime (API key): v1 bundles, v2 on request. */
export const legacyBackend = {
  apiVersion: 1,
  name: 'legacy',
  summary: 'Runtime (API key): v1 or v2 bundles',
  formats: ['v1', 'v2'],
  bundleIds: 'number',
  offsetCursors: true,
  slugs: {project: '.+', target: '.+'},
  deploysOnUpload: ['v1'],

  async check({options, env}) {
    return checkResult(missingOptions(options, env));
  },

  async verify(context) {
    readObject(
      await connectLegacy({...context, projectSlug: ''})(operations.listProjects, {}, {searchParams: {limit: 1}}),
    );
    return {};
  },

  async upload(bundle, context: LegacyContext) {
    if (bundle.format === 'v1') return uploadV1(bundle, context);
    const response = await connectLegacy(context)(operations.pushV2, {}, multipartBody(bundle, context));
    const {bundleId, warnings, raw} = readUpload(response, operations.pushV2, 'legacy', ({id}) => id);
    return {bundleId, warnings, matches: asRecord(raw['matches']), raw};
  },

  async ahead({format, targetSlug}, context: LegacyContext) {
    if (format === 'v1' || targetSlug === undefined || !context.wait) return undefined;
    return noteBefore(targetSlug, context);
  },

  uploadStream: uploadV1,
  deploy,
  getDeployment,

  async listBundles(range, context: LegacyContext) {
    return fetchPage(connectLegacy(context), operations.listBundles, {}, range, bundleItem);
  },

  listDeployments: listLegacyDeployments,
  ...targetMembers,
  download: downloadArchive,

  async deleteBundle({bundleId}, context: LegacyContext) {
    const request = connectLegacy(context)(operations.deleteBundle, {bundleId: String(bundleId)});
    const response = await request.catch((error: unknown) => {
      // Services answer 409 or 403 if a target runs it.
      if (!isRuntimeCliError(error) || ![403, 409].includes(error.status ?? 0)) throw error;
      throw amendError(error, {
        suggestions: [
          ['If a target runs it, deploy another bundle there first: ', {run: ['status']}, ' tells which one.'],
        ],
      });
    });
    readAcceptance(response);
  },
} satisfies BuiltInBackend<LegacyBackendOptions, 'promote'>;

/** Uploads a v1 bundle, and deploys it in the same request if there is a target. */
async function uploadV1(bundle: Bundle | StreamedBundle, context: LegacyContext): Promise<BuiltInUploadResult> {
  const send = connectLegacy(context);
  const {targetSlug} = context;
  const body = v1Body(bundle, context);
  if (targetSlug === undefined) {
    const response = await send(operations.pushV1, {}, body);
    const {answer, ...uploaded} = readUpload(response, operations.pushV1, 'legacy', ({bundle_id: id}) => id);
    return {...uploaded, url: answer.bundle_preview_url};
  }
  const {before, underWay, warnings: noted} = await noteBefore(targetSlug, context);
  if (underWay !== undefined) throw createError('ERR_TARGET_BUSY', 'The target is busy.');
  const response = await fromTarget(send(operations.pushAndDeployV1, {targetSlug}, body));
  const read = readUpload(response, operations.pushAndDeployV1, 'legacy', ({bundle_id: id}) => id);
  const {bundleId, warnings, answer, raw} = read;
  const deployment = {bundleId, targetSlug, before};
  return {bundleId, warnings: [...noted, ...warnings], deployment, url: answer.url, raw};
}

const bundleStatuses = new Map<unknown, BundleItem['status']>([
  [0, 'preparing'],
  [1, 'ready'],
  [2, 'broken'],
]);

function bundleItem(row: v.InferOutput<typeof legacySchemas.LegacyBundle>): BundleItem {
  const {id, message, status, deletion_status: deletion = 'ACTIVE', created_at: createdAt, user, in_use_by} = row;
  return {
    bundleId: id,
    message,
    status: deletion === 'ACTIVE' ? (bundleStatuses.get(status) ?? 'unknown') : 'deleting',
    createdAt,
    createdBy: user,
    inUseBy: in_use_by,
  };
}

/**
 * The JSON body of a v1 upload. The server expects lists of files, not patterns. The archive is encoded while it is
 * sent.
 */
function v1Body(bundle: Bundle | StreamedBundle, {bodies}: Pick<BuiltInContext, 'bodies'>): BodyOptions {
  const {message, config, files} = bundle;
  const {dependencies, ccOverrides} = config.bundleMetadata ?? {};
  const pathsOf = (mark: 'ssrOnly' | 'ssrShared') =>
    files.filter((file) => file[mark] && file.linkTarget === undefined).map(({path}) => path);
  return bodies.base64Json({
    value: {
      message,
      encoding: 'base64',
      ssr_parameters: config.ssrParameters,
      ...(dependencies === undefined ? {} : {bundle_metadata: {dependencies, cc_overrides: ccOverrides}}),
      ssr_only: pathsOf('ssrOnly'),
      ssr_shared: pathsOf('ssrShared'),
    },
    field: 'data',
    source: 'path' in bundle ? {size: bundle.size, path: bundle.path} : bundle,
  });
}

/** Gets a new API key. The one of the request ends with it. */
export async function renewKey(context: LegacyContext): Promise<string> {
  const response = await connectLegacy(context)(operations.createApiKey);
  const {api_key: key} = readAnswer(response, operations.createApiKey).answer;
  context.maskSecret(key);
  return key;
}
