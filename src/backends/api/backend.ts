import {createError, isRuntimeCliError} from '../../errors/index.js';
import {placeFlags} from '../../errors/suggest.js';
import {authorize, BearerTokenStrategy, normalizeOrigin, wrongAnswer} from '../../http/index.js';
import type {AuthStrategy} from '../../http/types.js';
import {
  asMatches,
  asNumber,
  asRecord,
  asText,
  asTexts,
  asWarnings,
  bundleIdOf,
  fromTarget,
  numericId,
  pageQuery,
  readAnswer,
  readPage,
  readWritten,
  requestedBundleId,
  multipartBody,
  type Answer,
} from '../answers.js';
import type {BuiltInContext, HostBackend} from '../built-in.js';
import type {BundleItem, DeploymentItem, DeploymentStatus} from '../contract.js';

/** Options of the Api backend. */
export interface ApiBackendOptions {
  readonly connection?: ApiRuntimeConnection | undefined;
  /** What a connection still needs, in the caller's words. Only used when there is none. */
  readonly missing?: readonly string[] | undefined;
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
  summary: 'The Api backend: OAuth, v2 bundles',
  formats: ['v2'],
  bundleIds: 'number',
  offsetCursors: true,

  check({options, projectSlug, targetSlug}) {
    const {connection, missing: unset = ['apiConnection']} = options;
    const {organizationId = ''} = connection ?? {};
    const isOrganization = organizationId.length <= 32 && isSegment(organizationId);
    const missing = [
      ...(connection === undefined ? unset : isOrganization ? [] : ['an organization ID of 1 to 32 characters']),
      ...missingIdentifier('project slug', projectSlug, maxProject),
      ...missingIdentifier('target slug', targetSlug, maxTarget),
    ];
    return Promise.resolve(missing.length === 0 ? {configured: true} : {configured: false, missing});
  },

  async upload(bundle, context: Context) {
    const {http, base} = connect(context);
    const response = await http.post(`${storefront(base, context)}/bundles`, multipartBody(bundle, context));
    const look = ['bundle:list', ...placeFlags({projectSlug: context.projectSlug, backend: 'api'})];
    return readWritten(look, () => {
      const {answer, raw} = readAnswer(response);
      const bundleId = bundleIdOf(answer['bundleId'], 'api');
      return {bundleId, warnings: asWarnings(answer['warnings']), matches: asMatches(answer['matches']), raw};
    });
  },

  async deploy({bundleId, targetSlug}, context: Context) {
    const {http, base} = connect(context);
    const json = {bundleId: requestedBundleId(bundleId, 'api')};
    const response = await fromTarget(http.post(deployments(base, targetSlug, context), {json}));
    const look = ['bundle:history', ...placeFlags({projectSlug: context.projectSlug, targetSlug, backend: 'api'})];
    return readWritten(look, () => {
      const {answer, raw} = readAnswer(response);
      const deploymentId = deploymentIdOf(answer);
      if (deploymentId === undefined) {
        throw createError(
          'ERR_RESPONSE_INVALID',
          'The api backend accepted the deployment, but its response has no deployment ID.',
        );
      }
      const status = statusOf(answer);
      const [url, warnings] = [asText(answer['url']), asWarnings(answer['warnings'])];
      return {deployment: {deploymentId, targetSlug}, status, url, warnings, raw};
    });
  },

  async getDeployment({deploymentId, targetSlug}, context: Context) {
    const {http, base} = connect(context);
    const id = deploymentIdOf({deploymentId});
    if (id === undefined) throw createError('ERR_OPTION_INVALID', 'The deployment has no ID from the api backend.');
    const url = `${deployments(base, String(targetSlug), context)}/${encodeURIComponent(id)}`;
    const response = await http.get(url);
    const {answer, raw} = readAnswer(response);
    if (deploymentIdOf(answer) === undefined && asText(answer['status']) === undefined) {
      throw wrongAnswer(response, 'is not a deployment');
    }
    const progress = asRecord(answer['progress']);
    return {
      status: statusOf(answer),
      description: asText(progress['description']) ?? asText(answer['statusMessage']),
      percentage: asNumber(progress['percentage']),
      url: asText(answer['url']),
      raw,
    };
  },

  async listBundles(range, context: Context) {
    const {http, base} = connect(context);
    const searchParams = pageQuery(range);
    const response = await http.get(`${storefront(base, context)}/bundles`, {searchParams});
    return readPage(response, page, bundleItem, searchParams);
  },

  async listDeployments({targetSlug, ...range}, context: Context) {
    const {http, base} = connect(context);
    const searchParams = pageQuery(range);
    const response = await http.get(deployments(base, targetSlug, context), {searchParams});
    return readPage(response, page, (row) => deploymentItem(row, targetSlug), searchParams);
  },
} satisfies HostBackend<ApiBackendOptions>;

