import {distance} from 'fastest-levenshtein';
import {onWindows} from './platform.js';

/** The arguments of a flag and its value. One that begins with a dash would be taken for a flag of its own. */
export function flagValue(name: `-${string}`, value: string): readonly string[] {
  return value.startsWith('-') ? [`${name}=${value}`] : [name, value];
}

export interface CommandPlace {
  readonly projectSlug?: string | undefined;
  readonly targetSlug?: string | undefined;
  readonly backend?: string | undefined;
}

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
  if (onWindows) return /^[\w+=:./\\…-]+$/.test(arg) ? arg : quotedOnWindows(arg);
  return /^[\w@%+=:,./…-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", String.raw`'\''`)}'`;
}

/**
 * A word that PowerShell and cmd both read as one and in which neither runs anything. What PowerShell would replace has
 * its backtick, which cmd leaves in the word; programs read backslashes before a quotation mark as twice as many.
 */
function quotedOnWindows(arg: string): string {
  const doubled = arg.replace(/(\\+)(?="|$)/g, '$1$1').replaceAll('"', '""');
  return `"${doubled.replace(/[$`\u201c-\u201e]/g, '`$&').replace(/\r?\n|\r/g, '`n')}"`;
}

/** The commands that set variables in the shell: on Windows those of PowerShell, followed by those of cmd. */
export function variableCommands(variables: readonly (readonly [name: string, value: string])[]): readonly string[] {
  if (!onWindows) return variables.map(([name, value]) => `export ${name}=${quoted(value)}`);
  const inPowerShell = variables.map(([name, value]) => `$env:${name} = ${quotedOnWindows(value)}`);
  return [...inPowerShell, '', 'With cmd instead:', '', ...variables.map((pair) => shellLine('set', pair.join('=')))];
}

/** How many letters differ. Two that are swapped count once. */
function wrongLetters(one: string, other: string): number {
  const [letters, otherLetters] = [one, other].map((word) => word.split('').toSorted().join(''));
  return distance(one, other) - (one !== other && letters === otherLetters ? 1 : 0);
}

/** How many letters differ. A different word between hyphens is no typo: `ci-shop` does not stand for `my-shop`. */
function editsBetween(one: string, other: string): number {
  const [words, others] = [one.split('-'), other.split('-')];
  const isOther = (word: string, place = '') => wrongLetters(word, place) > Math.max(word.length, place.length) / 2;
  const differ = words.length === others.length && words.some((word, index) => isOther(word, others[index]));
  return differ ? Infinity : wrongLetters(one, other);
}

/** The candidates that `name` probably stands for, the nearest first. @param limit how many letters may be wrong */
export function near(
  name: string,
  candidates: readonly string[],
  limit = Math.max(2, Math.floor(name.length / 3)),
): readonly string[] {
  const typed = name.toLowerCase();
  const editsTo = (candidate: string) => {
    if (name.length >= 3 && candidate.toLowerCase().startsWith(typed)) return 0;
    // The difference in length is the minimum number of edits, which rules out most candidates.
    return Math.abs(candidate.length - name.length) > limit ? Infinity : editsBetween(typed, candidate.toLowerCase());
  };
  return candidates
    .map((candidate) => ({candidate, edits: editsTo(candidate)}))
    .filter(({edits}) => edits <= limit)
    .sort((a, b) => a.edits - b.edits)
    .map(({candidate}) => candidate);
}

/** ` (did you mean url?)`, if a name is close to a known one. */
export function didYouMean(name: string, known: readonly string[]): string {
  const [meant] = near(name, known);
  return meant === undefined ? '' : ` (did you mean ${meant}?)`;
}

const mostMeant = 3;

/** `prodction or production`: the nearest name may itself be a typo, made earlier. Empty without names. */
export function meantNames(names: readonly string[]): string {
  return new Intl.ListFormat('en', {type: 'disjunction'}).format(names.slice(0, mostMeant));
}

/** The suggestion `Did you mean prodction or production?`, if there are names. `kind`: `the project `. */
export function suggestNames(names: readonly string[], kind = ''): readonly string[] {
  return names.length === 0 ? [] : [`Did you mean ${kind}${meantNames(names)}?`];
}
