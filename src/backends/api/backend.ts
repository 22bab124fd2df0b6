import * as v from 'valibot';
import {asRecord, tryJson} from '../../text/json.js';
import {amendError, createError, isRuntimeCliError} from '../../errors/index.js';
import {authorize, BearerTokenStrategy, normalizeOrigin, wrongAnswer} from '../../http/index.js';
import {api, environments, polledDeployment, storefronts, type apiSchemas} from '../../wire/api.js';
import {identifier, isSegment} from '../../wire/schema.js';
import {
  asText,
  deploymentStatus,
  fetchPage,
  fromTarget,
  listedStatus,
  listedVariable,
  multipartBody,
  readAcceptance,
  readAnswer,
  sender,
  type Send,
} from '../answers.js';
import {
  checkResult,
  type ApiRuntimeConnection,
  type BuiltInContext,
  type VerifiedCredentials,
} from '../host-backend.js';
import type {BackendCheckContext, BundleItem, DeploymentItem, TargetItem, TargetState} from '../contract.js';
import type {BuiltInBackend} from '../members.js';
import {targetMembers} from '../target-members.js';

const {operations} = api;

/** A clone copies what connects an environment to the commerce platform, its variables and its redirects. */
const copied = {cloneEnvironmentVariables: true, cloneRedirects: true, cloneB2cTargetInfo: true};

/** Limits of the service on the IDs of storefronts and environments, in characters. */
const maxProject = 20;
const maxTarget = 19;

export interface ApiBackendOptions {
  readonly connection?: ApiRuntimeConnection | undefined;
}

type ApiContext = BuiltInContext<ApiBackendOptions>;

