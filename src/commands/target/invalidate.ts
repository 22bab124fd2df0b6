import {Args, BaseCommand, type CommandContext} from '../../cli/command/base-command.js';
import {isBuiltIn} from '../../backends/names.js';
import {dryRunFlag, flagsOf, refuseExpanded} from '../../cli/command/flags.js';

export default class TargetInvalidate extends BaseCommand<typeof TargetInvalidate, 'target:invalidate'> {
  static override readonly changes = 'service';
  static override readonly summary = 'Clear the CDN cache of a target.';
  static override readonly description =
    'Returns when the service has accepted the request; clearing takes about two minutes on Runtime. ' +
    'To clear the cache after a deployment, pass --invalidate to push, deploy or rollback.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> --project my-shop --target staging',
    '<%= config.bin %> <%= command.id %> "/images/*" "/" --project my-shop --target staging',
  ];
  static override readonly args = {
    pattern: Args.string({
      parse: refuseExpanded,
      multiple: true,
      description: 'Paths that begin with /, such as /images/*; default: /*.',
    }),
  };
  static override readonly flags = {...flagsOf('connection', 'rateLimit', 'events'), ...dryRunFlag};

  protected async execute(context: CommandContext) {
    const {options, host, guards} = await this.reach(context, ['projectSlug', 'targetSlug']);
    const {targetChanges} = await import('../../operations/targets/changes.js');
    const {changeTarget} = await import('../../pipelines/targets.js');
    const {pattern: patterns = []} = this.args;
    const {'dry-run': dryRun} = this.flags;
    const result = await changeTarget(targetChanges.invalidate)({...options, ...guards, patterns, dryRun}, host);
    const what = `${result.patterns.join(', ')} of ${result.targetSlug}`;
    const time = isBuiltIn(result.backend) ? ' It takes about two minutes.' : '';
    context.output.outcome(dryRun ? `Dry run: would invalidate ${what}.` : `Invalidating ${what}.${time}`);
    const prefixes = result.patterns.map((pattern) => pattern.replace(/\*$/, ''));
    if (result.backend === 'api')
      context.output.info(`It clears everything that begins with ${prefixes.join(' or ')}.`);
    return result;
  }
}
