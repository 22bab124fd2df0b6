// What the types of the library name. They must not lead to valibot, which is not installed with us.
import type {MycliConfig} from '../config.js';

type CheckConfig = NonNullable<MycliConfig['check']>;

/** A check of what was deployed. Its headers and credentials are sent to the origin of its URL alone. */
export interface CheckOptions extends Omit<CheckConfig, 'url' | 'rollbackOnFailure'> {
  /** http(s) URL, or a path below the URL of the target: `/health`. */
  readonly url: string;
  /** Password of `user`. Without one, it is not sent. @default '' */
  readonly password?: string | undefined;
}

/** What follows a deployment, which must have a target. */
export interface FollowUps {
  /** One check or several, in this order, after the deployment. `wait` is then true by default. @default none */
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
