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
