import {statSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, resolve} from 'node:path';
import type {Interfaces} from '@oclif/core';
import type {BackendFailure} from '../../backends/registry.js';
import {createError} from '../../errors/index.js';
import {createSweptDirectory, type TemporaryDirectory} from '../../files/temporary-directory.js';
import type {PipelineHost} from '../../pipelines/host.js';
import type {JsonDocument, Output} from '../output/output.js';
import type {RunEvents} from '../output/run-events.js';
import type {CredentialFile} from '../settings/credential-file.js';
import {completedAddresses, loadSettings, spacedVariables, type SettingsUse} from '../settings/load-settings.js';
import type {AllowedWrite, PluginConfig} from '../settings/write-hooks.js';
import {checkRecordFiles} from './records.js';
import {impliedFlags, secretValues, type ConfigFile, type FlagValues, type Settings} from '../settings/settings.js';

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
  /** What is wrong with plugins of the project. Users have been warned of it. */
  readonly pluginProblems: BackendFailure[];
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

type GivenFlags = FlagValues & {readonly 'backend-option'?: readonly string[] | undefined};

export class CommandContext {
  readonly env: NodeJS.ProcessEnv;
  readonly output: Output;
  readonly signal: AbortSignal;
  /** Absolute; `--cwd` is applied. */
  readonly cwd: string;
  /** Undefined until the settings are loaded, and if there is none. */
  configFile: ConfigFile | undefined;
  readonly credentialFile: CredentialFile;
  /** Undefined until they are loaded. */
  settings: Settings | undefined;

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
    this.credentialFile = {directory: config.configDir, warn: (message) => session.output.warn(message)};
  }

  get stdin(): NodeJS.ReadStream {
    return this.session.stdin;
  }

  /** Absolute folder of the configuration file, or else the working directory. */
  get configDirectory(): string {
    return this.configFile === undefined ? this.cwd : dirname(this.configFile.path);
  }

  /** Creates a private folder, which is removed however the process ends. The caller should remove it earlier. */
  async createTemporaryDirectory(): Promise<TemporaryDirectory> {
    const directory = await createSweptDirectory(tmpdir());
    this.session.temporary.push(directory);
    return directory;
  }

  /**
   * Finds and reads the configuration file, which may be code, and resolves every setting. The commands that manage
   * stored credentials ignore them.
   * @throws RuntimeCliError of usage or input.
   */
  async loadSettings(use: SettingsUse = {}): Promise<Settings> {
    const {flags, output} = this;
    const {settings, sources} = await loadSettings(this, use);
    this.settings = settings;
    this.configFile = sources.file;
    output.addSecrets(secretValues(settings));
    for (const line of completedAddresses(settings)) output.info(line);
    for (const line of spacedVariables(settings, this.env)) output.warn(line);
    const otherFile = flags['config'] !== undefined || flags['cwd'] !== undefined;
    output.shortenHints({given: impliedFlags(settings, otherFile)});
    return settings;
  }
}

function workingDirectory(cwd: string, flag: unknown): string {
  if (typeof flag !== 'string') return cwd;
  const directory = resolve(cwd, flag);
  if (statSync(directory, {throwIfNoEntry: false})?.isDirectory() === true) return directory;
  throw createError('ERR_USAGE', `--cwd is not a folder: ${flag}.`);
}

interface CommandHostOptions extends Pick<PipelineHost, 'secrets' | 'settings' | 'settingNames' | 'commandFlags'> {
  /** Where plugins that follow changes are. @default nobody is asked */
  readonly config?: PluginConfig | undefined;
}

/** The steps that change something on a server. If the process ends during one, its outcome is unknown. */
const changingSteps: ReadonlySet<string> = new Set(['upload', 'deploy', 'rollback', 'delete']);

/** The host of a command's operations, which shows their steps on the terminal. */
export function commandHost(context: CommandContext, {config, ...given}: CommandHostOptions = {}): PipelineHost {
  const {cwd, configDirectory, env, session, output, flags} = context;
  const {'output-env': outputEnv} = flags;
  const current = () => session.writes.find(({ended}) => ended === undefined);
  return {
    ...given,
    cwd,
    configDirectory,
    env,
    safety: session.safety,
    // Who names the configuration or the project trusts it.
    refusesForeign: flags['config'] === undefined && flags['project-directory'] === undefined,
    ownFiles: [session.events?.file ?? [], typeof outputEnv === 'string' ? resolve(cwd, outputEnv) : []].flat(),
    userAgent: context.config.userAgent,
    logger: {
      debug: (message) => output.debug(message),
      // A redrawn task list shows waits itself.
      info: (message) => (output.redraws ? output.debug(message) : output.info(message)),
      warn: (message) => output.warn(message),
    },
    maskSecret: (secret) => output.addSecrets([secret]),
    now: () => new Date(),
    terminal: output,
    onEvent(event) {
      if (event.type === 'warning') output.warn(event.message);
      else session.events?.emit(event);
      if (event.type !== 'step' || !changingSteps.has(event.step)) return;
      session.changing = event.status === 'started' ? event.title : undefined;
      session.hasChanged = true;
    },
    writes: config && {
      async before(planned, {dryRun} = {dryRun: false}) {
        const {askBeforeWrite} = await import('../settings/write-hooks.js');
        // While plugins are asked, nothing has been sent.
        const {changing} = session;
        session.changing = undefined;
        await askBeforeWrite(planned, {dryRun}, {config, output, signal: session.signal});
        session.changing = changing;
        // A fallback replaces what was planned before.
        const earlier = session.writes.filter(({ended}) => ended !== undefined);
        if (!dryRun) session.writes = [...earlier, {planned, known: {}}];
      },
      learn(facts) {
        const write = current();
        if (write) write.known = {...write.known, ...facts};
      },
      conclude(ended) {
        const write = current();
        if (write) write.ended = ended;
      },
    },
    checkRecords: checkRecordFiles(context.config.dataDir),
    onCleanup: (work) => void session.cleanups.push(work),
    createTemporaryDirectory: () => context.createTemporaryDirectory(),
  };
}
