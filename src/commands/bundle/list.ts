import {loadWantedBackends} from '../../cli/backends.js';
import {BaseCommand} from '../../cli/base-command.js';
import type {CommandContext, JsonDocument} from '../../cli/command-context.js';
import {commandHost} from '../../cli/command-host.js';
import {resolveConnection} from '../../cli/connection.js';
import {connectionFlags, listFlags, rateLimitFlags} from '../../cli/flags/index.js';
import {describeResolved} from '../../cli/settings/describe-settings.js';
import {requireSetting} from '../../cli/settings/require-setting.js';

export default class BundleList extends BaseCommand<typeof BundleList> {
  static override readonly summary = 'List the bundles of a project, newest first.';
  static override readonly description =
    'Columns: id, status, created, by, targets (those that run it), message. Ids belong to the backend that is shown: ' +
    'they never cross to another one.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> --project my-shop',
    '<%= config.bin %> <%= command.id %> --project my-shop --all --columns id,message',
    '<%= config.bin %> <%= command.id %> --project my-shop --limit 5 --json',
  ];
  static override readonly flags = {...connectionFlags, ...listFlags, ...rateLimitFlags};

  protected async execute(context: CommandContext): Promise<JsonDocument> {
    const {bundleColumns, renderBundles} = await import('../../cli/render/list.js');
    const {chooseColumns} = await import('../../cli/render/table.js');
    const columns = chooseColumns(bundleColumns, this.flags.columns);
    const settings = await context.loadSettings();
    const projectSlug = requireSetting(settings, 'projectSlug');
    const {secrets, ...connection} = resolveConnection(context, settings);
    const backends = await loadWantedBackends({context, settings, config: this.config, flags: this.flags});
    const {runListTasks} = await import('../../tasks/list-tasks.js');
    const {limit, offset, all} = this.flags;
    const result = await runListTasks({
      list: {...connection, backends, projectSlug, limit: all ? Infinity : limit, offset, signal: context.signal},
      host: commandHost(context, secrets),
      terminal: context.output,
      resolved: describeResolved(settings),
    });
    return renderBundles(result, columns, context.output);
  }
}
