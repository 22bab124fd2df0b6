const units = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['min', 60],
  ['s', 1],
] as const;

/** How long ago something was: `3 min ago`. The future, since clocks differ, is `now`. */
export function describeAge(time: string, now: Date): string {
  const seconds = Math.floor((now.getTime() - Date.parse(time)) / 1000);
  if (Number.isNaN(seconds)) return time;
  const unit = units.find(([, length]) => seconds >= length);
  if (unit === undefined) return 'now';
  const [name, length] = unit;
  const number = Math.floor(seconds / length);
  const plural = number === 1 || length <= 60 ? '' : 's';
  return `${String(number)} ${name}${plural} ago`;
}
