import {BaseCommand, type CommandContext} from '../../cli/command/base-command.js';
import {columnsFlag, flagsOf} from '../../cli/command/flags.js';

export default class EnvList extends BaseCommand<typeof EnvList, 'env:list'> {
  static override readonly summary = 'List the environment variables of a target, without their values.';
  static override readonly description =
    'Columns: name, status, updatedAt, updatedBy. Values are secrets: they stay on the service.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> --project my-shop --target staging',
    '<%= config.bin %> <%= command.id %> -p my-shop -t staging --columns name',
  ];
  static override readonly flags = {...flagsOf('connection', 'rateLimit', 'events'), ...columnsFlag};

  protected async execute(context: CommandContext) {
    const {variableColumns} = await import('../../cli/output/render-targets.js');
    const {printList} = await import('../../cli/output/table.js');
    const {options, host, place} = await this.reach(context, ['projectSlug', 'targetSlug']);
    const {listVariables} = await import('../../pipelines/targets.js');
    const result = await listVariables(options, host);
    const nothing = `${options.targetSlug} has no variables.`;
    printList(result.variables, variableColumns, {names: this.flags.columns, nothing, place}, context.output);
    return result;
  }
}
