import type {Hook} from '@oclif/core';
import {createError, nearest} from '../../errors/index.js';

/**
 * Refuses a topic with arguments, `mycli bundle push`: oclif would print the topic's help and succeed, having done
 * nothing.
 */
const init: Hook.Init = ({id, argv, config}) => {
  const isTopic = id !== undefined && config.findCommand(id) === undefined && config.findTopic(id) !== undefined;
  const [first] = argv;
  if (!isTopic || first === undefined || argv.includes('--help')) return Promise.resolve();
  const typed = `${id} ${argv.filter((argument) => !argument.startsWith('-')).join(' ')}`.trim();
  const meant = nearest(`${id}:${first}`, config.commandIDs);
  const error = createError('ERR_COMMAND_NOT_FOUND', `There is no command ${typed}.`, {
    suggestions: [...(meant === undefined ? [] : [`Did you mean mycli ${meant}?`]), `See mycli ${id} --help.`],
  });
  // oclif passes on only those errors of hooks that say how to exit.
  throw Object.assign(error, {oclif: {exit: error.exitCode}});
};

export default init;
