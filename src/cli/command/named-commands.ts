import {isLikelySecret} from '../../http/redact.js';
import type {Suggestion} from '../../errors/suggestion.js';
import {near} from '../../text/suggest.js';
import {oldCommands, type OldWord} from '../setup/other-clients.js';

interface CommandNamed {
  /** How many words its name is. */
  readonly count: number;
  readonly command: readonly string[];
  readonly or?: string | undefined;
  readonly note?: Suggestion | undefined;
  /** The words that follow its name. They may be secrets. */
  readonly rest: readonly string[];
}

/** Whether users name a bundle by it, where they may also name a target. */
export function namesBundle(word: string): boolean {
  return /^(?:latest|\d+)$/.test(word);
}

const partsOf = ({was}: OldWord) => was.split(/[ :]/);
const isSlot = (part: string) => /^[A-Z]+$/.test(part);

/** What typed words stand for: a command or topic of ours, or a command of another client, whose name may go first. */
export function commandNamed(typed: readonly string[], known: readonly string[]): CommandNamed | undefined {
  const own = ownRows(known);
  const rows = [...oldCommands, ...own];
  const nameAt = oldCommands.some(({client}) => client === typed[0]) ? 1 : 0;
  const split = typed.flatMap((word, at) => (at === nameAt ? word.split(':') : word));
  const words = nounFirst(split, known) ?? split;
  const corrected = withoutTypos(words, [...own, ...oldCommands]);
  const [topic = ''] = corrected;
  const isTypo = topic !== words[0] && isTopic(topic, known);
  const ofTopic = isTypo ? {count: 1, command: [topic]} : undefined;
  const named = rowNamed(corrected, rows, known) ?? ofTopic;
  if (named === undefined) return undefined;
  // `env:get` is one word of the command line.
  const count = Math.max(nameAt + 1, named.count - (split.length - typed.length));
  return {...named, count, rest: words.slice(named.count)};
}

function ownRows(known: readonly string[]): readonly OldWord[] {
  const ids = known.map((id) => ({client: '', was: id, now: id}));
  // `inspect` for `bundle:inspect`, but not `reset` for `plugins:reset`.
  return [...ids, ...ids.map((row) => ({...row, was: row.was.replace(/^(?!plugins:).*:/, '')}))];
}

/** `delete target qa` and `list targets` as `target delete qa` and `target list`, if that names a command. */
export function nounFirst(words: readonly string[], known: readonly string[]): readonly string[] | undefined {
  const [first = '', second = '', ...rest] = words;
  const rows = [...oldCommands, ...ownRows(known)];
  const topics = known.filter((id) => id.includes(':')).map((id) => id.replace(/:.*/, ''));
  const isNoun = (name: string) => name === 'vars' || isTopic(name, known);
  for (const [noun, verb] of [[first, second] as const, [second, first] as const]) {
    const topic = noun.replace(/^environment/, 'target').replace(/^(?:secret|variable)s?$/, 'vars');
    const single = isNoun(topic) ? topic : topic.replace(/s$/, '');
    // `bundel`, but not `env1`, which may be a target.
    const [one = single] = isNoun(single) || !/^[a-z]{5,}$/.test(single) ? [] : near(single, topics, 1);
    const isList = one !== topic && /^(?:get|show|describe|view)$/.test(verb);
    const turned = [one, isList ? 'list' : verb, ...rest];
    if (isNoun(one) && (rowNamed(turned, rows, known)?.count ?? 0) > 1) return turned;
  }
  return undefined;
}

/** Words of git and others that resemble these. */
const notTypos = new Set(['remote', 'rename']);

/** Each word as the nearest one that may follow those before it, if one is near. */
function withoutTypos(typed: readonly string[], rows: readonly OldWord[]): readonly string[] {
  const words: string[] = [];
  for (const word of typed) {
    const fits = (part: string, at: number) => isSlot(part) || part.split('|').includes(words[at] ?? '');
    const following = rows.map(partsOf).filter((parts) => parts.slice(0, words.length).every(fits));
    const next = following.flatMap((parts) => parts[words.length]?.split('|') ?? []);
    // Shorter ones resemble too much, and the first letter of a typo is right: `patch` is not `watch`.
    const names = next.filter((each) => !isSlot(each) && each.length > 2 && each[0] === word[0]);
    const [meant = word] = next.includes(word) || notTypos.has(word) ? [] : near(word, names, 1);
    words.push(meant);
  }
  return words;
}

function rowNamed(
  words: readonly string[],
  rows: readonly OldWord[],
  known: readonly string[],
): Omit<CommandNamed, 'rest'> | undefined {
  for (const row of rows) {
    const {client, now, or, note} = row;
    const start = client !== '' && words[0] === client ? 1 : 0;
    const parts = partsOf(row);
    const values = new Map<string, string>();
    const fits = parts.every((part, at) => {
      const word = words[start + at] ?? '';
      if (!isSlot(part)) return part.split('|').includes(word);
      values.set(part, word);
      return isOfSlot(word, part, known);
    });
    const command = now.split(' ').map((part) => part.replace(/[A-Z]+/, (slot) => values.get(slot) ?? slot));
    if (!fits || !known.includes(command[0] ?? '')) continue;
    const count = start + parts.length;
    // `builds list`, as `builds`.
    const isLonger = /:(?:list|history)$/.test(command[0] ?? '') && /^(?:list|ls)$/.test(words[count] ?? '');
    return {count: isLonger ? count + 1 : count, command, or, note};
  }
  // `auth:whoami` is what `whoami` is, because that is in `auth`.
  const [topic = '', ...rest] = words;
  const inTopic = rest.length === 0 ? undefined : rowNamed(rest, rows, known);
  return inTopic?.command[0]?.startsWith(`${topic}:`) === true ? {...inTopic, count: 1 + inTopic.count} : undefined;
}

/** Whether users name a target by it. `create` is rather a part of the name of a command, as in `release create`. */
export function namesTarget(word: string): boolean {
  const isOfName = oldCommands.some((row) => partsOf(row).slice(1).join('|').split('|').includes(word));
  return /^[a-z\d][a-z\d-]*$/.test(word) && !namesBundle(word) && !isOfName;
}

export function isTopic(word: string, known: readonly string[]): boolean {
  return known.some((id) => id.startsWith(`${word}:`));
}

function isOfSlot(word: string, slot: string, known: readonly string[]): boolean {
  if (word === '' || isLikelySecret(word)) return false;
  if (slot === 'TOPIC') return isTopic(word, known);
  if (slot === 'ID') return namesBundle(word) || word.endsWith('.tar.gz');
  return slot !== 'SLUG' || (/^[\w-]+$/.test(word) && !namesBundle(word));
}
