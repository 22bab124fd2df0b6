import nodeModule from 'node:module';
import {homedir} from 'node:os';
import {join} from 'node:path';
import process from 'node:process';
import type {Interfaces} from '@oclif/core';
import {createError, isRuntimeCliError} from '../../errors/index.js';
import {asSentence} from '../../errors/sentence.js';
import {checkBeforeRetrying} from '../../errors/suggestion.js';
import {
  endedEarly,
  failureOf,
  PluginFailure,
  reportOf,
  requestedExitCode,
  unknownCommand,
  unknownInTopic,
} from './error-report.js';
import {isOclifCommand, Plugin, setLogger, settings} from './oclif.js';
import {GroupedHelp} from './help.js';
import type {Body, ErrorDocument} from '../output/documents.js';
import {asksFor, commandFirst, helpFlags, joinWords, spellHelp, versionFlags} from './command-line.js';
import {adoptWarnings, ownSignals, watchProcess} from './process.js';
import {createSession, HostConfig, type HostOptions, type Session} from './session.js';
import {projectPlugins, skipsPlugins} from './plugins.js';

// oclif loads it by name from this file, which is loaded already.
export {GroupedHelp};

/**
 * Runs the command given by the arguments of `host`, and ends the process. Errors become text, JSON and exit codes only
 * here, and signals are only handled here.
 * @param root The folder of our package.
 */
export async function run(host: NodeJS.Process, root: string): Promise<void> {
  keepCompiledCode();
  let hasEnded = false;
  const end = (exitCode: number) => {
    hasEnded = true;
    leave(session);
    host.exit(exitCode);
  };
  const interruption = ownSignals(host, (exitCode) => {
    const error = createError('ERR_INTERRUPTED', 'Interrupted again before it could clean up.', {exitCode});
    session.events?.fail(reportOf(failureOf(error)), 'interrupted');
    end(exitCode);
  });
  const session = createSession(host, interruption.signal);
  const {failed, isClosedPipe} = watchProcess(host);
  host.once('exit', () => {
    if (hasEnded) return;
    // Something that the command called has ended the process, or nothing is left that could go on with the command.
    if (!session.foreign) host.exitCode = conclude(session, endedEarly());
    leave(session);
  });
  adoptWarnings(host, session.output);
  // Plugins' hooks may print before the command is known.
  if (session.output.json) session.output.claimStdout();
  const running = async () => {
    if (session.cwd === '') {
      const suggestions = ['Change to a folder that exists.'];
      throw createError('ERR_OPTION_INVALID', 'The working directory no longer exists.', {suggestions});
    }
    await runCommand(host, root, session);
    printDocument(session);
    await session.output.flush();
  };
  try {
    await Promise.race([running(), interruption.overdue, failed]);
    // A plugin's exit code is not the outcome of our command.
    succeed(session);
    end(session.foreign ? Number(host.exitCode ?? 0) : (session.exitCode ?? 0));
  } catch (error) {
    if (interruption.signal.aborted) await Promise.all(session.cleanups);
    const exitCode = isClosedPipe(error) ? succeed(session) : conclude(session, error);
    // A stalled reader must not keep an interrupted process alive.
    if (!interruption.signal.aborted) await session.output.flush().catch(() => undefined);
    end(exitCode);
  }
}

type NewerModule = typeof nodeModule & {enableCompileCache?: (folder: string) => unknown};

/** Keeps compiled code where Node can, in the user's own folder: others can write to the one for temporary files. */
function keepCompiledCode(): void {
  try {
    const {enableCompileCache}: NewerModule = nodeModule;
    enableCompileCache?.(join(homedir(), '.cache', 'mycli', 'compiled'));
  } catch {
    // A user without a home.
  }
}

async function runCommand(host: NodeJS.Process, root: string, session: Session): Promise<void> {
  // A linked plugin is what its package.json points to. oclif would look for its TypeScript, and warn about not using
  // it.
  settings.enableAutoTranspile = false;
  const given = commandFirst(spellHelp(host.argv.slice(2)));
  const options = {root, logger: silentLogger, userPlugins: !skipsPlugins(host.env), session};
  setLogger(options);
  const config = await loadConfig(options, given, session);
  const args = joinWords(given, config);
  const [id = '', ...argv] = args;
  // Not `run` of oclif: it would make a configuration of its own, and so not name plugins that fail.
  await config.runHook('init', {argv, id});
  let error: Error | undefined;
  try {
    await runInConfig(args, config, session);
  } catch (thrown) {
    error = thrown instanceof Error ? thrown : new Error(String(thrown));
    throw thrown;
  } finally {
    await config.runHook('finally', {argv, Command: config.findCommand(id), error, id});
  }
}

