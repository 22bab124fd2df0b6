/**
 * When the freeze that is on ends. Undefined if there is none.
 * @param {string} windows intervals in ISO 8601, such as `2026-12-20T00:00Z/2027-01-02T06:00Z`, separated by spaces
 * @param {Date} now
 */
export function endOfFreeze(windows, now) {
  const ends = windows
    .split(/\s+/)
    .filter((window) => window !== '')
    .map((window) => {
      const [start, end] = window.split('/').map((text) => new Date(text));
      if (!(start && end && start < end)) throw new Error(`FREEZE_WINDOWS has an invalid interval: ${window}`);
      return {start, end};
    })
    .filter(({start, end}) => start <= now && now < end)
    .map(({end}) => end);
  return ends.sort((a, b) => b.getTime() - a.getTime())[0];
}

/**
 * Whether a target is one of `targets`, separated by spaces. An empty list means all targets.
 * @param {string} targets
 * @param {string} target
 */
export function isFrozenTarget(targets, target) {
  const listed = targets.split(/\s+/).filter((name) => name !== '');
  return listed.length === 0 || listed.includes(target);
}
