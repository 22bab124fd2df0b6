import type {Interfaces} from '@oclif/core';
import {createError, isRuntimeCliError} from '../../errors/index.js';
import {endedEarly, hooksUnfinished, ownExit, watchProcess, ownSignals} from './process-end.js';
import {adoptWarnings, guardDescriptor, pluginOnStack, runningPlugin} from './foreign-code.js';
import {asSentence} from '../../errors/sentence.js';
import {checkBeforeRetrying} from '../../errors/suggest.js';
import type {Body, ErrorDocument} from '../output/documents.js';
import {reportError} from '../errors/error-report.js';
import {isOclifError, requestedExitCode} from '../errors/oclif-errors.js';
import {isSpaced, joinHelpValues, joinWords, mayHaveHelpValue, spellHelp, versionFlags} from './command-line.js';
import {guardHooks} from './hooks.js';
import {Config, Plugin, runOclif, settings} from './oclif.js';
import {pluginSources, projectPlugins, type ProjectPlugin} from './plugin-sources.js';
import {createSession, runInSession, type Session} from './session.js';

// What oclif loads by name from this file, which is loaded already.
export {PagedHelp} from '../help/help.js';
export {commandNotFound, init, prerun} from './hooks.js';

/**
 * Runs the command given by the arguments of `host`, and ends the process. Errors become text, JSON and exit codes only
 * here, and signals are only handled here.
 * @param root The folder of our package.
 */
export async function run(host: NodeJS.Process, root: string): Promise<void> {
  const interruption = ownSignals(host, (exitCode) => {
    const error = createError('ERR_INTERRUPTED', 'Interrupted again before it could clean up.', {exitCode});
    session.events?.fail(reportError(error), 'interrupted');
    end(exitCode);
  });
  const session = createSession(host, interruption.signal);
  const abnormal = watchProcess(host, () =>
    session.hooks === undefined ? endedEarly() : hooksUnfinished(session.hooks),
  );
  // Set up before any plugin code is loaded: hooks run before a command exists.
  const exit = ownExit(host, () => {
    const exitCode = session.foreign ? undefined : conclude(session, endedEarly(runningPlugin()));
    leave(session);
    return exitCode;
  });
  const end = (exitCode: number) => {
    leave(session);
    exit(exitCode);
  };
  guardHooks(session);
  guardDescriptor(session.output);
  adoptWarnings(host, session.output);
  // Plugins' hooks may print before the command is known. What runs without a command prints no document.
  if (session.output.json && !versionFlags.includes(host.argv[2] ?? '')) session.output.claimStdout();
  const running = runInSession(session, async () => {
    if (session.cwd === '') throw removedDirectory();
    await runCommand(host, root, session);
    printDocument(session);
    await session.output.flush();
  });
  try {
    await Promise.race([running, interruption.overdue, abnormal.failed]);
    // A plugin's exit code is not the outcome of our command.
    succeed(session);
    end(session.foreign ? Number(host.exitCode ?? 0) : (session.exitCode ?? 0));
  } catch (error) {
    if (interruption.signal.aborted) await Promise.all(session.cleanups);
    const exitCode = abnormal.isClosedPipe(error) ? succeed(session) : conclude(session, error);
    // A stalled reader must not keep an interrupted process alive.
    if (!interruption.signal.aborted) await session.output.flush().catch(() => undefined);
    end(exitCode);
  }
}

function removedDirectory(): Error {
  return createError('ERR_OPTION_INVALID', 'The working directory no longer exists.', {
    suggestions: ['Change to a folder that exists.'],
  });
}

async function runCommand(host: NodeJS.Process, root: string, session: Session): Promise<unknown> {
  const {argv, env} = host;
  // A linked plugin is what its package.json points to. oclif would look for its TypeScript, and warn about not using
  // it.
  settings.enableAutoTranspile = false;
  const args = spellHelp(argv.slice(2));
  const options = await withPlugins(
    {root, logger: silentLogger, ...pluginSources(root, args, env)},
    projectPlugins(root, args, session),
    session,
  );
  if (!isSpaced(args) && !mayHaveHelpValue(args)) return runOclif([...args], options);
  // oclif reuses what is loaded already.
  const config = await Config.load(options);
  const [id = '', ...rest] = joinWords(args, config);
  return runOclif([id, ...joinHelpValues(rest, config.findCommand(id)?.flags ?? {})], config);
}

