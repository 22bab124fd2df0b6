import {flagValue, shellLine} from '../../errors/suggest.js';
import {command} from './wrap.js';

/** What makes the commands that users are told to type shorter. */
export interface HintContext {
  /** The short name of each command that has one. */
  readonly aliases: ReadonlyMap<string, string>;
  /** Flags that the configuration or the environment give anyway, with their values. */
  readonly given: readonly {readonly flag: `--${string}`; readonly value: string}[];
}

/**
 * Shortens the commands in a text for users: short names, and no flag that would resolve to the same without it.
 * Programs get the complete command, which needs no configuration.
 */
export function shortenCommands(text: string, {aliases, given}: HintContext): string {
  return text.replaceAll(command, (found) => {
    const [bin = '', id = '', ...words] = found.split(' ');
    // Without its target, status shows all.
    const implied = given.filter(({flag}) => id !== 'status' || flag !== '--target');
    const shorter = implied.reduce(
      (line, {flag, value}) => `${line} `.replace(` ${shellLine(...flagValue(flag, value))} `, ' ').trimEnd(),
      ['', ...words].join(' '),
    );
    return `${bin} ${aliases.get(id) ?? id}${shorter}`;
  });
}
