import type {Hook, Interfaces} from '@oclif/core';
import {createError, isRuntimeCliError, nearest} from '../../errors/index.js';
import {isOclifError, noSuchCommand, requestedExitCode} from '../errors/oclif-errors.js';
import {helpFlags, leadingWords} from './command-line.js';
import {isOclifCommand} from './oclif-commands.js';
import {Config} from './oclif.js';
import {sessions, type Session} from './session.js';
import {asSentence} from '../../errors/sentence.js';

/**
 * Refuses a topic with arguments, `mycli bundle push`: oclif would print the topic's help and succeed, having done
 * nothing.
 */
export const init: Hook.Init = ({id, argv, config}) => {
  const isTopic = id !== undefined && config.findCommand(id) === undefined && config.findTopic(id) !== undefined;
  const [first] = argv;
  if (!isTopic || first === undefined || argv.some((argument) => helpFlags.includes(argument)))
    return Promise.resolve();
  const typed = `${id} ${argv.filter((argument) => !argument.startsWith('-')).join(' ')}`.trim();
  throw noSuchCommand({
    typed,
    id: `${id}:${first}`,
    known: config.commandIDs,
    see: `Run mycli ${id} --help for usage.`,
  });
};

/** Says that there is no such command and names the nearest one. It never asks and never runs another one. */
export const commandNotFound: Hook.CommandNotFound = ({id, argv = [], config}) => {
  if (id.startsWith('-')) {
    throw createError('ERR_USAGE', `Unknown flag: ${id}`, {
      suggestions: ['Run mycli help to list all commands.'],
    });
  }
  const known = config.commands.filter(({hidden}) => !hidden).map((command) => command.id);
  const see = 'Run mycli help to list all commands.';
  const [next] = leadingWords(argv);
  const spaced = `${id}:${String(next)}`;
  if (next !== undefined && nearest(spaced, known) !== undefined) {
    throw noSuchCommand({typed: `${id} ${next}`, id: spaced, known, see});
  }
  // `inspect` for `bundle:inspect`.
  const named = known.filter((command) => command.endsWith(`:${id}`));
  throw noSuchCommand({typed: id, known: named.length > 0 ? named : known, see, ...(named[0] && {id: named[0]})});
};

interface ForeignCommand {
  catch(error: unknown): Promise<unknown>;
  jsonEnabled(): boolean;
}

/**
 * Leaves stdout to commands that are not ours, which print on it what they like. Brings their errors, which oclif's
 * base class would print as JSON of its own with exit code 1, to run.ts like all others. Ours do not get there.
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

type Hooks = Interfaces.Hooks;
type Outcome<T extends keyof Hooks> = Interfaces.Hook.Result<Hooks[T]['return']>;

/**
 * Keeps hooks of plugins from changing what becomes of our commands. What fails in one is a warning that names the
 * plugin, after our command as well as before; only an error that a hook asks to end the command with, before it, does.
 * Which command was not found is ours to say.
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
    const plugins = [...this.plugins.values()].filter(
      ({isRoot, hooks}) => !isRoot && hooks[String(event)] !== undefined,
    );
    const names = plugins.map((plugin) => plugin.name).join(', ');
    const within = isOver ? finish : nameWhenSlow;
    const outcome = names === '' ? await run(this) : await within(run(this), {event: String(event), names, session});
    // Ours first: it knows what the user typed.
    const failures = [...outcome.failures].sort((a, b) => Number(b.plugin.isRoot) - Number(a.plugin.isRoot));
    for (const {error, plugin} of failures) {
      if (plugin.isRoot || (!isOver && endsCommand(error))) throw error;
      if (requestedExitCode(error) === undefined || isOver)
        warnOfHook(session, `Plugin ${plugin.name}: its`, String(event), error);
    }
    return outcome;
  };
}

/** Hooks of plugins that run. */
interface ForeignHooks {
  readonly event: string;
  /** Of the plugins that have one. */
  readonly names: string;
  readonly session: Session;
}

/** Runs what comes before a command. It may ask the user something, so it may take any time. */
async function nameWhenSlow<Result>(work: Promise<Result>, {event, names, session}: ForeignHooks): Promise<Result> {
  const {pluginTimeoutMs} = await import('../../backends/call.js');
  const slow = setTimeout(() => {
    session.output.warn(`Still waiting for the ${event} hook of ${names}. Press Ctrl-C to stop.`);
  }, pluginTimeoutMs).unref();
  return work.finally(() => clearTimeout(slow));
}

/** Runs what comes after a command: nothing there may keep it from ending. */
async function finish<T extends keyof Hooks>(
  work: Promise<Outcome<T>>,
  {event, session}: ForeignHooks,
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
  output.warn(asSentence(`${whose} ${event} hook failed: ${message.replaceAll(/\s+/g, ' ')}`));
}

function withRootOnly(config: Config): Config {
  const root = [...config.plugins.values()].filter(({isRoot}) => isRoot);
  return Object.assign(Object.create(config) as Config, {
    plugins: new Map(root.map((plugin) => [plugin.name, plugin])),
  });
}
