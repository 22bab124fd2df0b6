import {fileURLToPath} from 'node:url';
import {watchProcess} from './abnormal-end.js';
import {reportError} from './errors/error-report.js';
import {requestedExitCode} from './errors/oclif-errors.js';
import {ownSignals} from './interruption.js';
import {createSession, sessions, type Session} from './session.js';

/**
 * Runs the command that the arguments of `host` name, and ends the process: the one place where errors become text,
 * JSON and exit codes, and where signals are owned.
 * @param root `import.meta.url` of a module in the package.
 */
export async function run(host: NodeJS.Process, root: string): Promise<void> {
  const interruption = ownSignals(host, (exitCode) => end(host, session, exitCode));
  const session = createSession(host, interruption.signal);
  const abnormal = watchProcess(host);
  const running = sessions.run(session, async () => {
    await runOclif(host.argv.slice(2), fileURLToPath(root));
    await flush(host.stdout);
  });
  try {
    await Promise.race([running, interruption.overdue, abnormal.failed]);
    end(host, session, Number(host.exitCode ?? 0));
  } catch (error) {
    const exitCode = abnormal.isClosedPipe(error) ? 0 : fail(session, error);
    // A reader that does not read must not keep an interrupted process alive.
    if (!interruption.signal.aborted) await flush(host.stdout);
    end(host, session, exitCode);
  }
}

async function runOclif(argv: string[], root: string): Promise<void> {
  const oclif = await import('@oclif/core');
  await oclif.run(argv, {root, logger: silentLogger});
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
  const report = reportError(signal.aborted ? interruptionOf(error, signal.reason) : error);
  output.error(report.message, report.suggestions);
  for (let cause = error; cause instanceof Error; cause = cause.cause) output.debug(cause.stack ?? cause.message);
  output.document({error: report});
  return report.exitCode;
}

// After a signal every error is a consequence of it, unless it tells what the interruption left behind.
function interruptionOf(error: unknown, reason: unknown): unknown {
  return error instanceof Error && 'code' in error && error.code === 'ERR_INTERRUPTED' ? error : reason;
}

function flush(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.write('', () => resolve());
  });
}

/** Ends the process, whatever it still waits for, and leaves nothing behind. */
function end(host: NodeJS.Process, {temporary, output}: Session, exitCode: number): void {
  temporary.removeAllSync();
  // A task list hides the cursor.
  if (exitCode !== 0 && output.interactive) host.stderr.write('\u001B[?25h');
  host.exit(exitCode);
}
