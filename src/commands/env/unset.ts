import {Args, BaseCommand, type CommandContext} from '../../cli/command/base-command.js';
import {changeVariables, variableFlags} from '../../cli/command/change-variables.js';
import type {EnvUnsetDocument} from '../../cli/output/documents.js';

export default class EnvUnset extends BaseCommand<typeof EnvUnset> {
  static override readonly summary = 'Remove environment variables of a target.';
  static override readonly description =
    'All of them in one request. One that is not there is no error. The service then publishes the target again, which ' +
    '--wait waits for.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> API_KEY --project my-shop --target staging',
    '<%= config.bin %> <%= command.id %> API_KEY API_URL -p my-shop -t staging --dry-run',
  ];
  static override readonly args = {
    name: Args.string({required: true, multiple: true, description: 'Names of variables.'}),
  };
  static override readonly flags = variableFlags;

  protected async execute(context: CommandContext): Promise<EnvUnsetDocument> {
    const reached = await this.reach(context, ['projectSlug', 'targetSlug'], {writes: true});
    return changeVariables(
      await import('../../pipelines/targets.js'),
      {unset: this.args.name, dryRun: this.flags['dry-run']},
      reached,
      context,
    );
  }
}
