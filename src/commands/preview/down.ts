import type {DoomedPreview} from '../../operations/targets/options.js';
import {BaseCommand, type CommandContext} from '../../cli/command/base-command.js';
import {dryRunFlag, flagsOf, projectFlags, yesFlag} from '../../cli/command/flags.js';
import {branchArg, findBranch} from '../../cli/command/preview-branch.js';
import {deletionConsent} from '../../cli/setup/prompts.js';

export default class PreviewDown extends BaseCommand<typeof PreviewDown, 'preview:down'> {
  static override readonly changes = 'service';
  static override readonly summary = 'Delete the preview target of a branch, and the bundles that only it ran.';
  static override readonly description =
    'Asks for confirmation; without a terminal, pass --yes. If there is no preview of the branch, nothing happens. ' +
    'Bundles stay if the backend cannot delete them.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> feature/search --project my-shop --yes',
    '<%= config.bin %> <%= command.id %> feature/search --project my-shop --yes --json',
  ];
  static override readonly args = branchArg;
  static override readonly flags = {...projectFlags, ...flagsOf('rateLimit', 'events'), ...dryRunFlag, ...yesFlag};

  protected async execute(context: CommandContext) {
    const {yes, 'dry-run': dryRun} = this.flags;
    const consent = deletionConsent(yes || dryRun, 'targets', context);
    const branch = await findBranch(this.args.branch, context);
    const {previewSlugs} = await import('../../operations/targets/previews.js');
    // Its settings count, although the service may have made another slug.
    const target = {slug: previewSlugs(branch)[0], argument: 'BRANCH'};
    const {options, host, guardsOf} = await this.reach(context, ['projectSlug'], {target});
    const {deletePreview} = await import('../../pipelines/previews.js');
    const {describeTarget, nameBundles, renderDeletedPreview} = await import('../../cli/output/render-targets.js');
    const confirm = (backend: string, {bundles, ...target}: DoomedPreview) => {
      const theirs = bundles.length === 0 ? '' : `, and ${nameBundles(bundles)}`;
      return consent(`Delete ${describeTarget({...options, ...target, backend})}${theirs}?`);
    };
    const result = await deletePreview({...options, guardsOf, branch, dryRun, confirm}, host);
    return renderDeletedPreview(result, context.output);
  }
}
