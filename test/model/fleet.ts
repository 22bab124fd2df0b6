// A fleet in virtual time: runners that push at the same moment to a service with a limit. Its table is in
// docs/guides/many-projects.md.
import {calculateRetryDelay} from '../../src/http/rate-limit/policy.js';
import {seededRandom} from './sweep.js';

const runners = 1000;
const uploadMs = 2000;
const uploadGb = 0.02;
const perMinute = 100;
const minute = 60_000;

/** Takes a request at a time, or says after how many milliseconds another may be taken. */
type Limit = (now: number) => number;

/** So many in each minute of the clock. */
function fixedWindow(): Limit {
  const taken = new Map<number, number>();
  return (now) => {
    const window = Math.floor(now / minute);
    const before = taken.get(window) ?? 0;
    if (before === perMinute) return (window + 1) * minute - now;
    taken.set(window, before + 1);
    return 0;
  };
}

/** So many at once, and as many a minute afterwards. */
function tokenBucket(): Limit {
  let [tokens, at] = [perMinute, 0];
  return (now) => {
    tokens = Math.min(perMinute, tokens + ((now - at) * perMinute) / minute);
    at = now;
    if (tokens < 1) return ((1 - tokens) * minute) / perMinute;
    tokens -= 1;
    return 0;
  };
}

interface Policy {
  readonly maxRetries: number;
  readonly maxDelayMs: number;
}

/**
 * Runs the fleet: so many at a time, the first ones within ten seconds, as the jobs of a pipeline begin. A refusal
 * comes after the whole body.
 */
function runFleet(limit: Limit, tells: boolean, atOnce: number, {maxRetries, maxDelayMs}: Policy) {
  const random = seededRandom(1);
  const arrivals = Array.from({length: atOnce}, () => ({at: uploadMs + random() * 10_000, attempt: 0}));
  let [succeeded, last, wasted, waiting] = [0, 0, 0, runners - atOnce];
  for (;;) {
    const next = arrivals.reduce((first, one) => (one.at < first.at ? one : first), {at: Infinity, attempt: 0});
    if (next.at === Infinity) return {succeeded, minutes: last / minute, wasted};
    const {at, attempt} = next;
    const after = limit(at);
    if (after > 0) wasted += uploadGb;
    if (after === 0) {
      succeeded += 1;
      last = at;
    }
    if (after === 0 || attempt === maxRetries) {
      // Its place is free for the next.
      Object.assign(next, {at: waiting > 0 ? at + uploadMs : Infinity, attempt: 0});
      waiting -= 1;
      continue;
    }
    const retryAfter = tells ? String(Math.ceil(after / 1000)) : undefined;
    const {delayMs} = calculateRetryDelay(
      {attempt, retryAfter, now: at, random: random()},
      {baseDelayMs: 1000, maxDelayMs},
    );
    Object.assign(next, {at: at + delayMs + uploadMs, attempt: attempt + 1});
  }
}

const policies: readonly Policy[] = [
  {maxRetries: 3, maxDelayMs: 30_000},
  {maxRetries: 8, maxDelayMs: 300_000},
];

/** The table for so many runners at a time each, as Markdown. */
export function fleetTable(...atATime: readonly number[]): string {
  const services = [
    ['fixed window', fixedWindow],
    ['token bucket', tokenBucket],
  ] as const;
  const rows = services.flatMap(([name, make]) =>
    [true, false].flatMap((tells) =>
      atATime.map((atOnce) => [
        ...[name, tells ? 'yes' : 'no', String(atOnce)],
        ...policies.map((policy) => {
          const {succeeded, minutes, wasted} = runFleet(make(), tells, atOnce, policy);
          return `${succeeded} in ${minutes.toFixed(0)} min, ${wasted.toFixed(0)} GB`;
        }),
      ]),
    ),
  );
  const head = [
    ...['limit', '`Retry-After`', 'at a time'],
    ...policies.map(({maxRetries, maxDelayMs}) => `${maxRetries} retries, at most ${maxDelayMs / 1000} s apart`),
  ];
  return [head, head.map(() => '-'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
