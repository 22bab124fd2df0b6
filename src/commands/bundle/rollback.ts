import {followUpOptions, guardOptions} from '../../cli/command/operation-options.js';
import {BaseCommand} from '../../cli/command/base-command.js';
import type {CommandContext, JsonDocument} from '../../cli/command/command-context.js';
import {checkFlags, connectionFlags, eventsFlag, rateLimitFlags, waitFlags} from '../../cli/command/flags.js';
import {Flags} from '../../cli/command/oclif.js';
import {reachBackends} from '../../cli/settings/reach-backends.js';

export default class BundleRollback extends BaseCommand<typeof BundleRollback> {
  static override readonly aliases = ['rollback'];
  static override readonly summary = 'Deploy the bundle that a target ran previously.';
  static override readonly description =
    'Rolls back to the latest finished deployment of a different bundle that was neither rolled back from nor failed its check, or to the bundle given with --to.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> --project my-shop --target production --wait',
    '<%= config.bin %> <%= command.id %> --project my-shop --target production --to 41',
  ];
  static override readonly flags = {
    ...connectionFlags,
    ...waitFlags,
    ...checkFlags,
    ...rateLimitFlags,
    to: Flags.string({helpValue: 'ID', summary: 'ID of the bundle to roll back to, or latest.'}),
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
    const {rollbackBundle} = await import('../../pipelines/rollback.js');
    const {timed} = await import('../../pipelines/progress-text.js');
    const {lookAfter} = await import('../../operations/deploy/after-deployment.js');
    const {renderRollback} = await import('../../cli/output/deployment.js');
    const rollback = {
      ...connection,
      projectSlug,
      targetSlug,
      to: this.flags.to,
      ...guardOptions(settings, context),
      ...followUpOptions(settings, {deploys: true, canRollBack: false}),
    };
    const outcome = await timed(() => rollbackBundle(rollback, host));
    const {result, next} = await lookAfter(outcome.result, connection, host, {history: false});
    return renderRollback({...outcome, result}, next, context.output);
  }
}
