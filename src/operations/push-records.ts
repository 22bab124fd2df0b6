import type {BundleId} from '../backends/contract.js';
import type {BackendLocation} from '../backends/location.js';

/** What bundles are pushed to: a project, where a backend keeps it. Plain JSON without secrets. */
export interface PushPlace extends BackendLocation {
  readonly projectSlug: string;
}

/** What was pushed last to a place. */
export interface PushRecord {
  readonly bundleId: BundleId;
  /** Digest of what makes the bundle what it is, hex. */
  readonly fingerprint: string;
  /** When it was uploaded, ISO 8601. */
  readonly pushedAt: string;
}

/** Keeps what was pushed last to each place. When a member rejects, the push goes on as if nothing was known. */
export interface PushRecords {
  /** Resolves to nothing when nothing was pushed there. */
  read(place: PushPlace): Promise<PushRecord | undefined>;
  /** Replaces what is known of the place. Two pushes may write at the same time: either record may stay, whole. */
  write(place: PushPlace, record: PushRecord): Promise<void>;
}
