import {createError, nearest, type RuntimeCliError} from '../../errors/index.js';

/** What was looked for in vain. */
export interface MissingCommand {
  /** As it was typed. */
  readonly typed: string;
  /** What it may have been meant as, when that is not as it was typed. */
  readonly id?: string | undefined;
  /** Commands, and what else may have been meant. */
  readonly known: readonly string[];
  /** The sentence that says where to find what there is. */
  readonly see: string;
}

/**
 * The error for a command that there is not, with the nearest one. oclif passes it on from hooks, whatever hooks of plugins
 * come to: only errors that say how to exit are.
 */
export function noSuchCommand({typed, id = typed, known, see}: MissingCommand): RuntimeCliError {
  const meant = nearest(id, known);
  const error = createError('ERR_COMMAND_NOT_FOUND', `Unknown command: ${typed === '' ? '""' : typed}`, {
    suggestions: [...(meant === undefined ? [] : [`Did you mean mycli ${meant}?`]), see],
  });
  return Object.assign(error, {oclif: {exit: error.exitCode}});
}
