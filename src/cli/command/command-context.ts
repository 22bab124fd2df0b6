import {statSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, resolve} from 'node:path';
import type {Interfaces} from '@oclif/core';
import {createError} from '../../errors/index.js';
import {createSweptDirectory} from '../../files/temporary-directory.js';
import type {Guard} from '../../modules/load-module.js';
import type {PipelineHost} from '../../pipelines/host.js';
import type {Output} from '../output/output.js';
import type {CredentialFile} from '../settings/credential-file.js';
import {loadSettings, readCheckHeaders, type SettingsUse} from '../settings/load-settings.js';
import type {PluginConfig} from '../settings/write-hooks.js';
import {checkRecordFiles} from './records.js';
import type {Session} from './session.js';
import {
  resolveSettings,
  secretValues,
  type ConfigFile,
  type FlagValues,
  type Settings,
  type SettingsSources,
  type ValueSource,
} from '../settings/settings.js';

type GivenFlags = FlagValues & {readonly 'backend-option'?: readonly string[] | undefined};

interface HostOptions extends Pick<PipelineHost, 'secrets' | 'settings' | 'settingNames'> {
  /** Where plugins that follow changes are. @default nobody is asked */
  readonly config?: PluginConfig | undefined;
}

export class CommandContext {
  readonly env: NodeJS.ProcessEnv;
  readonly output: Output;
  readonly signal: AbortSignal;
  readonly guardCode: Guard;
  /** Absolute; `--cwd` is applied. */
  readonly cwd: string;
  configFile: ConfigFile | undefined;
  readonly credentialFile: CredentialFile;
  settings: Settings | undefined;
  /** Where the secrets of the plugin's backend come from that the command uses. */
  secretSource: ValueSource | undefined;
  #sources: SettingsSources | undefined;

  /**
   * @param config oclif's configuration, with its plugins.
   * @param writes Whether the command changes something at the service.
   */
  constructor(
    readonly session: Session,
    readonly flags: GivenFlags,
    readonly config: Interfaces.Config,
    readonly writes = false,
  ) {
    this.env = session.env;
    this.output = session.output;
    this.signal = session.signal;
    this.guardCode = session.guardCode;
    this.cwd = workingDirectory(session.cwd, flags['cwd']);
    this.credentialFile = {directory: config.configDir, warn: (...said) => session.output.warn(...said)};
  }

  get stdin(): NodeJS.ReadStream {
    return this.session.stdin;
  }

  /** The settings for a target that the command has found, for its guards and checks: the credentials are not read. */
  async settingsOf(slug: string, argument = 'BRANCH'): Promise<Settings> {
    if (this.#sources === undefined) throw new Error('The settings are not loaded.');
    const settings = resolveSettings({...this.#sources, target: {slug, argument}});
    return {...settings, ...(await readCheckHeaders(settings, this))};
  }

  get configDirectory(): string {
    return this.configFile === undefined ? this.cwd : dirname(this.configFile.path);
  }

  /** The host of the command's operations, which shows their steps on the terminal. */
  host({config, ...given}: HostOptions = {}): PipelineHost {
    const {cwd, env, session, output, flags} = this;
    const {'output-env': outputEnv} = flags;
    return {
      ...given,
      cwd,
      configDirectory: this.configDirectory,
      env,
      safety: session.safety,
      collectsMetadata: true,
      findsLostUploads: true,
      // Who names the configuration or the project trusts it.
      refusesForeign: flags['config'] === undefined && flags['project-directory'] === undefined,
      guardCode: session.guardCode,
      ownFiles: [session.events?.file ?? [], typeof outputEnv === 'string' ? resolve(cwd, outputEnv) : []].flat(),
      userAgent: this.config.userAgent,
      logger: {
        debug: (message) => output.debug(message),
        // A redrawn task list shows waits itself.
        info: (message) => (output.redraws ? output.debug(message) : output.info(message)),
        warn: (message) => output.warn(message),
      },
      maskSecret: (secret) => output.addSecrets([secret]),
      now: () => new Date(),
      terminal: output,
      spell: (advice) => output.texts([advice]).join(''),
      onEvent(event) {
        if (event.type === 'warning') output.warn(event.message);
        else session.events?.emit(event);
      },
      onLedger(ledger, explain) {
        session.ledgers.push(ledger);
        session.explain = explain;
      },
      beforeWrite:
        config &&
        (async (planned, {dryRun}) => {
          const {askBeforeWrite} = await import('../settings/write-hooks.js');
          const isFirst = session.ledgers.every(({changes}) => changes.length === 0);
          await askBeforeWrite(planned, {dryRun, isFirst}, {config, output, signal: session.signal});
        }),
      checkRecords: checkRecordFiles(this.config.dataDir),
      onCleanup: (work) => void session.cleanups.push(work),
      async createTemporaryDirectory() {
        const directory = await createSweptDirectory(tmpdir());
        session.temporary.push(directory);
        return directory;
      },
    };
  }

  /** Reads the configuration file, which may be code, and resolves every setting. */
  async loadSettings(use: SettingsUse = {}): Promise<Settings> {
    const {output} = this;
    const {settings, sources, named} = await loadSettings(this, {changes: this.writes, ...use});
    this.settings = settings;
    this.configFile = sources.file;
    this.#sources = sources;
    output.addSecrets(secretValues(settings));
    const {file} = sources;
    output.completeHints({settings: named});
    if (output.interactive && file !== undefined && !file.path.endsWith('.json')) {
      // A Tab in this terminal then needs not run the code, and knows what it imports now.
      const {namesOfConfig} = await import('./answer-completion.js');
      await namesOfConfig(file.path, this.config.cacheDir, file).catch(() => undefined);
    }
    return settings;
  }
}

function workingDirectory(cwd: string, flag: unknown): string {
  if (typeof flag !== 'string') return cwd;
  const directory = resolve(cwd, flag);
  if (statSync(directory, {throwIfNoEntry: false})?.isDirectory() === true) return directory;
  throw createError('ERR_USAGE', `--cwd is not a folder: ${flag}.`);
}
