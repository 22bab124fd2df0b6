import type {Host} from '../operations/host.js';
import type {CommandContext} from './command-context.js';

/** What the operations of a command know of the process. `secrets` are masked in everything that they say. */
export function commandHost(context: CommandContext, secrets: readonly string[] = []): Host {
  const {cwd, env, logger, userAgent, now, temporary} = context;
  return {cwd, env, logger, userAgent, secrets, now, createTemporaryDirectory: () => temporary.create()};
}
