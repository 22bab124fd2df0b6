// What the types of the library name. They must not lead to valibot, which is not installed with us.

/** A check of what was deployed. Its headers and credentials are sent to the origin of its URL alone. */
export interface CheckOptions {
  /** http(s) URL, or a path below the URL of the target: `/health`. */
  readonly url: string;
  /**
   * HTTP statuses to accept. Redirects to the same origin are followed, unless their status is one of these.
   * @default any 2xx
   */
  readonly status?: readonly number[] | undefined;
  /** What the first 4 MiB of the body must contain, literally; at most 1,000 characters. @default anything */
  readonly text?: string | undefined;
  /** Headers to send, such as one that opens a site that is not public. @default none */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** User to log in as, with HTTP basic authentication. @default no login */
  readonly user?: string | undefined;
  /** Password of `user`. Without one, it is not sent. @default '' */
  readonly password?: string | undefined;
  /** Maximum number of retries until the check passes. @default 5 */
  readonly retries?: number | undefined;
  /** Seconds between attempts. @default 2 */
  readonly interval?: number | undefined;
  /** Maximum seconds for one attempt. @default 10 */
  readonly timeout?: number | undefined;
}

/** What follows a deployment, which must have a target. */
export interface FollowUps {
  /**
   * One check or several, in this order, once the deployment has finished. `wait` is then true by default.
   * @default none
   */
  readonly check?: CheckOptions | readonly CheckOptions[] | undefined;
  /**
   * Deploys what the target ran before when the deployment or a check of it fails, and waits for it. Never when another
   * deployment came between. The backend must have a history. `wait` is then true by default. @default false
   */
  readonly rollbackOnFailure?: boolean | undefined;
  /**
   * Paths to drop from the cache of the target once the deployment has finished and its checks have passed, as
   * `invalidate` takes them. `wait` is then true by default. A failure of it is only a warning. @default none
   */
  readonly invalidate?: readonly string[] | undefined;
}

/** A problem with an option. */
export interface OptionProblem {
  /** Name of the option. */
  readonly option: string;
  /** One sentence without the option's name: `must not be empty`. */
  readonly message: string;
  /** What to do about it. */
  readonly suggestion?: string | undefined;
}
