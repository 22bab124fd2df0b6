import {BaseCommand, type CommandContext} from '../../cli/command/base-command.js';
import {listFlags, flagsOf} from '../../cli/command/flags.js';

export default class BundleHistory extends BaseCommand<typeof BundleHistory, 'bundle:history'> {
  static override readonly aliases = ['history'];
  static override readonly summary = 'List the deployments to a target, newest first.';
  static override readonly description =
    'Columns: bundleId, status, createdAt, createdBy, message and, only if requested, deploymentId, if the backend has one.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> --project my-shop --target production',
    '<%= config.bin %> <%= command.id %> --project my-shop --target production --limit 1 --json',
    '<%= config.bin %> <%= command.id %> -p my-shop -t production --columns "createdAt,bundleId"',
  ];
  static override readonly flags = {...flagsOf('connection', 'rateLimit', 'events'), ...listFlags};

  protected async execute(context: CommandContext) {
    const {renderHistory} = await import('../../cli/output/render-lists.js');
    const {options, host, place} = await this.reach(context, ['projectSlug', 'targetSlug']);
    const {listDeployments} = await import('../../pipelines/read.js');
    const {limit, offset, all, columns} = this.flags;
    const result = await listDeployments({...options, limit: all ? Infinity : limit, offset}, host);
    return renderHistory(result, {names: columns, place}, context.output);
  }
}
