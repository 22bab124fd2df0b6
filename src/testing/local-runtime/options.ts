import type {FaultRule, RouteName} from './faults.js';

/** What a client needs to talk to a local runtime. Made for development; printing them is fine. */
export interface LocalRuntimeCredentials {
  /** Legacy backend: a bearer token, or the password of HTTP Basic with any user name. */
  readonly apiKey: string;
  /** Api backend: the one organization that is served. */
  readonly organizationId: string;
  /** Api backend: client id of the client-credentials grant. */
  readonly clientId: string;
  /** Api backend: client secret of the client-credentials grant. */
  readonly clientSecret: string;
  /** Api backend: the token endpoint, below the runtime's origin. */
  readonly tokenUrl: string;
}

/** Options of `startLocalRuntime()`. */
export interface LocalRuntimeOptions {
  /**
   * Folder that bundles, deployments and credentials are kept in. It is locked: a second runtime is refused.
   * @default a temporary folder, removed by `close()`, or by the next runtime when the process was killed
   */
  readonly dataDirectory?: string | undefined;
  /** Address to listen on. Anything but a loopback address opens the server to others. @default '127.0.0.1' */
  readonly host?: string | undefined;
  /**
   * Port to listen on; 0 takes any free one.
   * @default the port that the data folder was last served on, while it is free
   */
  readonly port?: number | undefined;
  /** Whether requests need credentials. @default true */
  readonly auth?: boolean | undefined;
  /** Credentials to use instead of those of the data folder, one by one. The token URL follows from the origin. */
  readonly credentials?: Partial<Omit<LocalRuntimeCredentials, 'tokenUrl'>> | undefined;
  /** Faults to begin with, as rules or in the grammar of `parseFault()`. @default [] */
  readonly faults?: readonly (string | FaultRule)[] | undefined;
  /** Seconds from queued to finished of a deployment; 0: finished at once. @default 2 */
  readonly deploymentSeconds?: number | undefined;
  /** Seconds that an access token is good for. @default 3600 */
  readonly tokenSeconds?: number | undefined;
  /**
   * OAuth scopes that the Api backend asks for. A token request for another one is an `invalid_scope`; one that names
   * none gets all; a token without all of them is refused (403).
   * @default every scope is granted and none is asked for
   */
  readonly scopes?: readonly string[] | undefined;
  /** Largest body of an upload, in bytes; a larger one is answered 413. @default no limit */
  readonly maxUploadBytes?: number | undefined;
  /**
   * Seconds in which at least 1 KiB of a body, or its end, has to arrive; a client that stalls for longer is answered
   * 408, and the target that it deploys to is free again.
   * @default 60
   */
  readonly stallSeconds?: number | undefined;
  /** Limits on what an archive may unpack to. @default see `ArchiveLimits` */
  readonly archiveLimits?: Partial<ArchiveLimits> | undefined;
  /** Told what a user should know, such as that the usual port is taken. */
  readonly onWarning?: ((message: string) => void) | undefined;
  /** Called once for every request that has ended. */
  readonly onRequest?: ((record: RequestRecord) => void) | undefined;
  /** The clock of deployments and tokens. @default the system's */
  readonly now?: (() => Date) | undefined;
  /** Ends the start, and later closes the runtime. */
  readonly signal?: AbortSignal | undefined;
}

/** A request that has ended. Holds no secret: no header but the user agent, no query. */
export interface RequestRecord {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** Status that was sent; 0 when the connection ended without one. */
  readonly status: number;
  /** What the request was for; none when nothing is served there. */
  readonly route?: RouteName | undefined;
  /** Bytes of the request's body that were read. */
  readonly bytesReceived: number;
  readonly durationMs: number;
  /** The fault that it met, as `FaultRule.action`. */
  readonly fault?: FaultRule['action'] | undefined;
  readonly userAgent?: string | undefined;
  /** Value of the `x-request-id` header of the answer. */
  readonly requestId: string;
}

/** A running local runtime. */
export interface LocalRuntime {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string;
  /** Absolute path. */
  readonly dataDirectory: string;
  readonly credentials: LocalRuntimeCredentials;
  /** The latest requests that have ended, at most 1,000, the oldest first. */
  readonly requests: readonly RequestRecord[];
  /** Adds a fault after those that are there. @throws RuntimeCliError `ERR_OPTION_INVALID` for a bad text. */
  addFault(rule: string | FaultRule): void;
  /** Removes all faults. */
  clearFaults(): void;
  /** Ends every connection and the server. What was accepted stays in a given data folder. */
  close(): Promise<void>;
}

/** What an archive may unpack to: more is taken for a bomb. */
export interface ArchiveLimits {
  /** Entries of the tar. @default 200000 */
  readonly maxEntries: number;
  /** Bytes of the uncompressed tar. @default 8 GiB */
  readonly maxUnpackedBytes: number;
  /** Bytes of the uncompressed tar for each byte of the archive, asked only above `ratioFreeBytes`. @default 200 */
  readonly maxRatio: number;
  /** Bytes of the uncompressed tar up to which any ratio is fine. @default 1.5 GiB */
  readonly ratioFreeBytes: number;
}

const gibibyte = 1024 ** 3;

/** The limits of a runtime that was given none. */
export const defaultArchiveLimits: ArchiveLimits = {
  maxEntries: 200_000,
  maxUnpackedBytes: 8 * gibibyte,
  maxRatio: 200,
  ratioFreeBytes: 1.5 * gibibyte,
};