async function runInConfig(args: readonly string[], config: HostConfig, session: Session): Promise<void> {
  const [id = '', ...argv] = args;
  const command = config.findCommand(id);
  const isForeign = command !== undefined && (command.pluginName !== config.name || isOclifCommand(id));
  const flags = command?.flags ?? {};
  const isTopic = command === undefined && config.findTopic(id) !== undefined;
  if (!isForeign && asksFor(versionFlags, args, flags)) {
    // It is for users, even with --json.
    session.output.releaseStdout();
    process.stdout.write(`${config.userAgent}\n`);
  } else if (id === '' || asksFor(helpFlags, args, flags) || (isTopic && argv.length === 0)) {
    await new GroupedHelp(config, config.pjson.oclif.helpOptions).showHelp([...args]);
  } else if (command === undefined) {
    throw isTopic ? unknownInTopic(id, argv, config) : unknownCommand(id, argv, config);
  } else {
    session.foreign = isForeign;
    // What is not ours can print what it likes.
    if (isForeign) session.output.releaseStdout();
    await config.runCommand(id, argv, command);
  }
}

/** oclif's configuration with the project's plugins. A plugin that the user has installed or linked goes before. */
async function loadConfig(options: HostOptions, args: readonly string[], session: Session): Promise<HostConfig> {
  const config = new HostConfig(options);
  await config.load();
  const found = projectPlugins(options.root, args, session).filter(({name}) => !config.plugins.has(name));
  if (found.length === 0) return config;
  const {plugins} = config;
  for (const {name, root} of found) {
    // As linked ones, so that none of their commands takes the place of ours.
    const plugin = new Plugin({name, root, type: 'link'});
    try {
      await plugin.load();
      plugins.set(plugin.name, plugin);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      session.output.warn(asSentence(`Plugin ${name} of the project could not be loaded: ${message}`));
    }
  }
  const extended = new HostConfig({...options, plugins});
  await extended.load();
  return extended;
}

// With DEBUG, oclif's own logger prints all arguments, including secrets.
const silentLogger: Interfaces.Logger = {
  namespace: 'mycli',
  child: () => silentLogger,
  debug: () => undefined,
  error: () => undefined,
  info: () => undefined,
  trace: () => undefined,
  warn: () => undefined,
};

/**
 * Ends a run in which something failed. If our command had already ended, its outcome counts. Returns the exit code.
 */
function conclude(session: Session, error: unknown): number {
  const {ended, output, signal} = session;
  if (ended === undefined) return fail(session, signal.aborted ? error : endedWhileChanging(session, error));
  if ('error' in ended) return fail(session, ended.error);
  const isUnheard = isRuntimeCliError(error) && error.code === 'ERR_OUTPUT';
  // A script that took an unread result for a failure would make the change again.
  if (isUnheard && !session.hasChanged) return fail(session, error);
  if (!signal.aborted) output.warn(`The command had already finished when this happened: ${failureOf(error).message}`);
  printDocument(session);
  return signal.aborted ? fail(session, error) : succeed(session);
}

function succeed({ended, events}: Session): 0 {
  events?.succeed(ended && 'document' in ended ? ended.document : undefined);
  return 0;
}

/** The error of a command that something else ended. During a change, the outcome is unknown. */
function endedWhileChanging({changing}: Session, error: unknown): unknown {
  if (changing === undefined || (isRuntimeCliError(error) && error.code !== 'ERR_ENDED_EARLY')) return error;
  const {message, advice} = failureOf(error);
  const what = `${asSentence(message)} This happened during "${changing}", which may have been carried out.`;
  return createError('ERR_OUTCOME_UNKNOWN', what, {suggestions: [checkBeforeRetrying, ...advice], cause: error});
}

function printDocument({ended, output}: Session): void {
  if (ended !== undefined && 'document' in ended && ended.document !== undefined) output.document(ended.document);
}

/** Prints an error for users and, with `--json`, for programs. Returns the exit code. */
function fail(session: Session, error: unknown): number {
  const {output, signal, foreign} = session;
  const requested = requestedExitCode(error instanceof PluginFailure ? error.cause : error);
  if (requested !== undefined && foreign) return requested;
  output.releaseStream();
  // A request to exit during one of our commands ends it early.
  const cause = requested === undefined ? error : endedEarly(error instanceof PluginFailure ? error.plugin : undefined);
  const failure = failureOf(signal.aborted ? interruptionOf(cause, signal.reason) : cause, {foreign});
  const {requestId} = failure.details ?? {};
  output.error(failure.message, [
    ...failure.advice,
    ...(typeof requestId === 'string' ? [`Request ID: ${requestId}`] : []),
  ]);
  for (let next = error; next instanceof Error; next = next.cause) output.debug(next.stack ?? next.message);
  const report = reportOf(failure);
  output.document({error: report} satisfies Body<ErrorDocument>);
  session.events?.fail(report, signal.aborted ? 'interrupted' : 'error');
  return report.exitCode;
}

// After a signal, every error is a consequence of it, unless it describes what the interruption left behind.
function interruptionOf(error: unknown, reason: unknown): unknown {
  return error instanceof Error && 'code' in error && error.code === 'ERR_INTERRUPTED' ? error : reason;
}

/** Cleans up: no temporary file, no hidden cursor. */
function leave({temporary, output, events}: Session): void {
  for (const directory of temporary.splice(0)) {
    try {
      directory.removeSync();
    } catch {
      // The process must end; the next one will sweep.
    }
  }
  events?.close();
  output.releaseStream();
}
