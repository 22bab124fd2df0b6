import {deploymentOptions} from '../../cli/command/operation-options.js';
import {BaseCommand, Flags, type CommandContext} from '../../cli/command/base-command.js';
import {flagsOf} from '../../cli/command/flags.js';
import {nameOf} from '../../cli/settings/settings.js';

export default class BundlePromote extends BaseCommand<typeof BundlePromote, 'bundle:promote'> {
  static override readonly aliases = ['promote'];
  static override readonly changes = 'service';
  static override readonly summary = 'Deploy the bundle that one target runs to another.';
  static override readonly description =
    "Uses the backend's own promotion if it has one. Otherwise it deploys the same bundle, like bundle:deploy.";
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> --project my-shop --from staging --target live --wait',
    '<%= config.bin %> <%= command.id %> --project my-shop --from staging --target live --json',
  ];
  static override readonly flags = {
    ...flagsOf('connection', 'wait', 'create', 'check', 'rollback', 'slot', 'rateLimit', 'events'),
    from: Flags.string({required: true, helpValue: 'SLUG', summary: 'Target that runs the bundle.'}),
  };

  protected async execute(context: CommandContext) {
    const {settings, options, host} = await this.reach(context, ['projectSlug', 'targetSlug']);
    const {verifyPromotion} = await import('../../operations/deploy/release.js');
    verifyPromotion(this.flags.from, options.targetSlug, nameOf('targetSlug', settings));
    const {promoteBundle, promotionResult} = await import('../../pipelines/deploy.js');
    const {renderDeployment} = await import('../../cli/output/render-deployments.js');
    const {withNextSteps} = await import('../../pipelines/next-steps.js');
    const promotion = {...options, from: this.flags.from, ...deploymentOptions(settings, context)};
    const {output} = context;
    const outcome = await withNextSteps(() => promoteBundle(promotion, host), promotionResult, {history: !output.json});
    return renderDeployment(outcome, output);
  }
}
