import type {Hook} from '@oclif/core';
import {createError, nearest} from '../../errors/index.js';

/** Says that there is no such command and names the nearest one. It never asks and never runs another one. */
const commandNotFound: Hook.CommandNotFound = ({id, config}) => {
  if (id.startsWith('-')) {
    throw createError('ERR_USAGE', `There is no flag ${id} without a command.`, {
      suggestions: ['mycli help lists all commands.'],
    });
  }
  const known = config.commands.filter(({hidden}) => !hidden).map((command) => command.id);
  const meant = nearest(id, known);
  throw createError('ERR_COMMAND_NOT_FOUND', `There is no command ${id}.`, {
    suggestions: [...(meant === undefined ? [] : [`Did you mean mycli ${meant}?`]), 'mycli help lists all commands.'],
  });
};

export default commandNotFound;
