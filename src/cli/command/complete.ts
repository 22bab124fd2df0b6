import type {Command} from '@oclif/core';
import {oneLine} from '../../text/sentence.js';
import {commandFirst, givenValue, helpFlags, isGlobal, joinWords} from './command-line.js';

/** What fits at the cursor. */
export interface Completion {
  /** Each with what it means, for shells that show it. */
  readonly words: readonly (readonly [word: string, meaning: string])[];
  /** Set if a path fits, too, after this part of the word. */
  readonly paths?: {readonly kind: 'files' | 'directories'; readonly behind: string} | undefined;
}

/** What completion knows of commands: the manifest, read by oclif. */
export interface KnownCommands {
  readonly commands: readonly Command.Loadable[];
  readonly topics: readonly {readonly name: string; readonly description?: string | undefined}[];
  findCommand(id: string): Command.Loadable | undefined;
}

/**
 * @param words What follows `mycli`, up to the cursor. The last one is being typed, or empty.
 * @param valuesOf The known values of a flag or an argument.
 */
export async function complete(
  words: readonly string[],
  known: KnownCommands,
  valuesOf: (name: string) => Promise<readonly string[]>,
): Promise<Completion> {
  // A blank is an empty word, which PowerShell does not pass.
  const current = words.at(-1)?.trim() ?? '';
  const given = commandFirst(words.slice(0, -1));
  const asksForHelp = given[0] === 'help';
  const [id = '', ...rest] = joinWords(asksForHelp ? given.slice(1) : given, known);
  const command = known.findCommand(id);
  const names = rest.length > 0 && command !== undefined ? [] : commandNames([id, ...rest], current, known);
  if (command === undefined || asksForHelp) {
    const [assignment = '', assigned] = id === '' ? (/^(--cwd|--config)=/.exec(current) ?? []) : [];
    const option = assigned ?? valueBeforeCommand(words);
    if (option !== undefined) {
      const help = option === '--config' ? 'file' : 'folder';
      return {words: [], paths: pathsAt(current.slice(assignment.length), assignment, help)};
    }
    const flags = id === '' && !asksForHelp ? globalFlagsOf(known) : {};
    return {words: current.startsWith('-') ? flagNames(flags, words.slice(0, -1), current) : names};
  }

  const {flags} = command;
  const [, prefix = '', assigned, value = ''] = /^(--([\w-]+)=)?(.*)$/s.exec(current) ?? [];
  const flag = assigned === undefined ? optionOf(rest.at(-1) ?? '', flags) : flags[assigned];
  const isPastFlags = rest.includes('--');
  if (flag?.type === 'option' && !isPastFlags) {
    const source = flag.helpValue === 'SLUG' && flag.name !== 'project' ? 'target' : flag.name;
    const values = [...(flag.options ?? []), ...(await valuesOf(source))].filter((item) => item.startsWith(value));
    return {words: values.map((item) => [prefix + item, '']), paths: pathsAt(value, prefix, flag.helpValue)};
  }
  if (current.startsWith('-') && !isPastFlags) return {words: flagNames(flags, rest, current)};
  const typed = argumentsIn(rest, flags);
  const args = Object.values(command.args);
  const last = args.at(-1);
  const {name = '', description = '', options = []} = args[typed.length] ?? (last?.multiple === true ? last : {});
  const targets = /\brunning:/.test(description) ? await valuesOf('target') : [];
  const sources: readonly string[] = [
    ...options,
    ...(/\blatest\b/.test(description) ? ['latest'] : []),
    ...(await valuesOf(name === 'slug' ? 'target' : name)),
    ...targets.map((target) => `running:${target}`),
  ];
  const fitting = sources.filter((item) => item.startsWith(current) && !typed.includes(item));
  // After the colon, fish would offer files.
  const isReference = current.startsWith('running:') && /\brunning:/.test(description);
  const paths = isReference ? undefined : pathsAt(current, '', isPastFlags ? 'file' : `${name} ${description}`);
  return {words: [...names, ...fitting.map((item) => [item, ''] as const)], paths};
}

/** The flags that may stand before a command. */
function globalFlagsOf({commands}: KnownCommands): Command.Loadable['flags'] {
  const flags = Object.entries(commands.find((command) => command.flags['cwd'] !== undefined)?.flags ?? {});
  const version = {name: 'version', type: 'boolean', allowNo: false, summary: 'Show the version.'} as const;
  return {...Object.fromEntries(flags.filter(([name]) => isGlobal(`--${name}`))), version};
}

