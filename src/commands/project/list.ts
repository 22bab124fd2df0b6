import {BaseCommand, type CommandContext} from '../../cli/command/base-command.js';
import {columnsFlag, flagsOf, projectFlags} from '../../cli/command/flags.js';

const {project: _, ...flags} = projectFlags;

export default class ProjectList extends BaseCommand<typeof ProjectList, 'project:list'> {
  static override readonly summary = 'List the projects that the credentials reach.';
  static override readonly description = 'Columns: projectSlug, name.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --runtime-backend api --json',
  ];
  static override readonly flags = {...flags, ...flagsOf('rateLimit', 'events'), ...columnsFlag};

  protected async execute(context: CommandContext) {
    const {projectColumns} = await import('../../cli/output/render-targets.js');
    const {printList} = await import('../../cli/output/table.js');
    const {options, host, place} = await this.reach(context, []);
    const {listProjects} = await import('../../pipelines/configure.js');
    const result = await listProjects(options, host);
    const list = {names: this.flags.columns, nothing: 'The credentials reach no project.', place};
    printList(result.projects, projectColumns, list, context.output);
    return result;
  }
}
