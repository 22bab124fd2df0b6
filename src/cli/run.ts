import {endedEarly, watchProcess} from './abnormal-end.js';
import type {Body, ErrorDocument} from './documents.js';
import {reportError} from './errors/error-report.js';
import {requestedExitCode} from './errors/oclif-errors.js';
import {ownSignals} from './interruption.js';
import {runOclif, settings} from './oclif.js';
import {pluginSources} from './plugin-sources.js';
import {createSession, sessions, type Session} from './session.js';

// What oclif loads of ours by its name, from this file, which it then finds loaded.
export {PagedHelp} from './help/help.js';
export {commandNotFound} from './hooks/command-not-found.js';
export {init} from './hooks/init.js';
export {prerun} from './hooks/prerun.js';

/**
 * Runs the command that the arguments of `host` name, and ends the process: the one place where errors become text,
 * JSON and exit codes, and where signals are owned.
 * @param root The folder of the package whose commands they are.
 */
export async function run(host: NodeJS.Process, root: string): Promise<void> {
  const interruption = ownSignals(host, (exitCode) => end(exitCode));
  const session = createSession(host, interruption.signal);
  const abnormal = watchProcess(host);
  const onExit = () => {
    if (session.working) host.exitCode = fail(session, endedEarly());
    leave(session);
  };
  host.once('exit', onExit);
  const end = (exitCode: number) => {
    host.off('exit', onExit);
    leave(session);
    host.exit(exitCode);
  };
  // Hooks of plugins may print before it is known which command is run. What needs no command is not a document.
  if (session.output.json && host.argv[2] !== '--version') session.output.claimStdout();
  const running = sessions.run(session, async () => {
    await runCommand(host, root);
    await session.output.flush();
  });
  try {
    await Promise.race([running, interruption.overdue, abnormal.failed]);
    end(Number(host.exitCode ?? 0));
  } catch (error) {
    const exitCode = abnormal.isClosedPipe(error) ? 0 : fail(session, error);
    // A reader that does not read must not keep an interrupted process alive.
    if (!interruption.signal.aborted) await session.output.flush();
    end(exitCode);
  }
}

async function runCommand({argv, env}: NodeJS.Process, root: string): Promise<void> {
  // A linked plugin is what its package.json points to; oclif would look for its TypeScript, and warn about not taking it.
  settings.enableAutoTranspile = false;
  const args = argv.slice(2);
  await runOclif(args, {root, logger: silentLogger, ...pluginSources(root, args, env)});
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

// oclif's own logger prints all arguments, secrets among them, when DEBUG asks for it.
const silentLogger: SilentLogger = {
  namespace: 'mycli',
  child: () => silentLogger,
  debug: () => undefined,
  error: () => undefined,
  info: () => undefined,
  trace: () => undefined,
  warn: () => undefined,
};

/** Tells an error to people and, with `--json`, to programs. Returns the exit code. */
function fail({output, signal}: Session, error: unknown): number {
  const requested = requestedExitCode(error);
  if (requested !== undefined) return requested;
  output.releaseStream();
  const report = reportError(signal.aborted ? interruptionOf(error, signal.reason) : error);
  output.error(report.message, report.suggestions);
  for (let cause = error; cause instanceof Error; cause = cause.cause) output.debug(cause.stack ?? cause.message);
  output.document({error: report} satisfies Body<ErrorDocument>);
  return report.exitCode;
}

// After a signal every error is a consequence of it, unless it tells what the interruption left behind.
function interruptionOf(error: unknown, reason: unknown): unknown {
  return error instanceof Error && 'code' in error && error.code === 'ERR_INTERRUPTED' ? error : reason;
}

/** Leaves nothing behind: no temporary file, no hidden cursor. */
function leave({temporary, output}: Session): void {
  temporary.removeAllSync();
  output.releaseStream();
}
