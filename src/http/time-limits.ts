/** The time limits of a client, in milliseconds. */
export interface TimeLimits {
  /** To connect, including TLS. */
  readonly connectMs: number;
  /** Without progress while sending or receiving. */
  readonly idleMs: number;
  /** From the last byte sent to the end of the response; for a stream, to its start. */
  readonly requestMs: number;
}

export const defaultLimits: TimeLimits = {connectMs: 10_000, idleMs: 60_000, requestMs: 300_000};

/** How often an upload that breaks off is sent again. */
export const defaultUploadRetries = 2;
