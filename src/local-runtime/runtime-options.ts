import type {FaultRule, RouteName} from './faults.js';

/** Credentials of a local runtime. They are for development only and may be printed. */
export interface LocalRuntimeCredentials {
  /** Runtime (API key): a bearer token, or the password of HTTP Basic with any user name. */
  readonly apiKey: string;
  /** Runtime (OAuth): the only organization. */
  readonly organizationId: string;
  /** Runtime (OAuth): client ID of the client credentials grant. */
  readonly clientId: string;
  /** Runtime (OAuth): client secret of the client credentials grant. */
  readonly clientSecret: string;
  /** Runtime (OAuth): the token endpoint, on the runtime's origin. */
  readonly tokenUrl: string;
}

/** Options of `startLocalRuntime()`. */
export interface LocalRuntimeOptions {
  /**
   * Folder for bundles, deployments and credentials. A second runtime cannot use it at the same time.
   * @default a temporary folder, removed by `close()`, or by the next runtime if the process is killed
   */
  readonly dataDirectory?: string | undefined;
  /** Address to listen on. Anything but loopback opens the server to others. @default '127.0.0.1' */
  readonly host?: string | undefined;
  /**
   * Names to accept in the Host header besides `host`, `localhost` and the address that the client has connected to.
   * Requests for others are refused, so that no web page can reach the server under a name of its own.
   * @default []
   */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Port to listen on; 0 for any free one. @default the port last used with the data folder */
  readonly port?: number | undefined;
  /**
   * Port that serves the deployed apps; 0 for any free one. It is not `port`, so that scripts of an app have another
   * origin than the API.
   * @default the one last used with the data folder
   */
  readonly appsPort?: number | undefined;
  /** Whether requests need credentials. @default true */
  readonly auth?: boolean | undefined;
  /**
   * Password that visitors of deployed apps need: with HTTP basic authentication and any user, or in the header
   * `x-sfdc-access-control`. @default none, apps are public
   */
  readonly protect?: string | undefined;
  /** Replaces individual credentials of the data folder. The token URL depends on the origin. */
  readonly credentials?: Partial<Omit<LocalRuntimeCredentials, 'tokenUrl'>> | undefined;
  /**
   * The certificate of the client, in PEM format. Token requests may then be signed with its key instead of having the
   * client secret. @default none
   */
  readonly clientCertificate?: string | undefined;
  /** Initial faults, as rules or in the syntax of `parseFault()`. @default [] */
  readonly faults?: readonly (string | FaultRule)[] | undefined;
  /** Duration of a deployment in seconds; 0: finished at once. @default 2 */
  readonly deploymentSeconds?: number | undefined;
  /** Lifetime of an access token in seconds. @default 3600 */
  readonly tokenSeconds?: number | undefined;
  /**
   * OAuth scopes that Runtime (OAuth) requires. A token request for any other scope fails with `invalid_scope`; one
   * without scopes gets all. A token that lacks any of them is refused (403).
   * @default every scope is granted and none is required
   */
  readonly scopes?: readonly string[] | undefined;
  /** Maximum size of an upload's body in bytes; a larger one gets a 413. @default no limit */
  readonly maxUploadBytes?: number | undefined;
  /**
   * Seconds in which the headers of a request must arrive, and after that the next bytes of its body. A client that
   * stalls for longer gets a 408, its connection is closed, and its target is free again.
   * @default 60
   */
  readonly stallSeconds?: number | undefined;
  /**
   * Whether the servers of deployed apps run, each in a process of its own on loopback. Whoever can deploy to this
   * runtime can then run code on this machine. docs/reference/local-runtime.md describes what a server can be.
   * @default false
   */
  readonly ssr?: boolean | undefined;
  /** Variables of these servers, which inherit none from this process. @default {} */
  readonly ssrEnvironment?: Readonly<Record<string, string>> | undefined;
  /** Seconds that such a server has to start listening, and to begin each answer. @default 30 */
  readonly ssrTimeoutSeconds?: number | undefined;
  /** Called with each line that such a server prints, after its target: `shop/staging: Listening`. */
  readonly onAppOutput?: ((line: string) => void) | undefined;
  /** Called with warnings for users, such as that the server of an app crashed. */
  readonly onWarning?: ((message: string) => void) | undefined;
  /** Called once for every request that has ended. */
  readonly onRequest?: ((record: RequestRecord) => void) | undefined;
  /** The clock for deployments and tokens. @default the system's */
  readonly now?: (() => Date) | undefined;
  /** Cancels the start, or closes the runtime later. */
  readonly signal?: AbortSignal | undefined;
}

/** A completed request. Contains no secrets: no headers except the user agent, and no query. */
export interface RequestRecord {
  /** HTTP method. */
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** Status of the response; 0 if the connection ended without one. */
  readonly status: number;
  /** What the request was for; undefined if nothing is served there. */
  readonly route?: RouteName | undefined;
  /** Bytes of the request's body that were read. */
  readonly bytesReceived: number;
  /** From the request line to the end of the answer, in milliseconds. */
  readonly durationMs: number;
  /** The fault that was applied, as `FaultRule.action`. */
  readonly fault?: FaultRule['action'] | undefined;
  /** The `User-Agent` header. */
  readonly userAgent?: string | undefined;
  /** The `x-request-id` header of the response. */
  readonly requestId: string;
}

/** A running local runtime. */
export interface LocalRuntime {
  /** The API: `http://127.0.0.1:PORT` */
  readonly origin: string;
  /** The deployed apps, also at `/PROJECT/TARGET/`: `http://127.0.0.1:APPS_PORT` */
  readonly appsOrigin: string;
  /** Where a target is served: `http://TARGET--PROJECT.localhost:APPS_PORT/` */
  siteUrl(projectSlug: string, targetSlug: string): string;
  /** Absolute path. */
  readonly dataDirectory: string;
  /** What it accepts. */
  readonly credentials: LocalRuntimeCredentials;
  /** The latest completed requests, at most 1,000, oldest first. */
  readonly requests: readonly RequestRecord[];
  /** Adds a fault. @throws RuntimeCliError `ERR_OPTION_INVALID` for an invalid rule. */
  addFault(rule: string | FaultRule): void;
  /** Removes all faults. */
  clearFaults(): void;
  /** Closes every connection and both servers. A given data folder keeps its content. */
  close(): Promise<void>;
}
