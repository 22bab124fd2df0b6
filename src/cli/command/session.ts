import {isCI} from 'ci-info';
import type {BackendFailure} from '../../backends/registry.js';
import type {TemporaryDirectory} from '../../files/temporary-directory.js';
import {isSecretName} from '../../http/redact.js';
import type {Guard} from '../../modules/load-module.js';
import type {Ledger} from '../../pipelines/ledger.js';
import {Output, type JsonDocument} from '../output/output.js';
import type {RunEvents} from '../output/run-events.js';
import {isDebugging, isInteractive, usesColor, usesUnicode} from '../output/terminal.js';
import {beforeEnd} from './command-line.js';

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
  /** Leaves signals to the system while code of the user runs: where it loops, nothing else could end it. */
  readonly guardCode: Guard;
  /** The temporary folders, of which none may stay, however the process ends. */
  readonly temporary: TemporaryDirectory[];
  /** What plugins clean up after an interruption. None rejects; each takes 5 s at most. */
  readonly cleanups: Promise<void>[];
  /** The plugins whose hooks have not ended. */
  readonly hooking: Set<string>;
  /** What is wrong with plugins of the project. Users have been warned of it. */
  readonly pluginProblems: BackendFailure[];
  /** Whether a plugin's command is running, which may end the process as it likes. */
  foreign: boolean;
  /** What is known of the runs of our command, in their order. */
  readonly ledgers: Ledger[];
  /** Adds what the last of them has done to an error. */
  explain?: (error: unknown) => unknown;
  /** What to exit with after success, when it is the outcome of another program. */
  exitCode?: number | undefined;
  /** The value of an access header that was made. Only the document says it: errors and events are kept in logs. */
  access?: string | undefined;
  /** Shows that value, or where it is, unless the command has done so. */
  showAccess?: (() => void) | undefined;
  events?: RunEvents | undefined;
  /** How our command ended, whatever plugins' hooks do. */
  ended?: {readonly document: JsonDocument | undefined} | {readonly error: unknown};
}

export function createSession(host: NodeJS.Process, signal: AbortSignal, guardCode: Guard): Session {
  const {env, stdout, stderr} = host;
  // Node and packages take it before NO_COLOR, and Node warns of that.
  if (env['NO_COLOR']) delete env['FORCE_COLOR'];
  // Parsing errors must be JSON, too.
  const switches = beforeEnd(host.argv.slice(2));
  const output = new Output({
    stdout,
    stderr,
    json: switches.includes('--json'),
    quiet: switches.includes('--quiet'),
    debugging: switches.includes('--debug') || isDebugging(env),
    interactive: isInteractive(stderr, env, isCI),
    color: usesColor(stderr, env, isCI),
    colorsResults: stdout.isTTY && usesColor(stdout, env, isCI),
    unicode: usesUnicode(env),
    annotating: env['GITHUB_ACTIONS'] === 'true',
  });
  // npm sets it for `npx`, `npm exec` and scripts, which find a program that the shell may not.
  if (env['npm_command'] !== undefined) output.completeHints({program: ['npx', 'mycli']});
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
    guardCode,
    temporary: [],
    cleanups: [],
    hooking: new Set(),
    pluginProblems: [],
    foreign: false,
    ledgers: [],
  };
}

function currentDirectory(host: NodeJS.Process): string {
  try {
    return host.cwd();
  } catch {
    return '';
  }
}
