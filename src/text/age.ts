const units = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const;

/** Made when it is used: that takes 7 ms, and most commands show no times. */
let relativeTime: Intl.RelativeTimeFormat | undefined;

/** `3 minutes ago`, `in 2 days` */
export function describeTime(time: string, now = Date.now()): string {
  const seconds = Math.trunc((Date.parse(time) - now) / 1000);
  if (Number.isNaN(seconds)) return time;
  const unit = units.find(([, length]) => Math.abs(seconds) >= length);
  if (unit === undefined) return 'now';
  const [name, length] = unit;
  relativeTime ??= new Intl.RelativeTimeFormat('en');
  return relativeTime.format(Math.trunc(seconds / length), name);
}

/** How long ago something was. The future is `now`: clocks differ. */
export function describeAge(time: string, now = Date.now()): string {
  return Date.parse(time) > now ? 'now' : describeTime(time, now);
}
