import {asRecord} from '../../text/json.js';
import {createError, isRuntimeCliError} from '../../errors/index.js';
import {authorize, BearerTokenStrategy, normalizeOrigin, wrongAnswer} from '../../http/index.js';
import type {AuthStrategy} from '../../http/types.js';
import {
  asNumber,
  asText,
  asTexts,
  deploymentStatus,
  fetchPage,
  fromTarget,
  listedStatus,
  multipartBody,
  numericId,
  readAnswer,
  uploadResult,
  type Answer,
  type StatusWords,
} from '../answers.js';
import {checkResult, type BuiltInContext, type HostBackend} from '../built-in.js';
import type {BundleItem, DeploymentItem} from '../contract.js';

export interface ApiBackendOptions {
  readonly connection?: ApiRuntimeConnection | undefined;
  /** What a connection still needs, in the caller's words. Only used when there is none. */
  readonly missing?: readonly string[] | undefined;
}

/** Connection to the Api backend. */
export interface ApiRuntimeConnection {
  /** Base URL of the commerce platform's API; `https://` when it has no scheme. */
  readonly origin: string;
  /** 1 to 32 characters. */
  readonly organizationId: string;
  /** How requests are authorized: an OAuth strategy or a ready-made token. */
  readonly auth: AuthStrategy;
}

type Context = BuiltInContext<ApiBackendOptions>;

const identifier = /^[a-z0-9]+(?:-+[a-z0-9]+)*$/;
/** Limits of the service on the IDs of storefronts and environments, in characters. */
const maxProject = 20;
const maxTarget = 19;

/** The Api backend: OAuth, v2 bundles. It supports neither downloads nor deletions. */
export const apiBackend = {
  apiVersion: 1,
  name: 'api',
  summary: 'Runtime (OAuth): v2 bundles',
  formats: ['v2'],
  bundleIds: 'number',
  offsetCursors: true,

  async check({options, projectSlug, targetSlug}) {
    const {connection, missing = ['apiConnection']} = options;
    const {organizationId = ''} = connection ?? {};
    const isOrganization = organizationId.length <= 32 && isSegment(organizationId);
    return checkResult([
      ...(connection === undefined ? missing : isOrganization ? [] : ['an organization ID of 1 to 32 characters']),
      ...missingIdentifier('project slug', projectSlug, maxProject),
      ...missingIdentifier('target slug', targetSlug, maxTarget),
    ]);
  },

  async upload(bundle, context: Context) {
    const {http, url} = connect(context);
    const response = await http.post(url('bundles'), multipartBody(bundle, context));
    return uploadResult(readAnswer(response), 'api', 'bundleId');
  },

  async deploy({bundleId, targetSlug}, context: Context) {
    const {http, url} = connect(context);
    const response = await fromTarget(http.post(url(...deployments(targetSlug)), {json: {bundleId}}));
    const raw = readAnswer(response);
    const deploymentId = deploymentIdOf(raw);
    if (deploymentId === undefined) {
      throw createError(
        'ERR_RESPONSE_INVALID',
        'The Runtime (OAuth) backend accepted the deployment, but its response has no deployment ID.',
      );
    }
    return {
      deployment: {deploymentId, targetSlug},
      status: deploymentStatus('api', raw, deploymentStatuses),
      url: asText(raw['url']),
      warnings: asTexts(raw['warnings']) ?? [],
      raw,
    };
  },

  async getDeployment({deploymentId, targetSlug}, context: Context) {
    const {http, url} = connect(context);
    const id = deploymentIdOf({deploymentId});
    if (id === undefined)
      throw createError('ERR_OPTION_INVALID', 'The deployment has no ID from the Runtime (OAuth) backend.');
    const response = await http.get(url(...deployments(String(targetSlug)), id));
    const raw = readAnswer(response);
    if (deploymentIdOf(raw) === undefined && asText(raw['status']) === undefined) {
      throw wrongAnswer(response, 'is not a deployment');
    }
    const progress = asRecord(raw['progress']);
    return {
      status: deploymentStatus('api', raw, deploymentStatuses),
      description: asText(progress['description']) ?? asText(raw['statusMessage']),
      percentage: asNumber(progress['percentage']),
      url: asText(raw['url']),
      raw,
    };
  },

  async listBundles(range, context: Context) {
    const {http, url} = connect(context);
    return fetchPage(http, url('bundles'), range, page, bundleItem);
  },

  async listDeployments({targetSlug, ...range}, context: Context) {
    const {http, url} = connect(context);
    return fetchPage(http, url(...deployments(targetSlug)), range, page, (row) => deploymentItem(row, targetSlug));
  },
} satisfies HostBackend<ApiBackendOptions>;

