/** The three forms of an HTTP date. All of them are UTC, and the third does not say so. */
const httpDate =
  /^(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} \w{3} \d{4} [\d:]{8} GMT|\w{6,9}, \d{2}-\w{3}-\d{2} [\d:]{8} GMT|(\w{3} \w{3} [ \d]\d [\d:]{8} \d{4}))$/;

/** The time of day in all of them. `Date.parse` takes much more for one, and 60 seconds for none. */
const timeOfDay = / (?:[01]\d|2[0-3])(?::[0-5]\d){2} /;

/**
 * How long a `Retry-After` header asks to wait (Limits 5).
 * @param value - The header: seconds, or an HTTP date. Two digits of a year are one of 1950 to 2049.
 * @param now - The current time, milliseconds since the epoch.
 * @returns Milliseconds, 0 for a date gone by; undefined when the header is missing or neither of the two.
 */
export function parseRetryAfter(value: string | null | undefined, now: number): number | undefined {
  const text = value?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const match = httpDate.exec(text);
  if (match === null || !timeOfDay.test(text)) return undefined;
  const date = Date.parse(match[1] === undefined ? text : `${text} GMT`);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