/** Runtime (OAuth): v2 bundles. It supports neither downloads nor deletions. */
export const apiBackend = {
  apiVersion: 1,
  name: 'api',
  summary: 'Runtime (OAuth): v2 bundles',
  formats: ['v2'],
  bundleIds: 'number',
  offsetCursors: true,
  limits: {maxBundleBytes: 400 * 1000 * 1000},

  async check({options: {connection}}) {
    if (connection === undefined) return checkResult(['apiConnection']);
    const {organizationId} = connection;
    const isOrganization = organizationId.length <= 32 && isSegment(organizationId);
    return checkResult(isOrganization ? [] : ['an organization ID of 1 to 32 characters']);
  },

  /** Gets an access token, and tries it on the project, if there is one. It says nothing if that does not exist. */
  async verify(context): Promise<VerifiedCredentials> {
    const {projectSlug} = context;
    const send = connectApi({...context, projectSlug: projectSlug ?? ''});
    const auth = context.options.connection?.auth;
    const header = await auth?.getAuthorizationHeader(context);
    const claims = claimsOf(header ?? '');
    const clientId = asText(claims['client_id']) ?? asText(claims['sub']);
    const owner = {clientId, expiresAt: timeOf(claims['exp'])};
    // To get a token, the client's credentials were checked. A token that was passed in was not.
    if (projectSlug === undefined) return {...owner, asked: !(auth instanceof BearerTokenStrategy)};
    try {
      await send(operations.listBundles, {}, {searchParams: {limit: 1, offset: 0}});
    } catch (error) {
      if (!isRuntimeCliError(error) || error.status !== 404) throw error;
    }
    return owner;
  },

  async upload(bundle, context: ApiContext) {
    const send = connectApi(context);
    const response = await send(operations.uploadBundle, {}, multipartBody(bundle, context));
    const {answer, raw} = readAnswer(response, operations.uploadBundle);
    const {bundleId, warnings} = answer;
    return {bundleId, warnings, matches: asRecord(raw['matches']), raw};
  },

  async ahead(_, context: ApiContext) {
    await context.options.connection?.auth.getAuthorizationHeader(context);
    return undefined;
  },

  async deploy({bundleId, targetSlug}, context: ApiContext) {
    const send = connectApi(context);
    const request = send(operations.deploy, {environmentId: targetSlug}, {json: {bundleId}});
    const {answer, raw} = readAnswer(await fromTarget(request), operations.deploy);
    const {deploymentId, status, url, warnings = []} = answer;
    return {deployment: {deploymentId, targetSlug}, status: deploymentStatus('api', status), url, warnings, raw};
  },

  async getDeployment({deploymentId, targetSlug}, context: ApiContext) {
    const send = connectApi(context);
    const id = asText(deploymentId);
    if (id === undefined || !isSegment(id))
      throw createError('ERR_OPTION_INVALID', 'The deployment has no ID from the Runtime (OAuth) backend.');
    const values = {environmentId: String(targetSlug), deploymentId: id};
    const response = await send(operations.getDeployment, values);
    const {answer, raw} = readAnswer(response, {...operations.getDeployment, answer: polledDeployment});
    const {status, statusMessage, progress, url} = answer;
    if (answer.deploymentId === undefined && status === undefined) throw wrongAnswer(response, 'is not a deployment');
    return {
      status: deploymentStatus('api', status),
      description: progress?.description ?? statusMessage,
      percentage: progress?.percentage,
      url,
      raw,
    };
  },

  async listBundles(range, context: ApiContext) {
    return fetchPage(connectApi(context), operations.listBundles, {}, range, bundleItem);
  },

  async listDeployments({targetSlug, ...range}, context: ApiContext) {
    const values = {environmentId: targetSlug};
    return fetchPage(connectApi(context), operations.listDeployments, values, range, (row) =>
      deploymentItem(row, targetSlug),
    );
  },

  /** The service makes the ID. What was asked for is its name. */
  targetSlugs: 'assigned',

  async listTargets(range, context: ApiContext) {
    const {items, ...page} = await fetchPage(connectApi(context), operations.listEnvironments, {}, range, (row) => row);
    // What is no longer there is counted, too.
    return {...page, items: items.filter(({status}) => !isGone(status)).map(targetItem), total: undefined};
  },

  async createTarget({targetSlug, name: displayName = targetSlug, copyFrom}, context: ApiContext) {
    const send = connectApi(context);
    const response =
      copyFrom === undefined
        ? await send(operations.createEnvironment, {}, {json: {displayName}})
        : await send(operations.cloneEnvironment, {}, {json: {sourceEnvironmentId: copyFrom, displayName, ...copied}});
    const {answer, raw} = readAnswer(response, operations.createEnvironment);
    return {...targetItem(answer), raw};
  },

  /** All of them are in one answer, whose values nobody needs. */
  async listVariables({targetSlug: environmentId}, context: ApiContext) {
    const response = await connectApi(context)(operations.listVariables, {environmentId});
    const {answer} = readAnswer(response, operations.listVariables);
    const items = Object.entries(answer).map(([name, variable]) => {
      const {publishingStatus: status, lastModified: updatedAt, lastModifiedBy: updatedBy} = variable;
      return listedVariable(name, {status, updatedAt, updatedBy});
    });
    return {items, total: items.length};
  },

  async listProjects(range, context: ApiContext) {
    return fetchPage(connectApi(context), operations.listStorefronts, {}, range, ({storefrontId, storefrontName}) => ({
      projectSlug: storefrontId,
      name: storefrontName,
    }));
  },

  ...targetMembers(
    'api',
    {...operations, getTarget: operations.getEnvironment, deleteTarget: operations.deleteEnvironment},
    connectApi,
    (environmentId) => ({environmentId}),
  ),

  async invalidate({targetSlug: environmentId, pattern}, context: ApiContext) {
    refuseInnerWildcard(pattern);
    readAcceptance(await connectApi(context)(operations.invalidate, {environmentId}, {json: {pattern}}));
  },
} satisfies BuiltInBackend<ApiBackendOptions, 'promote' | 'tailLogs' | 'download' | 'deleteBundle'>;

function connectApi({options: {connection}, projectSlug, http}: ApiContext): Send {
  if (!connection) throw createError('ERR_CREDENTIALS_MISSING', 'The Runtime (OAuth) backend has no connection.');
  const origin = normalizeOrigin('api origin', connection.origin);
  const {organizationId, auth} = connection;
  const send = sender('api', authorize(http, auth, origin), origin, {organizationId, storefrontId: projectSlug});
  return async (operation, ...request) => {
    try {
      return await send(operation, ...request);
    } catch (error) {
      if (!isRuntimeCliError(error) || error.code !== 'ERR_FORBIDDEN') throw error;
      const [, ...scope] = scopeAdvice.find(([prefix]) => operation.path.startsWith(prefix)) ?? [];
      const check = 'Check the organization, the project slug and the permissions of the credentials.';
      throw amendError(error, {advice: [check, ...scope]});
    }
  };
}

