import {AsyncLocalStorage} from 'node:async_hooks';
import {tmpdir} from 'node:os';
import {isCI} from 'ci-info';
import type {TemporaryDirectory} from '../../files/temporary-directory.js';
import {createRedactor} from '../../http/redact.js';
import type {Environment} from '../../http/types.js';
import {Output, type JsonDocument} from '../output/output.js';
import {isDebugging, isInteractive, usesColor, usesUnicode} from '../output/terminal.js';
import {isSecretName} from '../settings/secret.js';
import {runningPlugin} from './foreign-code.js';

/** What the part that runs commands and the command share: made before a command exists, used after it has failed. */
export interface Session {
  /** Working directory of the process; absolute. Empty when it has been removed: no command runs then. */
  readonly cwd: string;
  readonly env: Environment;
  readonly stdin: NodeJS.ReadStream;
  readonly output: Output;
  readonly temporary: TemporaryDirectories;
  readonly signal: AbortSignal;
  /** Id of the process. */
  readonly pid: number;
  /** Id of the user, where the platform has one. */
  readonly uid: number | undefined;
  /** Whether a command of a plugin is run: it may end the process as it likes. */
  foreign: boolean;
  /** What is being changed on a server right now: the title of the step. */
  changing?: string | undefined;
  /** What to exit with after success, when it is the outcome of another program. */
  exitCode?: number | undefined;
  /** How a command of ours has ended, whatever hooks of plugins make of it. */
  ended?: {readonly document: JsonDocument | undefined} | {readonly error: unknown};
}

/** The session of the command that is running. */
export const sessions = new AsyncLocalStorage<Session>();

/** Makes a session for the arguments and streams of `host`, which is the process. */
export function createSession(host: NodeJS.Process, signal: AbortSignal): Session {
  const {env, stdout, stderr} = host;
  const switches = givenSwitches(host.argv.slice(2));
  const output = new Output({
    stdout,
    stderr,
    json: switches.has('--json'),
    quiet: switches.has('--quiet'),
    debugging: switches.has('--debug') || isDebugging(env),
    interactive: isInteractive(stderr, env, isCI),
    color: usesColor(stderr, env, isCI),
    unicode: usesUnicode(env),
    annotating: env['GITHUB_ACTIONS'] === 'true',
    createRedactor,
    runningPlugin,
  });
  // Known before anything can fail and print one.
  const secrets = Object.keys(env).filter((name) => name.startsWith('MYCLI_') && isSecretName(name));
  output.addSecrets(secrets.flatMap((name) => env[name]?.trim() || []));
  const temporary = new TemporaryDirectories(tmpdir(), host.pid);
  return {
    cwd: workingDirectory(host),
    env,
    // node makes the stream when it is asked for.
    get stdin() {
      return host.stdin;
    },
    output,
    temporary,
    signal,
    pid: host.pid,
    uid: host.getuid?.(),
    foreign: false,
  };
}

function workingDirectory(host: NodeJS.Process): string {
  try {
    return host.cwd();
  } catch {
    return '';
  }
}

// Before oclif parses: errors of parsing have to be JSON too.
function givenSwitches(argv: readonly string[]): ReadonlySet<string> {
  const end = argv.indexOf('--');
  return new Set(end === -1 ? argv : argv.slice(0, end));
}

/** The temporary folders of this process, so that none is left behind however it ends. */
export class TemporaryDirectories {
  readonly #directories = new Set<TemporaryDirectory>();
  readonly #parent: string;
  readonly #pid: number;

  /** @param parent folder that they are made in. */
  constructor(parent: string, pid: number) {
    this.#parent = parent;
    this.#pid = pid;
  }

  /** Makes a private folder, after removing what killed runs left. Whoever asks for it removes it. */
  async create(): Promise<TemporaryDirectory> {
    const {createSweptDirectory} = await import('../../files/temporary-directory.js');
    const directory = await createSweptDirectory(this.#parent, this.#pid);
    this.#directories.add(directory);
    return directory;
  }

  /** Removes those that are left, at once: the process is about to end. */
  removeAllSync(): void {
    for (const directory of this.#directories) {
      try {
        directory.removeSync();
      } catch {
        // The process has to end, and the next one sweeps.
      }
    }
    this.#directories.clear();
  }
}
