import {existsSync} from 'node:fs';
import type {Command} from '@oclif/core';
import {hiddenValue, hiddenWord} from '../../errors/suggestion.js';
import {isLikelySecret} from '../../http/redact.js';
import {definitions, secretKeys} from '../../settings/definitions.js';
import {near} from '../../text/suggest.js';
import {flagNamed, whyNeedless} from '../setup/other-clients.js';
import {namesBundle, namesTarget} from './named-commands.js';

const secretFlags: ReadonlySet<string> = new Set(secretKeys.flatMap((key) => definitions[key].flag?.name ?? []));

/** A flag without its value, which may be a secret. */
export function flagOf(word: string): string {
  if (/^-[a-z-]+$/i.test(word)) return word;
  return word.startsWith('--') ? word.replace(/=.*/s, '') : word.slice(0, 2);
}

/** The command to type words behind, and the arguments that it still lacks. */
interface Place extends Pick<Command.Loadable, 'id' | 'flags'> {
  readonly open: readonly Command.Arg.Cached[];
}

/** The words before and behind the name of a command, to be typed behind that of another, with the flags corrected. */
export function movedWords(
  before: readonly string[],
  behind: readonly string[],
  {id, flags, open}: Place,
): readonly string[] {
  const left = [...open];
  const added = new Set([...before, ...behind].map((word) => flagMeant(flagOf(word), flags)?.name));
  const move = (typed: readonly string[]) =>
    typed.flatMap((word, at) => {
      const previous = typed[at - 1] ?? '';
      if (isJsonFlag(word, typed)) return ['--json'];
      if (word === 'json' && isJsonFlag(previous, typed)) return [];
      if (!word.startsWith('-')) {
        const option = flagMeant(previous, flags);
        const shown = shownValue(word, previous, option);
        // What follows a flag that is none of ours may be its value.
        if (option?.type === 'option' || (option === undefined && previous.startsWith('-'))) return [shown];
        const [arg] = left;
        const flag = flagFor(word, id, arg);
        if (flag in flags && !added.has(flag)) {
          added.add(flag);
          return [`--${flag}`, shown];
        }
        if (arg?.multiple !== true) left.shift();
        // What a login or a variable is given may be a secret.
        return [id.startsWith('auth:') || arg?.name === 'variable' ? hiddenValue : shown];
      }
      const flag = flagOf(word);
      const old = flagNamed(flag.slice(2), Object.keys(flags)) ?? '';
      // `--prod` for `--target production`.
      if (/ [a-z]+$/.test(old)) return `--${old}`.split(' ');
      const meant = flagMeant(flag, flags);
      if (meant === undefined && whyNeedless(flag, id) !== undefined) return [];
      const name = meant === undefined || isNamed(flag, meant) ? flag : `--${meant.name}`;
      return flag === word ? [name] : [name, shownValue(word.slice(flag.length).replace('=', ''), flag, meant)];
    });
  return [...move(before), ...move(behind)];
}

/** The flag for a word that is not what an argument, or none, stands for. Empty: it is the argument. */
function flagFor(word: string, id: string, arg: Command.Arg.Cached | undefined): string {
  if (arg === undefined && namesBundle(word)) return 'to';
  if (arg === undefined && /^https?:/.test(word)) return 'origin';
  const flag = id === 'init' ? 'project' : 'target';
  const isOther = arg === undefined || arg.name === 'pattern' || (arg.name === 'dir' && !existsSync(word));
  return isOther && namesTarget(word) ? flag : '';
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
  // One letter stands for a flag only in other clients.
  const meant = word.startsWith('--') ? similarFlag : flagNamed;
  const [, name] = /^--?([^-].*)/s.exec(word) ?? [];
  return named ?? (name === undefined ? undefined : flags[meant(name, Object.keys(flags)) ?? '']);
}

/** What an unknown flag may stand for: `q` for `quiet`, `data-dir` for `data`, `projekt` for `project`. */
export function similarFlag(name: string, known: readonly string[]): string | undefined {
  const old = flagNamed(name, known);
  if (old !== undefined) return old;
  if (name.length === 1) {
    const [only, ...more] = known.filter((flag) => flag.startsWith(name));
    return more.length === 0 ? only : undefined;
  }
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
