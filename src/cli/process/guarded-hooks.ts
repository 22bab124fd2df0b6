import type {Interfaces} from '@oclif/core';
import {isRuntimeCliError} from '../../errors/index.js';
import {isOclifError, requestedExitCode} from '../errors/oclif-errors.js';
import {Config} from './oclif.js';
import type {Session} from './session.js';

type Hooks = Interfaces.Hooks;
type Outcome<T extends keyof Hooks> = Interfaces.Hook.Result<Hooks[T]['return']>;

/**
 * Keeps hooks of plugins from changing what becomes of our commands. What fails in one is a warning that names the plugin, after
 * our command as well as before; only an error that a hook asks to end the command with, before it, does. Which command
 * was not found is ours to say.
 */
export function guardHooks(session: Session): void {
  const {runHook} = Config.prototype;
  Config.prototype.runHook = async function <T extends keyof Hooks>(
    this: Config,
    event: T,
    options: Hooks[T]['options'],
    timeout?: number,
    captureErrors?: boolean,
  ): Promise<Outcome<T>> {
    const run = (config: Config) => runHook.call(config, event, options, timeout, true) as Promise<Outcome<T>>;
    if (event === 'command_not_found') return run(withRootOnly(this));
    if (captureErrors === true || session.foreign) {
      return runHook.call(this, event, options, timeout, captureErrors) as Promise<Outcome<T>>;
    }
    const isOver = event === 'postrun' || event === 'finally';
    const isForeign = [...this.plugins.values()].some(
      ({isRoot, hooks}) => !isRoot && hooks[String(event)] !== undefined,
    );
    const outcome = isOver && isForeign ? await finish(run(this), event, session) : await run(this);
    // Ours first: it knows what the user typed.
    const failures = [...outcome.failures].sort((a, b) => Number(b.plugin.isRoot) - Number(a.plugin.isRoot));
    for (const {error, plugin} of failures) {
      if (plugin.isRoot || (!isOver && endsCommand(error))) throw error;
      if (requestedExitCode(error) === undefined || isOver)
        warnOfHook(session, `plugin ${plugin.name}: its`, String(event), error);
    }
    return outcome;
  };
}

/** Runs what comes after a command: nothing there may keep it from ending. */
async function finish<T extends keyof Hooks>(
  work: Promise<Outcome<T>>,
  event: string,
  session: Session,
): Promise<Outcome<T>> {
  const {withTimeout, pluginTimeoutMs} = await import('../../backends/call.js');
  try {
    // Not the session's signal: what comes after an interruption is bounded anyway.
    return await withTimeout(work, pluginTimeoutMs, new AbortController().signal);
  } catch (error) {
    warnOfHook(session, "plugins'", event, error);
    return {successes: [], failures: []};
  }
}

function endsCommand(error: Error): boolean {
  return isRuntimeCliError(error) || (isOclifError(error) && (error.oclif.exit ?? 0) !== 0);
}

function warnOfHook({output}: Session, whose: string, event: string, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  output.warn(`${whose} ${event} hook failed: ${message.replaceAll(/\s+/g, ' ').trim()}`);
}

function withRootOnly(config: Config): Config {
  const root = [...config.plugins.values()].filter(({isRoot}) => isRoot);
  return Object.assign(Object.create(config) as Config, {
    plugins: new Map(root.map((plugin) => [plugin.name, plugin])),
  });
}
