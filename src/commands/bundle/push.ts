import {Args, BaseCommand, Flags, type CommandContext} from '../../cli/command/base-command.js';
import {missingTarget, pushOptions} from '../../cli/command/operation-options.js';
import {dryRunFlag, flagsOf, invalidateFlag, outputEnvFlag} from '../../cli/command/flags.js';
import {withPushFolder} from '../../cli/setup/push-folder.js';
import {offerSetup} from '../../cli/setup/offer-setup.js';
import {createError} from '../../errors/index.js';

export default class BundlePush extends BaseCommand<typeof BundlePush, 'bundle:push'> {
  static override readonly aliases = ['push'];
  static override readonly changes = 'service';
  static override readonly summary = 'Build and upload a bundle, and deploy it if there is a target.';
  static override readonly description = 'Uses Runtime (OAuth) if it is configured, otherwise Runtime (API key).';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> --project my-shop',
    '<%= config.bin %> <%= command.id %> dist --project my-shop --target staging --wait',
    '<%= config.bin %> <%= command.id %> --project my-shop --archive bundle.tar.gz',
  ];
  static override readonly args = {
    dir: Args.string({description: 'Build folder; default: the configured or detected one.'}),
  };
  static override readonly flags = {
    ...flagsOf('connection', 'bundle', 'push', 'wait', 'create', 'check', 'rollback', 'slot', 'rateLimit', 'events'),
    'no-target': Flags.boolean({
      default: false,
      exclusive: ['target'],
      summary: 'Only upload, even if a target is configured.',
    }),
    ...dryRunFlag,
    archive: Flags.string({helpValue: 'FILE', summary: 'Push this archive from bundle:build.'}),
    force: Flags.boolean({summary: 'Upload the bundle even if it is unchanged.'}),
    ...invalidateFlag,
    ...outputEnvFlag,
  };

  protected async execute(context: CommandContext) {
    const {archive, force, invalidate, 'dry-run': dryRun} = this.flags;
    if (archive !== undefined && this.args.dir !== undefined) {
      throw createError('ERR_USAGE', '--archive cannot be combined with a folder.', {
        suggestions: ['Remove one of them.'],
      });
    }
    const loaded = await offerSetup(context, await context.loadSettings(), this.args.dir);
    const settings = archive === undefined ? await withPushFolder(loaded, this.args.dir, context) : loaded;
    const targetSlug = settings.targetSlug?.value;
    const {options, host} = await this.reach(context, ['projectSlug'], {
      settings,
      builds: archive === undefined ? ['bundle:push'] : undefined,
      asksNothing: dryRun,
      alsoMissing: missingTarget(settings, invalidate),
    });
    const push = {
      ...options,
      ...(await pushOptions(settings, {archive, invalidate}, context)),
      targetSlug,
      ifChanged: settings.ifChanged.value && !force,
    };
    const {previewPush, pushResult, pushRuntimeBundle} = await import('../../pipelines/push.js');
    const {renderPushPreview, renderPush} = await import('../../cli/output/render-deployments.js');
    const {withNextSteps} = await import('../../pipelines/next-steps.js');
    const {output} = context;
    if (dryRun) return renderPushPreview(await previewPush(push, host), push, output);
    const outcome = await withNextSteps(() => pushRuntimeBundle(push, host), pushResult, {history: !output.json});
    return renderPush(outcome, output);
  }
}
