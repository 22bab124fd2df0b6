import type {Hook} from '@oclif/core';
import {createError, nearest} from '../../errors/index.js';
import {noSuchCommand} from './oclif-errors.js';
import {helpFlags, leadingWords} from './command-line.js';
import {sessionOf} from './host-config.js';
import {isOclifCommand} from './oclif-commands.js';

/**
 * Refuses a topic with arguments, such as `mycli bundle psh`: oclif would print the topic's help and succeed without
 * doing anything.
 */
export const init: Hook.Init = ({id, argv, config}) => {
  const isTopic = id !== undefined && config.findCommand(id) === undefined && config.findTopic(id) !== undefined;
  const [first] = argv;
  if (!isTopic || first === undefined || argv.some((argument) => helpFlags.includes(argument)))
    return Promise.resolve();
  const typed = `${id} ${argv.filter((argument) => !argument.startsWith('-')).join(' ')}`.trim();
  throw noSuchCommand({
    typed,
    id: `${id}:${first}`,
    known: config.commandIDs,
    see: `Run mycli ${id} --help for usage.`,
  });
};

/** Reports an unknown command and suggests the closest one. Never asks, and never runs another one. */
export const commandNotFound: Hook.CommandNotFound = ({id, argv = [], config}) => {
  if (id.startsWith('-')) {
    throw createError('ERR_USAGE', `Unknown flag: ${id}`, {
      suggestions: ['Run mycli help to list all commands.'],
    });
  }
  const known = config.commands.filter(({hidden}) => !hidden).map((command) => command.id);
  const see = 'Run mycli help to list all commands.';
  const [next] = leadingWords(argv);
  const spaced = `${id}:${String(next)}`;
  if (next !== undefined && nearest(spaced, known) !== undefined) {
    throw noSuchCommand({typed: `${id} ${next}`, id: spaced, known, see});
  }
  // `inspect` for `bundle:inspect`.
  const named = known.filter((command) => command.endsWith(`:${id}`));
  throw noSuchCommand({typed: id, known: named.length > 0 ? named : known, see, ...(named[0] && {id: named[0]})});
};

/** Gives stdout to foreign commands, which can print what they like. */
export const prerun: Hook.Prerun = ({Command, config}) => {
  const session = sessionOf(config);
  if (session !== undefined && (Command.plugin?.isRoot === false || isOclifCommand(Command.id))) {
    session.foreign = true;
    session.output.releaseStdout();
  }
  return Promise.resolve();
};
