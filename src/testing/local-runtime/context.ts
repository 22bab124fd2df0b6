import type {IncomingMessage} from 'node:http';
import type {Answer, HttpFailure} from './answer.js';
import type {ArchiveLimits, LocalRuntimeCredentials} from './options.js';
import type {FaultBook, RouteName} from './faults.js';
import type {RequestBody} from './request-body.js';
import type {Deployments} from './store/deployments.js';
import type {Store} from './store/store.js';

/** What every request of a runtime works with. */
export interface RuntimeContext {
  readonly store: Store;
  readonly deployments: Deployments;
  readonly faults: FaultBook;
  readonly limits: ArchiveLimits;
  readonly credentials: LocalRuntimeCredentials;
  /** Address that the server was asked to listen on. */
  readonly host: string;
  readonly auth: boolean;
  readonly scopes: readonly string[] | undefined;
  readonly tokenSeconds: number;
  readonly maxUploadBytes: number;
  readonly stallSeconds: number;
  readonly now: () => Date;
}

/** A request on its way to its handler. */
export interface Call {
  readonly context: RuntimeContext;
  readonly request: IncomingMessage;
  readonly body: RequestBody;
  /** Path as it was sent, without the query. */
  readonly path: string;
  /** The query as it was sent, with its "?"; empty without one. */
  readonly search: string;
  readonly query: URLSearchParams;
  /** The parts of the path that the pattern of the route names, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** Address of the server as the client calls it. */
  readonly origin: string;
}

/** A request that a protocol lets in. */
export interface AdmittedCall extends Call {
  /** Who it is from, for the records. */
  readonly user: string;
}

/** One line of a protocol: what is served, and by what. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** `{name}` stands for one part of the path, a last `{name*}` for the rest of it, its parts percent-encoded. */
  readonly pattern: string;
  readonly name: RouteName;
  handle(call: AdmittedCall): Promise<Answer> | Answer;
}

/** Routes that belong together: below one prefix, with one way to be let in and one form of errors. */
export interface Protocol {
  readonly prefix: string;
  /** Whether each path is served with and without its final slash, whichever its pattern has. */
  readonly anyFinalSlash: boolean;
  readonly routes: readonly Route[];
  /** Checks credentials and names; returns who the request is from. @throws HttpFailure 400, 401 or 403. */
  admit(call: Call): string;
  failure(failure: HttpFailure): Answer;
}

/** A part of the path that the pattern of the route names. */
export function param({params}: Pick<Call, 'params'>, name: string): string {
  const value = params[name];
  if (value === undefined) throw new Error(`Bug: the route pattern has no {${name}}.`);
  return value;
}
