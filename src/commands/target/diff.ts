import {Args, BaseCommand, Flags, type CommandContext} from '../../cli/command/base-command.js';
import {flagsOf, projectFlags} from '../../cli/command/flags.js';
import {exitCodes} from '../../errors/index.js';

export default class TargetDiff extends BaseCommand<typeof TargetDiff, 'target:diff'> {
  static override readonly changes = 'machine';
  static override readonly summary = 'Compare a target with its configuration.';
  static override readonly description =
    'Compares only what targets.SLUG of the configuration has: settings, redirects, access, the primary target and ' +
    'names of variables. target:apply changes what differs. The exit code is 0 even if something differs, unless you ' +
    'pass --exit-code.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> staging --project my-shop',
    '<%= config.bin %> <%= command.id %> staging --project my-shop --init',
  ];
  static override readonly args = {
    slug: Args.string({description: 'Slug of the target; default: the configured one.'}),
  };
  static override readonly flags = {
    ...projectFlags,
    ...flagsOf('target', 'rateLimit', 'events'),
    'exit-code': Flags.boolean({summary: `Exit with ${String(exitCodes.mismatch)} if something differs.`}),
    init: Flags.boolean({summary: 'Write the current state of the target into the configuration.'}),
  };

  protected async execute(context: CommandContext) {
    const {settings, options, host} = await this.reach(context, ['projectSlug', 'targetSlug']);
    const {describeConfiguration, diffTarget} = await import('../../pipelines/configure.js');
    const {glanceAtTargets} = await import('../../pipelines/targets.js');
    const {requireConfiguration, writeTarget} = await import('../../cli/setup/target-config.js');
    const {renderTargetDiff, renderWrittenTarget} = await import('../../cli/output/render-configuration.js');
    if (this.flags.init) {
      const {configuration, ...place} = await describeConfiguration(options, host);
      const written = await writeTarget(configuration, options, context);
      return renderWrittenTarget({...place, identical: true, differences: [], warnings: [], ...written}, context);
    }
    const readSlugs = () => glanceAtTargets(options, host);
    const configuration = await requireConfiguration(settings, options.targetSlug, context, readSlugs);
    const result = await diffTarget({...options, configuration}, host);
    if (this.flags['exit-code'] && !result.identical) context.session.exitCode = exitCodes.mismatch;
    return renderTargetDiff(result, context.output);
  }
}
