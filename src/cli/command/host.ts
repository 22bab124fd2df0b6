import {resolve} from 'node:path';
import type {PipelineHost} from '../../pipelines/host.js';
import type {PluginConfig} from '../settings/write-hooks.js';
import type {CommandContext} from './command-context.js';
import {checkRecordFiles} from './records.js';

interface CommandHostOptions extends Pick<PipelineHost, 'secrets' | 'settings' | 'settingNames'> {
  /** Where plugins that follow changes are. @default nobody is asked */
  readonly config?: PluginConfig | undefined;
}

/** The host of a command's operations, which shows their steps on the terminal. */
export function commandHost(context: CommandContext, {config, ...given}: CommandHostOptions = {}): PipelineHost {
  const {cwd, configDirectory, env, session, output, flags} = context;
  const {'output-env': outputEnv} = flags;
  return {
    ...given,
    cwd,
    configDirectory,
    env,
    safety: session.safety,
    // Who names the configuration or the project trusts it.
    collectsMetadata: true,
    findsLostUploads: true,
    refusesForeign: flags['config'] === undefined && flags['project-directory'] === undefined,
    guardCode: session.guardCode,
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
    },
    onLedger: (ledger) => void session.ledgers.push(ledger),
    beforeWrite:
      config &&
      (async (planned, {dryRun}) => {
        const {askBeforeWrite} = await import('../settings/write-hooks.js');
        await askBeforeWrite(planned, {dryRun}, {config, output, signal: session.signal});
      }),
    checkRecords: checkRecordFiles(context.config.dataDir),
    onCleanup: (work) => void session.cleanups.push(work),
    createTemporaryDirectory: () => context.createTemporaryDirectory(),
  };
}
