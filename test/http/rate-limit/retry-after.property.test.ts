import fc from 'fast-check';
import {expect, test} from 'vitest';
import {calculateRetryDelay, parseRetryAfter} from '../../../src/http/rate-limit/index.js';

const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const longDays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** The three forms of RFC 9110, 5.6.7, put together from the numbers of a date. */
function httpDates(time: number): readonly string[] {
  const date = new Date(time);
  const two = (value: number, fill = '0'): string => String(value).padStart(2, fill);
  const weekday = date.getUTCDay();
  const [day, month, year] = [date.getUTCDate(), months[date.getUTCMonth()] ?? '', date.getUTCFullYear()];
  const clock = [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()].map((part) => two(part)).join(':');
  return [
    `${days[weekday] ?? ''}, ${two(day)} ${month} ${String(year)} ${clock} GMT`,
    `${longDays[weekday] ?? ''}, ${two(day)}-${month}-${two(year % 100)} ${clock} GMT`,
    `${days[weekday] ?? ''} ${month} ${two(day, ' ')} ${clock} ${String(year)}`,
  ];
}

/** Whole seconds of the years that two digits stand for. */
const second = fc.integer({min: Date.UTC(1970, 0) / 1000, max: Date.UTC(2049, 11, 31, 23, 59, 59) / 1000});
const time = fc.integer({min: 0, max: Date.UTC(2060, 0)});
const spaces = fc.constantFrom('', ' ', '\t', '  ');

test('all three forms of an HTTP date ask for the time that is left until then, dates gone by for none', () => {
  fc.assert(
    fc.property(second, time, spaces, (seconds, now, space) => {
      for (const date of httpDates(seconds * 1000))
        expect(parseRetryAfter(`${space}${date}${space}`, now)).toBe(Math.max(0, seconds * 1000 - now));
    }),
    {numRuns: 500},
  );
});

test('digits ask for so many seconds, however many there are', () => {
  fc.assert(
    fc.property(
      fc.bigInt({min: 0n, max: 10n ** 400n}),
      fc.constantFrom('', '0', '000'),
      time,
      (seconds, zeros, now) => {
        expect(parseRetryAfter(zeros + String(seconds), now)).toBe(Number(seconds) * 1000);
      },
    ),
  );
});

test('the wait is what the header asks for, up to the limit, and never negative or NaN', () => {
  const digits = fc.bigInt({min: -(10n ** 30n), max: 10n ** 400n}).map(String);
  const dates = fc.tuple(second, fc.nat({max: 2})).map(([seconds, form]) => httpDates(seconds * 1000)[form]);
  const retryAfter = fc.option(fc.oneof(digits, dates, fc.string({unit: 'binary'})));
  const attempt = {
    attempt: fc.nat({max: 5000}),
    random: fc.double({min: 0, max: 1, maxExcluded: true, noNaN: true}),
    now: time,
  };
  const limits = fc.record({baseDelayMs: fc.nat(), maxDelayMs: fc.nat()});
  fc.assert(
    fc.property(fc.record({retryAfter, ...attempt}), limits, (input, {baseDelayMs, maxDelayMs}) => {
      const {delayMs, requestedMs} = calculateRetryDelay(input, {baseDelayMs, maxDelayMs});
      const asked = parseRetryAfter(input.retryAfter, input.now);
      expect(delayMs >= 0 && delayMs <= maxDelayMs, String(delayMs)).toBe(true);
      if (asked === undefined) expect(delayMs).toBeGreaterThanOrEqual(Math.min(baseDelayMs, maxDelayMs));
      else expect(delayMs).toBe(Math.min(asked, maxDelayMs));
      expect(requestedMs).toBe(asked !== undefined && asked > maxDelayMs ? asked : undefined);
    }),
    {numRuns: 500},
  );
});
