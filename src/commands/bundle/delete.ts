import type {DeleteBundlesOptions} from '../../operations/bundle-options.js';
import {Args, BaseCommand, type CommandContext} from '../../cli/command/base-command.js';
import {deletionConsent} from '../../cli/setup/prompts.js';
import {flagsOf, yesFlag} from '../../cli/command/flags.js';
import {projectTitle} from '../../backends/names.js';

export default class BundleDelete extends BaseCommand<typeof BundleDelete, 'bundle:delete'> {
  static override readonly aliases = ['delete'];
  static override readonly changes = 'service';
  static override readonly summary = 'Delete bundles of a project.';
  static override readonly description =
    'Asks for confirmation; without a terminal, pass --yes. If the server refuses to delete a bundle, such as one ' +
    'in use, the others are still deleted, and the refusal decides the exit code.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> 41 42 --project my-shop',
    '<%= config.bin %> <%= command.id %> 42 --project my-shop --yes',
  ];
  static override readonly args = {
    bundle: Args.string({required: true, multiple: true, description: 'IDs of uploaded bundles, or latest.'}),
  };
  static override readonly flags = {...flagsOf('connection', 'rateLimit', 'events'), ...yesFlag};

  protected async execute(context: CommandContext) {
    const {yes} = this.flags;
    const consent = deletionConsent(yes, 'bundles', context);
    // Bundles belong to the project, not to a target.
    const settings = {...(await context.loadSettings()), targetSlug: undefined};
    const {options, host} = await this.reach(context, ['projectSlug'], {settings});
    const {projectSlug} = options;
    const {deleteBundles} = await import('../../pipelines/delete.js');
    const {bundleColumns} = await import('../../cli/output/render-lists.js');
    const {printTable} = await import('../../cli/output/table.js');
    const confirm: DeleteBundlesOptions['confirm'] = (backend, bundleIds, listed) => {
      if (listed.length > 0) printTable(listed, bundleColumns, context.output.subject);
      const what = `${bundleIds.length === 1 ? 'bundle' : 'bundles'} ${bundleIds.join(', ')}`;
      return consent(`Delete ${what} of ${projectTitle(projectSlug, backend)}?`);
    };
    const deletion = {...options, bundleIds: this.args.bundle, confirm: yes ? undefined : confirm};
    const result = await deleteBundles(deletion, host);
    for (const id of result.deleted) context.output.outcome(`Deleted bundle ${String(id)} of ${projectSlug}.`);
    return result;
  }
}
