import {statSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, resolve} from 'node:path';
import type {Interfaces} from '@oclif/core';
import {createError} from '../../errors/index.js';
import {createSweptDirectory, type TemporaryDirectory} from '../../files/temporary-directory.js';
import type {Session} from './session.js';
import type {CredentialFile} from '../settings/credential-file.js';
import {explainSettings, loadSettings, type ExplainedSettings} from '../settings/load-settings.js';
import {describeError, impliedFlags, secretValues, type FlagValues, type Settings} from '../settings/settings.js';

export interface CommandContext extends Pick<Session, 'env' | 'stdin' | 'output' | 'signal'> {
  readonly session: Session;
  /** As given on the command line. */
  readonly flags: GivenFlags;
  /** oclif's configuration, with its plugins. */
  readonly config: Interfaces.Config;
  /** Absolute; `--cwd` is applied. */
  readonly cwd: string;
  /** Absolute folder of the configuration file, once the settings are loaded, or else the working directory. */
  readonly configDirectory: string;
  /** The files of `--events` and `--output-env`. */
  readonly ownFiles: readonly string[];
  readonly credentialFile: CredentialFile;
  /** Sets a variable of `env`, which plugins and their libraries read; undefined removes it. */
  readonly setVariable: (name: string, value: string | undefined) => void;
  /** Creates a private folder, which is removed however the process ends. The caller should remove it earlier. */
  createTemporaryDirectory(): Promise<TemporaryDirectory>;
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

type GivenFlags = FlagValues & {readonly 'backend-option'?: readonly string[] | undefined};

export function createContext(
  session: Session,
  {flags, config}: Pick<CommandContext, 'flags' | 'config'>,
): CommandContext {
  const {env, stdin, output, signal} = session;
  const cwd = workingDirectory(session.cwd, flags['cwd']);
  const credentialFile = {directory: config.configDir, warn: (message: string) => output.warn(message)};
  const {'output-env': outputEnv} = flags;
  let configDirectory = cwd;
  let loaded: Settings | undefined;
  const context: CommandContext = {
    session,
    env,
    stdin,
    output,
    signal,
    flags,
    config,
    cwd,
    get configDirectory() {
      return configDirectory;
    },
    ownFiles: [session.events?.file ?? [], typeof outputEnv === 'string' ? resolve(cwd, outputEnv) : []].flat(),
    credentialFile,
    setVariable(name, value) {
      if (value === undefined) Reflect.deleteProperty(env, name);
      else env[name] = value;
    },
    async createTemporaryDirectory() {
      const directory = await createSweptDirectory(tmpdir());
      session.temporary.push(directory);
      return directory;
    },
    async loadSettings({stored = true} = {}) {
      const {settings, sources} = await loadSettings(context, stored);
      if (sources.file !== undefined) configDirectory = dirname(sources.file.path);
      output.addSecrets(secretValues(settings));
      const otherFile = flags['config'] !== undefined || flags['cwd'] !== undefined;
      output.shortenHints({given: impliedFlags(settings, otherFile)});
      loaded = settings;
      return settings;
    },
    explainSettings: () => explainSettings(context),
    describeError: (error) => (loaded === undefined ? error : describeError(error, loaded)),
  };
  return context;
}

function workingDirectory(cwd: string, flag: unknown): string {
  if (typeof flag !== 'string') return cwd;
  const directory = resolve(cwd, flag);
  if (statSync(directory, {throwIfNoEntry: false})?.isDirectory() === true) return directory;
  throw createError('ERR_USAGE', `--cwd is not a folder: ${flag}.`);
}
