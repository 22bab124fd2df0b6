import {join} from 'node:path';
import type {Hook, Interfaces} from '@oclif/core';
import {createError, isRuntimeCliError, nearest} from '../../errors/index.js';
import {isOclifError, noSuchCommand, requestedExitCode} from '../errors/oclif-errors.js';
import {helpFlags, leadingWords} from './command-line.js';
import {withPlace} from './foreign-code.js';
import {isOclifCommand} from './oclif-commands.js';
import {Config} from './oclif.js';
import {currentSession, type Session} from './session.js';
import {asSentence} from '../../errors/sentence.js';

/**
 * Refuses a topic with arguments, such as `mycli bundle psh`: oclif would print the topic's help and succeed without
 * doing anything.
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

/** Reports an unknown command and suggests the closest one. Never asks, and never runs another one. */
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
 * Gives stdout to foreign commands, which can print what they like. Their errors, which oclif's base class would print
 * as its own JSON with exit code 1, go to run.ts like all others. Our commands never reach that code.
 */
export const prerun: Hook.Prerun = ({Command}) => {
  const session = currentSession();
  if (session !== undefined && (Command.plugin?.isRoot === false || isOclifCommand(Command.id))) {
    session.foreign = true;
    session.output.releaseStdout();
  }
  const base = baseOf(Command.prototype);
  if (base === undefined) return Promise.resolve();
  const original = base.catch;
  base.catch = function (this: ForeignCommand, error: unknown) {
    // What a plugin throws is meant for users, and not our bug.
    if (error instanceof Error && !isOclifError(error) && !isRuntimeCliError(error)) {
      Object.assign(error, {oclif: {exit: 1}});
    }
    return this.jsonEnabled() ? Promise.reject(error) : original.call(this, error);
  };
  return Promise.resolve();
};

/** The prototype of oclif's `Command`, in any copy of oclif: the root of the class hierarchy. */
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
 * Keeps plugins' hooks from changing the outcome of our commands. A failure in one is a warning that names the plugin,
 * before and after our command; only an error with which a hook explicitly exits before the command ends it. Unknown
 * commands are reported by us.
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
    const run = async (config: Config) => {
      const outcome = (await runHook.call(config, event, options, timeout, true)) as Outcome<T>;
      return explainFailures(outcome, String(event), session);
    };
    if (event === 'command_not_found') return run(withRootOnly(this));
    if (captureErrors === true) return run(this);
    if (session.foreign) return runHook.call(this, event, options, timeout, captureErrors) as Promise<Outcome<T>>;
    const isOver = event === 'postrun' || event === 'finally';
    const plugins = [...this.plugins.values()].filter(
      ({isRoot, hooks}) => !isRoot && hooks[String(event)] !== undefined,
    );
    const names = plugins.map((plugin) => plugin.name);
    const within = isOver ? finish : nameWhenSlow;
    const outcome =
      names.length === 0 ? await run(this) : await within(run(this), {event: String(event), names, session});
    // Ours first, since it knows what the user typed.
    const failures = [...outcome.failures].sort((a, b) => Number(b.plugin.isRoot) - Number(a.plugin.isRoot));
    for (const {error, plugin} of failures) {
      if (plugin.isRoot || (!isOver && endsCommand(error))) throw error;
      if (requestedExitCode(error) === undefined || isOver)
        warnOfHook(session, `Plugin ${plugin.name}: its`, String(event), error);
    }
    return outcome;
  };
}

/** Prints the stacks of plugins' failures for debugging, and adds the place of a syntax error to its message. */
async function explainFailures<T extends keyof Hooks>(
  outcome: Outcome<T>,
  event: string,
  {output}: Session,
): Promise<Outcome<T>> {
  const failures = outcome.failures.map(async ({error, plugin}) => {
    if (plugin.isRoot || isOclifError(error)) return {error, plugin};
    const files = (plugin.hooks[event] ?? []).map(({target}) => join(plugin.root, target));
    const explained = await withPlace(error, plugin.root, files);
    output.debug(`${plugin.name}, ${event}: ${stackOf(explained)}`);
    return {error: explained, plugin};
  });
  return {...outcome, failures: await Promise.all(failures)};
}

/** Plugins throw what is no error, too. */
function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Running hooks of plugins. */
interface ForeignHooks {
  readonly event: string;
  /** Names of the plugins that have one. */
  readonly names: readonly string[];
  readonly session: Session;
}

/**
 * Runs hooks before a command. They may ask the user something, so there is no timeout. Meanwhile, the session names
 * them, in case they wait for something that never happens.
 */
async function nameWhenSlow<Result>(work: Promise<Result>, {event, names, session}: ForeignHooks): Promise<Result> {
  session.hooks = {event, names};
  const {pluginTimeoutMs} = await import('../../backends/call.js');
  const slow = setTimeout(() => {
    session.output.warn(`Still waiting for the ${event} hook of ${names.join(', ')}. Press Ctrl-C to stop.`);
  }, pluginTimeoutMs).unref();
  return work.finally(() => {
    clearTimeout(slow);
    session.hooks = undefined;
  });
}

/** Runs hooks after a command, which must not keep it from ending. */
async function finish<T extends keyof Hooks>(
  work: Promise<Outcome<T>>,
  {event, session}: ForeignHooks,
): Promise<Outcome<T>> {
  const {withTimeout, pluginTimeoutMs} = await import('../../backends/call.js');
  try {
    // Not the session's signal: what follows an interruption is limited anyway.
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
