import type {DoomedTarget} from '../../operations/targets/options.js';
import {Args, BaseCommand, Flags, type CommandContext} from '../../cli/command/base-command.js';
import {dryRunFlag, flagsOf, projectFlags, yesFlag} from '../../cli/command/flags.js';
import {deletionConsent} from '../../cli/setup/prompts.js';

export default class TargetDelete extends BaseCommand<typeof TargetDelete, 'target:delete'> {
  static override readonly changes = 'service';
  static override readonly summary = 'Delete a target, with its variables and its history.';
  static override readonly description =
    'Says what runs there and asks for confirmation; without a terminal, pass --yes. A production target (by its ' +
    'name, the configuration or the service) also needs --force. Bundles stay.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> qa --project my-shop',
    '<%= config.bin %> <%= command.id %> demo --project my-shop --yes',
  ];
  static override readonly args = {slug: Args.string({required: true, description: 'Slug of the target.'})};
  static override readonly flags = {
    ...projectFlags,
    ...flagsOf('rateLimit', 'events'),
    force: Flags.boolean({summary: 'Delete even a production target.'}),
    ...dryRunFlag,
    ...yesFlag,
  };

  protected async execute(context: CommandContext) {
    const {yes, force, 'dry-run': dryRun} = this.flags;
    const consent = deletionConsent(yes || dryRun, 'targets', context);
    const {options, host, guards} = await this.reach(context, ['projectSlug', 'targetSlug']);
    const {deleteTarget} = await import('../../pipelines/targets.js');
    const {describeTarget, renderDeleted} = await import('../../cli/output/render-targets.js');
    const confirm = (backend: string, target: DoomedTarget) =>
      consent(`Delete ${describeTarget({...options, ...target, backend})}?`);
    const result = await deleteTarget({...options, ...guards, force, dryRun, confirm}, host);
    return renderDeleted(result, context.output);
  }
}
