import {statSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, resolve} from 'node:path';
import {isCI} from 'ci-info';
import type {Interfaces} from '@oclif/core';
import type {PlannedWrite} from '../../backends/contract.js';
import {createError} from '../../errors/index.js';
import {createSweptDirectory, type TemporaryDirectory} from '../../files/temporary-directory.js';
import {isSecretName} from '../../http/redact.js';
import type {WriteFacts} from '../../operations/host.js';
import {Output, type JsonDocument} from '../output/output.js';
import type {RunEvents} from '../output/run-events.js';
import {isDebugging, isInteractive, usesColor, usesUnicode} from '../output/terminal.js';
import type {CredentialFile} from '../settings/credential-file.js';
import {loadSettings} from '../settings/load-settings.js';
import {describeError, impliedFlags, secretValues, type FlagValues, type Settings} from '../settings/settings.js';

/** A change that plugins have allowed, and what is known about its outcome. */
export interface AllowedWrite {
  readonly planned: PlannedWrite;
  readonly known: WriteFacts;
  /** How it ended, if it did before its command, such as a deployment that is then rolled back. */
  readonly ended?: {readonly error?: unknown} | undefined;
}

/** A run of mycli: what it has of the process, and what has happened so far. */
export interface Session {
  /** Working directory of the process; absolute. Empty if it has been removed; no command runs then. */
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** `MYCLI_SAFETY` before a configuration file or a plugin could change it. */
  readonly safety: string | undefined;
  readonly stdin: NodeJS.ReadStream;
  readonly output: Output;
  readonly signal: AbortSignal;
  /** The temporary folders, of which none may stay, however the process ends. */
  readonly temporary: TemporaryDirectory[];
  /** What plugins clean up after an interruption. None rejects; each takes 5 s at most. */
  readonly cleanups: Promise<void>[];
  /** Whether a plugin's command is running, which may end the process as it likes. */
  foreign: boolean;
  /** The title of the step that is changing something on a server. If the process ends now, its outcome is unknown. */
  changing?: string | undefined;
  /** Whether the command has changed, or may have changed, something on a server. */
  hasChanged?: boolean | undefined;
  /** The changes that plugins have allowed our command to make. */
  writes: readonly AllowedWrite[];
  /** What to exit with after success, when it is the outcome of another program. */
  exitCode?: number | undefined;
  /** Where `--events` go. */
  events?: RunEvents | undefined;
  /** How our command ended, whatever plugins' hooks do. */
  ended?: {readonly document: JsonDocument | undefined} | {readonly error: unknown};
}

export function createSession(host: NodeJS.Process, signal: AbortSignal): Session {
  const {env, stdout, stderr} = host;
  // Before oclif parses, because parsing errors must be JSON, too.
  const argv = host.argv.slice(2);
  const switches = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv;
  const output = new Output({
    stdout,
    stderr,
    json: switches.includes('--json'),
    quiet: switches.includes('--quiet'),
    debugging: switches.includes('--debug') || isDebugging(env),
    interactive: isInteractive(stderr, env, isCI),
    color: usesColor(stderr, env, isCI),
    unicode: usesUnicode(env),
    annotating: env['GITHUB_ACTIONS'] === 'true',
  });
  // Set before anything can fail and print one.
  const secrets = Object.keys(env).filter((name) => name.startsWith('MYCLI_') && isSecretName(name));
  output.addSecrets(secrets.flatMap((name) => env[name]?.trim() || []));
  return {
    cwd: currentDirectory(host),
    env,
    safety: env['MYCLI_SAFETY'],
    // Node creates the stream on first access.
    get stdin() {
      return host.stdin;
    },
    output,
    signal,
    temporary: [],
    cleanups: [],
    foreign: false,
    writes: [],
  };
}

function currentDirectory(host: NodeJS.Process): string {
  try {
    return host.cwd();
  } catch {
    return '';
  }
}

type GivenFlags = FlagValues & {readonly 'backend-option'?: readonly string[] | undefined};

/** What a command has to work with. */
export class CommandContext {
  readonly env: NodeJS.ProcessEnv;
  readonly output: Output;
  readonly signal: AbortSignal;
  /** Absolute; `--cwd` is applied. */
  readonly cwd: string;
  /** Absolute folder of the configuration file, once the settings are loaded, or else the working directory. */
  configDirectory: string;
  readonly credentialFile: CredentialFile;
  #settings: Settings | undefined;

  /**
   * @param flags As given on the command line.
   * @param config oclif's configuration, with its plugins.
   */
  constructor(
    readonly session: Session,
    readonly flags: GivenFlags,
    readonly config: Interfaces.Config,
  ) {
    this.env = session.env;
    this.output = session.output;
    this.signal = session.signal;
    this.cwd = workingDirectory(session.cwd, flags['cwd']);
    this.configDirectory = this.cwd;
    this.credentialFile = {directory: config.configDir, warn: (message) => session.output.warn(message)};
  }

  get stdin(): NodeJS.ReadStream {
    return this.session.stdin;
  }

  /** Creates a private folder, which is removed however the process ends. The caller should remove it earlier. */
  async createTemporaryDirectory(): Promise<TemporaryDirectory> {
    const directory = await createSweptDirectory(tmpdir());
    this.session.temporary.push(directory);
    return directory;
  }

  /**
   * Finds and reads the configuration file, which may be code, and resolves every setting. `stored: false` ignores
   * stored credentials, for the commands that manage them.
   * @throws RuntimeCliError of usage or input.
   */
  async loadSettings({stored = true} = {}): Promise<Settings> {
    const {flags, output} = this;
    const {settings, sources} = await loadSettings(this, stored);
    this.#settings = settings;
    if (sources.file !== undefined) this.configDirectory = dirname(sources.file.path);
    output.addSecrets(secretValues(settings));
    const otherFile = flags['config'] !== undefined || flags['cwd'] !== undefined;
    output.shortenHints({given: impliedFlags(settings, otherFile)});
    return settings;
  }

  /** Rewrites an error to name settings by their flags and variables. */
  describeError(error: unknown): unknown {
    return this.#settings === undefined ? error : describeError(error, this.#settings);
  }
}

function workingDirectory(cwd: string, flag: unknown): string {
  if (typeof flag !== 'string') return cwd;
  const directory = resolve(cwd, flag);
  if (statSync(directory, {throwIfNoEntry: false})?.isDirectory() === true) return directory;
  throw createError('ERR_USAGE', `--cwd is not a folder: ${flag}.`);
}
