import {deploymentOptions} from '../../cli/command/operation-options.js';
import {BaseCommand, Flags, type CommandContext} from '../../cli/command/base-command.js';
import {flagsOf, invalidateFlag} from '../../cli/command/flags.js';

export default class BundleRollback extends BaseCommand<typeof BundleRollback, 'bundle:rollback'> {
  static override readonly aliases = ['rollback'];
  static override readonly changes = 'service';
  static override readonly summary = 'Deploy the bundle that a target ran previously.';
  static override readonly description =
    'Deploys the bundle that ran before the current one, skipping those that were rolled back or failed their ' +
    'check. --to names another bundle.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> --project my-shop --target production --wait',
    '<%= config.bin %> <%= command.id %> --project my-shop --target production --to 41',
  ];
  static override readonly flags = {
    ...flagsOf('connection', 'wait', 'check', 'rateLimit', 'events'),
    to: Flags.string({helpValue: 'ID', summary: 'ID of the bundle to roll back to, or latest.'}),
    ...invalidateFlag,
  };

  protected async execute(context: CommandContext) {
    const {settings, options, host} = await this.reach(context, ['projectSlug', 'targetSlug']);
    const {rollbackBundle, rollbackResult} = await import('../../pipelines/deploy.js');
    const {renderDeployment} = await import('../../cli/output/render-deployments.js');
    const {withNextSteps} = await import('../../pipelines/next-steps.js');
    const {to, invalidate} = this.flags;
    const rollback = {...options, to, ...deploymentOptions(settings, context, {canRollBack: false, invalidate})};
    const outcome = await withNextSteps(() => rollbackBundle(rollback, host), rollbackResult, {history: false});
    return renderDeployment(outcome, context.output);
  }
}
