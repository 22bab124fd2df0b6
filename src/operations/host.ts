import type {TemporaryDirectory} from '../files/temporary-directory.js';
import type {Environment, Logger} from '../http/types.js';
import type {RunSteps} from './steps.js';

/** What operations know of the process that runs them. Library calls get the process's own; tests give what they like. */
export interface Host {
  /** Absolute path that relative ones start from. */
  readonly cwd: string;
  readonly env: Environment;
  readonly logger: Logger;
  /** `User-Agent` of every request; begins with `mycli/<semver>`. */
  readonly userAgent: string;
  /** Values that are masked in everything that is printed. */
  readonly secrets?: readonly string[] | undefined;
  now(): Date;
  /** Runs the steps of an operation, and shows them to whoever watches. */
  readonly runSteps: RunSteps;
  /** Makes a private folder for archives. Whoever asks for it removes it. */
  createTemporaryDirectory(): Promise<TemporaryDirectory>;
}
