import type {Command} from '@oclif/core';
import {hiddenValue, hiddenWord} from '../../errors/suggestion.js';
import {isLikelySecret} from '../../http/redact.js';
import {definitions, secretKeys} from '../../settings/definitions.js';

const secretFlags: ReadonlySet<string> = new Set(secretKeys.flatMap((key) => definitions[key].flag?.name ?? []));

/** A flag without its value, which may be a secret. */
export function flagOf(word: string): string {
  if (/^-[a-z-]+$/i.test(word)) return word;
  return word.startsWith('--') ? word.replace(/=.*/s, '') : word.slice(0, 2);
}

/** Words to type behind the command that has these flags. */
export function movedWords(typed: readonly string[], flags: Command.Loadable['flags']): readonly string[] {
  return typed.flatMap((word, at) => {
    const before = typed[at - 1] ?? '';
    if (isJsonFlag(word, typed)) return ['--json'];
    if (word === 'json' && isJsonFlag(before, typed)) return [];
    if (!word.startsWith('-')) return [shownValue(word, before, flags)];
    const flag = flagOf(word);
    return flag === word ? [flag] : [flag, shownValue(word.slice(flag.length).replace('=', ''), flag, flags)];
  });
}

/** `…` for what may be a secret: an assignment, and the value of a flag that has one or is unknown. */
function shownValue(value: string, before: string, flags: Command.Loadable['flags']): string {
  const flag = Object.values(flags).find(({name, char}) => before === `--${name}` || before === `-${String(char)}`);
  if (isLikelySecret(value)) return hiddenValue;
  if (flag?.type === 'option') return wordToRepeat(flag.name, value);
  const isOfUnknown = flag === undefined && before.startsWith('-');
  return isOfUnknown || value.includes('=') ? hiddenValue : value;
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
