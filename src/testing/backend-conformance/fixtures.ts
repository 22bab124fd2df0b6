import type {BundleId, Environment} from '../../backends/contract.js';

/** A case of the conformance suite, for any test runner. */
export interface ConformanceCase {
  /** Stable; what `ConformanceFixtures.skip` names. */
  readonly name: string;
  /** Why the case does not apply, from `ConformanceFixtures.skip`. Hand it to the runner: `run` of such a case rejects. */
  readonly skip?: string | undefined;
  /**
   * Runs the case, by itself and as often as wanted.
   * @throws AssertionError when the backend breaks the contract; whatever the fixtures throw.
   */
  run(): Promise<void>;
}

/** What the suite needs to know of a backend. */
export interface ConformanceFixtures {
  /** Opens what the backend talks to. Called once or more in every case, and closed at its end. */
  openService(): Promise<ConformanceService>;
  /**
   * Settings with which the backend is not configured: its schema refuses the options, or `check` names what is missing.
   * @default no options, no environment
   */
  readonly unconfigured?: {readonly options?: unknown; readonly env?: Environment | undefined} | undefined;
  /**
   * Names of cases that cannot apply to this backend, each with the reason.
   * @default none
   */
  readonly skip?: Readonly<Record<string, string>> | undefined;
  /**
   * How finely the service tells times apart, milliseconds: the wait between things whose order is looked at.
   * @default 10
   */
  readonly timeResolutionMs?: number | undefined;
  /**
   * How long a deployment may take to finish, milliseconds.
   * @default 10000
   */
  readonly deploymentTimeoutMs?: number | undefined;
}

/**
 * A service to test against. A case that needs a function which is not there fails, unless `ConformanceFixtures.skip` names
 * it.
 */
export interface ConformanceService {
  /** The options of the backend as a user writes them. They go through its schema, if it has one. */
  readonly options: unknown;
  /** The environment variables that the backend sees. @default none */
  readonly env?: Environment | undefined;
  /** A project without bundles. @default a new name for each service */
  readonly projectSlug?: string | undefined;
  /** A target of the project, without deployments. @default 'staging' */
  readonly targetSlug?: string | undefined;
  /** Values in `options` and `env` that no error and no log may show. */
  readonly secrets?: readonly string[] | undefined;
  /**
   * The archive of an uploaded bundle as the service has it, got past the backend.
   * @throws anything, when there is none.
   */
  readUploaded(bundleId: BundleId): Promise<AsyncIterable<Uint8Array> | Uint8Array>;
  /** Lets the next `count` requests of uploads meet a rate limit; `Infinity`: all. */
  readonly limitUploads?: ((count: number) => void | Promise<void>) | undefined;
  /** Lets the service refuse the credentials from now on. */
  readonly refuseCredentials?: (() => void | Promise<void>) | undefined;
  /** Lets uploads fail from now on, for a reason of the service's own: an internal error, a full disk. */
  readonly failUploads?: (() => void | Promise<void>) | undefined;
  /** Ends the service. */
  readonly close?: (() => void | Promise<void>) | undefined;
}