/** The option before a command whose value is the last one of these words. */
function valueBeforeCommand(words: readonly string[]): string | undefined {
  const isValue = words.length > 1 && commandFirst([...words.slice(0, -1), 'value']).length === 0;
  return isValue ? words.at(-2) : undefined;
}

/** The names of commands that continue `typed`, in parts as `bundle push` has them, or whole with colons. */
function commandNames(typed: readonly string[], current: string, {commands, topics}: KnownCommands) {
  const before = typed.filter((word) => word !== '').map((word) => `${word}:`);
  const prefix = before.join('');
  const found = new Map<string, string>();
  for (const {id, hidden, summary = ''} of commands) {
    if (hidden || !id.startsWith(prefix + current)) continue;
    const name = id.slice(prefix.length);
    const [part = ''] = current.includes(':') ? [name] : name.split(':');
    const topic = topics.find((one) => one.name === prefix + part)?.description;
    if (part === name || !found.has(part)) found.set(part, part === name ? summary : (topic ?? ''));
  }
  return [...found];
}

/** Flags that begin with `current` and are not given yet. Hidden ones need more than a dash or two. */
function flagNames(flags: Command.Loadable['flags'], given: readonly string[], current: string) {
  const names = Object.entries(flags).flatMap(([name, flag]): (readonly [string, string])[] => {
    const {summary = ''} = flag;
    const isRepeatable = flag.type === 'option' && flag.multiple === true;
    const value = givenValue(given, `--${name}`, flag.char && `-${flag.char}`);
    if (!isRepeatable && (value !== undefined || given.includes(`--${name}`))) return [];
    const negated = flag.type === 'boolean' && flag.allowNo ? [[`--no-${name}`, `Turn off --${name}.`] as const] : [];
    return [[`--${name}`, summary], ...(current.startsWith('--no') ? negated : [])];
  });
  const help = helpFlags.map((name) => [name, 'Show help.'] as const);
  return [...names, ...help].filter(([name]) => name.startsWith(current));
}

function optionOf(word: string, flags: Command.Loadable['flags']) {
  const found = Object.entries(flags).find(([name, {char}]) => word === `--${name}` || word === `-${String(char)}`);
  return found?.[1];
}

/** The arguments among `words`, without flags and their values. */
function argumentsIn(words: readonly string[], flags: Command.Loadable['flags']): readonly string[] {
  const isValue = (at: number) => optionOf(words[at - 1] ?? '', flags)?.type === 'option';
  return words.filter((word, at) => !word.startsWith('-') && !isValue(at));
}

/** The path that fits at `typed`: after `@`, or where help names a file or a folder. */
function pathsAt(typed: string, prefix: string, help: string | string[] = ''): Completion['paths'] {
  const text = [help].flat().join(' ');
  const [at] = /^(?:[^/=]+=)?@/.exec(typed) ?? [];
  if (at !== undefined) return {kind: 'files', behind: prefix + at};
  // Shells put the home folder in its place only where a word begins with it.
  if (prefix !== '' && typed.startsWith('~')) return undefined;
  if (/\b(?:file|archive)\b/i.test(text)) return {kind: 'files', behind: prefix};
  return /\b(?:dir|folder)\b/i.test(text) ? {kind: 'directories', behind: prefix} : undefined;
}

/** What the scripts in templates/completion ask mycli with. */
export const completionRequest = 'completion:words';

export const shells = ['bash', 'zsh', 'fish', 'powershell'] as const;

/** A word that needs no quotes in any shell. Others are not offered. */
const plainWord = /^[\p{L}\p{N}_-][\p{L}\p{N}_@%+=:,./-]*$/u;

/** What mycli prints when a script asks: a line for each word, and one for paths with what stands before them. */
export function completionLines({words, paths}: Completion): readonly string[] {
  const lines = words
    .filter(([word]) => plainWord.test(word))
    .map(([word, meaning]) =>
      meaning === '' ? word : `${word}\t${oneLine(meaning).replaceAll('<%= config.bin %>', 'mycli')}`,
    );
  return paths === undefined ? lines : [...lines, `:${paths.kind}\t${paths.behind}`];
}
