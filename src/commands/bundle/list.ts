import {BaseCommand, type CommandContext} from '../../cli/command/base-command.js';
import {listFlags, flagsOf} from '../../cli/command/flags.js';

export default class BundleList extends BaseCommand<typeof BundleList, 'bundle:list'> {
  static override readonly aliases = ['list'];
  static override readonly summary = 'List the bundles of a project, newest first.';
  static override readonly description =
    'Columns: bundleId, status, createdAt, createdBy, inUseBy (targets), message. IDs are only valid for the backend shown.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> --project my-shop',
    '<%= config.bin %> <%= command.id %> --project my-shop --all --columns "bundleId,message"',
    '<%= config.bin %> <%= command.id %> --project my-shop --limit 5 --json',
  ];
  static override readonly flags = {...flagsOf('connection', 'rateLimit', 'events'), ...listFlags};

  protected async execute(context: CommandContext) {
    const {renderBundles} = await import('../../cli/output/render-lists.js');
    const {options, host, place} = await this.reach(context, ['projectSlug']);
    const {listBundles} = await import('../../pipelines/read.js');
    const {limit, offset, all, columns} = this.flags;
    const result = await listBundles({...options, limit: all ? Infinity : limit, offset}, host);
    return renderBundles(result, {names: columns, place}, context.output);
  }
}
