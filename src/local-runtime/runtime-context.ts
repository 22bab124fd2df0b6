import type {IncomingMessage, ServerResponse} from 'node:http';
import {HttpFailure} from './answer.js';
import type {LocalRuntimeCredentials, LocalRuntimeOptions, RequestRecord} from './runtime-options.js';
import type {FaultBook, FaultRule, RouteName} from './faults.js';
import type {RequestBody} from './request-body.js';
import type {AppServers} from './sites/app-servers.js';
import type {Deployments} from './store/deployment-records.js';
import type {BundleRecord, Store} from './store/store.js';
import type {Targets} from './store/target-records.js';
import type {LogFeed} from './sites/log-feed.js';
import type {SiteName} from './sites/site-address.js';

/** The options with a default. */
type Settled =
  | 'host'
  | 'allowedHosts'
  | 'auth'
  | 'tokenSeconds'
  | 'maxUploadBytes'
  | 'stallSeconds'
  | 'now'
  | 'onRequest';

type RuntimeSettings = Readonly<Required<{[Name in Settled]: NonNullable<LocalRuntimeOptions[Name]>}>> &
  Pick<LocalRuntimeOptions, 'protect' | 'scopes'>;

export interface RuntimeContext extends RuntimeSettings {
  readonly store: Store;
  readonly deployments: Deployments;
  readonly targets: Targets;
  readonly logs: LogFeed;
  readonly faults: FaultBook;
  readonly requests: RequestRecord[];
  /** Undefined if only files are served. */
  readonly appServers: AppServers | undefined;
  readonly credentials: LocalRuntimeCredentials;
  /** Makes a new API key, which ends the one before. */
  readonly renewApiKey: () => Promise<string>;
  /** Where deployed apps are served: the origin as `LocalRuntime` has it. */
  readonly appsOrigin: string;
  /** The key that assertions of the client are signed with, as PEM. */
  readonly clientKey: string | undefined;
}

export interface Call {
  readonly context: RuntimeContext;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: RequestBody;
  /** Path as sent, without the query. */
  readonly path: string;
  /** The query as sent, including "?"; empty if there is none. */
  readonly search: string;
  readonly query: URLSearchParams;
  /** Address of the server as used by the client. */
  readonly origin: string;
  /** The named parts of the path, decoded. */
  params: Readonly<Record<string, string>>;
  route: RouteName | undefined;
  /** The one that was applied last. */
  fault: FaultRule['action'] | undefined;
  user: string;
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'ALL';
  /** As Hono has it. A final slash does not matter. */
  readonly path: string;
  readonly name?: RouteName;
  handle(call: Call): Promise<Response> | Response;
}

/** A group of routes with the same admission and error format. */
export interface Protocol {
  /** With a final slash. Unknown paths below it are refused in its format. */
  readonly prefix: string;
  readonly routes: readonly Route[];
  /** Checks credentials and names, and returns the user. @throws HttpFailure 400, 401 or 403. */
  admit(call: Call): string | Promise<string>;
  failure(failure: HttpFailure): Promise<Response> | Response;
}

export function param({params}: Pick<Call, 'params'>, name: string): string {
  const value = params[name];
  if (value === undefined) throw new Error(`Bug: the path of the route has no :${name}.`);
  return value;
}

/** The project that a path names, in the words of either wire. */
export function projectOf(call: Pick<Call, 'params'>): string {
  return param(call, 'storefrontId' in call.params ? 'storefrontId' : 'projectSlug');
}

/** The target that a path names, in the words of either wire. */
export function siteOf(call: Pick<Call, 'params'>): SiteName {
  const targetSlug = param(call, 'environmentId' in call.params ? 'environmentId' : 'targetSlug');
  return {projectSlug: projectOf(call), targetSlug};
}

/** A bundle of the project that the path names. @throws HttpFailure 404 when there is none with this ID. */
export function requestedBundle(call: Call, id = Number(param(call, 'bundleId'))): BundleRecord {
  const projectSlug = projectOf(call);
  const bundle = call.context.store.bundle(projectSlug, id);
  if (!bundle) throw new HttpFailure(404, `The project "${projectSlug}" has no bundle ${id}.`);
  return bundle;
}

/** How many requests are kept. */
const maxRecords = 1000;

export function recordRequest(
  {method = 'GET', url = '/', headers}: IncomingMessage,
  outcome: Omit<RequestRecord, 'method' | 'path' | 'userAgent'>,
  {requests, onRequest}: RuntimeContext,
): void {
  const record = {method, path: url.replace(/\?.*$/s, ''), userAgent: headers['user-agent'], ...outcome};
  requests.push(record);
  if (requests.length > maxRecords) requests.shift();
  onRequest(record);
}

/** Why nothing is logged. Undefined if something was, or if a server starts with the first request. */
export async function reasonOfSilence(
  {appServers, deployments, logs}: RuntimeContext,
  site: SiteName,
): Promise<string | undefined> {
  if (appServers === undefined) return 'This local runtime runs no servers, so nothing is logged. Start it with --ssr.';
  if (logs.last(site).length > 0) return undefined;
  const deployment = deployments.current(site);
  if (deployment === undefined) return 'Nothing is deployed here yet, so nothing is logged.';
  return (await appServers.has(deployment)) ? undefined : 'The deployed bundle has no server, so nothing is logged.';
}
