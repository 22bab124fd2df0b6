import type {Readable} from 'node:stream';

/** `v1`: a tar, sent as base64 in JSON. `v2`: a gzipped tar that includes its configuration, sent as multipart. */
export type BundleFormat = 'v1' | 'v2';

/** How the server treats ssrOnly and ssrShared patterns that match no file: refuses or ignores them. */
export type BundleV2MatchMode = 'strict' | 'ignore_missing';

/** Metadata of a bundle. Servers accept only these two keys. */
export interface BundleV2Metadata {
  /** The version ranges of the application's packages, by name. */
  readonly dependencies?: Readonly<Record<string, string>> | undefined;
  /** IDs of the overrides in the bundle. */
  readonly ccOverrides?: readonly string[] | undefined;
}

/** The configuration of a bundle, as v2 writes it into the archive. */
export interface BundleConfig {
  /** Patterns of server-only files. */
  readonly ssrOnly: readonly string[];
  /** Patterns of files shared between server and client. */
  readonly ssrShared: readonly string[];
  /** Parameters for the server. */
  readonly ssrParameters: Readonly<Record<string, unknown>>;
  /** Metadata of the application, for the service. */
  readonly bundleMetadata?: BundleV2Metadata | undefined;
  /** Unknown top-level keys of a configuration file on disk are kept. */
  readonly [key: string]: unknown;
}

/** Use of a file in a bundle: run on the server, both run and served, or only served. */
export type BundleFileCategory = 'ssrOnly' | 'shared' | 'static';

/** A file (or a symbolic link) of a bundle. */
export interface BundleFile {
  /** Relative to the build folder, `/` on every platform. */
  readonly path: string;
  /** Bytes; 0 for a link. */
  readonly size: number;
  /** Whether its owner may run it. */
  readonly executable: boolean;
  /** Target of a symbolic link, verbatim. */
  readonly linkTarget?: string | undefined;
  /** Whether an ssrOnly pattern matches. */
  readonly ssrOnly: boolean;
  /** Whether an ssrShared pattern matches. */
  readonly ssrShared: boolean;
}

/** A file of the build folder at the time of planning. */
export interface PlannedBundleFile extends BundleFile {
  /** Time of the last modification, in milliseconds since 1970. A later one means that the file has changed. */
  readonly modifiedMs: number;
}

/** Progress of building, in bytes of the build's files. */
export interface ByteProgress {
  readonly transferred: number;
  readonly total?: number | undefined;
}

/** Where a bundle comes from, as far as it is known. Never contains credentials. */
export interface BundleProvenance {
  /** Full hash of the commit that was checked out. */
  readonly commit?: string | undefined;
  /** Its branch; in CI without a checked-out branch the one that the CI system names. */
  readonly branch?: string | undefined;
  /** Whether tracked files had uncommitted changes. */
  readonly dirty?: boolean | undefined;
  /** The CI run that built it. */
  readonly ci?:
    | {
        /** `GitHub Actions`, for example; undefined if only `CI` is set. */
        readonly system?: string | undefined;
        /** http(s) URL of the run. */
        readonly url?: string | undefined;
      }
    | undefined;
}

/** What is known about a bundle before it is packed. */
export interface BundleContent {
  /** Format of the archive. */
  readonly format: BundleFormat;
  /** Description of the bundle, for users. */
  readonly message: string;
  /** v1 only: the project, which names the archive's entries. */
  readonly projectSlug?: string | undefined;
  /** v2 only: prefix of the archive's entries. */
  readonly rootDir?: string | undefined;
  /** v2 only: path of the configuration, relative to `rootDir`. */
  readonly configPath?: string | undefined;
  /** v2 only. */
  readonly matchMode?: BundleV2MatchMode | undefined;
  /** Its configuration. */
  readonly config: BundleConfig;
  /** Where it comes from; undefined outside git and CI, and for a prebuilt archive whose manifest does not say. */
  readonly provenance?: BundleProvenance | undefined;
  /** Its files and symbolic links. */
  readonly files: readonly BundleFile[];
}

/** The size and digests of an archive. */
export interface PackResult {
  /** Size of the archive, in bytes. */
  readonly size: number;
  /** Digest of the archive, hex. */
  readonly sha256: string;
  /** Digest of the uncompressed tar, hex: the same on every platform. */
  readonly contentSha256: string;
}

/** A file (or a symbolic link) of a bundle, as it is in the archive. */
export interface BundleEntry extends BundleFile {
  /** Where the file is used. */
  readonly category: BundleFileCategory;
  /** Digest of the content, hex. A link has none, so it is that of nothing. */
  readonly sha256: string;
  /**
   * Opens the content, any number of times, also later and several at the same time. An archive can only be read
   * forwards, so entries that are opened in their order are fastest. The stream fails if the digest of what it has read
   * is not `sha256`.
   */
  open(): Readable;
}

/** A built archive with its configuration. */
export interface Bundle extends BundleContent, PackResult {
  /** Absolute path of the archive. */
  readonly path: string;
  /**
   * Opens the archive, any number of times. `start` and `end`: the first and the last byte to read, both included as in
   * `node:fs`; by default all of it. An upload in parts reads each with `{start, end: start + length - 1}`.
   */
  createReadStream(options?: {readonly start?: number | undefined; readonly end?: number | undefined}): Readable;
  /**
   * Reads the files of the bundle from the archive, in its order, for services that take files instead of archives. The
   * configuration of a v2 bundle is not among them. Memory does not grow with the size of the files. Reads the archive
   * once for the digests, and again for what is opened.
   * @throws RuntimeCliError `ERR_ARCHIVE_INVALID` when the archive is not the one that was packed; `signal.reason` when
   * aborted.
   */
  entries(options?: {readonly signal?: AbortSignal | undefined}): AsyncIterable<BundleEntry>;
}

/** A bundle that is packed while it is sent. There is no archive on disk, and its digests are only known afterwards. */
export interface StreamedBundle extends BundleContent {
  /** Size that the archive will have, in bytes. */
  readonly size: number;
  /**
   * Packs the archive from its first byte, any number of times. The files must not have changed. To
   * stop early, `break` out of the loop or call `return()`: until then, a file of the build stays open.
   */
  read(): AsyncIterable<Uint8Array>;
}
