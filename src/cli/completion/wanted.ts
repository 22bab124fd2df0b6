import type {Command, Interfaces} from '@oclif/core';
import {joinWords, leadingWords} from '../process/command-line.js';

/** Something to type, and its description. */
export interface Candidate {
  readonly value: string;
  readonly summary?: string | undefined;
}

/** Values that only the service or the configuration knows. */
export type KnownThing = 'backends' | 'bundles' | 'projects' | 'targets';

/** What can be inserted at the cursor. */
export interface Wanted {
  readonly candidates: readonly Candidate[];
  /** Paths, which the shell completes. */
  readonly paths?: 'files' | 'folders' | undefined;
  readonly known?: KnownThing | undefined;
}

type Commands = Pick<Interfaces.Config, 'commands' | 'findCommand' | 'findTopic'>;
type Flag = Command.Flag.Any;

const nothing: Wanted = {candidates: []};

/**
 * What can replace the last word.
 * @param words the command line after `mycli`, up to the cursor; the last word may be empty
 */
export function wantedAt(words: readonly string[], commands: Commands): Wanted {
  const current = words.at(-1) ?? '';
  const all = words.slice(0, -1);
  const isHelp = all[0] === 'help';
  const before = isHelp ? all.slice(1) : all;
  const typed = leadingWords(before);
  const joined = joinWords(before, commands);
  const command = joined[0] === undefined ? undefined : commands.findCommand(joined[0]);
  const names = typed.length === before.length ? commandNames(typed, commands) : [];
  if (command === undefined || isHelp) return {candidates: names};
  const wanted = wantedBy(command, joined.slice(1), current);
  return {...wanted, candidates: [...names, ...wanted.candidates]};
}

/** The names of commands: all of them, or what can follow the words already typed. */
function commandNames(typed: readonly string[], {commands}: Commands): readonly Candidate[] {
  const start = typed.map((word) => `${word}:`).join('');
  return commands
    .filter(({id, hidden}) => !hidden && id.startsWith(start))
    .map(({id, summary, description}) => ({value: id.slice(start.length), summary: summary ?? description}));
}

function wantedBy(command: Command.Loadable, given: readonly string[], current: string): Wanted {
  if (given.includes('--')) return {candidates: [], paths: 'files'};
  const flags = Object.values(command.flags);
  const [name = ''] = current.split('=');
  if (current.includes('=') && current.startsWith('--')) return valueOf(flagNamed(name, flags), command);
  const last = given.at(-1);
  const pending = last?.includes('=') === false ? flagNamed(last, flags) : undefined;
  if (pending?.type === 'option') return valueOf(pending, command);
  const args = Object.values(command.args);
  const index = positionalCount(given, flags);
  const arg = args[index] ?? args.find(({multiple}) => multiple === true);
  if (current.startsWith('-') || arg === undefined) return {candidates: flagNames(flags, given)};
  return argument(arg, command);
}

function flagNamed(text: string, flags: readonly Flag[]): Flag | undefined {
  return flags.find(({name, char}) => text === `--${name}` || (char !== undefined && text === `-${char}`));
}

/** The flags that are not given yet, or can be repeated. */
function flagNames(flags: readonly Flag[], given: readonly string[]): readonly Candidate[] {
  const used = new Set(given.map((argument) => flagNamed(argument.replace(/=.*/s, ''), flags)));
  const left = flags.filter(
    (flag) => flag.hidden !== true && (!used.has(flag) || ('multiple' in flag && flag.multiple)),
  );
  return [
    ...left.flatMap((flag) => {
      const {name, summary} = flag;
      const negated = flag.type === 'boolean' && flag.allowNo ? [{value: `--no-${name}`, summary}] : [];
      return [{value: `--${name}`, summary}, ...negated];
    }),
    {value: '--help', summary: 'Show the complete help of the command.'},
  ];
}

const knownFlags: Readonly<Record<string, KnownThing>> = {
  'runtime-backend': 'backends',
  project: 'projects',
  target: 'targets',
  from: 'targets',
  to: 'bundles',
};

function valueOf(flag: Flag | undefined, command: Command.Loadable): Wanted {
  if (flag?.type !== 'option') return nothing;
  const {name, options, helpValue} = flag;
  if (options !== undefined) return {candidates: options.map((value) => ({value}))};
  const known = isOurs(command) ? knownFlags[name] : undefined;
  if (known !== undefined) return {candidates: [], known};
  if (helpValue === 'FILE') return {candidates: [], paths: 'files'};
  // The root folder is one inside an archive.
  return helpValue === 'DIR' && name !== 'root-dir' ? {candidates: [], paths: 'folders'} : nothing;
}

function argument({name, options}: Command.Arg.Any, command: Command.Loadable): Wanted {
  if (options !== undefined) return {candidates: options.map((value) => ({value}))};
  if (name === 'path') return {candidates: [], paths: 'folders'};
  if (name !== 'bundle' || !isOurs(command)) return nothing;
  const known = {candidates: [{value: 'latest', summary: 'The newest usable bundle.'}], known: 'bundles'} as const;
  if (command.id === 'bundle:delete') return {candidates: [], known: 'bundles'};
  return command.id === 'bundle:inspect' ? {...known, paths: 'files'} : known;
}

function isOurs({pluginName}: Command.Loadable): boolean {
  return pluginName === 'mycli';
}

function positionalCount(given: readonly string[], flags: readonly Flag[]): number {
  return given.filter((argument, index) => {
    const before = given[index - 1];
    const isValue = before?.includes('=') === false && flagNamed(before, flags)?.type === 'option';
    return !argument.startsWith('-') && !isValue;
  }).length;
}
