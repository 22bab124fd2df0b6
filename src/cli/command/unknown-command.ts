import {existsSync} from 'node:fs';
import type {Command, Interfaces} from '@oclif/core';
import {createError, type RuntimeCliError} from '../../errors/index.js';
import type {Suggestion} from '../../errors/suggestion.js';
import {isLikelySecret} from '../../http/redact.js';
import {asSentence} from '../../text/sentence.js';
import {near, suggestNames} from '../../text/suggest.js';
import {leadingWords} from './command-line.js';
import {passSecret} from './error-report.js';
import {commandNamed, isTopic, namesBundle, nounFirst} from './named-commands.js';
import {flagMeant, flagOf, isNamed, movedWords} from './repeated-words.js';

const listCommands: Suggestion = ['Run ', {run: ['help']}, ' to list all commands.'];

/** The error for words that name no command. Suggests the one that is meant: never asks, and never runs another one. */
export function unknownCommand(
  argv: readonly string[],
  {commands, topics}: Pick<Interfaces.Config, 'commands' | 'topics'>,
): RuntimeCliError {
  const [first = ''] = argv;
  const [, second] = leadingWords(argv);
  const shown = commands.filter(({hidden}) => !hidden);
  const meant = commandMeant(argv, shown);
  if (first.startsWith('-')) {
    const flag = flagOf(first);
    const isOurs =
      meant !== undefined || shown.some(({flags}) => Object.values(flags).some((each) => isNamed(flag, each)));
    const message = isOurs ? `There is no command before ${flag}.` : `Unknown flag: ${flag}`;
    const others = [...suggestNames(near(flag, ['--help', '--version'])), listCommands];
    return createError('ERR_USAGE', message, {suggestions: meant?.suggestions ?? others});
  }
  const beginsWithTopic = topics.some(({name}) => name === first);
  const typed = meant?.words ?? (beginsWithTopic && second !== undefined ? [first, second] : [first]);
  if (typed.some((word) => isLikelySecret(word)))
    return createError('ERR_COMMAND_NOT_FOUND', 'Unknown command.', {suggestions: [passSecret, listCommands]});
  const others: readonly Suggestion[] = [
    beginsWithTopic ? ['Run ', {run: [first, '--help']}, ' for usage.'] : listCommands,
  ];
  const message = argv.length === 0 ? 'There is no command.' : `Unknown command: ${typed.join(' ') || '""'}`;
  return createError('ERR_COMMAND_NOT_FOUND', message, {suggestions: meant?.suggestions ?? others});
}

/** Whether the argument of a command names a topic: `delete target`. `push config` may name a folder. */
export function isVerbFirst(
  [id = '', ...argv]: readonly string[],
  {commands}: Pick<Interfaces.Config, 'commands'>,
): boolean {
  const [noun] = leadingWords(argv);
  if (noun === undefined || id.includes(':') || existsSync(noun)) return false;
  const known = commands.map((command) => command.id);
  const [topic] = nounFirst([id, noun], known) ?? [];
  return topic !== undefined && topic !== id;
}

/** The command that a line means, with its other words: behind its flags, too, and with typos in both. */
function commandMeant(argv: readonly string[], commands: readonly Command.Loadable[]) {
  const known = commands.map(({id}) => id);
  const isValue = (at: number) => commands.some(({flags}) => flagMeant(argv[at - 1] ?? '', flags)?.type === 'option');
  const followsTopic = (at: number) => !isValue(at - 1) && isTopic(argv[at - 1] ?? '', known);
  const isStart = (at: number) =>
    at === 0 || (argv[0]?.startsWith('-') && argv[at]?.startsWith('-') === false && !isValue(at) && !followsTopic(at));
  const found = [...argv.keys()].filter(isStart).flatMap((start) => {
    const leading = leadingWords(argv.slice(start));
    const named = commandNamed(leading, known);
    if (named === undefined) return [];
    const rest = [...named.rest, ...argv.slice(start + leading.length)];
    return {...named, rest, start, words: argv.slice(start, start + named.count)};
  });
  // What follows a flag that is none of ours may be its value.
  const isSure = (start: number) => argv[start - 1]?.startsWith('-') !== true;
  const meant = found.find(({start, words}) => isSure(start) || known.includes(words.join(':'))) ?? found[0];
  if (meant === undefined) return undefined;
  const {words, command, or, note = '', start, rest} = meant;
  if (command[0] === 'help')
    return {words, suggestions: [typeof note === 'string' ? asSentence(note) : note, listCommands]};
  const runOf = (words: readonly string[]) => {
    // `release 3` names a bundle that is there.
    const [id = '', ...given] =
      words[0] === 'bundle:push' && leadingWords(rest).some(namesBundle) ? ['bundle:deploy'] : words;
    const {flags = {}, args = {}} = commands.find((each) => each.id === id) ?? {};
    const open = Object.values(args).slice(given.length > 0 && !given[0]?.startsWith('-') ? 1 : 0);
    return {run: [id, ...given, ...movedWords(argv.slice(0, start), rest, {id, flags, open})]};
  };
  const run = runOf(command);
  const other = or === undefined ? [] : [' or ', runOf([or])];
  const [label, end] = start > 0 ? ['Put the command before its flags: ', []] : ['Did you mean ', ['?']];
  return {words, suggestions: [[label, run, ...other, ...end]]};
}
