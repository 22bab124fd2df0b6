import type {RequestRecord} from './options.js';

/** A request as the pages list it. */
export interface LoggedRequest extends RequestRecord {
  /** When it arrived, in ISO 8601. */
  readonly at: string;
  /** The faults that applied, in the syntax of `parseFault()`. */
  readonly appliedFaults: readonly string[];
}

const maxRecords = 1000;

export class RequestLog {
  /** Oldest first. */
  readonly records: LoggedRequest[] = [];
  readonly #onRequest: (record: RequestRecord) => void;

  constructor(onRequest: (record: RequestRecord) => void = () => undefined) {
    this.#onRequest = onRequest;
  }

  add(request: LoggedRequest): void {
    this.records.push(request);
    if (this.records.length > maxRecords) this.records.shift();
    this.#onRequest(request);
  }
}
