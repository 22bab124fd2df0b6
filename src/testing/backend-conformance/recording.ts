import type {Logger} from '../../http/types.js';

/** Progress as a backend reports it. */
export interface ReportedProgress {
  readonly transferred: number;
  readonly total?: number | undefined;
}

/** What a backend said while it worked. */
export class Recording {
  /** Everything that went to the logger. */
  readonly messages: string[] = [];
  /** Progress, a list for each attempt. */
  readonly attempts: ReportedProgress[][] = [[]];
  /** Collects `messages`. */
  readonly logger: Logger;
  /** Called after each report of progress. */
  afterProgress: (progress: ReportedProgress) => void = () => undefined;

  constructor() {
    const add = (message: string) => {
      this.messages.push(message);
    };
    this.logger = {debug: add, info: add, warn: add};
  }

  /** How often a request was sent again. */
  get retries(): number {
    return this.attempts.length - 1;
  }

  /** Adds to the progress of the attempt under way. */
  addProgress(progress: ReportedProgress): void {
    this.attempts.at(-1)?.push(progress);
    this.afterProgress(progress);
  }

  /** Begins the next attempt. */
  addRetry(): void {
    this.attempts.push([]);
  }
}
