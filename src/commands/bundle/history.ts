import {loadWantedBackends} from '../../cli/backends.js';
import {BaseCommand} from '../../cli/base-command.js';
import type {CommandContext, JsonDocument} from '../../cli/command-context.js';
import {commandHost} from '../../cli/command-host.js';
import {resolveConnection} from '../../cli/connection.js';
import {connectionFlags, listFlags, rateLimitFlags} from '../../cli/flags/index.js';
import {describeResolved} from '../../cli/settings/describe-settings.js';
import {requireSetting} from '../../cli/settings/require-setting.js';

export default class BundleHistory extends BaseCommand<typeof BundleHistory> {
  static override readonly summary = 'List the deployments to a target, newest first.';
  static override readonly description =
    'Columns: bundle, status, created, by, message, and on request deployment, its id where the backend has one.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> --project my-shop --target production',
    '<%= config.bin %> <%= command.id %> --project my-shop --target production --limit 1 --json',
    '<%= config.bin %> <%= command.id %> --project my-shop --target production --columns created,bundle,deployment',
  ];
  static override readonly flags = {...connectionFlags, ...listFlags, ...rateLimitFlags};

  protected async execute(context: CommandContext): Promise<JsonDocument> {
    const {deploymentColumns, renderDeployments} = await import('../../cli/render/list.js');
    const {chooseColumns} = await import('../../cli/render/table.js');
    const columns = chooseColumns(deploymentColumns, this.flags.columns);
    const settings = await context.loadSettings();
    const projectSlug = requireSetting(settings, 'projectSlug');
    const targetSlug = requireSetting(settings, 'targetSlug');
    const {secrets, ...connection} = resolveConnection(context, settings);
    const backends = await loadWantedBackends({context, settings, config: this.config, flags: this.flags});
    const {runHistoryTasks} = await import('../../tasks/list-tasks.js');
    const {limit, offset, all} = this.flags;
    const result = await runHistoryTasks({
      list: {
        ...connection,
        backends,
        projectSlug,
        targetSlug,
        limit: all ? Infinity : limit,
        offset,
        signal: context.signal,
      },
      host: commandHost(context, secrets),
      terminal: context.output,
      resolved: describeResolved(settings),
    });
    return renderDeployments(result, columns, context.output);
  }
}
