import {existsSync} from 'node:fs';
import {resolve} from 'node:path';
import {Args, BaseCommand, type CommandContext} from '../../cli/command/base-command.js';
import {columnsFlag, flagsOf} from '../../cli/command/flags.js';
import {withConfiguredTarget} from '../../cli/settings/settings.js';

export default class BundleInspect extends BaseCommand<typeof BundleInspect, 'bundle:inspect'> {
  static override readonly aliases = ['inspect'];
  static override readonly summary = "Show a bundle's files, configuration, pattern matches and problems.";
  static override readonly description =
    'Downloads an uploaded bundle to a temporary folder. Reports patterns that match no file and files that may ' +
    'contain secrets. A v1 archive has no configuration: its files have no category. Columns: category, size, path.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> bundle.tar.gz',
    '<%= config.bin %> <%= command.id %> 42 --project my-shop',
    '<%= config.bin %> <%= command.id %> latest --project my-shop',
  ];
  static override readonly args = {
    bundle: Args.string({
      required: true,
      description: 'Archive file, ID of an uploaded bundle, latest or running:TARGET.',
    }),
  };
  static override readonly flags = {
    ...flagsOf('connection', 'rateLimit', 'events'),
    ...columnsFlag,
  };

  protected async execute(context: CommandContext) {
    const {renderInspection} = await import('../../cli/output/render-lists.js');
    return renderInspection(await this.#read(context), this.flags.columns, context.output);
  }

  async #read(context: CommandContext) {
    const {inspectArchive, inspectBundle} = await import('../../pipelines/read.js');
    const {signal, cwd} = context;
    const settings = await context.loadSettings();
    const bundle = withConfiguredTarget(this.args.bundle, settings);
    const paths = {rootDir: settings.rootDir?.value, configPath: settings.configPath?.value};
    // A name with a slash or an extension is not an ID, so report a missing file instead.
    const isFile = !bundle.startsWith('running:') && (/[/\\.]/.test(bundle) || existsSync(resolve(cwd, bundle)));
    if (isFile) return inspectArchive(bundle, {...paths, signal}, context.host());
    const {options, host} = await this.reach(context, ['projectSlug'], {settings});
    return inspectBundle({...options, ...paths, bundleId: bundle}, host);
  }
}
