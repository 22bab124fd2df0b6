/** `85 ms`, `2.3 s`, `4 min 5 s` */
export function describeDuration(ms: number): string {
  if (ms < 1000) return `${String(Math.round(ms))} ms`;
  if (ms < 59_950) return `${String(Math.round(ms / 100) / 10)} s`;
  const seconds = Math.round(ms / 1000);
  return `${String(Math.floor(seconds / 60))} min ${String(seconds % 60)} s`;
}
