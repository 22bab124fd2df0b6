import type {Readable} from 'node:stream';

/** `v1`: a tar, sent as base64 in JSON. `v2`: a gzipped tar that includes its configuration, sent as multipart. */
export type BundleFormat = 'v1' | 'v2';

/** How the server treats ssrOnly and ssrShared patterns that match no file: refuse, or pass over them. */
export type BundleV2MatchMode = 'strict' | 'ignore_missing';

/** Metadata of a bundle. Servers accept only these two keys. */
export interface BundleV2Metadata {
  /** The application's packages, by name, with their version ranges. */
  readonly dependencies?: Readonly<Record<string, string>> | undefined;
  /** Ids of the overrides in the bundle. */
  readonly ccOverrides?: readonly string[] | undefined;
}

/** The configuration of a bundle, as v2 writes it into the archive. */
export interface BundleConfig {
  /** Patterns of server-only files. */
  readonly ssrOnly: readonly string[];
  /** Patterns of files shared by server and client. */
  readonly ssrShared: readonly string[];
  /** Parameters for the server. */
  readonly ssrParameters: Readonly<Record<string, unknown>>;
  readonly bundleMetadata?: BundleV2Metadata | undefined;
  /** Unknown top-level keys of a configuration file on disk are kept. */
  readonly [key: string]: unknown;
}

/** Use of a file in a bundle: run on the server, both run and served, or only served. */
export type BundleFileCategory = 'ssrOnly' | 'shared' | 'static';

/** A file (or a symbolic link) of a bundle. */
export interface BundleFile {
  /** Relative to the build directory, `/` on every platform. */
  readonly path: string;
  /** Bytes; 0 for a link. */
  readonly size: number;
  readonly executable: boolean;
  /** Target of a symbolic link, as the link has it. */
  readonly linkTarget?: string | undefined;
  /** Whether an ssrOnly pattern matches. */
  readonly ssrOnly: boolean;
  /** Whether an ssrShared pattern matches. */
  readonly ssrShared: boolean;
}

/** A file of a build directory, as it was when the bundle was planned. */
export interface PlannedBundleFile extends BundleFile {
  /** When it was last written, milliseconds since 1970: what was written to since is not what was planned. */
  readonly modifiedMs: number;
}

/** Progress of building: bytes of the build's files that went into the archive. */
export interface ByteProgress {
  readonly transferred: number;
  readonly total?: number | undefined;
}

/** What is known of a bundle before it is packed. */
export interface BundleContent {
  readonly format: BundleFormat;
  readonly message: string;
  /** v1 only: the project that the archive's entries are named after. */
  readonly projectSlug?: string | undefined;
  /** v2 only: prefix of the archive's entries. */
  readonly rootDir?: string | undefined;
  /** v2 only: path of the configuration below `rootDir`. */
  readonly configPath?: string | undefined;
  /** v2 only. */
  readonly matchMode?: BundleV2MatchMode | undefined;
  readonly config: BundleConfig;
  readonly files: readonly BundleFile[];
}

/** What an archive turned out to be. */
export interface PackResult {
  /** Bytes of the archive. */
  readonly size: number;
  /** Digest of the archive, hex. */
  readonly sha256: string;
  /** Digest of the uncompressed tar, hex: the same on every platform. */
  readonly contentSha256: string;
}

/** A built archive with its configuration. */
export interface Bundle extends BundleContent, PackResult {
  /** Absolute path of the archive. */
  readonly path: string;
  /** Opens the archive, as often as needed. `start`: the first byte wanted, 0 by default. */
  createReadStream(options?: {readonly start?: number | undefined}): Readable;
  /**
   * Reads the archive from its first byte on. The chunks are the reader's own: they can be kept, changed or
   * transferred. A copy of the bundle does not have it, so that a `createReadStream` of its own counts.
   */
  read?(): AsyncIterable<Uint8Array>;
}

/** A bundle that is packed while it is sent. There is no archive on disk; its digests are known when it was sent. */
export interface StreamedBundle extends BundleContent {
  /** Bytes that the archive will have. */
  readonly size: number;
  /**
   * Packs the archive, from its first byte on, as often as needed: from the same files, which must not have changed.
   * The chunks are the reader's own: they can be kept, changed or transferred.
   */
  read(): AsyncIterable<Uint8Array>;
}
