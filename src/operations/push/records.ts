import type {BackendLocation} from '../../backends/built-in-backends.js';
import type {BundleId} from '../../backends/contract.js';

/** Where bundles are pushed to: a project on a backend. Plain JSON without secrets. */
export interface PushPlace extends BackendLocation {
  readonly projectSlug: string;
}

/** The last push to a place. */
export interface PushRecord {
  readonly bundleId: BundleId;
  /** Digest of everything that identifies the bundle's content, hex. */
  readonly fingerprint: string;
  /** Total size of the bundle's files, in bytes. A bundle of another size has changed. */
  readonly fileBytes: number;
  /** Size of the uploaded archive, in bytes. */
  readonly size: number;
  /** Digest of the uploaded archive, hex. */
  readonly sha256: string;
  /** When it was uploaded, ISO 8601. */
  readonly pushedAt: string;
}

/** Stores the last push to each place. If a method rejects, the push continues as if there were no record. */
export interface PushRecords {
  /** Resolves to undefined if nothing was pushed there. */
  read(place: PushPlace): Promise<PushRecord | undefined>;
  /**
   * Replaces the record of the place. If two pushes write at the same time, either record may win, but it must be
   * complete.
   */
  write(place: PushPlace, record: PushRecord): Promise<void>;
}

/** An upload that can be resumed: where to, and of which archive. Plain JSON without secrets. */
export interface UploadPlace extends PushPlace {
  /** Digest of the archive, hex. */
  readonly sha256: string;
}

/**
 * Keeps what plugins' backends need to resume an upload. Of several pushes of the same archive at the same time, one
 * uses it. If a method rejects, there is a warning, and the push goes on.
 */
export interface UploadStates {
  /** Resolves to what was last written, by this push or an earlier one; undefined if nothing is there. */
  read(place: UploadPlace): Promise<unknown>;
  /**
   * Replaces what is there.
   * @param state Plain JSON without secrets.
   */
  write(place: UploadPlace, state: unknown): Promise<void>;
  /** Removes what is there, if anything. */
  remove(place: UploadPlace): Promise<void>;
  /**
   * For a store that several processes share: `read` and `write` take what is there away from the others, and this puts
   * back what is left of it. Called when the upload has ended. @default they take nothing
   */
  putBack?(place: UploadPlace): Promise<void>;
}
