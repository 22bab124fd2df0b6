import {followUpOptions, guardOptions} from '../../cli/command/operation-options.js';
import {BaseCommand} from '../../cli/command/base-command.js';
import type {CommandContext, JsonDocument} from '../../cli/command/command-context.js';
import {
  checkFlags,
  connectionFlags,
  eventsFlag,
  rateLimitFlags,
  rollbackFlag,
  waitFlags,
} from '../../cli/command/flags.js';
import {Flags} from '../../cli/command/oclif.js';
import {reachBackends} from '../../cli/settings/reach-backends.js';

export default class BundlePromote extends BaseCommand<typeof BundlePromote> {
  static override readonly aliases = ['promote'];
  static override readonly summary = 'Deploy the bundle that one target runs to another.';
  static override readonly description =
    "Uses the backend's own promotion if it has one. Otherwise it deploys the same bundle, like bundle:deploy.";
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> --project my-shop --from staging --target live --wait',
    '<%= config.bin %> <%= command.id %> --project my-shop --from staging --target live --json',
  ];
  static override readonly flags = {
    ...connectionFlags,
    ...waitFlags,
    ...checkFlags,
    ...rollbackFlag,
    ...rateLimitFlags,
    from: Flags.string({
      required: true,
      helpValue: 'SLUG',
      summary: 'Target that runs the bundle.',
    }),
    ...eventsFlag,
  };

  protected async execute(context: CommandContext): Promise<JsonDocument> {
    const settings = await context.loadSettings();
    const {values, connection, host} = await reachBackends({
      context,
      settings,
      config: this.config,
      flags: this.flags,
      writes: true,
      needs: ['projectSlug', 'targetSlug'],
    });
    const {projectSlug, targetSlug} = values;
    const {from} = this.flags;
    const {promoteBundle} = await import('../../pipelines/promote.js');
    const {timed} = await import('../../pipelines/progress-text.js');
    const {lookAfter} = await import('../../operations/deploy/after-deployment.js');
    const {renderPromotion} = await import('../../cli/output/deployment.js');
    const promotion = {
      ...connection,
      projectSlug,
      targetSlug,
      from,
      ...guardOptions(settings, context),
      ...followUpOptions(settings, {deploys: true}),
    };
    const outcome = await timed(() => promoteBundle(promotion, host));
    const {result, next} = await lookAfter(outcome.result, connection, host, {history: !context.output.json});
    return renderPromotion({...outcome, result}, next, context.output);
  }
}
