import type {Logger} from '../../http/types.js';
import type {Host, RunSteps} from '../../operations/steps.js';
import type {CommandContext} from './command-context.js';

/** What a command tells its operations of itself. */
export interface CommandHostOptions {
  /** Masked in everything that they say. */
  readonly secrets?: readonly string[];
  /** Lines that tell where each setting comes from, shown with the choice of the backend. */
  readonly resolved?: readonly string[];
}

/** The steps that change something on a server: when something ends the process there, nobody knows what came of it. */
const changingSteps: ReadonlySet<string> = new Set(['upload', 'deploy', 'delete']);

/** What the operations of a command know of the process. Their steps are shown on its terminal. */
export function commandHost(context: CommandContext, {secrets = [], resolved = []}: CommandHostOptions = {}): Host {
  const {cwd, env, output, userAgent, now, temporary, noteChange} = context;
  const logger: Logger = {
    debug: (message) => output.debug(message),
    // A task list that is redrawn tells of waits by itself.
    info: (message) => (output.interactive ? output.debug(message) : output.info(message)),
    warn: (message) => output.warn(message),
  };
  const runSteps: RunSteps = async (steps, operation) => {
    const {createStepRunner} = await import('../../progress/run-steps.js');
    return createStepRunner(output, resolved)(steps, (step) =>
      operation((name, run) =>
        step(name, async (view) => {
          if (changingSteps.has(name)) noteChange(steps.find((declared) => declared.name === name)?.title);
          return run(view).finally(() => noteChange(undefined));
        }),
      ),
    );
  };
  return {cwd, env, logger, userAgent, secrets, now, runSteps, createTemporaryDirectory: () => temporary.create()};
}
