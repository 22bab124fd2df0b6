import {isCI} from 'ci-info';
import type {Interfaces} from '@oclif/core';
import type {PlannedWrite} from '../../backends/contract.js';
import type {TemporaryDirectory} from '../../files/temporary-directory.js';
import {isSecretName} from '../../http/redact.js';
import type {WriteFacts} from '../../operations/host.js';
import {Output, type JsonDocument} from '../output/output.js';
import type {RunEvents} from '../output/run-events.js';
import {isDebugging, isInteractive, usesColor, usesUnicode} from '../output/terminal.js';
import {isRuntimeCliError} from '../../errors/index.js';
import {asSentence} from '../../errors/sentence.js';
import {isOclifError, PluginFailure, requestedExitCode} from './error-report.js';
import {Config} from './oclif.js';

/** A change that plugins have allowed, and what is known about its outcome. */
export interface AllowedWrite {
  readonly planned: PlannedWrite;
  readonly known: WriteFacts;
  /** How it ended, if it did before its command, such as a deployment that is then rolled back. */
  readonly ended?: {readonly error?: unknown} | undefined;
}

/** What a command shares with the code that runs it. Created before the command, and used after it has failed. */
export interface Session {
  /** Working directory of the process; absolute. Empty if it has been removed; no command runs then. */
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** `MYCLI_SAFETY` before the code of plugins and configuration files could change it. */
  readonly safety: string | undefined;
  readonly stdin: NodeJS.ReadStream;
  readonly output: Output;
  readonly signal: AbortSignal;
  readonly uid: number | undefined;
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
    uid: host.getuid?.(),
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

/** oclif's options, which it passes on to every configuration that it makes of ours. */
export interface HostOptions extends Interfaces.Options {
  /** What the run shares with its command. */
  readonly session: Session;
}

/**
 * oclif's configuration, for one run. A failure in a plugin's hook is a warning that names the plugin; only an error
 * with which a hook explicitly exits before the command ends it.
 */
export class HostConfig extends Config {
  constructor(override readonly options: HostOptions) {
    super(options);
  }

  override async runHook<T extends keyof Interfaces.Hooks>(
    event: T,
    options: Interfaces.Hooks[T]['options'],
    timeout?: number,
    captureErrors?: boolean,
  ): Promise<Interfaces.Hook.Result<Interfaces.Hooks[T]['return']>> {
    const outcome = await super.runHook(event, options, timeout, true);
    const {output, foreign} = this.options.session;
    const isOver = event === 'postrun' || event === 'finally';
    for (const {error, plugin} of outcome.failures) {
      output.debug(`${plugin.name}, ${String(event)}: ${stackOf(error)}`);
      if (captureErrors === true) continue;
      if (!isOver && endsCommand(error)) throw foreign ? error : new PluginFailure(plugin.name, error);
      if (requestedExitCode(error) === undefined || isOver)
        output.warn(asSentence(`Plugin ${plugin.name}: its ${String(event)} hook failed: ${oneLine(error)}`));
    }
    return outcome;
  }
}

/** The session of the run that oclif's configuration belongs to; undefined if a command was called without one. */
export function sessionOf(config: Interfaces.Config): Session | undefined {
  const {options} = config as Interfaces.Config & {readonly options?: Partial<HostOptions>};
  return options?.session;
}

function endsCommand(error: Error): boolean {
  return isRuntimeCliError(error) || (isOclifError(error) && (error.oclif.exit ?? 0) !== 0);
}

/** Plugins throw what is no error, too. */
function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function oneLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, ' ');
}
