// Generated from src/settings by `npm run docs:generate`.

/** A check of a deployment: a URL, or a path below the URL of the target. An object can set other keys of `check`. */
export type ConfiguredCheck =
  | string
  | {
      /** The URL or the path. */
      readonly url: string;
      /** HTTP statuses to accept. @default `check.status` */
      readonly status?: readonly number[] | undefined;
      /** Text that the response must contain. @default `check.text` */
      readonly text?: string | undefined;
      /** Maximum number of retries. @default `check.retries` */
      readonly retries?: number | undefined;
      /** Time between attempts, in seconds. @default `check.interval` */
      readonly interval?: number | undefined;
      /** Maximum time for one attempt, in seconds. @default `check.timeout` */
      readonly timeout?: number | undefined;
    };

/** A path of a site that the service passes on to another host. */
export interface TargetProxy {
  /** The path, such as `/api`. */
  readonly path: string;
  /** Name of the host. */
  readonly host: string;
}

/** Settings of a target, as the configuration has them. What is not named stays as it is. */
export interface TargetSettings {
  /** The name shown to people. */
  readonly name?: string | undefined;
  /** Where its servers are, such as `us-east-1`. */
  readonly region?: string | undefined;
  /** The processors of its servers. `null`: the service chooses. */
  readonly architecture?: 'x86' | 'arm64' | null | undefined;
  /** The host name that visitors use. `null`: none of its own. */
  readonly externalHost?: string | null | undefined;
  /** The domain of that host, for cookies. `null`: none. */
  readonly externalDomain?: string | null | undefined;
  /** Addresses that visitors may come from, as CIDR blocks. Empty: all. */
  readonly allowedIps?: readonly string[] | undefined;
  /** Paths of the site that the service passes on to other hosts, each `{path, host}`; at most eight. */
  readonly proxies?: readonly TargetProxy[] | undefined;
  /** Whether customers use the target. Services give other targets less capacity. */
  readonly production?: boolean | undefined;
  /** Whether the app gets cookies and sets them. */
  readonly cookies?: boolean | undefined;
  /** Whether proxies pass on the visitor's user agent. */
  readonly proxyUserAgent?: boolean | undefined;
  /** Whether stack traces of the app are mapped to its sources. */
  readonly sourceMaps?: boolean | undefined;
  /** The least severe level that the app logs. */
  readonly logLevel?: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | undefined;
  /** Whether requests are traced across services. */
  readonly tracing?: boolean | undefined;
  /** The share of requests that are traced, from 0 to 1. */
  readonly tracingRate?: number | undefined;
}

/** A redirect of a target. */
export interface Redirect {
  /** The path that is redirected, such as `/old` or `/old/*`. A target has at most one for each path. */
  readonly from: string;
  /** Its destination: a path, or an http(s) URL. */
  readonly to: string;
  /** 301: permanent. 302: temporary. */
  readonly status?: 301 | 302 | undefined;
  /** Whether to keep the query string. */
  readonly forwardQuery?: boolean | undefined;
  /** Whether the text that `*` matches in `from` replaces `*` in `to`. */
  readonly forwardWildcard?: boolean | undefined;
}

/** What can differ by target. */
export interface SharedConfig {
  /** Treat the target as production, whatever its name (for MYCLI_SAFETY and target:delete). False has no effect. */
  readonly production?: boolean | undefined;
  /** Names of the environment variables that the target must have; default: those in .env.example. */
  readonly variables?: readonly string[] | undefined;
  /** Checks of the site after a deployment. */
  readonly check?:
    | {
        /** URL to check after the deployment. */
        readonly url?: ConfiguredCheck | readonly ConfiguredCheck[] | undefined;
        /** HTTP status to accept; default: any 2xx, after redirects to the same origin. */
        readonly status?: readonly number[] | undefined;
        /** Text that the response must contain. Matched literally, in the first 4 MiB; at most 1,000 characters. */
        readonly text?: string | undefined;
        /** Header to send with a check, to its own origin only. */
        readonly headers?: Readonly<Record<string, string>> | undefined;
        /** User to log in as for a check, with the password in MYCLI_CHECK_PASSWORD. */
        readonly user?: string | undefined;
        /** Maximum number of retries of a check. @default 5 */
        readonly retries?: number | undefined;
        /** Seconds between attempts of a check. @default 2 */
        readonly interval?: number | undefined;
        /** Maximum seconds for one attempt of a check. @default 10 */
        readonly timeout?: number | undefined;
        /** Roll back if the deployment or a check fails. @default false */
        readonly rollbackOnFailure?: boolean | undefined;
      }
    | undefined;
  /** Conditions that a deployment must meet. */
  readonly guard?:
    | {
        /**
         * Refuse to deploy what was built with uncommitted changes. For a push of the work tree, files that git neither
         * tracks nor ignores count, too.
         */
        readonly cleanTree?: boolean | undefined;
        /** Only deploy what was built on a branch that these patterns match. `!` excludes. */
        readonly branch?: readonly string[] | undefined;
        /**
         * Only deploy from a clone of this git repository. Compared with its remote `origin`, whatever the protocol.
         */
        readonly origin?: string | undefined;
        /** Refuse to deploy a commit that does not contain the one that the target runs. */
        readonly notOlder?: boolean | undefined;
        /** Refuse to deploy from anywhere but CI. */
        readonly ciOnly?: boolean | undefined;
        /** Ask a person to type the name of the target before deploying. In the library, `confirmTarget` asks. */
        readonly confirm?: boolean | undefined;
      }
    | undefined;
}