/**
 * Gets an access token, and tries it on the bundles of the project, when there is one. That the project does not exist
 * says nothing against the client.
 */
export async function identifyClient(context: Context) {
  const {http, url} = connect(context);
  const auth = context.options.connection?.auth;
  const header = await auth?.getAuthorizationHeader(context);
  const claims = claimsOf(header ?? '');
  const owner = {
    clientId: asText(claims['client_id']) ?? asText(claims['sub']),
    expiresAt: timeOf(asNumber(claims['exp'])),
  };
  // A client was asked for a token; one that was given has been nowhere yet.
  if (context.projectSlug === '') return {...owner, asked: !(auth instanceof BearerTokenStrategy)};
  try {
    await http.get(url('bundles'), {searchParams: {limit: 1, offset: 0}});
  } catch (error) {
    if (!isRuntimeCliError(error) || error.status !== 404) throw error;
  }
  return {...owner, asked: true};
}

function claimsOf(header: string): Answer {
  const payload = header.split('.')[1] ?? '';
  try {
    return asRecord(JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')));
  } catch {
    return {};
  }
}

function timeOf(seconds: number | undefined): string | undefined {
  const time = new Date((seconds ?? Number.NaN) * 1000);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

const page = {rows: 'data', total: 'total'};

function missingIdentifier(what: string, value: string | undefined, max: number): readonly string[] {
  if (value === undefined || (identifier.test(value) && value.length <= max)) return [];
  return [`a ${what} of at most ${String(max)} lowercase letters, digits and inner hyphens, not "${value}"`];
}

function connect({options: {connection}, projectSlug, http}: Context) {
  if (!connection) throw createError('ERR_CREDENTIALS_MISSING', 'The Runtime (OAuth) backend has no connection.');
  const origin = normalizeOrigin('api origin', connection.origin);
  const project = ['organizations', connection.organizationId, 'storefronts', projectSlug];
  return {
    http: authorize(http, connection.auth, origin),
    url: (...segments: readonly string[]) =>
      `${origin}/storefront/deployments/v1/${[...project, ...segments].map(encodeURIComponent).join('/')}`,
  };
}

function deployments(targetSlug: string): readonly string[] {
  return ['environments', targetSlug, 'deployments'];
}

/** The ID of a deployment. It becomes part of a path, so one that would lead elsewhere is ignored. */
function deploymentIdOf({deploymentId}: Answer): string | undefined {
  const id = asText(deploymentId);
  return id !== undefined && isSegment(id) ? id : undefined;
}

/** Whether a string can be a path segment: URLs drop `.` and `..`, and cannot carry lone surrogates. */
function isSegment(text: string): boolean {
  return text !== '' && text.length <= 256 && !/^\.{1,2}$|[\p{Cc}\p{Cs}]/u.test(text);
}

const deploymentStatuses: StatusWords = new Map([
  [undefined, 'queued'],
  ['queued', 'queued'],
  ['in_progress', 'in_progress'],
  ['finished', 'finished'],
  ['failed', 'failed'],
]);

const bundleStatuses = new Map<unknown, BundleItem['status']>([
  ['ok', 'ready'],
  ['preparing', 'preparing'],
  ['broken', 'broken'],
]);

function bundleItem(item: Answer): BundleItem | undefined {
  const bundleId = numericId(item['bundleId']);
  if (bundleId === undefined) return undefined;
  const isDeleting = /^(?:cleanup|delet)/i.test(asText(item['lifecycleStatus']) ?? '');
  return {
    bundleId,
    message: asText(item['description']),
    status: isDeleting ? 'deleting' : (bundleStatuses.get(item['status']) ?? 'unknown'),
    createdAt: asText(item['creationDate']),
    createdBy: asText(item['createdBy']),
    inUseBy: asTexts(item['inUseBy']),
  };
}

/** A row of the deployment list. Only its ID is guaranteed. */
function deploymentItem(item: Answer, targetSlug: string): DeploymentItem | undefined {
  const bundle = asRecord(item['bundle']);
  const deploymentId = deploymentIdOf(item);
  if (deploymentId === undefined) return undefined;
  return {
    deployment: {deploymentId, targetSlug},
    bundleId: numericId(bundle['bundleId'] ?? bundle['id'] ?? item['bundleId']),
    status: listedStatus(item, deploymentStatuses),
    message: asText(bundle['description'] ?? bundle['message']),
    createdAt: asText(item['creationDate']),
    createdBy: asText(item['createdBy']),
    description: asText(item['statusMessage']),
    url: asText(item['url']),
  };
}