/**
 * Gets an access token, and tries it on the bundles of the project, when there is one. That the project does not exist
 * says nothing against the client.
 */
export async function identifyClient(context: Context) {
  const {http, base} = connect(context);
  const auth = context.options.connection?.auth;
  const header = await auth?.getAuthorizationHeader(context);
  const claims = claimsOf(header ?? '');
  const owner = {
    clientId: asText(claims['client_id']) ?? asText(claims['sub']),
    expiresAt: timeOf(asNumber(claims['exp'])),
  };
  // A client was asked for a token; one that was given has been nowhere yet.
  if (context.projectSlug === '') return {...owner, asked: !(auth instanceof BearerTokenStrategy)};
  const list = http.get(`${storefront(base, context)}/bundles`, {searchParams: {limit: 1, offset: 0}});
  const response = await list.catch((error: unknown) => {
    if (isRuntimeCliError(error) && error.status === 404) return undefined;
    throw error;
  });
  return {...owner, asked: true, serverDate: response?.headers.date};
}

/** The claims of a JWT in an `Authorization` header; undefined if it is not a JWT. */
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

/** The members of a list that hold its rows and their total. */
const page = {rows: 'data', total: 'total'};

function missingIdentifier(what: string, value: string | undefined, max: number): readonly string[] {
  if (value === undefined || (identifier.test(value) && value.length <= max)) return [];
  return [`a ${what} of at most ${String(max)} lowercase letters, digits and inner hyphens, not "${value}"`];
}

function connect(context: Context): {readonly http: Context['http']; readonly base: string} {
  const {connection} = context.options;
  if (!connection) throw createError('ERR_CREDENTIALS_MISSING', 'The api backend has no connection.');
  const origin = normalizeOrigin('api origin', connection.origin);
  const organization = encodeURIComponent(connection.organizationId);
  return {
    http: authorize(context.http, connection.auth, origin),
    base: `${origin}/storefront/deployments/v1/organizations/${organization}`,
  };
}

function storefront(base: string, {projectSlug}: Context): string {
  return `${base}/storefronts/${encodeURIComponent(projectSlug)}`;
}

function deployments(base: string, targetSlug: string, context: Context): string {
  return `${storefront(base, context)}/environments/${encodeURIComponent(targetSlug)}/deployments`;
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

/** @throws RuntimeCliError `ERR_RESPONSE_INVALID` for an unknown status. */
function statusOf(answer: Answer): DeploymentStatus {
  const status = listedStatus(answer);
  if (status !== 'unknown') return status;
  throw createError(
    'ERR_RESPONSE_INVALID',
    `The api backend returned an unknown deployment status: ${JSON.stringify(answer['status'])}.`,
  );
}

/** The status of a deployment. The server may omit it at first. */
function listedStatus({status = null}: Answer): DeploymentItem['status'] {
  switch (status) {
    case null:
      return 'queued';
    case 'queued':
    case 'in_progress':
    case 'finished':
    case 'failed':
      return status;
    default:
      return 'unknown';
  }
}

function bundleItem(item: Answer): BundleItem | undefined {
  const bundleId = numericId(item['bundleId']);
  if (bundleId === undefined) return undefined;
  return {
    bundleId,
    message: asText(item['description']),
    status: bundleStatus(item),
    createdAt: asText(item['creationDate']),
    createdBy: asText(item['createdBy']),
    inUseBy: asTexts(item['inUseBy']),
  };
}

function bundleStatus(item: Answer): BundleItem['status'] {
  if (/^(?:cleanup|delet)/i.test(asText(item['lifecycleStatus']) ?? '')) return 'deleting';
  switch (item['status']) {
    case 'ok':
      return 'ready';
    case 'preparing':
    case 'broken':
      return item['status'];
    default:
      return 'unknown';
  }
}

/** A row of the deployment list. Only its ID is guaranteed. */
function deploymentItem(item: Answer, targetSlug: string): DeploymentItem | undefined {
  const bundle = asRecord(item['bundle']);
  const deploymentId = deploymentIdOf(item);
  if (deploymentId === undefined) return undefined;
  return {
    deployment: {deploymentId, targetSlug},
    bundleId: numericId(bundle['bundleId'] ?? bundle['id'] ?? item['bundleId']),
    status: listedStatus(item),
    message: asText(bundle['description'] ?? bundle['message']),
    createdAt: asText(item['creationDate']),
    createdBy: asText(item['createdBy']),
    description: asText(item['statusMessage']),
    url: asText(item['url']),
  };
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
