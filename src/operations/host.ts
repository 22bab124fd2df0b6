import type {SettingNames} from '../backends/resolve-backend.js';
import type {BundleId, PlannedWrite} from '../backends/contract.js';
import type {MemberName} from '../backends/members.js';
import type {BundlePlanOptions} from '../bundle/index.js';
import type {TemporaryDirectory} from '../files/temporary-directory.js';
import type {Suggestion} from '../errors/suggestion.js';
import type {Logger, RetryEvent} from '../http/types.js';
import type {Environment} from '../text/platform.js';
import type {OperationProgress, ReleaseOptions} from './options.js';
import type {PushPlace} from './push/options.js';

/** What operations use of the process that runs them. Library calls use the actual process; tests provide their own. */
export interface Host extends Pick<
  BundlePlanOptions,
  'refusesForeign' | 'guardCode' | 'collectsMetadata' | 'ownFiles'
> {
  /** Absolute base directory for relative paths. */
  readonly cwd: string;
  /** Absolute folder of the configuration file. @default the base directory of a call */
  readonly configDirectory?: string | undefined;
  readonly env: Environment;
  /** `MYCLI_SAFETY` as the process was started with; `env` can add to it. @default nothing */
  readonly safety?: string | undefined;
  readonly logger: Logger;
  /** `User-Agent` of every request; starts with `mycli/<semver>`. */
  readonly userAgent: string;
  readonly secrets?: readonly string[] | undefined;
  /** Called with a secret that a backend learns, to mask it in all output from then on. */
  readonly maskSecret?: ((secret: string) => void) | undefined;
  now(): Date;
  /** What messages call the settings that a built-in backend lacks. @default as in the library */
  readonly settingNames?: SettingNames | undefined;
  /**
   * Called before the first byte of a change is sent, and again for a fallback.
   * @param options `dryRun`: the change will not be made
   * @throws RuntimeCliError if it must not be made. @default nobody is asked
   */
  readonly beforeWrite?: ((write: PlannedWrite, options: {readonly dryRun: boolean}) => Promise<void>) | undefined;
  /** Remembers failed checks, so that a rollback skips their bundles. @default nothing is remembered */
  readonly checkRecords?: CheckRecords | undefined;
  /** Whether to look for the bundle of an upload whose answer was lost, which may take 30 s. @default false */
  readonly findsLostUploads?: boolean | undefined;
  /** Called with a cleanup after an abort, which the process should wait for. @default the call waits for it */
  readonly onCleanup?: ((work: Promise<void>) => void) | undefined;
  /** Callbacks of a call of the library. @default nobody listens */
  readonly callbacks?: Pick<ReleaseOptions, 'onProgress' | 'onFallback' | 'onResolve'> | undefined;
  /** Creates a private folder for archives. The caller must remove it. */
  createTemporaryDirectory(): Promise<TemporaryDirectory>;
}

export interface Outlet {
  /** The outcome of the step, which replaces its title. */
  title(text: string): void;
  /** A line that stays below the step. */
  note(line: string): void;
  /** Something that needs attention, and what to do about it. The result has it, too. */
  warn(message: string, advice?: readonly Suggestion[]): void;
  progress(progress: OperationProgress): void;
  /** A wait before a request is sent again. */
  retry(event: RetryEvent): void;
  /** A call that changes something is about to be sent. From now on, it may have been carried out. */
  sends(call: MemberName): void;
  /** What was sent was carried out, or was not. */
  settles(isDone: boolean): void;
}

export interface RunHost extends Host {
  readonly outlet: Outlet;
}

export function planningHost(host: Host) {
  const {env, refusesForeign, guardCode, collectsMetadata, ownFiles} = host;
  return {env, refusesForeign, guardCode, collectsMetadata, ownFiles, now: () => host.now()};
}

export interface FailedCheck {
  readonly bundleId: BundleId;
  readonly failedAt: string;
}

/** Where a bundle is deployed. Plain JSON without secrets. */
export interface TargetPlace extends PushPlace {
  readonly targetSlug: string;
}

/** Remembers which bundles failed a check. If a method rejects, the operation goes on. */
export interface CheckRecords {
  read(place: TargetPlace): Promise<readonly FailedCheck[]>;
  add(place: TargetPlace, failed: FailedCheck): Promise<void>;
}

/** Awaits a callback before anything is sent, which may reject. */
export async function callBack(callback: () => unknown): Promise<void> {
  await callback();
}

/** Calls a caller's callback when it is too late to fail: its errors, synchronous or not, are ignored. */
export function callBackSafely(callback: () => unknown): void {
  callBack(callback).catch(() => undefined);
}
