import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {calculateRetryDelay, parseRetryAfter} from '../../../src/http/rate-limit/index.js';

const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const longDays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const longestDay = 'Wednesday'.length;
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

describe('what is neither is taken for missing', () => {
  const missing = (value: string, now: number): void => {
    expect(parseRetryAfter(value, now), value).toBeUndefined();
  };

  test('whatever a text with more than ASCII digits contains', () => {
    const digit = fc.constantFrom(
      '٣',
      '３',
      '৪',
      '𝟗',
      '²',
      '-1',
      '+1',
      '1.5',
      '1e3',
      '0x1',
      '1_0',
      '1 0',
      '1,0',
      '∞',
      'NaN',
    );
    const number = fc.tuple(fc.nat().map(String), digit).map(([before, odd]) => before + odd);
    // Without a blank none of them is a date, and with a letter none a number.
    const word = fc.string({unit: 'binary'}).filter((value) => !/\s/.test(value) && /\D/.test(value));
    fc.assert(fc.property(fc.oneof(digit, number, word, fc.constant('')), time, missing));
  });

  test('a date with one character too many, too few, or out of place', () => {
    const change = fc.record({
      form: fc.nat({max: 2}),
      at: fc.nat({max: 40}),
      drop: fc.nat({max: 1}),
      insert: fc.constantFrom('', ':', '#', '٣', 'é', '-+', '.', '/'),
    });
    fc.assert(
      fc.property(second, change, time, (seconds, {form, at, drop, insert}, now) => {
        const date = httpDates(seconds * 1000)[form] ?? '';
        const changed = date.slice(0, at) + insert + date.slice(at + drop);
        // A long name of a day may be a letter shorter: which it is does not matter.
        fc.pre(changed.length > 0 && changed !== date && !(form === 1 && at < longestDay));
        missing(changed, now);
      }),
      {numRuns: 1000},
    );
  });

  test('a date with an impossible time of day', () => {
    const two = (min: number, max: number) => fc.integer({min, max}).map((value) => String(value).padStart(2, '0'));
    const clock = fc.oneof(
      fc.tuple(two(24, 99), two(0, 59), two(0, 59)),
      fc.tuple(two(0, 23), two(60, 99), two(0, 59)),
      fc.tuple(two(0, 23), two(0, 59), two(60, 99)),
    );
    fc.assert(
      fc.property(second, clock, time, (seconds, parts, now) => {
        for (const date of httpDates(seconds * 1000)) missing(date.replace(/\d\d:\d\d:\d\d/, parts.join(':')), now);
      }),
    );
  });
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
