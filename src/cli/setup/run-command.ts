import {spawn} from 'node:child_process';
import {constants} from 'node:os';
import {createError} from '../../errors/index.js';
import {reasonOf, systemCode} from '../../errors/system-failure.js';

/** How long an interrupted command may take to exit, in milliseconds. Less than mycli itself has for its cleanup. */
const patienceMs = 500;

/** Options of `runCommand`. */
interface RunCommandOptions {
  /** Absolute. */
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Also ends the command. */
  readonly signal: AbortSignal;
}

/**
 * Runs a command that shares the terminal's input and output. Resolves to its exit code or, as in a shell, to 128 plus
 * the number of the signal that ended it.
 * @throws RuntimeCliError `ERR_PROGRAM_MISSING` if it cannot be started; `signal.reason` if aborted.
 */
export async function runCommand(
  [program = '', ...args]: readonly string[],
  {cwd, env, signal}: RunCommandOptions,
): Promise<number> {
  const child = spawn(program, args, {
    cwd,
    env,
    stdio: 'inherit',
    // On Windows, npm and the like are scripts, which only a shell can start.
    shell: process.platform === 'win32',
  });
  const kill = (): void => void child.kill('SIGKILL');
  let patience: NodeJS.Timeout | undefined;
  const stop = (): void => {
    child.kill('SIGTERM');
    patience = setTimeout(kill, patienceMs);
  };
  // Applies however this process exits, even if it does not wait for the command.
  process.once('exit', kill);
  signal.addEventListener('abort', stop, {once: true});
  try {
    const exitCode = await new Promise<number>((resolve, reject) => {
      child.once('error', (error) => {
        const reason = systemCode(error) === 'ENOENT' ? 'it was not found' : reasonOf(error);
        reject(
          createError('ERR_PROGRAM_MISSING', `${program} cannot be started: ${reason}.`, {
            suggestions: ['Check the command after --.'],
            cause: error,
          }),
        );
      });
      child.once('exit', (code, name) => resolve(code ?? 128 + constants.signals[name ?? 'SIGTERM']));
    });
    signal.throwIfAborted();
    return exitCode;
  } finally {
    clearTimeout(patience);
    process.off('exit', kill);
    signal.removeEventListener('abort', stop);
  }
}
