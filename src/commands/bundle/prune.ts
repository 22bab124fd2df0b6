import {ageFlag, dryRunFlag, flagsOf, projectFlags, yesFlag} from '../../cli/command/flags.js';
import {BaseCommand, Flags, type CommandContext} from '../../cli/command/base-command.js';
import {deletionConsent} from '../../cli/setup/prompts.js';
import type {PruneBundlesOptions} from '../../operations/bundle-options.js';
import {projectTitle} from '../../backends/names.js';

export default class BundlePrune extends BaseCommand<typeof BundlePrune, 'bundle:prune'> {
  static override readonly aliases = ['prune'];
  static override readonly changes = 'service';
  static override readonly summary = 'Delete bundles that are no longer needed.';
  static override readonly description =
    'Never deletes a bundle that a target runs, that is being uploaded or deployed, or that is one of the last ' +
    '--keep bundles that a target ran, so that it can roll back. Needs a backend that can list the targets. Asks for ' +
    'confirmation; without a terminal, pass --yes.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> --project my-shop --dry-run',
    '<%= config.bin %> <%= command.id %> --project my-shop --keep 20 --older-than 30d --yes',
    '<%= config.bin %> <%= command.id %> --project my-shop --match "preview-*" --keep 1 --yes',
  ];
  static override readonly flags = {
    ...projectFlags,
    ...flagsOf('rateLimit', 'events'),
    keep: Flags.integer({
      min: 1,
      default: 10,
      helpValue: 'N',
      summary: 'Keep the newest N bundles that match, and the last N that each target ran before.',
    }),
    'older-than': Flags.string({
      helpValue: 'AGE',
      summary: 'Only delete bundles at least this old, such as 30d, 12h or 6w.',
    }),
    match: Flags.string({
      helpValue: 'GLOB',
      summary: 'Only delete bundles whose message matches; * is any text, ? one character.',
    }),
    ...dryRunFlag,
    ...yesFlag,
  };

  protected async execute(context: CommandContext) {
    const {keep, match, 'older-than': age, 'dry-run': dryRun, yes} = this.flags;
    const olderThanMs = age === undefined ? undefined : ageFlag('--older-than', age);
    const consent = deletionConsent(yes || dryRun, 'bundles', context);
    // Bundles belong to the project, not to a target.
    const settings = {...(await context.loadSettings()), targetSlug: undefined};
    const {options, host} = await this.reach(context, ['projectSlug'], {settings});
    const {projectSlug} = options;
    const {pruneBundles} = await import('../../pipelines/delete.js');
    const {bundleColumns, renderPruned} = await import('../../cli/output/render-lists.js');
    const {printTable} = await import('../../cli/output/table.js');
    const {output} = context;
    const confirm: PruneBundlesOptions['confirm'] = (backend, bundles) => {
      printTable(bundles, bundleColumns, output.subject);
      const what = bundles.length === 1 ? 'this bundle' : `these ${String(bundles.length)} bundles`;
      return consent(`Delete ${what} of ${projectTitle(projectSlug, backend)}?`);
    };
    const rules = {keep, olderThanMs, match, dryRun, confirm: yes ? undefined : confirm};
    return renderPruned(await pruneBundles({...options, ...rules}, host), output);
  }
}
