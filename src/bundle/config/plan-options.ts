import type {BundleFormat, BundleV2MatchMode, BundleV2Metadata} from '../types.js';

/** What goes into a bundle, and how it is described. */
export interface BundleContentOptions {
  /** Path of the directory with the application's build output. @default 'build' */
  readonly buildDirectory?: string | undefined;
  /** Directory from which `config.server.ts`, `.js` or `.mjs` is read (V2-4). @default the working directory */
  readonly projectDirectory?: string | undefined;
  /** Describes the bundle, at most 2,048 characters. @default `<branch>: <commit>` from git, else `Bundle <time>` */
  readonly message?: string | undefined;
  /** Glob patterns of files that run only on the server, verbatim in v2 (V2-1). Not empty. @default see V2-3 */
  readonly ssrOnly?: readonly string[] | undefined;
  /** Glob patterns of files shared between server and client, verbatim in v2 (V2-1). @default see V2-3 */
  readonly ssrShared?: readonly string[] | undefined;
  /** Merged over the defaults and over what configuration files say (V2-2). */
  readonly ssrParameters?: Readonly<Record<string, unknown>> | undefined;
  /** Metadata for the bundle's configuration. v1 takes `dependencies` only. */
  readonly bundleMetadata?: BundleV2Metadata | undefined;
  /** v2 only. Path prefix of the archive's entries, at most 256 characters. @default 'bld' */
  readonly rootDir?: string | undefined;
  /** v2 only. Path of the configuration below `rootDir`, at most 256 characters. @default '.runtime/config.json' */
  readonly configPath?: string | undefined;
  /** v2 only. How the server treats patterns that match no file. @default 'strict' */
  readonly matchMode?: BundleV2MatchMode | undefined;
  /** Patterns, in the syntax of gitignore, of files to leave out, beside those of `.bundleignore`. */
  readonly ignore?: readonly string[] | undefined;
  /**
   * Takes files whose names say that they hold secrets (`.env*`, `.npmrc`, private keys) although they are not server-only.
   * @default false: they are an error
   */
  readonly allowSensitiveFiles?: boolean | undefined;
  /** v2 only. Effort of gzip, 0 to 9. @default 6 */
  readonly compressionLevel?: number | undefined;
}

/** What a bundle is made of, and where. */
export interface BundlePlanOptions extends BundleContentOptions {
  readonly format: BundleFormat;
  /** Absolute path of the directory that relative ones start from. */
  readonly cwd: string;
  /** `SOURCE_DATE_EPOCH` is read from it, and git runs with it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The clock, for the default message. */
  readonly now: () => Date;
  /** Names the entries of a v1 archive, which needs it. */
  readonly projectSlug?: string | undefined;
  /** Ends the work: it rejects with `signal.reason`. */
  readonly signal?: AbortSignal | undefined;
}
