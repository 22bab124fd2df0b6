// How a call ends, in the words of docs/reference/failures.md. Nothing here comes from src: that the two agree is what
// the matrix tests.

/** The policy of every cell: small, and with another number of retries than a GET has repeats. */
export const rateLimit = {maxRetries: 3, baseDelayMs: 4, maxDelayMs: 16};

/** How often a request that changes nothing is repeated. */
const repeats = 2;

/** How often in a row a look at a deployment may be lost. */
const looks = 5;

/** A wait before a retry, milliseconds: between these two; what the server asked for, when that was longer. */
export interface Wait {
  readonly least: number;
  readonly most: number;
  readonly requested?: readonly [least: number, most: number];
}

/** How a call ends. */
export interface Outcome {
  /** How often the request reaches the server. */
  readonly requests: number;
  /** What is waited for between them; one wait more for each attempt that does not reach it. */
  readonly waits: readonly Wait[];
  /** 0: it succeeds. */
  readonly exitCode: number;
  readonly code?: string;
  /** Whether the server gets the whole body, each time. */
  readonly body: 'whole' | 'part';
  /** What a download leaves: the file, what had arrived of it, or nothing. */
  readonly left: 'file' | 'part' | 'nothing';
}

/** Waits that no server asked for: `baseDelayMs * 2^attempt`, up to 20 % more, at most `maxDelayMs`. */
const backoff: readonly Wait[] = [
  {least: 4, most: 5},
  {least: 8, most: 10},
  {least: 16, most: 16},
];

/** It succeeds. */
export const done: Outcome = {requests: 1, waits: [], exitCode: 0, body: 'whole', left: 'file'};

/** One request, and its failure is that of the call. */
export function once(exitCode: number, code: string): Outcome {
  return {requests: 1, waits: [], exitCode, code, body: 'whole', left: 'nothing'};
}

/** Repeated twice, as what changes nothing is. */
export function repeated(exitCode: number, code: string): Outcome {
  return {...once(exitCode, code), requests: 1 + repeats, waits: backoff.slice(0, repeats)};
}

/** Retried like a rate limit. `waits`: what the server asks for, each time. */
export function limited(exitCode: number, code: string, wait?: Wait): Outcome {
  const waits = wait === undefined ? backoff : backoff.map(() => wait);
  return {...once(exitCode, code), requests: 1 + rateLimit.maxRetries, waits};
}

/** The same, and no request reaches the server. */
export function unreached(outcome: Outcome): Outcome {
  return {...outcome, requests: 0};
}

/** What a look at a deployment makes of a failed GET: a lost one is repeated, until too many were lost in a row. */
export function polled(outcome: Outcome, {name}: {readonly name: string}): Outcome {
  const codes = ['ERR_NETWORK', 'ERR_TIMEOUT', 'ERR_SERVER', 'ERR_RATE_LIMITED', 'ERR_RESPONSE_INVALID'];
  if (!codes.includes(outcome.code ?? '') && !/^40[48]/.test(name)) return outcome;
  return {
    ...once(10, 'ERR_OUTCOME_UNKNOWN'),
    requests: outcome.requests * looks,
    waits: Array.from({length: looks}, () => outcome.waits).flat(),
  };
}

/** The same fault, but only the first request meets it: what is sent again succeeds, everything else ends as ever. */
export function afterOne(outcome: Outcome): Outcome {
  if (outcome.waits.length === 0) return outcome;
  return {...done, requests: 2, waits: outcome.waits.slice(0, 1), body: outcome.body};
}
