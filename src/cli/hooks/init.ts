import type {Hook} from '@oclif/core';
import {noSuchCommand} from '../errors/no-such-command.js';

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
