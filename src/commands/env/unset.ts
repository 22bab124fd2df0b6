import {Args, BaseCommand, type CommandContext} from '../../cli/command/base-command.js';
import {dryRunFlag, flagsOf} from '../../cli/command/flags.js';
import {targetWait} from '../../cli/command/operation-options.js';

export default class EnvUnset extends BaseCommand<typeof EnvUnset, 'env:unset'> {
  static override readonly changes = 'service';
  static override readonly summary = 'Remove environment variables of a target.';
  static override readonly description =
    'Removes them in one request. A missing one is not an error. If at least one existed, the service ' +
    'publishes the target again, which --wait waits for.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> API_KEY --project my-shop --target staging',
    '<%= config.bin %> <%= command.id %> API_KEY API_URL -p my-shop -t staging --dry-run',
  ];
  static override readonly args = {
    name: Args.string({required: true, multiple: true, description: 'Names of variables.'}),
  };
  static override readonly flags = {...flagsOf('connection', 'wait', 'rateLimit', 'events'), ...dryRunFlag};

  protected async execute(context: CommandContext) {
    const {settings, options, host, guards} = await this.reach(context, ['projectSlug', 'targetSlug']);
    const {targetChanges} = await import('../../operations/targets/changes.js');
    const {changeTarget} = await import('../../pipelines/targets.js');
    const {renderChangedVariables} = await import('../../cli/output/render-targets.js');
    const wait = targetWait(settings, false);
    const change = {...options, ...guards, ...wait, unset: this.args.name, dryRun: this.flags['dry-run']};
    const result = await changeTarget(targetChanges.setVariables)(change, host);
    const missing = change.unset.filter((name) => !result.unset.includes(name));
    const isNothing = result.unset.length === 0;
    if (missing.length > 0) {
      const outcome = `${result.targetSlug} has no variable ${missing.join(' or ')}.`;
      context.output.outcome(isNothing ? `${outcome} Nothing was changed.` : outcome);
    }
    if (isNothing) return result;
    return renderChangedVariables(result, {waited: wait.wait}, context.output);
  }
}
