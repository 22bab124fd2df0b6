import {BaseCommand, type CommandContext} from '../cli/command/base-command.js';
import {flagsOf} from '../cli/command/flags.js';

export default class Status extends BaseCommand<typeof Status, 'status'> {
  static override readonly summary = 'Show what each target runs, since when, and where.';
  static override readonly description =
    'Shows the live bundle of each target with its message, age, author and URL, a deployment under way, why the last ' +
    'one failed, and whether the target is being created or deleted. With --target, shows one. A missing target is ' +
    'an error, and so is a project without targets. If the backend cannot list targets, name one.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> --project my-shop',
    '<%= config.bin %> <%= command.id %> --project my-shop --target production --json',
  ];
  static override readonly flags = {...flagsOf('connection', 'rateLimit', 'events')};

  protected async execute(context: CommandContext) {
    const {settings, options, host} = await this.reach(context, ['projectSlug']);
    const {getProjectStatus} = await import('../pipelines/read.js');
    const {renderStatus} = await import('../cli/output/render-lists.js');
    const {targetSlug} = settings;
    const status = {
      ...options,
      targetSlug: targetSlug?.value,
      // One that is only configured does not hide the others.
      allTargets: targetSlug?.source.kind !== 'flag',
    };
    return renderStatus(await getProjectStatus(status, host), context.output);
  }
}
