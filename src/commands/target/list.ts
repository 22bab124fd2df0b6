import {BaseCommand, type CommandContext} from '../../cli/command/base-command.js';
import {columnsFlag, flagsOf, projectFlags} from '../../cli/command/flags.js';

export default class TargetList extends BaseCommand<typeof TargetList, 'target:list'> {
  static override readonly summary = 'List the targets of a project, with their states.';
  static override readonly description =
    'Columns: targetSlug, state, production, createdAt, url and, only if requested, name. A target is production by its ' +
    'name, the configuration or the service. mycli status shows what they run.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> --project my-shop',
    '<%= config.bin %> <%= command.id %> --project my-shop --columns "targetSlug,state"',
  ];
  static override readonly flags = {...projectFlags, ...flagsOf('rateLimit', 'events'), ...columnsFlag};

  protected async execute(context: CommandContext) {
    const {targetColumns} = await import('../../cli/output/render-targets.js');
    const {printList} = await import('../../cli/output/table.js');
    const {options, host, place} = await this.reach(context, ['projectSlug']);
    const {listTargets} = await import('../../pipelines/targets.js');
    const {isProductionName} = await import('../../operations/guard/safety.js');
    const result = await listTargets(options, host);
    // target:delete decides alike.
    const targets = result.targets.map((item) => {
      const isConfigured = context.configFile?.targets.get(item.targetSlug)?.production === true;
      return isConfigured || isProductionName(item.targetSlug) ? {...item, production: true} : item;
    });
    const nothing = `The project ${options.projectSlug} has no targets, or does not exist.`;
    printList(targets, targetColumns, {names: this.flags.columns, nothing, place}, context.output);
    return {...result, targets};
  }
}
