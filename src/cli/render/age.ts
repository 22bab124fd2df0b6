const units = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const;

/** How long ago something was, for people: `3 hours ago`. What lies ahead, as clocks differ, is `now`. */
export function describeAge(time: string, now: Date): string {
  const seconds = Math.max(0, Math.floor((now.getTime() - Date.parse(time)) / 1000));
  const [unit, length] = units.find(([, size]) => seconds >= size) ?? (['second', 1] as const);
  return new Intl.RelativeTimeFormat('en', {numeric: 'auto'}).format(-Math.floor(seconds / length), unit);
}
