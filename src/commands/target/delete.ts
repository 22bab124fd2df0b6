import {Args, BaseCommand, Flags, type CommandContext} from '../../cli/command/base-command.js';
import {flagsOf, projectFlags, yesFlag} from '../../cli/command/flags.js';
import {guardOptions} from '../../cli/command/operation-options.js';
import type {TargetDeleteDocument} from '../../cli/output/documents.js';
import {confirm, requireConsent} from '../../cli/setup/prompts.js';

export default class TargetDelete extends BaseCommand<typeof TargetDelete> {
  static override readonly summary = 'Delete a target, with its variables and its history.';
  static override readonly description =
    'Says what runs there and asks for confirmation; without a terminal, pass --yes. A production target, by its name, ' +
    'the configuration or the service, is only deleted with --force. Bundles stay.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> qa --project my-shop',
    '<%= config.bin %> <%= command.id %> demo --project my-shop --yes',
  ];
  static override readonly args = {slug: Args.string({required: true, description: 'Slug of the target.'})};
  static override readonly flags = {
    ...projectFlags,
    ...flagsOf('rateLimit', 'events'),
    force: Flags.boolean({summary: 'Delete it even if it is production.'}),
    ...yesFlag,
  };

  protected async execute(context: CommandContext): Promise<TargetDeleteDocument> {
    const {yes, force} = this.flags;
    requireConsent(yes, 'targets', context);
    const loaded = await context.loadSettings({changes: true, targetSlug: this.args.slug});
    const {settings, options, host} = await this.reach(context, ['projectSlug', 'targetSlug'], {
      settings: loaded,
      writes: true,
    });
    const {deleteTarget} = await import('../../pipelines/targets.js');
    const {describeDoomed, renderDeleted} = await import('../../cli/output/targets.js');
    const result = await deleteTarget(
      {
        ...options,
        force,
        ...guardOptions(settings, context),
        confirm: async (backend, target) => {
          if (!yes)
            await confirm(
              describeDoomed(options.projectSlug, backend, target),
              'Cancelled. Nothing was deleted.',
              context,
            );
        },
      },
      host,
    );
    return renderDeleted(result, context.output);
  }
}
