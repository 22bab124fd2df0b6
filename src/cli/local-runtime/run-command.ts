import {spawn} from 'node:child_process';
import {constants} from 'node:os';
import {createError} from '../../errors/index.js';
import {reasonOf, systemCode} from '../../errors/system-failure.js';

/** Options of `runCommand`. */
interface RunCommandOptions {
  /** Absolute. */
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Ends the command, too. */
  readonly signal: AbortSignal;
}

/**
 * Runs a command with the terminal's input and output. Resolves to its exit code, or, as in a shell, to 128 plus the
 * number of the signal that ended it.
 * @throws RuntimeCliError `ERR_PROGRAM_MISSING` when it cannot be started; `signal.reason` when aborted.
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
  const stop = (): void => void child.kill('SIGTERM');
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
    signal.removeEventListener('abort', stop);
  }
}