/** What the configuration has for a target. */
export interface TargetConfig extends SharedConfig {
  /** Settings of the target. */
  readonly settings?: TargetSettings | undefined;
  /** Redirects of the target, or a file with them: JSON, CSV or _redirects. */
  readonly redirects?: string | readonly Redirect[] | undefined;
  /** Require an access header from visitors of the target. */
  readonly access?: boolean | undefined;
  /** Make the target the primary one of its project. */
  readonly primary?: boolean | undefined;
  /** Remove redirects that the configuration does not name. @default false */
  readonly prune?: boolean | undefined;
}

/** What goes into a bundle, and its description. */
export interface BundleSettings {
  /** Build folder. @default 'build' */
  readonly buildDirectory?: string | undefined;
  /** Folder of config.server.ts or .js. Default in the library: the working directory. @default '.' */
  readonly projectDirectory?: string | undefined;
  /** Bundle description; default: branch and commit. At most 2,048 characters. Outside git, the default is the time. */
  readonly message?: string | undefined;
  /** Append branch and commit to your message; default: if a guard needs them. As in `Release 5 [main: 1a2b3c4]`. */
  readonly recordCommit?: boolean | undefined;
  /**
   * Server-only files. Glob patterns, written to a v2 bundle verbatim. Not empty. By default `ssr.js`, `ssr.mjs` and
   * everything in `server`, if the build has them.
   */
  readonly ssrOnly?: readonly string[] | undefined;
  /**
   * Files shared between server and client. Glob patterns, written to a v2 bundle verbatim. By default everything in
   * `static` and `client`, if the build has them.
   */
  readonly ssrShared?: readonly string[] | undefined;
  /**
   * Bundle a static site, without server-only files. No file is server-only and every file is shared, whatever
   * configuration files say. `matchMode` is then `ignore_missing` by default.
   */
  readonly static?: boolean | undefined;
  /** SSR parameter. Merged over the defaults and over configuration files. */
  readonly ssrParameters?: Readonly<Record<string, unknown>> | undefined;
  /** Root folder of the archive (v2); default bld. At most 256 characters. */
  readonly rootDir?: string | undefined;
  /** Path of the configuration, in the root folder (v2); default .runtime/config.json. At most 256 characters. */
  readonly configPath?: string | undefined;
  /** Refuse (strict) or ignore patterns that match no file (v2); default strict. */
  readonly matchMode?: 'strict' | 'ignore_missing' | undefined;
  /** Files to exclude. In gitignore syntax, in addition to `.bundleignore`. */
  readonly ignore?: readonly string[] | undefined;
  /**
   * Publish server code, and files whose names suggest secrets (.env*, .npmrc, private keys). Without it, they are an
   * error. @default false
   */
  readonly allowSensitiveFiles?: boolean | undefined;
  /** Publish source maps without a warning. @default false */
  readonly allowSourceMaps?: boolean | undefined;
  /** gzip level, from 0 (none) to 9 (smallest archive) (v2); default 6. */
  readonly compressionLevel?: number | undefined;
}

