import {distance} from 'fastest-levenshtein';

/** A command of mycli as people can paste it: what a shell would read in another way is quoted. */
export function commandLine(...args: readonly (string | number)[]): string {
  return ['mycli', ...args.map((arg) => quoted(String(arg)))].join(' ');
}

function quoted(arg: string): string {
  return /^[\w@%+=:,./-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", String.raw`'\''`)}'`;
}

/** The candidate that `name` was probably meant to be; none when nothing is near. */
export function nearest(name: string, candidates: readonly string[]): string | undefined {
  const begun =
    name.length >= 3 && candidates.find((candidate) => candidate.toLowerCase().startsWith(name.toLowerCase()));
  if (begun) return begun;
  const limit = Math.max(2, Math.floor(name.length / 3));
  return (
    candidates
      // As many edits it takes at least: most need no closer look.
      .filter((candidate) => Math.abs(candidate.length - name.length) <= limit)
      .map((candidate) => ({candidate, edits: distance(name.toLowerCase(), candidate.toLowerCase())}))
      .filter(({edits}) => edits <= limit)
      .sort((a, b) => a.edits - b.edits)[0]?.candidate
  );
}
