import type {RuntimeBackend} from '../backends/names.js';
import type {RetryEvent} from '../http/types.js';
import type {OperationProgress} from './options.js';

/** Where an operation says what happens. */
export interface Outlet {
  /** The outcome of the step, which replaces its title. */
  title(text: string): void;
  /** A line that stays below the step. */
  note(line: string): void;
  /** Something that needs attention. The result has it, too. */
  warn(message: string): void;
  progress(progress: OperationProgress): void;
  /** A wait before a request is sent again. */
  retry(event: RetryEvent): void;
  /** `auto` falls back to the legacy backend. Rejects with what the caller's callback throws. */
  fallBack(reason: string): Promise<void>;
  /** The backend is about to serve the call. Rejects with what the caller's callback throws. */
  resolve(backendName: RuntimeBackend): Promise<void>;
}
