import {BaseCommand, type CommandContext} from '../../cli/command/base-command.js';
import {columnsFlag, flagsOf, projectFlags} from '../../cli/command/flags.js';

export default class PreviewList extends BaseCommand<typeof PreviewList, 'preview:list'> {
  static override readonly summary = 'List the previews of a project.';
  static override readonly description = 'Columns: branch, targetSlug, state, updatedAt (its last deployment), url.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> --project my-shop',
    '<%= config.bin %> <%= command.id %> --project my-shop --columns "branch,url"',
  ];
  static override readonly flags = {...projectFlags, ...flagsOf('rateLimit', 'events'), ...columnsFlag};

  protected async execute(context: CommandContext) {
    const {previewColumns} = await import('../../cli/output/render-targets.js');
    const {printList} = await import('../../cli/output/table.js');
    const {options, host, place} = await this.reach(context, ['projectSlug']);
    const {listPreviews} = await import('../../pipelines/previews.js');
    const result = await listPreviews(options, host);
    const nothing = `The project ${options.projectSlug} has no previews.`;
    printList(result.previews, previewColumns, {names: this.flags.columns, nothing, place}, context.output);
    return result;
  }
}
