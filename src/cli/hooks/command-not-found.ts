import type {Hook} from '@oclif/core';
import {createError} from '../../errors/index.js';
import {noSuchCommand} from '../errors/no-such-command.js';

/** Says that there is no such command and names the nearest one. It never asks and never runs another one. */
export const commandNotFound: Hook.CommandNotFound = ({id, config}) => {
  if (id.startsWith('-')) {
    throw createError('ERR_USAGE', `There is no flag ${id} without a command.`, {
      suggestions: ['mycli help lists all commands.'],
    });
  }
  const known = config.commands.filter(({hidden}) => !hidden).map((command) => command.id);
  throw noSuchCommand({typed: id, known, see: 'mycli help lists all commands.'});
};
