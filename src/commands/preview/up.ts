import {BaseCommand, type CommandContext} from '../../cli/command/base-command.js';
import {dryRunFlag, flagsOf, invalidateFlag, outputEnvFlag, projectFlags} from '../../cli/command/flags.js';
import {deploymentOptions, pushOptions} from '../../cli/command/operation-options.js';
import {branchArg, findBranch} from '../../cli/command/preview-branch.js';
import {withPushFolder} from '../../cli/setup/push-folder.js';
import {refuseBuildBelow} from '../../cli/setup/wrong-folder.js';

// It waits, and skips the upload of an unchanged bundle.
const {wait: _, 'if-changed': __, ...pushFlags} = flagsOf('bundle', 'push', 'wait', 'create');

export default class PreviewUp extends BaseCommand<typeof PreviewUp, 'preview:up'> {
  static override readonly changes = 'service';
  static override readonly summary = 'Push to the preview target of a branch, and create it if it is missing.';
  static override readonly description =
    'The target is named preview-BRANCH. A new one is a copy of --copy-from or preview.copyFrom, and gets ' +
    'preview.settings and preview.access of the configuration. An unchanged bundle is not uploaded again. The last ' +
    'line of the output is the URL.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> feature/search --project my-shop',
    '<%= config.bin %> <%= command.id %> feature/cart --project my-shop --copy-from staging',
  ];
  static override readonly args = branchArg;
  static override readonly flags = {
    ...projectFlags,
    ...flagsOf('preview'),
    ...pushFlags,
    ...flagsOf('check', 'rateLimit', 'events'),
    ...invalidateFlag,
    ...dryRunFlag,
    ...outputEnvFlag,
  };

  protected async execute(context: CommandContext) {
    const branch = await findBranch(this.args.branch, context);
    const {previewSlugs} = await import('../../operations/targets/previews.js');
    // Its settings count, although the service may have made another slug.
    const target = {slug: previewSlugs(branch)[0], argument: 'BRANCH'};
    const loaded = await context.loadSettings({target});
    const builds = ['preview:up', ...(this.args.branch === undefined ? [] : [branch]), '--build-directory'];
    const {cwd, output} = context;
    await refuseBuildBelow(loaded, {cwd, command: builds});
    const settings = await withPushFolder(loaded, undefined, {cwd, output, command: builds});
    const {options, host} = await this.reach(context, ['projectSlug'], {settings, builds});
    const {deployedPreview, deployPreview, planPreview} = await import('../../pipelines/previews.js');
    const {renderPush, renderPushPreview} = await import('../../cli/output/render-deployments.js');
    const {withNextSteps} = await import('../../pipelines/next-steps.js');
    const push = {...options, ...(await pushOptions(settings, {invalidate: this.flags.invalidate}, context)), branch};
    const {invalidate} = this.flags;
    const optionsOf = async (slug: string) => deploymentOptions(await context.settingsOf(slug), context, {invalidate});
    const {previewSettings, previewAccess} = settings;
    const configuration = {
      ...(previewSettings && {settings: previewSettings.value}),
      ...(previewAccess && {access: previewAccess.value}),
    };
    const deploy = {...push, copyFrom: settings.copyFrom?.value, configuration, optionsOf};
    if (this.flags['dry-run']) {
      const planned = await planPreview(deploy, host);
      if (planned.creates) context.output.outcome(`Dry run: would create a target for ${branch}.`);
      const push = {...deploy, targetSlug: planned.targetSlug, ifChanged: true};
      return {...renderPushPreview(planned, push, context.output), branch, creates: planned.creates};
    }
    const resultOf = (ledger: Parameters<typeof deployedPreview>[0]) => deployedPreview(ledger, branch);
    const {withAccess} = await import('../../cli/output/render-configuration.js');
    const outcome = await withAccess({targetSlug: `The preview of ${branch}`}, context, (onAccess) =>
      withNextSteps(() => deployPreview({...deploy, onAccess}, host), resultOf, {history: false}),
    );
    renderPush(outcome, context.output);
    return outcome.result;
  }
}