/** oclif's options with the plugins of the project. A plugin that the user has installed or linked goes before. */
async function withPlugins<Options extends Interfaces.Options>(
  options: Options,
  found: readonly ProjectPlugin[],
  {output}: Session,
): Promise<Options> {
  if (found.length === 0) return options;
  const {plugins} = await Config.load(options);
  for (const {name, root} of found.filter((plugin) => !plugins.has(plugin.name))) {
    // As linked ones, so that none of their commands takes the place of ours.
    const plugin = new Plugin({name, root, type: 'link'});
    try {
      await plugin.load();
      plugins.set(plugin.name, plugin);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      output.warn(asSentence(`Plugin ${name} of the project could not be loaded: ${message}`));
    }
  }
  return {...options, plugins};
}

interface SilentLogger {
  readonly namespace: string;
  child(): SilentLogger;
  debug(): void;
  error(): void;
  info(): void;
  trace(): void;
  warn(): void;
}

// With DEBUG, oclif's own logger prints all arguments, including secrets.
const silentLogger: SilentLogger = {
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
  if (isOutputError(error)) return fail(session, error);
  const {message} = reportError(error, pluginOf(session, error));
  if (!signal.aborted) output.warn(`The command had already finished when this happened: ${message}`);
  printDocument(session);
  return signal.aborted ? fail(session, error) : succeed(session);
}

/** Returns the exit code. */
function succeed({ended, events}: Session): 0 {
  events?.succeed(ended && 'document' in ended ? ended.document : undefined);
  return 0;
}

/** The error of a command that something else ended. During a change, the outcome is unknown. */
function endedWhileChanging(session: Session, error: unknown): unknown {
  const {changing} = session;
  if (changing === undefined || (isRuntimeCliError(error) && error.code !== 'ERR_ENDED_EARLY')) return error;
  const {message, suggestions} = reportError(error, pluginOf(session, error));
  return createError(
    'ERR_OUTCOME_UNKNOWN',
    `${asSentence(message)} This happened during "${changing}", which may have been carried out.`,
    {
      suggestions: [checkBeforeRetrying, ...suggestions],
      cause: error,
    },
  );
}

/** Whether printing the result failed. */
function isOutputError(error: unknown): boolean {
  return isRuntimeCliError(error) && error.code === 'ERR_OUTPUT';
}

function printDocument({ended, output}: Session): void {
  if (ended !== undefined && 'document' in ended && ended.document !== undefined) output.document(ended.document);
}

/** Prints an error for users and, with `--json`, for programs. Returns the exit code. */
function fail(session: Session, error: unknown): number {
  const {output, signal} = session;
  const requested = requestedExitCode(error);
  if (requested !== undefined && session.foreign) return requested;
  output.releaseStream();
  const plugin = pluginOf(session, error);
  // A request to exit during one of our commands ends it early.
  const cause = requested === undefined ? error : endedEarly(plugin);
  const report = reportError(signal.aborted ? interruptionOf(cause, signal.reason) : cause, plugin);
  const {requestId} = report.details ?? {};
  output.error(report.message, [
    ...report.suggestions,
    ...(typeof requestId === 'string' ? [`Request ID: ${requestId}`] : []),
  ]);
  for (let next = error; next instanceof Error; next = next.cause) output.debug(next.stack ?? next.message);
  output.document({error: report} satisfies Body<ErrorDocument>);
  session.events?.fail(report, signal.aborted ? 'interrupted' : 'error');
  return report.exitCode;
}

/** The plugin that an error comes from, unless the command is its own. */
function pluginOf({foreign}: Session, error: unknown): string | undefined {
  if (!(error instanceof Error) || (foreign && isOclifError(error))) return undefined;
  return pluginOnStack(error.stack);
}

// After a signal, every error is a consequence of it, unless it describes what the interruption left behind.
function interruptionOf(error: unknown, reason: unknown): unknown {
  return error instanceof Error && 'code' in error && error.code === 'ERR_INTERRUPTED' ? error : reason;
}

/** Cleans up: no temporary file, no hidden cursor. */
function leave({temporary, output, events}: Session): void {
  temporary.removeAllSync();
  events?.close();
  output.releaseStream();
}
