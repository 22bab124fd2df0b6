import type {Hook} from '@oclif/core';
import {createError} from '../../errors/index.js';
import {isOclifError} from '../errors/oclif-errors.js';
import {isRuntimeCliError} from '../../errors/index.js';
import {noSuchCommand} from '../errors/no-such-command.js';
import {isOclifCommand} from './oclif-commands.js';
import {sessions} from './session.js';

/**
 * Refuses a topic with arguments, `mycli bundle push`: oclif would print the topic's help and succeed, having done
 * nothing.
 */
export const init: Hook.Init = ({id, argv, config}) => {
  const isTopic = id !== undefined && config.findCommand(id) === undefined && config.findTopic(id) !== undefined;
  const [first] = argv;
  if (!isTopic || first === undefined || argv.includes('--help')) return Promise.resolve();
  const typed = `${id} ${argv.filter((argument) => !argument.startsWith('-')).join(' ')}`.trim();
  throw noSuchCommand({typed, id: `${id}:${first}`, known: config.commandIDs, see: `See mycli ${id} --help.`});
};

/** Says that there is no such command and names the nearest one. It never asks and never runs another one. */
export const commandNotFound: Hook.CommandNotFound = ({id, config}) => {
  if (id.startsWith('-')) {
    throw createError('ERR_USAGE', `Unknown flag: ${id}`, {
      suggestions: ['mycli help lists all commands.'],
    });
  }
  const known = config.commands.filter(({hidden}) => !hidden).map((command) => command.id);
  throw noSuchCommand({typed: id, known, see: 'mycli help lists all commands.'});
};

interface ForeignCommand {
  catch(error: unknown): Promise<unknown>;
  jsonEnabled(): boolean;
}

/**
 * Leaves stdout to commands that are not ours, which print on it what they like. Brings their errors, which oclif's base
 * class would print as JSON of its own with exit code 1, to run.ts like all others. Ours do not get there.
 */
export const prerun: Hook.Prerun = ({Command}) => {
  const session = sessions.getStore();
  if (session !== undefined && (Command.plugin?.isRoot === false || isOclifCommand(Command.id))) {
    session.foreign = true;
    session.output.releaseStdout();
  }
  const base = baseOf(Command.prototype);
  if (base === undefined) return Promise.resolve();
  const original = base.catch;
  base.catch = function (this: ForeignCommand, error: unknown) {
    // What a plugin throws is meant for people, and no fault of ours.
    if (error instanceof Error && !isOclifError(error) && !isRuntimeCliError(error)) {
      Object.assign(error, {oclif: {exit: 1}});
    }
    return this.jsonEnabled() ? Promise.reject(error) : original.call(this, error);
  };
  return Promise.resolve();
};

/** The prototype of oclif's own `Command`, of whichever copy of oclif: the first in the chain of classes. */
function baseOf(prototype: unknown): ForeignCommand | undefined {
  let base: unknown = prototype;
  for (let next = base; next !== null && next !== Object.prototype; next = Object.getPrototypeOf(next)) base = next;
  return isForeignCommand(base) ? base : undefined;
}

function isForeignCommand(value: unknown): value is ForeignCommand {
  return typeof value === 'object' && value !== null && 'catch' in value && 'jsonEnabled' in value;
}