/** Many clients that may deploy lack these scopes. */
const scopeAdvice = [
  [
    environments,
    'Or the client lacks a scope for environments: one that ends with .environments to read them, or with .environments.rw to change them. Add it to the client, and to --scope.',
  ],
  [storefronts, 'Or the client lacks a scope that ends with .storefronts. Add it to the client, and to --scope.'],
] as const;

function claimsOf(header: string) {
  const payload = header.split('.')[1] ?? '';
  return asRecord(tryJson(Buffer.from(payload, 'base64url').toString('utf8')));
}

function timeOf(seconds: unknown): string | undefined {
  const time = new Date(typeof seconds === 'number' ? seconds * 1000 : Number.NaN);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

/** What the IDs of storefronts and environments must be, which these slugs are not. */
export function unfitApiSlugs({projectSlug, targetSlug}: Pick<BackendCheckContext, 'projectSlug' | 'targetSlug'>) {
  return [
    ...missingIdentifier('project slug', projectSlug, maxProject),
    ...missingIdentifier('target slug', targetSlug, maxTarget),
  ];
}

function missingIdentifier(what: string, value: string | undefined, max: number): readonly string[] {
  if (value === undefined || (v.is(identifier, value) && value.length <= max)) return [];
  return [`a ${what} of at most ${String(max)} lowercase letters, digits and inner hyphens, not "${value}"`];
}

const bundleStatuses = new Map<unknown, BundleItem['status']>([
  ['ok', 'ready'],
  ['preparing', 'preparing'],
  ['broken', 'broken'],
]);

function bundleItem(row: v.InferOutput<typeof apiSchemas.ApiBundle>): BundleItem {
  const {bundleId, description: message, status, lifecycleStatus = '', creationDate, createdBy, inUseBy} = row;
  const isDeleting = /^(?:cleanup|delet)/i.test(lifecycleStatus);
  return {
    bundleId,
    message,
    status: isDeleting ? 'deleting' : (bundleStatuses.get(status) ?? 'unknown'),
    createdAt: creationDate,
    createdBy,
    inUseBy,
  };
}

/** A row of the deployment list. Only its ID is guaranteed. */
function deploymentItem(row: v.InferOutput<typeof apiSchemas.ApiDeployment>, targetSlug: string): DeploymentItem {
  const {deploymentId, bundle, status, creationDate, createdBy, statusMessage, url} = row;
  return {
    deployment: {deploymentId, targetSlug},
    bundleId: bundle?.bundleId ?? bundle?.id ?? row.bundleId,
    status: listedStatus(status),
    message: bundle?.description ?? bundle?.message,
    createdAt: creationDate,
    createdBy,
    description: statusMessage,
    url,
  };
}

/** The service takes a prefix, and ignores what follows the first `*`: it would clear more than was asked for. */
function refuseInnerWildcard(pattern: string): void {
  const prefix = pattern.split('*', 1)[0] ?? '';
  if (pattern.length <= prefix.length + 1) return;
  throw createError(
    'ERR_OPTION_INVALID',
    `${pattern} cannot be invalidated: the Runtime (OAuth) backend would clear everything that begins with ${prefix}.`,
    {suggestions: [`If that is what you want, pass "${prefix}*".`]},
  );
}

const targetStates = new Map<unknown, TargetState>([
  ['building', 'creating'],
  ['ready', 'ready'],
  ['build_failed', 'failed'],
  ['deleting', 'deleting'],
]);

/** A service may list what is no longer there. */
const isGone = (status: unknown) => status === 'deleted' || status === 'delete_failed';

/** Visitors use the host name of the environment, or else that of its storefront. */
function targetItem(row: v.InferOutput<typeof apiSchemas.ApiEnvironment>): TargetItem {
  const {environmentId: targetSlug, displayName: name, status, isProduction: production, creationDate, mrtOrigin} = row;
  const host = row.ssrExternalHostname || row.defaultEcdnHostname || undefined;
  const url = row.url ?? (host === undefined ? mrtOrigin : `https://${host}`);
  return {targetSlug, name, state: targetStates.get(status), production, createdAt: creationDate, url};
}
