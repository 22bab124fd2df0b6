import {Args, BaseCommand, type CommandContext} from '../../cli/command/base-command.js';
import {flagsOf} from '../../cli/command/flags.js';
import {variableNamesIn} from '../../cli/setup/variable-values.js';

export default class EnvDiff extends BaseCommand<typeof EnvDiff, 'env:diff'> {
  static override readonly summary = 'Compare the names in a dotenv file with the variables of a target.';
  static override readonly description =
    'Lists what the target lacks, what only the target has, and what both have. The service never returns values, so ' +
    'only names are compared.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> .env.example --project my-shop --target staging',
    '<%= config.bin %> <%= command.id %> .env --project my-shop --target staging --json',
  ];
  static override readonly args = {
    file: Args.string({required: true, description: 'A dotenv file; - is stdin.'}),
  };
  static override readonly flags = {...flagsOf('connection', 'rateLimit', 'events')};

  protected async execute(context: CommandContext) {
    const names = await variableNamesIn(this.args.file, context);
    const {options, host} = await this.reach(context, ['projectSlug', 'targetSlug']);
    const {listVariables} = await import('../../pipelines/targets.js');
    const {renderVariableDiff} = await import('../../cli/output/render-targets.js');
    return renderVariableDiff(names, await listVariables(options, host), this.args.file, context.output);
  }
}
