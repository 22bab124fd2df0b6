import {distance} from 'fastest-levenshtein';

/** A mycli command line to paste, quoted for the shell where necessary. */
export function commandLine(...args: readonly (string | number)[]): string {
  return shellLine('mycli', ...args.map(String));
}

/** The arguments of a flag and its value. One that begins with a dash would be taken for a flag of its own. */
export function flagValue(name: `--${string}`, value: string): readonly string[] {
  return value.startsWith('-') ? [`${name}=${value}`] : [name, value];
}

/** What a command is about. */
export interface CommandPlace {
  readonly projectSlug?: string | undefined;
  readonly targetSlug?: string | undefined;
  readonly backend?: string | undefined;
}

/** The flags by which a command reaches the same place. */
export function placeFlags({projectSlug, targetSlug, backend}: CommandPlace): readonly string[] {
  return [
    ...(projectSlug === undefined ? [] : flagValue('--project', projectSlug)),
    ...(targetSlug === undefined ? [] : flagValue('--target', targetSlug)),
    ...(backend === undefined ? [] : flagValue('--runtime-backend', backend)),
  ];
}

/** Any other command line to paste, such as `chmod 600 FILE`. */
export function shellLine(...args: readonly string[]): string {
  return args.map((arg) => quoted(arg)).join(' ');
}

function quoted(arg: string): string {
  return /^[\w@%+=:,./-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", String.raw`'\''`)}'`;
}

/** The candidate that `name` was probably meant to be, if any is close. */
export function nearest(name: string, candidates: readonly string[]): string | undefined {
  const begun =
    name.length >= 3 && candidates.find((candidate) => candidate.toLowerCase().startsWith(name.toLowerCase()));
  if (begun) return begun;
  const limit = Math.max(2, Math.floor(name.length / 3));
  return (
    candidates
      // The difference in length is the minimum number of edits, which rules out most candidates.
      .filter((candidate) => Math.abs(candidate.length - name.length) <= limit)
      .map((candidate) => ({candidate, edits: distance(name.toLowerCase(), candidate.toLowerCase())}))
      .filter(({edits}) => edits <= limit)
      .sort((a, b) => a.edits - b.edits)[0]?.candidate
  );
}
