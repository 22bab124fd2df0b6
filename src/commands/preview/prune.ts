import {BaseCommand, Flags, type CommandContext} from '../../cli/command/base-command.js';
import {ageFlag, dryRunFlag, flagsOf, projectFlags, yesFlag} from '../../cli/command/flags.js';
import {deletionConsent} from '../../cli/setup/prompts.js';
import type {PrunePreviewsOptions} from '../../operations/targets/options.js';
import {projectTitle} from '../../backends/names.js';
import {count} from '../../text/sentence.js';

export default class PreviewPrune extends BaseCommand<typeof PreviewPrune, 'preview:prune'> {
  static override readonly changes = 'service';
  static override readonly summary = 'Delete previews without recent deployments.';
  static override readonly description =
    'Also deletes the bundles that only they ran. Asks for confirmation; without a terminal, pass --yes.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> --project my-shop --dry-run',
    '<%= config.bin %> <%= command.id %> --project my-shop --expires 14d --yes',
  ];
  static override readonly flags = {
    ...projectFlags,
    ...flagsOf('rateLimit', 'events'),
    expires: Flags.string({helpValue: 'AGE', default: '7d', summary: 'Time since the last deployment, such as 12h.'}),
    ...dryRunFlag,
    ...yesFlag,
  };

  protected async execute(context: CommandContext) {
    const {yes, expires, 'dry-run': dryRun} = this.flags;
    const olderThanMs = ageFlag('--expires', expires);
    const consent = deletionConsent(yes || dryRun, 'targets', context);
    // Previews are targets of their own.
    const loaded = {...(await context.loadSettings()), targetSlug: undefined};
    const {options, host, guardsOf} = await this.reach(context, ['projectSlug'], {settings: loaded});
    const {prunePreviews} = await import('../../pipelines/previews.js');
    const {nameBundles, previewColumns, renderPrunedPreviews} = await import('../../cli/output/render-targets.js');
    const {printTable} = await import('../../cli/output/table.js');
    const confirm: PrunePreviewsOptions['confirm'] = (backend, previews) => {
      printTable(previews, previewColumns, context.output.subject);
      const bundles = previews.flatMap((preview) => preview.bundles);
      const theirs = bundles.length === 0 ? '' : `, and ${nameBundles(bundles)}`;
      const place = projectTitle(options.projectSlug, backend);
      return consent(`Delete ${count(previews.length, 'preview')} of ${place}${theirs}?`);
    };
    const rules = {guardsOf, olderThanMs, dryRun, confirm: yes ? undefined : confirm};
    return renderPrunedPreviews(await prunePreviews({...options, ...rules}, host), context.output);
  }
}
