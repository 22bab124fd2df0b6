import type {Writable} from 'node:stream';
import type {BundleId} from './references.js';

/** What an interrupted download left behind. */
export interface DownloadResume {
  /** How many bytes of the archive are already there; more than 0. */
  readonly offset: number;
  /** The validator that `onStart` was called with. */
  readonly validator: string;
}

/** What is known about a download when its first byte arrives. */
export interface DownloadStart {
  /** Where in the archive the bytes start: at the offset of `resume`, or at 0. */
  readonly offset: number;
  /** Size of the whole archive, in bytes. */
  readonly total?: number | undefined;
  /**
   * Changes when the archive does, like a strong ETag. Without one, an interrupted download starts over. So does one
   * that goes on with another validator than that of `resume`.
   */
  readonly validator?: string | undefined;
  /** Digest of the whole archive as it was uploaded, hex. The host verifies the download against it. */
  readonly sha256?: string | undefined;
}

/** What to download. */
export interface DownloadRequest {
  /** The bundle whose archive is downloaded. */
  readonly bundleId: BundleId;
  /** Gets the bytes of the archive. The host ends it. */
  readonly writeTo: Writable;
  /** What to resume. A backend that cannot streams the whole archive. */
  readonly resume?: DownloadResume | undefined;
  /** Call it before the first byte. Without a call, the host expects the whole archive. */
  readonly onStart?: ((start: DownloadStart) => void) | undefined;
}
