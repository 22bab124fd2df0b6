import type {BackendLocation} from '../../backends/built-in-backends.js';
import type {BundleId} from '../../backends/contract.js';

/** Where bundles are pushed to: a project on a backend. Plain JSON without secrets. */
export interface PushPlace extends BackendLocation {
  /** The project's slug; with OAuth, the storefront's ID. */
  readonly projectSlug: string;
}

/** The last push to a place. */
export interface PushRecord {
  /** ID of the bundle on that backend. */
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
  /** Replaces the record of the place. If two pushes write at once, either record may win, but must be complete. */
  write(place: PushPlace, record: PushRecord): Promise<void>;
}
