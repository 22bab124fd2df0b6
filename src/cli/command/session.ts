import type {BackendFailure} from '../../backends/registry.js';
import type {TemporaryDirectory} from '../../files/temporary-directory.js';
import type {Guard} from '../../modules/load-module.js';
import type {JsonDocument, Output} from '../output/output.js';
import type {RunEvents} from '../output/run-events.js';
import type {Ledger} from '../../pipelines/ledger.js';

/** A run of mycli: what it has of the process, and what has happened so far. */
export interface Session {
  /** Working directory of the process; absolute. Empty if it has been removed; no command runs then. */
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** `MYCLI_SAFETY` before a configuration file or a plugin could change it. */
  readonly safety: string | undefined;
  readonly stdin: NodeJS.ReadStream;
  readonly output: Output;
  readonly signal: AbortSignal;
  /** Leaves signals to the system while code of the user runs: where it loops, nothing else could end it. */
  readonly guardCode: Guard;
  /** The temporary folders, of which none may stay, however the process ends. */
  readonly temporary: TemporaryDirectory[];
  /** What plugins clean up after an interruption. None rejects; each takes 5 s at most. */
  readonly cleanups: Promise<void>[];
  /** What is wrong with plugins of the project. Users have been warned of it. */
  readonly pluginProblems: BackendFailure[];
  /** Whether a plugin's command is running, which may end the process as it likes. */
  foreign: boolean;
  /** What is known of the runs of our command, in their order. */
  readonly ledgers: Ledger[];
  /** What to exit with after success, when it is the outcome of another program. */
  exitCode?: number | undefined;
  events?: RunEvents | undefined;
  /** How our command ended, whatever plugins' hooks do. */
  ended?: {readonly document: JsonDocument | undefined} | {readonly error: unknown};
}
