import {statSync} from 'node:fs';
import {dirname, resolve} from 'node:path';
import type {Interfaces} from '@oclif/core';
import {createError} from '../../errors/index.js';
import type {Environment, Logger} from '../../http/types.js';
import type {CredentialFile} from '../settings/credential-file.js';
import type {EventFeed} from '../../pipelines/event-feed.js';
import type {Output} from '../output/output.js';
import type {AllowedWrite, EndedWrite, Session, TemporaryDirectories} from './session.js';
import {explainSettings, loadSettings, type ExplainedSettings} from '../settings/load-settings.js';
import type {FlagValues} from '../settings/resolve-settings.js';
import {impliedFlags, namedBySource, secretValues, withLoginOrigin, type Settings} from '../settings/settings.js';

export type {JsonDocument} from '../output/output.js';

/** The context of a command. */
export interface CommandContext {
  /** Absolute; `--cwd` is applied. */
  readonly cwd: string;
  /** Absolute folder of the configuration file, once the settings are loaded, or else the working directory. */
  readonly configDirectory: string;
  readonly env: Environment;
  /** `MYCLI_SAFETY` as the process was started with. */
  readonly safety: string | undefined;
  /** Sets a variable of `env`, which plugins and their libraries read; undefined removes it. */
  readonly setVariable: (name: string, value: string | undefined) => void;
  readonly stdin: NodeJS.ReadStream;
  readonly output: Output;
  /** Where to report what happens, with `--events`. */
  readonly events: EventFeed | undefined;
  /** The files of `--events` and `--output-env`. */
  readonly ownFiles: readonly string[];
  readonly logger: Logger;
  /** Aborted by SIGINT, SIGTERM and SIGHUP. */
  readonly signal: AbortSignal;
  /** Version of mycli. */
  readonly version: string;
  /** `User-Agent` of requests. */
  readonly userAgent: string;
  readonly temporary: TemporaryDirectories;
  readonly now: () => Date;
  /** Called with the title of a step that is changing something on a server; undefined once it is done. */
  readonly noteChange: (title: string | undefined) => void;
  /** Called with the change that plugins have allowed, and again when more is known about its outcome. */
  readonly noteWrite: (write: AllowedWrite) => void;
  /** Tells that the last change has ended, although the command goes on. */
  readonly noteEndedWrite: (write: EndedWrite) => void;
  /** Called with what a plugin cleans up after an interruption. */
  readonly noteCleanup: (work: Promise<void>) => void;
  /** Ends the process with the exit code of a program that was run, when the command has done its work. */
  readonly endWith: (exitCode: number) => void;
  /** Where credentials are stored. */
  readonly credentialFile: CredentialFile;
  /** oclif's data folder; absolute. */
  readonly dataDirectory: string;
  /**
   * Finds and reads the configuration file, which may be code, and resolves every setting. `stored: false` ignores
   * stored credentials, for the commands that manage them.
   * @throws RuntimeCliError of usage or input.
   */
  loadSettings(options?: {readonly stored?: boolean}): Promise<Settings>;
  /**
   * Resolves every setting like `loadSettings`, with its source. Reads neither secrets nor stdin.
   * @throws RuntimeCliError of usage or input.
   */
  explainSettings(): Promise<ExplainedSettings>;
  /** Rewrites an error to name settings by their flags and variables. */
  describeError(error: unknown): unknown;
}

/** What a context needs besides the session. */
interface CommandContextOptions {
  /** Flags as given on the command line. */
  readonly flags: FlagValues;
  readonly config: Pick<Interfaces.Config, 'version' | 'userAgent' | 'configDir' | 'dataDir'>;
}

/** Creates the context of a command. */
export function createContext(session: Session, {flags, config}: CommandContextOptions): CommandContext {
  const {env, safety, setVariable, stdin, output, signal, temporary, uid} = session;
  const cwd = workingDirectory(session.cwd, flags['cwd']);
  const warn = (message: string) => output.warn(message);
  const credentialFile = {directory: config.configDir, hasModes: uid !== undefined, warn};
  const {'output-env': outputEnv} = flags;
  const configFile = typeof flags['config'] === 'string' ? flags['config'] : undefined;
  let configDirectory = cwd;
  const onConfigFile = (path: string) => {
    configDirectory = dirname(path);
  };
  const origin = {flags, env, cwd, configFile, uid, stdin, warn, onConfigFile};
  let loaded: Settings | undefined;
  return {
    cwd,
    get configDirectory() {
      return configDirectory;
    },
    env,
    safety,
    setVariable,
    stdin,
    output,
    events: session.events?.feed,
    ownFiles: [session.events?.file ?? [], typeof outputEnv === 'string' ? resolve(cwd, outputEnv) : []].flat(),
    logger: output,
    signal,
    version: config.version,
    userAgent: config.userAgent,
    temporary,
    now: () => new Date(),
    noteChange(title) {
      session.changing = title;
      session.hasChanged = true;
    },
    noteWrite: (write) => (session.write = write),
    noteEndedWrite(write) {
      session.endedWrites.push(write);
      session.write = undefined;
    },
    noteCleanup: (work) => void session.cleanups.push(work),
    endWith: (exitCode) => (session.exitCode = exitCode),
    credentialFile,
    dataDirectory: config.dataDir,
    async loadSettings({stored = true} = {}) {
      const settings = await loadSettings({...origin, credentialFile: stored ? credentialFile : undefined});
      output.addSecrets(secretValues(settings));
      const otherFile = flags['config'] !== undefined || flags['cwd'] !== undefined;
      output.shortenHints({given: impliedFlags(settings, otherFile)});
      loaded = settings;
      return settings;
    },
    explainSettings: () => explainSettings({...origin, credentialFile}),
    describeError: (error) => (loaded === undefined ? error : withLoginOrigin(namedBySource(error, loaded), loaded)),
  };
}

function workingDirectory(cwd: string, flag: unknown): string {
  if (typeof flag !== 'string') return cwd;
  const directory = resolve(cwd, flag);
  if (statSync(directory, {throwIfNoEntry: false})?.isDirectory() === true) return directory;
  throw createError('ERR_USAGE', `--cwd is not a folder: ${flag}.`);
}
