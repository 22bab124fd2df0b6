import {Args, BaseCommand, type CommandContext} from '../../cli/command/base-command.js';
import {flagsOf, projectFlags, yesFlag} from '../../cli/command/flags.js';
import {guardOptions} from '../../cli/command/operation-options.js';
import type {PreviewDownDocument} from '../../cli/output/documents.js';
import {previewBranch} from '../../cli/setup/preview-branch.js';
import {confirm, requireConsent} from '../../cli/setup/prompts.js';

export default class PreviewDown extends BaseCommand<typeof PreviewDown> {
  static override readonly summary = 'Delete the target of a branch, and the bundles that only it ran.';
  static override readonly description =
    'Asks for confirmation; without a terminal, pass --yes. If there is no preview of the branch, nothing happens. ' +
    'Bundles stay where the backend cannot delete them.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> feature/search --project my-shop --yes',
    '<%= config.bin %> <%= command.id %> feature/search --project my-shop --yes --json',
  ];
  static override readonly args = {
    branch: Args.string({description: 'Name of the branch; default: the one that is checked out.'}),
  };
  static override readonly flags = {...projectFlags, ...flagsOf('rateLimit', 'events'), ...yesFlag};

  protected async execute(context: CommandContext): Promise<PreviewDownDocument> {
    const {yes} = this.flags;
    requireConsent(yes, 'targets', context);
    const branch = await previewBranch(this.args.branch, context);
    const {previewSlugs} = await import('../../operations/target/previews.js');
    const [targetSlug] = previewSlugs(branch);
    const loaded = await context.loadSettings({changes: true, targetSlug});
    const {settings, options, host} = await this.reach(context, ['projectSlug'], {settings: loaded, writes: true});
    const {deletePreview} = await import('../../pipelines/previews.js');
    const {describeDoomed, renderDeletedPreview} = await import('../../cli/output/targets.js');
    const {production: _, ...guards} = guardOptions(settings, context);
    const result = await deletePreview(
      {
        ...options,
        ...guards,
        branch,
        confirm: async (backend, target) => {
          if (yes) return;
          const question = describeDoomed(options.projectSlug, backend, target);
          await confirm(question, 'Cancelled. Nothing was deleted.', context);
        },
      },
      host,
    );
    return renderDeletedPreview(result, context.output);
  }
}
