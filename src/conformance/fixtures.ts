import type {BundleId, Environment} from '../backends/contract.js';

/** A case of the conformance suite, for any test runner. */
export interface ConformanceCase {
  /** Stable; the key for `ConformanceFixtures.skip`. */
  readonly name: string;
  /** What a backend that passes does, as a sentence. */
  readonly proves: string;
  /** Why the case does not apply, from `ConformanceFixtures.skip`. Pass it to the runner: `run` rejects then. */
  readonly skip?: string | undefined;
  /**
   * Runs the case independently, any number of times.
   * @param test what the runner passes to a test. With `skip`, a case that needs an optional member that the service
   * does not have is skipped, and the reason says what is missing. Without it, the case fails.
   * @throws AssertionError when the backend breaks the contract; whatever the fixtures throw.
   */
  run(test?: {readonly skip?: ((reason: string) => void) | undefined}): Promise<void>;
}

/** What the suite needs to test a backend. */
export interface ConformanceFixtures {
  /**
   * Opens the service that the backend talks to. Called at least once in every case, and closed at its end.
   * @param suite `through(origin)`: an address that passes requests on to the origin, so that the suite can let them
   * fail. Give it to a backend that uses another client than `context.http`, such as an SDK. For another protocol than
   * HTTP, pass `tcp://HOST:PORT`, which resolves to such an address, too.
   */
  openService(suite: {through(origin: string): Promise<string>}): Promise<ConformanceService>;
  /** Settings that the schema rejects, or that `check` finds incomplete. @default no options, no environment */
  readonly unconfigured?:
    | {
        /** Options of the backend. @default {} */
        readonly options?: unknown;
        /** Environment variables. @default {} */
        readonly env?: Environment | undefined;
      }
    | undefined;
  /** Cases that do not apply to this backend: the reason for each, by name. @default none */
  readonly skip?: Readonly<Record<string, string>> | undefined;
  /**
   * The time resolution of the service, in milliseconds: how long to wait between things whose order is checked, and
   * until lists show what has changed.
   * @default 10
   */
  readonly timeResolutionMs?: number | undefined;
  /**
   * Set it if the backend resumes interrupted uploads with `context.state`: the size of a bundle that it sends in
   * several parts, in bytes. Its requests must pass the suite.
   * @default the backend resumes nothing, and there are no cases for it
   */
  readonly resumableBytes?: number | undefined;
  /** Maximum time for a case, in milliseconds. @default 60000 */
  readonly caseTimeoutMs?: number | undefined;
  /** Maximum time for a deployment to finish, in milliseconds. @default 30000 */
  readonly deploymentTimeoutMs?: number | undefined;
}

/** A service to test against. A case that needs a missing member fails, or is skipped if the member is optional. */
export interface ConformanceService {
  /** The options of the backend as a user would write them. They are validated by its schema, if it has one. */
  readonly options: unknown;
  /** Absolute folder that relative paths in `options` refer to. @default '/' */
  readonly configDirectory?: string | undefined;
  /** The backend's environment variables. @default none */
  readonly env?: Environment | undefined;
  /** A project without bundles. @default a new name for each service, and a second one where a case needs two */
  readonly projectSlug?: string | undefined;
  /** A target of the project, without deployments. @default 'staging' */
  readonly targetSlug?: string | undefined;
  /** Another target, without deployments. @default 'production' */
  readonly promotionTargetSlug?: string | undefined;
  /** Values in `options`, `env` and answers of `answer` that no error or log may have. The suite masks them, too. */
  readonly secrets?: readonly string[] | undefined;
  /**
   * Optional. The secrets that the backend has learned so far, such as tokens that the service has issued to it: it
   * must mask them with `context.maskSecret`, unless it declares them.
   */
  readonly issuedSecrets?: (() => readonly string[] | Promise<readonly string[]>) | undefined;
  /** Answers what `login` asks the user for. */
  readonly answer?:
    | ((question: {readonly message: string; readonly secret?: boolean | undefined}) => string | Promise<string>)
    | undefined;
  /** Does what the user is to do at a URL that `login` opens. */
  readonly visit?: ((url: string) => void | Promise<void>) | undefined;
  /**
   * The archive of an uploaded bundle as the service stores it, bypassing the backend. Not needed if the service only
   * keeps files.
   * @throws anything if there is no such bundle.
   */
  readonly readUploaded?:
    | ((bundleId: BundleId, projectSlug: string) => Promise<AsyncIterable<Uint8Array> | Uint8Array>)
    | undefined;
  /**
   * A file of an uploaded bundle, for services that keep files: every one is compared. `path` as in `bundle.entries()`.
   * @throws anything if there is no such bundle or file.
   */
  readonly readUploadedFile?:
    | ((bundleId: BundleId, path: string, projectSlug: string) => Promise<AsyncIterable<Uint8Array> | Uint8Array>)
    | undefined;
  /**
   * Optional. How many uploads the service keeps, complete or not, bypassing the backend. With it, the suite finds what
   * aborted, failed and repeated ones leave behind.
   */
  readonly countUploads?: (() => number | Promise<number>) | undefined;
  /** Optional. The value of a variable that the app of a target reads. With it, the suite finds values that change. */
  readonly readVariable?:
    | ((targetSlug: string, name: string, projectSlug: string) => string | undefined | Promise<string | undefined>)
    | undefined;
  /** Optional. Lets the app of a target log a line. Without it, `tailLogs` is only tried without entries. */
  readonly writeLog?: ((targetSlug: string, line: string, projectSlug: string) => void | Promise<void>) | undefined;
  /** Optional. Makes the service refuse deployments to the target from now on, because another one is running. */
  readonly occupyTarget?: ((targetSlug: string, projectSlug: string) => void | Promise<void>) | undefined;
  /** Optional. Makes each deployment that is requested from now on fail after the service has accepted it. */
  readonly failDeployments?: (() => void | Promise<void>) | undefined;
  /** Stops the service. */
  readonly close?: (() => void | Promise<void>) | undefined;
}
