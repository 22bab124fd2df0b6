import {deploymentOptions} from '../../cli/command/operation-options.js';
import {Args, BaseCommand, type CommandContext} from '../../cli/command/base-command.js';
import {flagsOf, invalidateFlag, outputEnvFlag} from '../../cli/command/flags.js';

export default class BundleDeploy extends BaseCommand<typeof BundleDeploy, 'bundle:deploy'> {
  static override readonly aliases = ['deploy'];
  static override readonly changes = 'service';
  static override readonly summary = 'Deploy an uploaded bundle to a target.';
  static override readonly description =
    'Takes a bundle ID printed by bundle:push, or latest for the newest usable bundle of the project.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> 42 --project my-shop --target production --wait',
    '<%= config.bin %> <%= command.id %> latest --project my-shop --target staging',
  ];
  static override readonly args = {
    bundle: Args.string({required: true, description: 'ID of an uploaded bundle, or latest.'}),
  };
  static override readonly flags = {
    ...flagsOf('connection', 'wait', 'create', 'check', 'rollback', 'slot', 'rateLimit', 'events'),
    ...invalidateFlag,
    ...outputEnvFlag,
  };

  protected async execute(context: CommandContext) {
    const {settings, options, host} = await this.reach(context, ['projectSlug', 'targetSlug']);
    const {deployBundle, deployResult} = await import('../../pipelines/deploy.js');
    const {renderDeployment} = await import('../../cli/output/render-deployments.js');
    const {withNextSteps} = await import('../../pipelines/next-steps.js');
    const deploy = {
      ...options,
      bundleId: this.args.bundle,
      ...deploymentOptions(settings, context, {invalidate: this.flags.invalidate}),
    };
    const {output} = context;
    const outcome = await withNextSteps(() => deployBundle(deploy, host), deployResult, {history: !output.json});
    return renderDeployment(outcome, output);
  }
}
