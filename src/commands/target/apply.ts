import {resolve} from 'node:path';
import type {TargetDiff} from '../../operations/targets/options.js';
import {Args, BaseCommand, Flags, type CommandContext} from '../../cli/command/base-command.js';
import {dryRunFlag, flagsOf, projectFlags, yesFlag} from '../../cli/command/flags.js';
import {targetWait} from '../../cli/command/operation-options.js';
import {consent} from '../../cli/setup/prompts.js';

export default class TargetApply extends BaseCommand<typeof TargetApply, 'target:apply'> {
  static override readonly changes = 'service';
  static override readonly summary = 'Change a target to match its configuration.';
  static override readonly description =
    'Shows the differences like target:diff, asks for confirmation, and applies them: first the redirects, then the ' +
    'settings in one request. Changed settings may publish the target again, which --wait waits for. Without a ' +
    'terminal, pass --yes. The value of a new access header is printed once, or written to --output.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> staging --project my-shop --wait',
    '<%= config.bin %> <%= command.id %> staging -p my-shop --rotate --yes',
  ];
  static override readonly args = {
    slug: Args.string({description: 'Slug of the target; default: the configured one.'}),
  };
  static override readonly flags = {
    ...projectFlags,
    ...flagsOf('target', 'wait', 'rateLimit', 'events'),
    rotate: Flags.boolean({summary: 'Create a new access header, and remove the old ones once it works.'}),
    output: Flags.string({helpValue: 'FILE', summary: 'File for the value of a new access header.'}),
    ...dryRunFlag,
    ...yesFlag,
  };

  protected async execute(context: CommandContext) {
    const {yes, rotate, output: file, 'dry-run': dryRun} = this.flags;
    const ask = consent(yes || dryRun, 'Changing a target', 'Nothing was changed.', context);
    const {settings, options, host, guards} = await this.reach(context, ['projectSlug', 'targetSlug']);
    const {applyTarget} = await import('../../pipelines/configure.js');
    const {glanceAtTargets} = await import('../../pipelines/targets.js');
    const {requireConfiguration, targetConfigurationOf} = await import('../../cli/setup/target-config.js');
    const {listDifferences, renderApplied, withAccess} = await import('../../cli/output/render-configuration.js');
    const readSlugs = () => glanceAtTargets(options, host);
    // A preview, which no configuration describes, can get a new header, too.
    const configuration = rotate
      ? await targetConfigurationOf(settings)
      : await requireConfiguration(settings, options.targetSlug, context, readSlugs);
    const confirm = async (_: string, diff: TargetDiff) => {
      listDifferences(diff, context.output);
      await ask(`Change ${options.targetSlug} of ${options.projectSlug}?`);
    };
    const wait = targetWait(settings, false);
    const place = {targetSlug: options.targetSlug, file: file === undefined ? undefined : resolve(context.cwd, file)};
    const result = await withAccess(place, context, (onAccess) =>
      applyTarget({...options, configuration, rotate, dryRun, ...wait, ...guards, confirm, onAccess}, host),
    );
    return renderApplied(result, context.output);
  }
}