/** What a configuration file can set. Paths are relative to its folder. Secrets don't belong in it. */
export interface MycliConfig extends SharedConfig, BundleSettings {
  /** Project slug. */
  readonly projectSlug?: string | undefined;
  /** Target slug. */
  readonly targetSlug?: string | undefined;
  /** Backend to use: auto, api, legacy or a plugin's. @default 'auto' */
  readonly runtimeBackend?: string | undefined;
  /** URL of the service. */
  readonly origin?: string | undefined;
  /** URL of the logs of apps; default: --origin with its first label "cloud" replaced by "logs". */
  readonly logsOrigin?: string | undefined;
  /** Option for a plugin's backend. @default {} */
  readonly backends?: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined;
  /**
   * Maximum wait for a response. In seconds, from the last byte of a request to the end of the response. A download
   * only has to start in that time. @default 300
   */
  readonly requestTimeout?: number | undefined;
  /** Maximum time to connect, including TLS. In seconds. @default 10 */
  readonly connectTimeout?: number | undefined;
  /** Maximum time without progress. In seconds, while sending a request or receiving its response. @default 60 */
  readonly idleTimeout?: number | undefined;
  /**
   * How often an interrupted upload is repeated. From its first byte, and only if the server cannot have all of it. It
   * waits as `rateLimit` says. @default 2
   */
  readonly uploadRetries?: number | undefined;
  /** User for the API key; switches from bearer to basic authentication. */
  readonly apiUser?: string | undefined;
  /** Use the v2 format with Runtime (API key); it sends about half the bytes of v1. @default false */
  readonly v2?: boolean | undefined;
  /** Skip the upload if the bundle is unchanged. @default false */
  readonly ifChanged?: boolean | undefined;
  /** Wait until changes are live. @default false */
  readonly wait?: boolean | undefined;
  /** Seconds between status checks. @default 5 */
  readonly pollInterval?: number | undefined;
  /** Limit for waiting, 0 for none. In seconds. @default 600 */
  readonly timeout?: number | undefined;
  /**
   * Wait for a running deployment to end first. The limit is `timeout`. By default, a busy target is an error. @default
   * false
   */
  readonly waitForSlot?: boolean | undefined;
  /** Allow a new target or project. False refuses one. In the library, `confirmNew` asks. */
  readonly create?: boolean | undefined;
  /** Connection to the service with OAuth. */
  readonly api?:
    | {
        /** URL of the service with OAuth. */
        readonly origin?: string | undefined;
        /** OAuth organization ID. */
        readonly organizationId?: string | undefined;
        /** OAuth token endpoint. */
        readonly tokenUrl?: string | undefined;
        /** OAuth client ID. */
        readonly clientId?: string | undefined;
        /** OAuth scope. */
        readonly scopes?: readonly string[] | undefined;
      }
    | undefined;
  /** What the service is told about the application. */
  readonly bundleMetadata?:
    | {
        /** Dependencies for the bundle's metadata; auto uses those declared in package.json. */
        readonly dependencies?: Readonly<Record<string, string>> | undefined;
        /** Override ID for the bundle's metadata. */
        readonly ccOverrides?: readonly string[] | undefined;
      }
    | undefined;
  /** Configuration of new previews. */
  readonly preview?:
    | {
        /** Target whose variables and settings a new preview gets. */
        readonly copyFrom?: string | undefined;
        /** Settings that a new preview gets. */
        readonly settings?: Omit<TargetSettings, 'name'> | undefined;
        /** Require an access header from visitors of previews. */
        readonly access?: boolean | undefined;
      }
    | undefined;
  /** Retries of requests. */
  readonly rateLimit?:
    | {
        /** Maximum retries. @default 3 */
        readonly maxRetries?: number | undefined;
        /** First delay in milliseconds if the server names none, doubled on each retry. @default 1000 */
        readonly baseDelayMs?: number | undefined;
        /** Maximum delay in milliseconds. @default 30000 */
        readonly maxDelayMs?: number | undefined;
        /** HTTP status to treat as a rate limit. @default [429] */
        readonly statusCodes?: readonly number[] | undefined;
        /** Prefix for messages about rate limits. */
        readonly prefix?: string | undefined;
      }
    | undefined;
  /** Configuration of single targets, by slug. It replaces single keys of `guard`, `check` and so on. */
  readonly targets?: Readonly<Record<string, TargetConfig>> | undefined;
}

/** Gives a configuration its type, for `mycli.config.ts`. Returns it unchanged. */
export function defineConfig(config: MycliConfig): MycliConfig {
  return config;
}
