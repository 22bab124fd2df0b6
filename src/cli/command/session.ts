import {tmpdir} from 'node:os';
import {isCI} from 'ci-info';
import type {PlannedWrite} from '../../backends/contract.js';
import type {TemporaryDirectory} from '../../files/temporary-directory.js';
import {createRedactor, isSecretName} from '../../http/redact.js';
import type {Environment} from '../../http/types.js';
import type {WriteFacts} from '../../operations/host.js';
import {Output, type JsonDocument} from '../output/output.js';
import type {RunEvents} from '../output/run-events.js';
import {isDebugging, isInteractive, usesColor, usesUnicode} from '../output/terminal.js';

/** A change that plugins have allowed, and what is known about its outcome. */
export interface AllowedWrite {
  readonly planned: PlannedWrite;
  readonly known: WriteFacts;
}

/** A change that has ended before its command, such as a deployment that is then rolled back. */
export interface EndedWrite extends AllowedWrite {
  readonly ended: {readonly error?: unknown};
}

/** What a command shares with the code that runs it. Created before the command, and used after it has failed. */
export interface Session {
  /** Working directory of the process; absolute. Empty if it has been removed; no command runs then. */
  readonly cwd: string;
  readonly env: Environment;
  /** `MYCLI_SAFETY` before the code of plugins and configuration files could change it. */
  readonly safety: string | undefined;
  /** Sets a variable of `env`, which plugins and their libraries read; undefined removes it. */
  readonly setVariable: (name: string, value: string | undefined) => void;
  readonly stdin: NodeJS.ReadStream;
  readonly output: Output;
  readonly temporary: TemporaryDirectories;
  readonly signal: AbortSignal;
  /** ID of the process. */
  readonly pid: number;
  /** ID of the user, if the platform has one. */
  readonly uid: number | undefined;
  /** Whether a plugin's command is running, which may end the process as it likes. */
  foreign: boolean;
  /** What plugins clean up after an interruption. None rejects; each takes 5 s at most. */
  readonly cleanups: Promise<void>[];
  /** The title of the step that is changing something on a server. */
  changing?: string | undefined;
  /** Whether the command has changed, or may have changed, something on a server. */
  hasChanged?: boolean | undefined;
  /** The change that plugins have allowed our command to make. */
  write?: AllowedWrite | undefined;
  /** The changes before it, whose outcome stands. */
  readonly endedWrites: EndedWrite[];
  /** What to exit with after success, when it is the outcome of another program. */
  exitCode?: number | undefined;
  /** Where `--events` go. */
  events?: RunEvents | undefined;
  /** How our command ended, whatever plugins' hooks do. */
  ended?: {readonly document: JsonDocument | undefined} | {readonly error: unknown};
}

/** Creates a session for the arguments and streams of `host`, the process. */
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
  });
  // Set before anything can fail and print one.
  const secrets = Object.keys(env).filter((name) => name.startsWith('MYCLI_') && isSecretName(name));
  output.addSecrets(secrets.flatMap((name) => env[name]?.trim() || []));
  const temporary = new TemporaryDirectories(tmpdir(), host.pid);
  return {
    cwd: workingDirectory(host),
    env,
    safety: env['MYCLI_SAFETY'],
    setVariable(name, value) {
      if (value === undefined) Reflect.deleteProperty(env, name);
      else env[name] = value;
    },
    // Node creates the stream on first access.
    get stdin() {
      return host.stdin;
    },
    output,
    temporary,
    signal,
    pid: host.pid,
    uid: host.getuid?.(),
    foreign: false,
    cleanups: [],
    endedWrites: [],
  };
}

function workingDirectory(host: NodeJS.Process): string {
  try {
    return host.cwd();
  } catch {
    return '';
  }
}

// Before oclif parses, because parsing errors must be JSON, too.
function givenSwitches(argv: readonly string[]): ReadonlySet<string> {
  const end = argv.indexOf('--');
  return new Set(end === -1 ? argv : argv.slice(0, end));
}

/** The temporary folders of this process, so that none is left behind, however it ends. */
export class TemporaryDirectories {
  readonly #directories = new Set<TemporaryDirectory>();
  readonly #parent: string;
  readonly #pid: number;

  /** @param parent folder to create them in. */
  constructor(parent: string, pid: number) {
    this.#parent = parent;
    this.#pid = pid;
  }

  /** Creates a private folder after removing what killed runs left. The caller must remove it. */
  async create(): Promise<TemporaryDirectory> {
    const {createSweptDirectory} = await import('../../files/temporary-directory.js');
    const directory = await createSweptDirectory(this.#parent, this.#pid);
    this.#directories.add(directory);
    return directory;
  }

  /** Removes the remaining ones synchronously, because the process is about to end. */
  removeAllSync(): void {
    for (const directory of this.#directories) {
      try {
        directory.removeSync();
      } catch {
        // The process must end; the next one will sweep.
      }
    }
    this.#directories.clear();
  }
}
