import {Args, BaseCommand, Flags, type CommandContext} from '../../cli/command/base-command.js';
import {bundleOptions, missingBuild, missingSettings, requireTogether} from '../../cli/command/operation-options.js';
import {connectionFlags, flagsOf} from '../../cli/command/flags.js';
import {refuseOtherProject} from '../../cli/settings/config-file.js';
import {withPushFolder} from '../../cli/setup/push-folder.js';
import {createError} from '../../errors/index.js';
import {requireSetting} from '../../cli/settings/settings.js';

export default class BundleBuild extends BaseCommand<typeof BundleBuild, 'bundle:build'> {
  static override readonly aliases = ['build'];
  static override readonly changes = 'machine';
  static override readonly summary = 'Build a bundle into an archive file and a manifest.';
  static override readonly description =
    'Packs the build folder into an archive for bundle:push --archive. The same content always produces the same bytes, ' +
    'regardless of the times, owners and order of the files.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> dist --output my-bundle.tar.gz',
    '<%= config.bin %> <%= command.id %> --format v1 --project my-shop',
    '<%= config.bin %> <%= command.id %> --dry-run',
  ];
  static override readonly args = {
    dir: Args.string({description: 'Build folder; default: the configured or detected one.'}),
  };
  static override readonly flags = {
    project: connectionFlags.project,
    ...flagsOf('bundle', 'events'),
    format: Flags.option({
      options: ['v1', 'v2'] as const,
      default: 'v2' as const,
      summary: 'Archive format; v1 requires --project.',
    })(),
    output: Flags.string({
      char: 'o',
      helpValue: 'FILE',
      summary: 'Archive to write, or - for stdout without a manifest; default bundle.tar.gz, or bundle.tar for v1.',
    }),
    force: Flags.boolean({summary: 'Overwrite the output even if it is not a bundle archive or manifest.'}),
    'dry-run': Flags.boolean({summary: 'List the files with their category and size, without writing anything.'}),
  };

  protected async execute(context: CommandContext) {
    const {format, output = format === 'v1' ? 'bundle.tar' : 'bundle.tar.gz', force} = this.flags;
    const dryRun = this.flags['dry-run'];
    const toStdout = output === '-' && !dryRun;
    if (toStdout && context.output.stdoutClaimed) {
      const other = context.output.json ? '--json' : '--events -';
      throw createError('ERR_USAGE', `${other} and --output - cannot be used together: both write to stdout.`);
    }
    const stdout = toStdout ? context.output.claimStdout() : undefined;
    const loaded = await context.loadSettings();
    refuseOtherProject(context.configFile);
    const {cwd, signal, output: shown} = context;
    const command = ['bundle:build'];
    const settings = await withPushFolder(loaded, this.args.dir, {cwd, output: shown, command});
    const missing = missingSettings(settings, format === 'v1' ? ['projectSlug'] : []);
    const places = {cwd, shell: context.session.cwd, project: settings.projectDirectory.value, command};
    requireTogether([...missing, ...(await missingBuild(settings.buildDirectory.value, places))]);
    const projectSlug = format === 'v1' ? requireSetting(settings, 'projectSlug') : settings.projectSlug?.value;
    const {buildBundle, buildBundleIntoPipe, previewBuild} = await import('../../pipelines/build.js');
    const {renderBuild, renderBuildPreview} = await import('../../cli/output/render-deployments.js');
    const host = context.host();
    const build = {...(await bundleOptions(settings, format)), format, projectSlug, signal, cwd};
    if (stdout) {
      await buildBundleIntoPipe(stdout, build, host);
      return undefined;
    }
    if (dryRun) {
      const preview = await previewBuild({...build, output: output === '-' ? undefined : output, force}, host);
      return renderBuildPreview(preview, context.output);
    }
    return renderBuild(await buildBundle({...build, output, force}, host), context.output);
  }
}
