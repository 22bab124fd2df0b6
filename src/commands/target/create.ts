import {Args, BaseCommand, Flags, type CommandContext} from '../../cli/command/base-command.js';
import {dryRunFlag, flagsOf, outputEnvFlag, projectFlags} from '../../cli/command/flags.js';
import {newPlaceOptions, targetWait} from '../../cli/command/operation-options.js';

export default class TargetCreate extends BaseCommand<typeof TargetCreate, 'target:create'> {
  static override readonly changes = 'service';
  static override readonly summary = 'Create a target, and wait until it is ready.';
  static override readonly description =
    'With OAuth, SLUG is the name of the target, and the service makes its slug: the outcome, --json and ' +
    '--output-env show it. With --copy-from, the target starts as a copy of another one, and Runtime deploys what ' +
    'that one runs. Applies targets.SLUG of the configuration. Pass --no-wait to return at once.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> qa --project my-shop',
    '<%= config.bin %> <%= command.id %> demo --project my-shop --copy-from staging',
  ];
  static override readonly args = {
    slug: Args.string({
      required: true,
      description: 'Its slug: at most 64 lowercase letters, digits and inner hyphens. With OAuth, its name.',
    }),
  };
  static override readonly flags = {
    ...projectFlags,
    ...flagsOf('wait', 'create', 'rateLimit', 'events'),
    'copy-from': Flags.string({helpValue: 'SLUG', summary: 'Target to copy variables and settings from.'}),
    name: Flags.string({helpValue: 'TEXT', summary: 'Name shown to people; default: the slug.'}),
    ...dryRunFlag,
    ...outputEnvFlag,
  };

  protected async execute(context: CommandContext) {
    const {settings, options, host, guards} = await this.reach(context, ['projectSlug', 'targetSlug']);
    const {name, 'copy-from': copyFrom, 'dry-run': dryRun} = this.flags;
    const {createTarget} = await import('../../pipelines/targets.js');
    const {targetConfigurationOf} = await import('../../cli/setup/target-config.js');
    const {withAccess} = await import('../../cli/output/render-configuration.js');
    const {renderCreated} = await import('../../cli/output/render-targets.js');
    const configuration = await targetConfigurationOf(settings);
    const {value: projectDirectory} = settings.projectDirectory;
    const asked = {...guards, ...newPlaceOptions(settings, context), projectDirectory};
    const creation = {...options, ...targetWait(settings, true), ...asked, copyFrom, name, configuration, dryRun};
    const result = await withAccess(options, context, (onAccess) => createTarget({...creation, onAccess}, host));
    const isConfigured = Object.keys(configuration).length > 0;
    return renderCreated({...result, dryRun, ...(isConfigured && {configuration})}, options.targetSlug, context.output);
  }
}
