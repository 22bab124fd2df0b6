import type {IncomingMessage} from 'node:http';
import type {Answer, HttpFailure} from './answer.js';
import type {ArchiveLimits, LocalRuntimeCredentials} from './options.js';
import type {FaultBook, RouteName} from './faults.js';
import type {BundleReader} from './pages/bundle-reader.js';
import type {LiveFeed} from './pages/live-feed.js';
import type {Sessions} from './pages/session.js';
import type {RequestLog} from './request-log.js';
import type {RequestBody} from './request-body.js';
import type {AppServers} from './ssr/app-servers.js';
import type {Deployments} from './store/deployments.js';
import type {Store} from './store/store.js';
import type {SiteFiles} from './protocols/site-files.js';
import type {ReadingTurns} from './upload/read-archive.js';

/** What every request of a runtime needs. */
export interface RuntimeContext {
  readonly store: Store;
  readonly deployments: Deployments;
  readonly faults: FaultBook;
  readonly feed: LiveFeed;
  readonly reader: BundleReader;
  readonly sessions: Sessions;
  readonly log: RequestLog;
  /** Undefined if only files are served. */
  readonly appServers: AppServers | undefined;
  readonly limits: ArchiveLimits;
  readonly files: SiteFiles;
  /** Limits how many archives are read at a time. */
  readonly turns: ReadingTurns;
  readonly credentials: LocalRuntimeCredentials;
  /** Address that the server should listen on. */
  readonly host: string;
  /** Names that requests may have in their Host header besides its own. */
  readonly allowedHosts: readonly string[];
  /** Where deployed apps are served: the origin as `LocalRuntime` has it. */
  readonly appsOrigin: string;
  readonly auth: boolean;
  readonly scopes: readonly string[] | undefined;
  readonly tokenSeconds: number;
  readonly maxUploadBytes: number;
  readonly stallSeconds: number;
  readonly now: () => Date;
}

/** A request for a handler. */
export interface Call {
  readonly context: RuntimeContext;
  readonly request: IncomingMessage;
  readonly body: RequestBody;
  /** Path without the query, as sent. If the host is a target's own, the path of the target comes before it. */
  readonly path: string;
  /** The path of the target if a path names it; empty if the host does. */
  readonly base?: string | undefined;
  /** The query as sent, including "?"; empty if there is none. */
  readonly search: string;
  readonly query: URLSearchParams;
  /** The named parts of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** Address of the server as used by the client. */
  readonly origin: string;
}

/** A request that a protocol admitted. */
export interface AdmittedCall extends Call {
  /** The user, for records. */
  readonly user: string;
}

/** A route of a protocol: what is served, and its handler. */
export interface Route {
  /** `*`: any. */
  readonly method: 'GET' | 'POST' | 'DELETE' | '*';
  /** `{name}` matches one part of the path, a final `{name*}` the rest of it, percent-encoded. */
  readonly pattern: string;
  /** Undefined for what only browsers ask for: no fault applies to it, and it is not recorded. */
  readonly name?: RouteName;
  handle(call: AdmittedCall): Promise<Answer> | Answer;
}

/** A group of routes with the same prefix, admission and error format. */
export interface Protocol {
  readonly prefix: string;
  /** Whether each path is served both with and without a final slash. */
  readonly anyFinalSlash: boolean;
  readonly routes: readonly Route[];
  /** Checks credentials and names, and returns the user. @throws HttpFailure 400, 401 or 403. */
  admit(call: Call): string;
  failure(failure: HttpFailure): Answer;
}

/** A named part of the path. */
export function param({params}: Pick<Call, 'params'>, name: string): string {
  const value = params[name];
  if (value === undefined) throw new Error(`Bug: the route pattern has no {${name}}.`);
  return value;
}
