import type {Command} from '@oclif/core';
import {hiddenValue, hiddenWord} from '../../errors/suggestion.js';
import {isLikelySecret} from '../../http/redact.js';
import {definitions, secretKeys} from '../../settings/definitions.js';
import {near} from '../../text/suggest.js';
import {flagNamed, namesBundle} from '../setup/other-clients.js';

const secretFlags: ReadonlySet<string> = new Set(secretKeys.flatMap((key) => definitions[key].flag?.name ?? []));

/** A flag without its value, which may be a secret. */
export function flagOf(word: string): string {
  if (/^-[a-z-]+$/i.test(word)) return word;
  return word.startsWith('--') ? word.replace(/=.*/s, '') : word.slice(0, 2);
}

/**
 * Words to type behind the command that has these flags, with the names of flags corrected.
 * @param isForeign whether they were typed for another client: only flags of ours, and their values, are left
 */
export function movedWords(
  typed: readonly string[],
  {flags, args}: Pick<Command.Loadable, 'flags' | 'args'>,
  isForeign = false,
): readonly string[] {
  return typed.flatMap((word, at) => {
    const before = typed[at - 1] ?? '';
    if (isJsonFlag(word, typed)) return ['--json'];
    if (word === 'json' && isJsonFlag(before, typed)) return [];
    if (!word.startsWith('-')) {
      const option = flagMeant(before, flags);
      const shown = shownValue(word, before, option);
      if (option?.type === 'option') return [shown];
      if (isForeign) return [];
      return Object.keys(args).length === 0 ? [...flagFor(word, flags), shown] : [shown];
    }
    const flag = flagOf(word);
    const old = flagNamed(flag.slice(2), Object.keys(flags)) ?? '';
    // `--prod` for `--target production`.
    if (/ [a-z]+$/.test(old)) return `--${old}`.split(' ');
    const meant = flagMeant(flag, flags);
    if (isForeign && meant === undefined) return [];
    const name = meant === undefined || isNamed(flag, meant) ? flag : `--${meant.name}`;
    return flag === word ? [name] : [name, shownValue(word.slice(flag.length).replace('=', ''), flag, meant)];
  });
}

/** The flag for an argument of a command that takes none. */
function flagFor(word: string, flags: KnownFlags): readonly string[] {
  const name = namesBundle(word) ? 'to' : 'target';
  return name in flags ? [`--${name}`] : [];
}

/** `…` for what may be a secret: an assignment, and the value of a flag that has one or is unknown. */
function shownValue(value: string, before: string, flag: Command.Flag.Cached | undefined): string {
  if (isLikelySecret(value)) return hiddenValue;
  if (flag?.type === 'option') return wordToRepeat(flag.name, value);
  const isOfUnknown = flag === undefined && before.startsWith('-');
  return isOfUnknown || value.includes('=') ? hiddenValue : value;
}

type KnownFlags = Command.Loadable['flags'];

export function isNamed(
  word: string,
  {name, char, allowNo = false}: {readonly name: string; readonly char?: string; readonly allowNo?: boolean},
): boolean {
  return word === `--${name}` || word === `-${String(char)}` || (allowNo && word === `--no-${name}`);
}

/** The flag that a word is, or probably stands for. */
export function flagMeant(word: string, flags: KnownFlags): Command.Flag.Cached | undefined {
  const named = Object.values(flags).find((flag) => isNamed(word, flag));
  return named ?? (/^--./.test(word) ? flags[similarFlag(word.slice(2), Object.keys(flags)) ?? ''] : undefined);
}

/** What an unknown flag may stand for: `q` for `quiet`, `data-dir` for `data`, `projekt` for `project`. */
export function similarFlag(name: string, known: readonly string[]): string | undefined {
  const old = flagNamed(name, known);
  if (old !== undefined) return old;
  if (name.length === 1) return known.find((flag) => flag.startsWith(name));
  return near(name, known)[0] ?? known.find((flag) => name.startsWith(`${flag}-`));
}

/** A value to type again. The secrets are not known yet: of what may be one, only the name of its file is shown. */
export function wordToRepeat(flag: string, value: string): string {
  const isFile = /^(?:[^=]*=)?(?:@|-$)/.test(value);
  return isFile || !(flag === 'backend-option' || secretFlags.has(flag)) ? value : hiddenWord(`--${flag}`, value);
}

/** As other clients have it: `-f json`. */
export function isJsonFlag(name: string, typed: readonly string[]): boolean {
  return (
    /^-[fo](?:=json)?$/.test(name) &&
    typed.some((word, at) => word === `${name.slice(0, 2)}=json` || (word === 'json' && typed[at - 1] === name))
  );
}
