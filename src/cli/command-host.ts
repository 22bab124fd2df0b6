import type {Logger} from '../http/types.js';
import type {Host} from '../operations/host.js';
import type {CommandContext} from './command-context.js';

/** What the operations of a command know of the process. `secrets` are masked in everything that they say. */
export function commandHost(context: CommandContext, secrets: readonly string[] = []): Host {
  const {cwd, env, output, userAgent, now, temporary} = context;
  const logger: Logger = {
    debug: (message) => output.debug(message),
    // A task list that is redrawn tells of waits by itself.
    info: (message) => (output.interactive ? output.debug(message) : output.info(message)),
    warn: (message) => output.warn(message),
  };
  return {cwd, env, logger, userAgent, secrets, now, createTemporaryDirectory: () => temporary.create()};
}
