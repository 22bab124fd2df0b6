import type * as v from 'valibot';
import type {StreamedBundle} from '../../bundle/types.js';
import {amendError, createError, isRuntimeCliError} from '../../errors/index.js';
import {asRecord} from '../../text/json.js';
import {describedFields} from '../../wire/bundles.js';
import {legacy, type legacySchemas} from '../../wire/legacy.js';
import {
  fetchPage,
  fromTarget,
  listedVariable,
  multipartBody,
  readAcceptance,
  readAnswer,
  readObject,
} from '../answers.js';
import {checkResult, type BuiltInContext, type BuiltInUploadResult} from '../host-backend.js';
import type {BodyOptions, Bundle, BundleItem, TargetItem, TargetState} from '../contract.js';
import type {BuiltInBackend} from '../members.js';
import {settingsBody, targetMembers} from '../target-members.js';
import {connectLegacy, missingOptions, type LegacyBackendOptions, type LegacyContext} from './connection.js';
import {deploy, getDeployment, listLegacyDeployments, noteBefore} from './deployments.js';
import {downloadArchive} from './download.js';
import {tailLogs} from './logs.js';

const {operations} = legacy;

/** What a clone copies. The service leaves out proxies and the production flag. */
const copied = {clone_environment_variables: true, clone_redirects: true, clone_b2c_target_info: true};

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
    const {answer, raw} = readAnswer(response, operations.pushV2);
    const {id: bundleId, warnings} = answer;
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

  async listTargets(range, context: LegacyContext) {
    return fetchPage(connectLegacy(context), operations.listTargets, {}, range, targetItem);
  },

  async createTarget({targetSlug, name = targetSlug, copyFrom, settings}, context: LegacyContext) {
    const send = connectLegacy(context);
    const copy = {from_target_slug: copyFrom, ...copied};
    const response =
      copyFrom === undefined
        ? await send(operations.createTarget, {}, {json: {...settingsBody('legacy', settings), slug: targetSlug, name}})
        : await send(operations.cloneTarget, {targetSlug}, {json: copy});
    const {answer, raw} = readAnswer(response, operations.createTarget);
    return {...targetItem(answer), raw};
  },

  /** Some services answer with pages, some with all variables in one object. Nobody needs the values. */
  async listVariables({targetSlug, ...range}, context: LegacyContext) {
    const page = await fetchPage(connectLegacy(context), operations.listVariables, {targetSlug}, range, (row) => row);
    const items = page.items
      .flatMap((row) => Object.entries(row))
      .map(([name, {publishing_status_description: status, updated_at: updatedAt, updated_by: updatedBy}]) =>
        listedVariable(name, {status, updatedAt, updatedBy}),
      );
    return {items, cursor: page.cursor};
  },

  async listProjects(range, context: LegacyContext) {
    return fetchPage(connectLegacy(context), operations.listProjects, {}, range, ({slug: projectSlug, name}) => ({
      projectSlug,
      name,
    }));
  },

  ...targetMembers('legacy', operations, connectLegacy, (targetSlug) => ({targetSlug})),

  async invalidate({targetSlug, pattern}, context: LegacyContext) {
    readAcceptance(await connectLegacy(context)(operations.invalidate, {targetSlug}, {json: {pattern, items: null}}));
  },

  tailLogs,
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
    const {answer, raw} = readAnswer(await send(operations.pushV1, {}, body), operations.pushV1);
    const {bundle_id: bundleId, warnings, bundle_preview_url: url} = answer;
    return {bundleId, warnings, url, raw};
  }
  const {before, underWay, warnings: noted} = await noteBefore(targetSlug, context);
  if (underWay !== undefined) throw createError('ERR_TARGET_BUSY', 'The target is busy.');
  const response = await fromTarget(send(operations.pushAndDeployV1, {targetSlug}, body));
  const {answer, raw} = readAnswer(response, operations.pushAndDeployV1);
  const {bundle_id: bundleId, warnings = [], url} = answer;
  return {bundleId, warnings: [...noted, ...warnings], deployment: {bundleId, targetSlug, before}, url, raw};
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

/** The JSON body of a v1 upload, which lists files, not patterns. The archive is encoded while it is sent. */
function v1Body(bundle: Bundle | StreamedBundle, {bodies}: Pick<BuiltInContext, 'bodies'>): BodyOptions {
  const {config, files} = bundle;
  const described = Object.keys(describedFields.entries) as (keyof typeof describedFields.entries)[];
  const {dependencies, ccOverrides} = config.bundleMetadata ?? {};
  const pathsOf = (mark: 'ssrOnly' | 'ssrShared') =>
    files.filter((file) => file[mark] && file.linkTarget === undefined).map(({path}) => path);
  return bodies.base64Json({
    value: {
      ...Object.fromEntries(described.map((name) => [name, bundle[name]])),
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

const targetStates = new Map<unknown, TargetState>([
  ['ACTIVE', 'ready'],
  ['CREATE_IN_PROGRESS', 'creating'],
  ['PUBLISH_IN_PROGRESS', 'publishing'],
  ['CREATE_FAILED', 'failed'],
  ['PUBLISH_FAILED', 'failed'],
]);

/** Servers name the host that customers see first, then that of their own network; a URL says both. */
function targetItem(row: v.InferOutput<typeof legacySchemas.LegacyTarget>): TargetItem {
  const {slug, name, state, deletion_status: deletion = 'ACTIVE', is_production: production, url} = row;
  const host = row.ssr_external_hostname || row.cdn_domain_name || undefined;
  return {
    targetSlug: slug,
    name,
    state: deletion === 'ACTIVE' ? targetStates.get(state) : 'deleting',
    production,
    url: url ?? (host === undefined ? undefined : `https://${host}`),
  };
}
