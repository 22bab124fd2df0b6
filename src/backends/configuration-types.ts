import type {Redirect, TargetSettings} from '../config.js';
import type {ServiceAnswer, TargetRequest} from './references.js';

/** A project in a list. */
export interface ProjectItem {
  /** The name of the project in requests. */
  readonly projectSlug: string;
  /** Its name for people. */
  readonly name?: string | undefined;
}

/** What is set for a target. */
export interface TargetDetails extends ServiceAnswer {
  /** What the server does not report is left out. */
  readonly settings: TargetSettings;
  /** Names of settings, or `primary`, that its targets do not have. @default none */
  readonly unsupported?: readonly string[] | undefined;
  /** Whether it is the primary target of its project. Undefined if the server does not report it. */
  readonly primary?: boolean | undefined;
}

/** Settings to change, or a target to make the primary one of its project. */
export interface UpdateTargetRequest extends TargetRequest {
  /** Only these change. */
  readonly settings: TargetSettings;
  /** Set if `settings` is empty. */
  readonly primary?: true | undefined;
}

/** A redirect in a list. */
export interface RedirectItem extends Redirect {
  /** What the service calls it, if `from` is not enough. */
  readonly redirectId?: string | undefined;
}

/** A change of a redirect, which is known by its `from`. */
export interface ChangeRedirectRequest extends TargetRequest {
  /** What to do with the redirect. */
  readonly change: 'add' | 'replace' | 'remove';
  /** To add it or to replace it by: what it is to be. To remove it: as it was listed. */
  readonly redirect: RedirectItem;
}

/** A header that opens a target to visitors. Its value stays on the service. */
export interface AccessItem {
  /** By which it is removed. */
  readonly accessId: string;
}

/** An access header to add, with its value, which is a secret, or one to remove. */
export type ChangeAccessRequest = TargetRequest &
  (
    | {
        /** Value of the header to add: a secret. */
        readonly add: string;
        /** Not given with `add`. */
        readonly remove?: undefined;
      }
    | {
        /** `accessId` of the header to remove. */
        readonly remove: string;
        /** Not given with `remove`. */
        readonly add?: undefined;
      }
  );
